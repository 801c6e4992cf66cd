"""The configuration of runs and probes, from options or a TOML file."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from duels.arena.match_plan import MatchPlan
from duels.core.errors import BadOption, DuelsError, UnknownName, quote
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.games import GAMES, find_game
from duels.play.new_match import add_machine_limit
from duels.players import BEST, HUMAN, PERFECT, PLAYER_KINDS, Player, get_strongest_name, resolve_player_kind
from duels.players.endpoint import EndpointSettings
from duels.players.external import COMMAND, MODEL_PREFIX, parse_player_kind
from duels.players.levels import LEVEL_SHARES
from duels.players.model import check_disguise
from duels.players.program import ProgramLimits
from duels.solving.progress import no_progress

FORMAT = 3
"""The format version of a run's folder."""
RUN, PROBE = "run", "probe"
ADJUSTABLE = ("matches", "until", "budget", "currency", "prices")  # may differ when a run continues
_PRICES = ("input_price", "output_price")
_CONDITIONS = ("show_actions", "mirror", "relabel", "temperature", "max_tokens", "retries")
"""The settings of models that a folder stores: those that affect results, and no address."""
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]{3})")
OURS, PROGRAM, MODEL = "ours", "program", "model"
_SETTINGS_KEY = {PROGRAM: "limits", MODEL: "model"}
"""The key of the config with the settings of a type of player."""
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,39})=(.+)", re.DOTALL)

Identity = Mapping[str, Any]
"""A player's type, a hash of its specification, and its settings."""


@dataclass(frozen=True)
class Entrant:
    """A player of a run."""

    name: str
    spec: str
    """A built-in player, a program or a model: `club`, `cmd:python bot.py`, `model:NAME`."""

    @classmethod
    def parse(cls, text: str, limits: ProgramLimits) -> "Entrant":
        """Parse `club`, or `NAME=club` for a name of your own.

        Raises BadOption if the name is not allowed, UnknownName if there is no such player.
        """
        named = _NAMED.fullmatch(text.strip())
        entrant = cls(named[1], named[2].strip()) if named else cls("", text.strip())
        if entrant.player_type == OURS and "=" in entrant.spec:
            name = quote(entrant.spec.partition("=")[0])
            raise BadOption(
                f"{name} is not a valid player name: use up to 40 letters (A to Z), digits, spaces and . _ - "
                "starting with a letter or digit."
            )
        kind = parse_player_kind(entrant.spec, limits)
        if kind.name == HUMAN:
            raise UnknownName("a person cannot play in a run; see `duels players` for the players.")
        return entrant if named else cls(kind.name, entrant.spec)

    @property
    def player_type(self) -> str:
        """OURS, PROGRAM or MODEL."""
        call = self.spec.lower()
        return PROGRAM if call.startswith(COMMAND) else MODEL if call.startswith(MODEL_PREFIX) else OURS

    def make_identity(self, base_url: str) -> dict[str, str]:
        """Return what a folder stores: a hash, which reveals neither a command nor an address."""
        source = f"{self.spec} {base_url}" if self.player_type == MODEL else self.spec
        digest = sha256(source.encode(errors="surrogatepass")).hexdigest()
        return {"sort": self.player_type, "called": digest[:16]}


def read_identities(
    players: Mapping[str, Mapping[str, str]], config: Mapping[str, Any]
) -> dict[str, Identity]:
    """Return the players' identities from a folder's config, by name."""
    return {
        name: {**identity, **config.get(_SETTINGS_KEY.get(identity["sort"], ""), {})}
        for name, identity in players.items()
    }


def describe_difference(one: Identity, two: Identity) -> str:
    """Describe how two players of one name differ, as part of a sentence; empty if they do not.

    Programs with the same command count as the same, even if their code changed.
    """
    if one["called"] != two["called"]:
        return "its command or address differs"
    settings = {name: (one.get(name, "not stated"), two.get(name, "not stated")) for name in {**one, **two}}
    return ", ".join(f"{name} was {old} and is {new}" for name, (old, new) in settings.items() if old != new)


