"""What a run is to play: read from flags or a TOML file, checked, and told apart from other runs."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
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
"""Of a run's folder."""
RUN, PROBE = "run", "probe"
GROWS = ("matches", "until", "budget", "currency", "prices")  # what may differ when a run goes on
_PRICES = ("input_price", "output_price")
_CONDITIONS = ("show_actions", "mirror", "relabel", "temperature", "max_tokens", "retries")
"""What is kept of how models are asked: what a result depends on, and no address."""
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]{3})")
OURS, PROGRAM, MODEL = "ours", "program", "model"
_ASKED_BY = {PROGRAM: "limits", MODEL: "model"}
"""Which table of a config says how players of a sort are asked."""
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,39})=(.+)", re.DOTALL)

Identity = Mapping[str, Any]
"""The sort of a player, a hash of how it is called, and how it is asked."""


@dataclass(frozen=True)
class Entrant:
    """A player of a run."""

    name: str
    call: str
    """How a person calls it: `club`, `cmd:python bot.py`, `model:NAME`."""

    @classmethod
    def of(cls, text: str, limits: ProgramLimits) -> "Entrant":
        """The player that a person means, under a name of the person's own if one is given (`mine=club`)."""
        named = _NAMED.fullmatch(text.strip())
        entrant = cls(named[1], named[2].strip()) if named else cls("", text.strip())
        if entrant.sort == OURS and "=" in entrant.call:
            name = quote(entrant.call.partition("=")[0])
            raise BadOption(
                f"{name} cannot be a player's name: that is up to 40 letters (A to Z), digits, spaces and "
                ". _ -, beginning with a letter or digit."
            )
        kind = parse_player_kind(entrant.call, limits)
        if kind.name == HUMAN:
            raise UnknownName("a person cannot play in a run; see duels players for who can.")
        return entrant if named else cls(kind.name, entrant.call)

    @property
    def sort(self) -> str:
        """OURS, PROGRAM or MODEL."""
        call = self.call.lower()
        return PROGRAM if call.startswith(COMMAND) else MODEL if call.startswith(MODEL_PREFIX) else OURS

    def identity(self, base_url: str) -> dict[str, str]:
        """What a run's folder keeps of it: neither a command nor an address can be read from that."""
        told = f"{self.call} {base_url}" if self.sort == MODEL else self.call
        return {"sort": self.sort, "called": sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]}


def identities(players: Mapping[str, Mapping[str, str]], config: Mapping[str, Any]) -> dict[str, Identity]:
    """All that a folder's config knows of its players, by name."""
    return {
        name: {**kept, **config.get(_ASKED_BY.get(kept["sort"], ""), {})} for name, kept in players.items()
    }


def unlike(one: Identity, two: Identity) -> str:
    """What is known to differ between two players of one name, as part of a sentence; nothing if none is.

    Programs that are called in the same way are taken for the same, whatever they have become.
    """
    if one["called"] != two["called"]:
        return "it is called in another way"
    known = {name: (one.get(name, "not stated"), two.get(name, "not stated")) for name in {**one, **two}}
    return ", ".join(f"{name} was {old} and is {new}" for name, (old, new) in known.items() if old != new)


