"""The configuration of runs and probes, from options or a TOML file."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from duels.arena.match_plan import MatchPlan
from duels.arena.schemas import MODEL_CONDITIONS, PRICES
from duels.core.errors import BadOption, DuelsError, UnknownName, quote
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.games import GAMES, find_game
from duels.play.new_match import add_machine_limit
from duels.players import BEST, HUMAN, PERFECT, PLAYER_KINDS, Player, get_strongest_name, resolve_player_kind
from duels.players.endpoint import EndpointSettings
from duels.players.external import CMD_PREFIX, MODEL_PREFIX, parse_player_kind
from duels.players.levels import LEVEL_SHARES
from duels.players.program import ProgramLimits
from duels.players.text_player import NO_MEMORY, check_disguise
from duels.solving.oracle import no_progress

RUN, PROBE = "run", "probe"
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]{3})")
BUILT_IN, PROGRAM, MODEL = "ours", "program", "model"
_SETTINGS_KEY = {PROGRAM: "limits", MODEL: "model"}
"""The config key of a player type's settings."""
_NAMED_SPEC = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,39})=(.+)", re.DOTALL)


def make_match_seed(seed: str, game: str, one: str, two: str, pair: int) -> str:
    """Return the seed of a pair of matches. `one` is before `two` in the run's list of players."""
    return json.dumps([seed, game, one, two, pair])


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
        """Parse a player such as `club`, or `NAME=club` to choose its name.

        Raises BadOption if the name is not allowed, UnknownName if there is no such player.
        """
        match = _NAMED_SPEC.fullmatch(text.strip())
        entrant = cls(match[1], match[2].strip()) if match else cls("", text.strip())
        if entrant.player_type == BUILT_IN and "=" in entrant.spec:
            name = quote(entrant.spec.partition("=")[0])
            raise BadOption(
                f"{name} is not a valid player name: use up to 40 letters (A to Z), digits, spaces and . _ - "
                "starting with a letter or digit."
            )
        kind = parse_player_kind(entrant.spec, limits)
        if kind.name == HUMAN:
            raise UnknownName("a person cannot play in a run; see `duels players` for the players.")
        return entrant if match else cls(kind.name, entrant.spec)

    @property
    def player_type(self) -> str:
        """BUILT_IN, PROGRAM or MODEL."""
        spec = self.spec.lower()
        if spec.startswith(CMD_PREFIX):
            return PROGRAM
        return MODEL if spec.startswith(MODEL_PREFIX) else BUILT_IN

    def make_identity(self, base_url: str) -> dict[str, str]:
        """Return the type and a hash, which a folder stores instead of the command or address."""
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
    """Describe how two players with the same name differ, as part of a sentence; empty if they are equal.

    Programs with the same command count as equal, even if their code changed.
    """
    if one["called"] != two["called"]:
        return "its command or address differs"
    settings = {name: (one.get(name, "not stated"), two.get(name, "not stated")) for name in {**one, **two}}
    return ", ".join(f"{name} was {old} and is {new}" for name, (old, new) in settings.items() if old != new)