@dataclass(frozen=True)
class Config:
    """The configuration of a run.

    Every two players play `matches` matches in every game, half of them from each seat.
    """

    players: tuple[str, ...]
    """Specifications: `club`, `cmd:python bot.py`, `mine=cmd:python bot.py`."""
    games: tuple[str, ...]
    matches: int | Mapping[str, int] = 100
    """Matches per pair of players, for all games or by game."""
    seed: str = "1"
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    until: float | None = None
    """Stop a pairing once the margin of its result is this small."""
    budget: str | None = None
    """The amount of money after which the run stops, such as `5usd`."""
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    model: EndpointSettings = field(default_factory=EndpointSettings)

    def __post_init__(self) -> None:
        _check_values(self)
        if len(self.players) < 2:
            raise BadOption("a run needs at least two players, such as --players random,club.")
        if not self.games:
            raise BadOption("a run needs a game, such as --games lights.")
        for name in self.games:
            _check_matches(self.count_matches(name))
        self.parse_budget()
        self._check_options()
        self._check_players()

    def _check_options(self) -> None:
        for name, options in self.options.items():
            if name not in self.games:
                raise UnknownName(f"options.{name}: {quote(name)} is not one of the games of this run.")
            if not isinstance(options, Mapping):
                raise BadOption(f"options.{name} must be a table, not {options!r}.")
        for name in self.games:
            self.rules(name)

    def _check_players(self) -> None:
        if self.list_models() and not self.model.base_url:
            raise BadOption("a model needs an address: --base-url URL.")
        for game in self.games if self.list_models() else ():
            check_disguise(self.rules(game), self.model)
        for name in self.names:
            if self.names.count(name) > 1:
                raise BadOption(
                    f"two players are called {quote(name)}: rename one of them, as in mine=cmd:…."
                )

    def parse_budget(self) -> tuple[float, str] | None:
        """Return the budget's amount and currency, or None without a budget.

        Raises BadOption if the budget is malformed, or prices or a token limit are missing.
        """
        if self.budget is None:
            return None
        amount = _BUDGET.fullmatch(self.budget.strip())
        if not amount:
            raise BadOption(
                f"a budget must be an amount and a currency, such as 5usd, not {quote(self.budget)}."
            )
        if self.model.input_price is None or self.model.output_price is None:
            raise BadOption(
                "a budget needs prices per million tokens: pass --input-price and --output-price."
            )
        if not self.model.max_tokens:
            raise BadOption("a budget needs a limit on the length of answers: max_tokens must not be 0.")
        return float(amount[1]), amount[2].lower()

    def count_matches(self, game: str) -> int:
        """Return the matches per pairing in a game. Raises BadOption if the config has none."""
        if isinstance(self.matches, Mapping):
            if game not in self.matches:
                raise BadOption(f"matches has no entry for {game}.")
            return self.matches[game]
        return self.matches

    def rules(self, game: str) -> AnyRules:
        """Return a game's rules, with a limit if play could otherwise continue forever."""
        return add_machine_limit(find_game(game).rules(**self.options.get(game, {})))

    @cached_property
    def entrants(self) -> tuple[Entrant, ...]:
        """The players. `perfect` is renamed `best` unless it is proven in every game."""
        parsed = (Entrant.parse(text, self.limits) for text in self.players)
        return tuple(
            replace(each, name=BEST)
            if each.name == PERFECT
            and any(get_strongest_name(self.rules(game)) == BEST for game in self.games)
            else each
            for each in parsed
        )

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.entrants]

    def list_models(self) -> dict[str, str]:
        """Return the models: the name at the endpoint by name in the run."""
        return {
            each.name: each.spec[len(MODEL_PREFIX) :] for each in self.entrants if each.player_type == MODEL
        }

    def list_programs(self) -> list[str]:
        return [each.name for each in self.entrants if each.player_type == PROGRAM]

    def make_player(self, name: str, rules: AnyRules, log: Path | None = None) -> Player:
        """Make a player for one seat of a game. A program's stderr is written to `log`."""
        (entrant,) = (each for each in self.entrants if each.name == name)
        kind = parse_player_kind(entrant.spec, self.limits, log, self.model)
        if kind.name in PLAYER_KINDS:
            kind = resolve_player_kind(kind.name, rules)
        assert kind.seat  # people are rejected when the config is parsed
        return kind.seat(rules, no_progress)

    def iter_pairings(self) -> Iterator[tuple[str, str, str]]:
        for game in self.games:
            for one, two in combinations(self.names, 2):
                yield game, one, two

    def plan_matches(self, game: str, one: str, two: str, pairs: range) -> Iterator[MatchPlan]:
        """Yield the matches of two players in a game, pair by pair."""
        options = tuple(sorted(self.rules(game).options().items()))
        seeds = json.dumps([self.seed, game, one, two])[:-1]  # encoded once, as there are many matches
        for pair in pairs:
            seed = f"{seeds}, {pair}]"
            for players in ((one, two), (two, one)):
                yield MatchPlan(game, options, players, seed, pair)

    def as_data(self) -> dict[str, Any]:
        """Return the config that a folder stores.

        Commands are left out, so nobody who is given a folder can be made to run one.
        """
        data = {
            "kind": RUN,
            "players": {each.name: each.make_identity(self.model.base_url) for each in self.entrants},
            "games": self.games,
            "matches": {game: self.count_matches(game) for game in self.games},
            "seed": self.seed,
            "options": {game: dict(self.rules(game).options()) for game in self.games},
            "until": self.until,
            "budget": self.budget,
            "limits": asdict(self.limits),
            "model": {name: getattr(self.model, name) for name in _CONDITIONS} if self.list_models() else {},
            "prices": {name: getattr(self.model, name) for name in _PRICES} if self.list_models() else {},
            "currency": parse_currency(self.budget),
        }
        return json.loads(json.dumps(data))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ProbeConfig:
    """The configuration of a probe, which asks one player about positions."""

    player: str
    games: tuple[str, ...]
    samples: int = 1
    """Questions per position: more than one for a player that chooses at random."""
    positions: int = 200
    """Positions in games that are too large to ask about every position."""
    symmetric: bool = False
    """Whether one answer counts for both of two mirror images."""
    seed: str = "1"
    budget: str | None = None
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    model: EndpointSettings = field(default_factory=EndpointSettings)

    def __post_init__(self) -> None:
        if not self.games:
            raise BadOption("a probe needs a game, such as --games lights.")
        _check_values(self)
        self.make_run_config()  # checks the player, the model and the budget

    def make_run_config(self) -> Config:
        """Return a run config with the same player, to check and seat it."""
        return Config(
            (self.player, "nobody=random"),
            self.games,
            2,
            self.seed,
            budget=self.budget,
            limits=self.limits,
            model=self.model,
        )

    def as_data(self) -> dict[str, Any]:
        run = self.make_run_config().as_data()
        (name, identity), _ = run["players"].items()
        own = {each: getattr(self, each) for each in ("samples", "positions", "symmetric", "seed", "budget")}
        shared = {each: run[each] for each in ("currency", "limits", "model", "prices")}
        data = {"kind": PROBE, "player": {name: identity}, "games": self.games, **own, **shared}
        return json.loads(json.dumps(data))  # type: ignore[no-any-return]