@dataclass(frozen=True)
class Config:
    """A run: every pair of players, in every game, `matches` times, half of them from either seat."""

    players: tuple[str, ...]
    """As a person calls them: `club`, `cmd:python bot.py`, `mine=cmd:python bot.py`."""
    games: tuple[str, ...]
    matches: int | Mapping[str, int] = 100
    """Per pair and game; or by game."""
    seed: str = "1"
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    """Options of games, by game."""
    until: float | None = None
    """Stop a pair in a game once its result is known to within this much."""
    budget: str | None = None
    """Stop when so much money is spent, such as `5usd`."""
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    model: EndpointSettings = field(default_factory=EndpointSettings)
    """How models are asked."""

    def __post_init__(self) -> None:
        _check_values(self)
        if len(self.players) < 2:
            raise BadOption("a run needs two players or more, such as --players random,club.")
        if not self.games:
            raise BadOption("a run needs a game, such as --games lights.")
        for name in self.games:
            _check_matches(self.matches_of(name))
        if self.budget is not None:
            self.budget_amount()
        self._check_options()
        self._check_players()

    def _check_options(self) -> None:
        for name, options in self.options.items():
            if name not in self.games:
                raise UnknownName(f"there are options for {quote(name)}, which is not one of the games.")
            if not isinstance(options, Mapping):
                raise BadOption(f"options.{name} is a table, not {options!r}.")
        for name in self.games:
            self.rules(name)

    def _check_players(self) -> None:
        if self.models() and not self.model.base_url:
            raise BadOption("a model needs an address: --base-url URL.")
        for game in self.games if self.models() else ():
            check_disguise(self.rules(game), self.model)
        for name in self.names:
            if self.names.count(name) > 1:
                raise BadOption(f"two players are called {quote(name)}: name one of them, as in mine=cmd:….")

    def budget_amount(self) -> tuple[float, str] | None:
        """The budget as a number and a currency; refused where prices are missing."""
        if self.budget is None:
            return None
        read = _BUDGET.fullmatch(self.budget.strip())
        if not read:
            raise BadOption(f"a budget is an amount and a currency, such as 5usd, not {quote(self.budget)}.")
        if self.model.input_price is None or self.model.output_price is None:
            raise BadOption(
                "a budget needs prices: --input-price and --output-price, for a million tokens each."
            )
        if not self.model.max_tokens:
            raise BadOption("a budget needs a limit of length: max_tokens is 0.")
        return float(read[1]), read[2].lower()

    def matches_of(self, game: str) -> int:
        """How many matches each two players play in a game."""
        if isinstance(self.matches, Mapping):
            if game not in self.matches:
                raise BadOption(f"matches says nothing about {game}.")
            return self.matches[game]
        return self.matches

    def rules(self, game: str) -> AnyRules:
        """The rules of a game of the run, with a limit on the length of a match."""
        return add_machine_limit(find_game(game).rules(**self.options.get(game, {})))

    @cached_property
    def entrants(self) -> tuple[Entrant, ...]:
        """Who plays; `perfect` is called `best` unless it is proven in every game."""
        found = (Entrant.of(text, self.limits) for text in self.players)
        return tuple(
            replace(each, name=BEST)
            if each.name == PERFECT
            and any(get_strongest_name(self.rules(game)) == BEST for game in self.games)
            else each
            for each in found
        )

    @property
    def names(self) -> list[str]:
        """What the players are called in the run."""
        return [each.name for each in self.entrants]

    def models(self) -> dict[str, str]:
        """The models among the players: what they are called here, and at the endpoint."""
        return {each.name: each.call[len(MODEL_PREFIX) :] for each in self.entrants if each.sort == MODEL}

    def programs(self) -> list[str]:
        """The programs among the players, by name."""
        return [each.name for each in self.entrants if each.sort == PROGRAM]

    def seat(self, name: str, rules: AnyRules, log: Path | None = None) -> Player:
        """The player of that name, at a seat of a game; what a program says on its stderr goes to `log`."""
        (entrant,) = (each for each in self.entrants if each.name == name)
        kind = parse_player_kind(entrant.call, self.limits, log, self.model)
        if kind.name in PLAYER_KINDS:
            kind = resolve_player_kind(kind.name, rules)
        assert kind.seat  # no person is let in
        return kind.seat(rules, no_progress)

    def pairings(self) -> Iterator[tuple[str, str, str]]:
        """Every game with every two players, in the order of the config."""
        for game in self.games:
            for one, two in combinations(self.names, 2):
                yield game, one, two

    def bouts(self, game: str, one: str, two: str, pairs: range) -> Iterator[MatchPlan]:
        """The matches of two players in a game, pair by pair."""
        options = tuple(sorted(self.rules(game).options().items()))
        seeds = json.dumps([self.seed, game, one, two])[:-1]  # all but the pair, once: matches are many
        for pair in pairs:
            seed = f"{seeds}, {pair}]"
            for players in ((one, two), (two, one)):
                yield MatchPlan(game, options, players, seed, pair)

    def told(self) -> dict[str, Any]:
        """The config as a run's folder keeps it: players by name, and who they are.

        Commands are left out: nobody who is handed a folder can be made to run one.
        """
        kept = {
            "kind": RUN,
            "players": {each.name: each.identity(self.model.base_url) for each in self.entrants},
            "games": self.games,
            "matches": {game: self.matches_of(game) for game in self.games},
            "seed": self.seed,
            "options": {game: dict(self.rules(game).options()) for game in self.games},
            "until": self.until,
            "budget": self.budget,
            "limits": {name: getattr(self.limits, name) for name in _names(ProgramLimits)},
            "model": {name: getattr(self.model, name) for name in _CONDITIONS} if self.models() else {},
            "prices": {name: getattr(self.model, name) for name in _PRICES} if self.models() else {},
            "currency": currency_of(self.budget),
        }
        return json.loads(json.dumps(kept))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ProbeConfig:
    """A probe: one player, asked about positions."""

    player: str
    games: tuple[str, ...]
    samples: int = 1
    """How often each position is asked: more than once for a player that draws."""
    positions: int = 200
    """In games that are too large to be asked whole."""
    symmetric: bool = False
    """Whether only one of two mirror images is asked, and its answer taken for both."""
    seed: str = "1"
    budget: str | None = None
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    model: EndpointSettings = field(default_factory=EndpointSettings)

    def __post_init__(self) -> None:
        if not self.games:
            raise BadOption("a probe needs a game, such as --games lights.")
        _check_values(self)
        self.run()  # what is wrong with a player, a model or a budget is found there

    def run(self) -> Config:
        """A run with the same player, which knows how to seat it."""
        return Config(
            (self.player, _OTHER),
            self.games,
            2,
            self.seed,
            budget=self.budget,
            limits=self.limits,
            model=self.model,
        )

    def told(self) -> dict[str, Any]:
        """As a probe's folder keeps it."""
        run = self.run().told()
        (name, who), _ = run["players"].items()
        kept = {each: getattr(self, each) for each in ("samples", "positions", "symmetric", "seed", "budget")}
        same = {each: run[each] for each in ("currency", "limits", "model", "prices")}
        told = {"kind": PROBE, "player": {name: who}, "games": self.games, **kept, **same}
        return json.loads(json.dumps(told))  # type: ignore[no-any-return]