@dataclass(frozen=True)
class Config:
    """The configuration of a run.

    Each pair of players plays `matches` matches in every game, half of them from each seat.
    """

    players: tuple[str, ...]
    """Specifications: `club`, `cmd:python bot.py`, `mine=cmd:python bot.py`."""
    games: tuple[str, ...]
    matches: int | Mapping[str, int] = 100
    """Matches per pair of players, for all games or by game."""
    seed: str = "1"
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    until: float | None = None
    """A margin: a pairing stops once its result is known to within this number."""
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
            raise BadOption("A model needs an address: add --base-url URL.")
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
            raise BadOption("a budget needs a limit on the length of answers: pass --max-tokens.")
        return float(amount[1]), amount[2].lower()

    @property
    def currency(self) -> str:
        """The currency of the budget; empty without a budget."""
        budget = self.parse_budget()
        return budget[1] if budget else ""

    def count_matches(self, game: str) -> int:
        """Return the number of matches per pairing. Raises BadOption if `matches` lacks the game."""
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
        """Return the models: each name in the run, mapped to the name at the endpoint."""
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
        assert kind.make  # people are rejected when the config is parsed
        return kind.make(rules, no_progress)

    def iter_pairings(self) -> Iterator[tuple[str, str, str]]:
        for game in self.games:
            for one, two in combinations(self.names, 2):
                yield game, one, two

    def plan_matches(self, game: str, one: str, two: str, pairs: range) -> Iterator[MatchPlan]:
        """Yield the matches of two players in a game, pair by pair."""
        options = tuple(sorted(self.rules(game).options().items()))
        for pair in pairs:
            seed = make_match_seed(self.seed, game, one, two, pair)
            for players in ((one, two), (two, one)):
                yield MatchPlan(game, options, players, seed, pair)

    def as_data(self) -> dict[str, Any]:
        """Return the config that a folder stores.

        It contains no commands, so continuing somebody else's run cannot start their programs.
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
            "model": self._get_model_settings(MODEL_CONDITIONS),
            "prices": self._get_model_settings(PRICES),
            "currency": self.currency,
        }
        return json.loads(json.dumps(data))  # type: ignore[no-any-return]

    def _get_model_settings(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self.model, name) for name in names} if self.list_models() else {}


@dataclass(frozen=True)
class ProbeConfig:
    """The configuration of a probe, which asks one player about positions."""

    player: str
    games: tuple[str, ...]
    samples: int = 1
    """Questions per position. Use more than one for a player that chooses at random."""
    positions: int = 200
    """Number of positions to sample in games that are too large for exhaustive questions."""
    symmetric: bool = False
    """Whether one answer counts for a position and its mirror image."""
    seed: str = "1"
    budget: str | None = None
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    model: EndpointSettings = field(default_factory=EndpointSettings)

    def __post_init__(self) -> None:
        if not self.games:
            raise BadOption("a probe needs a game, such as --games lights.")
        _check_values(self)
        if self.model.memory != NO_MEMORY:
            raise BadOption("a probe asks about each position afresh: leave out --memory.")
        self.make_run_config()  # checks the player, the model and the budget

    def make_run_config(self) -> Config:
        """Return a run config with the same player. It checks the settings and can make the player."""
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
        own = {key: getattr(self, key) for key in ("samples", "positions", "symmetric", "seed", "budget")}
        shared = {key: run[key] for key in ("currency", "limits", "model", "prices")}
        data = {"kind": PROBE, "player": {name: identity}, "games": self.games, **own, **shared}
        return json.loads(json.dumps(data))  # type: ignore[no-any-return]


_CHECKED_ELSEWHERE = ("player", "players", "games", "matches", "limits", "model")
_MINIMUMS = {"samples": 1, "positions": 2, "memory_mb": 16, "concurrency": 1}
"""Minimum values by name; the default is 0."""
_UPPER_BOUNDS = {"until": 0.5}
"""Exclusive upper bounds by name."""
_TYPE_NAMES = {
    str: "a string",
    bool: "true or false",
    Mapping: "a table",
    int: "a whole number",
    float: "a number",
}


def _check_values(config: Config | ProbeConfig) -> None:
    for table in (config, config.limits, config.model):
        for each in fields(table):
            if each.name not in _CHECKED_ELSEWHERE:
                _check_value(type(table), each.name, getattr(table, each.name))


def _check_value(config_class: type, name: str, value: Any) -> None:
    hint = get_type_hints(config_class)[name]
    options = get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)
    if value is None and NoneType in options:
        return
    expected = options[0]
    allowed = _TYPE_NAMES[expected]
    is_valid = isinstance(value, int | float if expected is float else expected)
    if expected in (int, float):
        minimum, upper_bound = _MINIMUMS.get(name, 0), _UPPER_BOUNDS.get(name, inf)
        excludes_minimum = name in _UPPER_BOUNDS or name.endswith("_seconds")
        is_valid = is_valid and type(value) is not bool and minimum <= value < upper_bound
        is_valid = is_valid and not (excludes_minimum and value == minimum)
        limits = f" above {minimum}" if excludes_minimum else f" of {minimum} or more"
        allowed += limits if upper_bound == inf else f" between {minimum} and {upper_bound}"
    if not is_valid:
        raise BadOption(f"{name} must be {allowed}, not {value!r}.")


def _check_matches(matches: Any) -> None:
    if type(matches) is not int or matches < 2:
        raise BadOption(f"matches must be a whole number of 2 or more, not {matches!r}.")
    if matches % 2:
        raise BadOption(f"matches must be even, to play each seed from both seats; {matches} is odd.")


LADDER = ("random", "greedy", *LEVEL_SHARES)
LADDER_MATCHES = {"lights": 200, "leap": 200, "chain": 20, "hunt": 100, "flip": 20}
"""Matches per pairing. The whole ladder takes two minutes on two processors."""


def ladder_config(games: tuple[str, ...], matches: int | None, seed: str) -> Config:
    """Return the config of a run between the built-in players. Without `games`, all games are played."""
    names = games or tuple(GAMES)
    defaults = {name: LADDER_MATCHES.get(name, 10) for name in names}
    return Config(LADDER, names, matches or defaults, seed)


def read_config_file(path: Path) -> tuple[dict[str, Any], Path | None]:
    """Read a TOML file. Return its values, unchecked, and the run's folder (`out`) or None.

    Raises DuelsError if the file is not valid TOML.
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
    """Make a config from plain data. Raises UnknownName for unknown keys, BadOption for invalid values."""
    _check_names(values, "run setting", Config, "out")
    limits = check_table(values.pop("limits", {}), ProgramLimits, "limits", "program limit")
    model = check_table(values.pop("model", {}), EndpointSettings, "model", "model setting")
    for name in ("players", "games"):
        value = values.get(name, ())
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise BadOption(f"{name} must be a list of names, not {value!r}.")
        values[name] = tuple(value)
    if "seed" in values:
        values["seed"] = str(values["seed"])
    return Config(**values, limits=ProgramLimits(**limits), model=EndpointSettings(**model))


def check_table(values: Any, settings_class: type[Any], key: str, label: str) -> dict[str, Any]:
    """Return the values of a table. Raises UnknownName for unknown keys, BadOption for invalid values."""
    if not isinstance(values, Mapping):
        raise BadOption(f"{key} must be a table, not {values!r}.")
    _check_names(values, label, settings_class)
    for name, value in values.items():
        _check_value(settings_class, name, value)
    return dict(values)


def _check_names(values: Mapping[str, Any], label: str, settings_class: type[Any], *others: str) -> None:
    names = [*(field.name for field in fields(settings_class)), *others]
    for name in values:
        if name not in names:
            allowed = ", ".join(sorted(names))
            raise UnknownName(f"{quote(name)} is not a {label}; the {label}s are {allowed}.")