def check_same_run(new: Mapping[str, Any], old: Mapping[str, Any], folder: Path) -> None:
    """Raise DuelsError if a folder belongs to another run. The keys in ADJUSTABLE may differ."""
    for name, value in new.items():
        if name not in ADJUSTABLE and value != old.get(name):
            raise DuelsError(
                f"{folder} belongs to another run: {name} differs. Name another folder with --out."
            )
    was, now = old["currency"], new["currency"]
    if was and now and was != now:
        raise DuelsError(f"{folder} has costs in {was}, not in {now}: pass prices and a budget in {was}.")


_CHECKED_ELSEWHERE = ("player", "players", "games", "matches", "limits", "model")
_MINIMUM = {"samples": 1, "positions": 2, "memory_mb": 16, "concurrency": 1}
"""Minimum values by name; 0 for others."""
_BELOW = {"until": 0.5}
"""Exclusive upper bounds by name."""
_TYPE_NAMES = {
    str: "a string",
    bool: "true or false",
    Mapping: "a table",
    int: "a whole number",
    float: "a number",
}


def _check_values(config: Config | ProbeConfig) -> None:
    """Raise BadOption if a value has the wrong type or is out of range."""
    for table in (config, config.limits, config.model):
        for each in fields(table):
            if each.name not in _CHECKED_ELSEWHERE:
                _check_value(type(table), each.name, getattr(table, each.name))