_OTHER = "nobody=random"


def check_same(asked: Mapping[str, Any], kept: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on in a folder that is of another run; it may only be asked for more or less."""
    for name, value in asked.items():
        if name not in GROWS and value != kept.get(name):
            raise DuelsError(
                f"{folder} is of another run: {name} is not as it was. Name another folder with --out."
            )
    was, now = kept["currency"], asked["currency"]
    if was and now and was != now:
        raise DuelsError(f"{folder} counts money in {was}, not in {now}: give prices and a budget in {was}.")


_CHECKED_APART = ("player", "players", "games", "matches", "limits", "model")
_LEAST = {"samples": 1, "positions": 2, "memory_mb": 16, "concurrency": 1}
"""The least that numbers may be, by name; 0 where it is another."""
_BELOW = {"until": 0.5}
"""What numbers must be less than."""
_SORTS = {str: "a text", bool: "true or false", Mapping: "a table", int: "a whole number", float: "a number"}


def _check_values(config: Config | ProbeConfig) -> None:
    """BadOption, if a value of a config is of another type or out of its range."""
    for told in (config, config.limits, config.model):
        for each in fields(told):
            if each.name not in _CHECKED_APART:
                _check_value(type(told), each.name, getattr(told, each.name))


def _check_value(kind: type, name: str, value: Any) -> None:
    hint = get_type_hints(kind)[name]
    options = get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)
    if value is None and NoneType in options:
        return
    sort = options[0]
    allowed, fits = _SORTS[sort], isinstance(value, int | float if sort is float else sort)
    if sort in (int, float):
        least, below = _LEAST.get(name, 0), _BELOW.get(name, inf)
        above = name in _BELOW or name.endswith("_seconds")
        fits = fits and type(value) is not bool and least <= value < below and not (above and value == least)
        limits = f" above {least}" if above else f" of {least} or more"
        allowed += limits if below == inf else f" between {least} and {below}"
    if not fits:
        raise BadOption(f"{name} is {allowed}, not {value!r}.")


def _check_matches(matches: Any) -> None:
    if type(matches) is not int or matches < 2:
        raise BadOption(f"matches is a whole number of 2 or more, not {matches!r}.")
    if matches % 2:
        raise BadOption(f"matches is even, for every seed is played from both seats; {matches} is not.")


def currency_of(budget: str | None) -> str:
    """The currency of a budget; empty where there is none."""
    read = _BUDGET.fullmatch((budget or "").strip())
    return read[2].lower() if read else ""


LADDER = ("random", "greedy", *LEVEL_SHARES)
"""The standing field: who is always measured."""
LADDER_MATCHES = {"lights": 200, "leap": 200, "chain": 20, "hunt": 100, "flip": 20}
"""For each two players: so many take two minutes on two processors. Where luck is taken out, or matches are
long, fewer are enough."""


def ladder_config(games: tuple[str, ...], matches: int | None, seed: str) -> Config:
    """The run of the ladder."""
    names = games or tuple(GAMES)
    usual = {name: LADDER_MATCHES.get(name, 10) for name in names}
    return Config(LADDER, names, matches or usual, seed)


def read_config_data(path: Path) -> tuple[dict[str, Any], Path | None]:
    """What a TOML file says of a run, not yet checked, and the folder it names (`out`), if it does."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DuelsError(f"this is no TOML: {error}.") from None
    out = told.pop("out", None)
    if out == "":
        raise BadOption("out is the name of a folder, not ''.")
    return told, None if out is None else path.parent / str(out)


def config_of(told: dict[str, Any]) -> Config:
    """A config from plain data; a name that means nothing is refused."""
    for name in told:
        if name not in _names(Config):
            known = _listed(*_names(Config), "out")
            raise UnknownName(f"there is nothing called {quote(name)} in a run; there are {known}.")
    limits = _checked(told.pop("limits", {}), ProgramLimits, "limit")
    model = _checked(told.pop("model", {}), EndpointSettings, "setting of models")
    for name in ("players", "games"):
        value = told.get(name, ())
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise BadOption(f"{name} is a list of names, not {value!r}.")
        told[name] = tuple(value)
    if "seed" in told:
        told["seed"] = str(told["seed"])
    return Config(**told, limits=ProgramLimits(**limits), model=EndpointSettings(**model))


def _checked(told: Any, kind: type[ProgramLimits] | type[EndpointSettings], what: str) -> dict[str, Any]:
    """A table of a config, if all its names are known and it may be made of these values."""
    if not isinstance(told, dict):
        raise BadOption(f"what is said about each {what} is a table, not {told!r}.")
    for name, value in told.items():
        if name not in _names(kind):
            raise UnknownName(f"there is no {what} {quote(name)}; there are {_listed(*_names(kind))}.")
        _check_value(kind, name, value)
    return dict(told)


def _names(kind: type[Config] | type[ProgramLimits] | type[EndpointSettings]) -> list[str]:
    return [each.name for each in fields(kind)]


def _listed(*names: str) -> str:
    return ", ".join(sorted(names))