def _check_value(kind: type, name: str, value: Any) -> None:
    hint = get_type_hints(kind)[name]
    options = get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)
    if value is None and NoneType in options:
        return
    expected = options[0]
    allowed = _TYPE_NAMES[expected]
    fits = isinstance(value, int | float if expected is float else expected)
    if expected in (int, float):
        minimum, below = _MINIMUM.get(name, 0), _BELOW.get(name, inf)
        above = name in _BELOW or name.endswith("_seconds")
        fits = fits and type(value) is not bool and minimum <= value < below
        fits = fits and not (above and value == minimum)
        limits = f" above {minimum}" if above else f" of {minimum} or more"
        allowed += limits if below == inf else f" between {minimum} and {below}"
    if not fits:
        raise BadOption(f"{name} must be {allowed}, not {value!r}.")


def _check_matches(matches: Any) -> None:
    if type(matches) is not int or matches < 2:
        raise BadOption(f"matches must be a whole number of 2 or more, not {matches!r}.")
    if matches % 2:
        raise BadOption(f"matches must be even, as every seed is played from both seats; {matches} is odd.")


def parse_currency(budget: str | None) -> str:
    """Return the currency of a budget; empty without a budget."""
    amount = _BUDGET.fullmatch((budget or "").strip())
    return amount[2].lower() if amount else ""


LADDER = ("random", "greedy", *LEVEL_SHARES)
LADDER_MATCHES = {"lights": 200, "leap": 200, "chain": 20, "hunt": 100, "flip": 20}
"""Matches per pairing. All together take two minutes on two processors."""


def ladder_config(games: tuple[str, ...], matches: int | None, seed: str) -> Config:
    names = games or tuple(GAMES)
    defaults = {name: LADDER_MATCHES.get(name, 10) for name in names}
    return Config(LADDER, names, matches or defaults, seed)


def read_config_file(path: Path) -> tuple[dict[str, Any], Path | None]:
    """Return the unchecked values of a TOML file, and its folder (`out`) if it names one.

    Raises DuelsError if the file is not TOML.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DuelsError(f"invalid TOML: {error}.") from None
    out = values.pop("out", None)
    if out == "":
        raise BadOption("out must be the name of a folder, not ''.")
    return values, None if out is None else path.parent / str(out)


def parse_config(values: dict[str, Any]) -> Config:
    """Make a config from plain data. Raises UnknownName for unknown keys, BadOption for wrong values."""
    _check_names(values, "nothing called {} in a run", Config, "out")
    limits = _check_table(values.pop("limits", {}), ProgramLimits, "limits", "no limit {}")
    model = _check_table(values.pop("model", {}), EndpointSettings, "model", "no setting of models {}")
    for name in ("players", "games"):
        value = values.get(name, ())
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise BadOption(f"{name} must be a list of names, not {value!r}.")
        values[name] = tuple(value)
    if "seed" in values:
        values["seed"] = str(values["seed"])
    return Config(**values, limits=ProgramLimits(**limits), model=EndpointSettings(**model))


def _check_table(
    values: Any, kind: type[ProgramLimits] | type[EndpointSettings], key: str, problem: str
) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise BadOption(f"{key} must be a table, not {values!r}.")
    _check_names(values, problem, kind)
    for name, value in values.items():
        _check_value(kind, name, value)
    return dict(values)


def _check_names(values: Mapping[str, Any], problem: str, kind: type[Any], *others: str) -> None:
    names = [*(each.name for each in fields(kind)), *others]
    for name in values:
        if name not in names:
            known = ", ".join(sorted(names))
            raise UnknownName(f"there is {problem.format(quote(name))}; there are {known}.")
