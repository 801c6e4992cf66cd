"""OpenSpiel games (`duels_lights` and so on), with explicit chance and perfect recall.

Importing this module registers our games and those of installed packages. Call `register` for any other game.
Parameters are `max_moves` and the rules' options. 0 means no limit, and lists are written `3;5;7` or `3;`.

>>> import pyspiel
>>> import duels.envs.openspiel
>>> state = pyspiel.load_game("duels_lights(lights=3)").new_initial_state()
>>> [state.action_to_string(action) for action in state.legal_actions()]
['1', '2', '3', '1-2', '2-3']
"""

import logging
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache
from math import inf
from typing import Any

from duels.core.errors import BadOption, DuelsError, GameOver, IllegalMove, TooLarge, require_extra
from duels.core.features import format_feature_value, number_actions
from duels.core.game import Game
from duels.core.match import AnyMatch, Match, Turn
from duels.core.options import Option, OptionKind, OptionValue, list_options
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.envs.versions import EnvRegistry
from duels.games import GAMES, all_games
from duels.solving.graph import explore, longest_match

with require_extra("openspiel"):
    import numpy as np
    import pyspiel

    from duels.analysis.encoding import ObservationEncoder
    from duels.envs.settings import resolve_env_rules

__all__ = ["DuelGame", "DuelObserver", "DuelState", "load_game", "register"]

log = logging.getLogger(__name__)

# OpenSpiel needs finite games, and some of ours are not. By default, a game ends without a winner after this
# many moves. `max_moves=0` is for algorithms that can handle cycles.
MAX_MOVES = 100
UNLIMITED_LENGTH = 1000  # with `max_moves=0`, the reported maximum length of a match that can be endless
MAX_MEASURED_STATES = 20_000  # takes a second or two; larger games report `max_moves` as the maximum length

SEPARATOR = ";"  # commas separate OpenSpiel's parameters

Parameter = int | bool | str
Parameters = tuple[tuple[str, Parameter], ...]

HIDDEN = "?"

REGISTERED = EnvRegistry()


class SpielSettings:
    """The rules for a game's parameters, with the numbers of actions and outcomes."""

    def __init__(self, game: Game, parameters: Parameters) -> None:
        self._arguments = game, parameters
        values = dict(parameters)
        self.max_moves = int(values.pop("max_moves"))
        if self.max_moves < 0:
            raise BadOption(f"'max_moves' must be at least 0 (0: no limit), not {self.max_moves}.")
        options = {option.name: option for option in list_options(game.rules_class())}
        self.rules = game.rules(**{name: _value_of(options[name], value) for name, value in values.items()})
        # In OpenSpiel a limit ends the game, so observations show the moves left.
        self.encoder = ObservationEncoder(self.rules, with_time_left=True)
        self.describe = game.find("features", "describe") or _describe_fields
        self.actions = self.rules.all_actions()
        self.outcomes = self.rules.all_outcomes()
        self.action_numbers = number_actions(self.rules)
        self.action_numbers |= {outcome: number for number, outcome in enumerate(self.outcomes)}
        find_longest = game.find("features", "longest_match") or _explore_longest_match
        moves, draws = find_longest(self.rules)
        self.max_length = int(min(self.max_moves or UNLIMITED_LENGTH, moves))
        # Chance can act before the first move and after every move.
        most_draws = self.max_length + _count_opening_chance(self.rules) if self.outcomes else 0
        self.max_chance_nodes = int(min(most_draws, draws))

    def __reduce__(self) -> Any:
        return _cached_settings, self._arguments


def _describe_fields(view: Any) -> str:
    """Describe a view field by field, for games without their own `describe`."""
    if not is_dataclass(view):
        return _format(view)
    return " ".join(f"{f.name}={_format(getattr(view, f.name))}" for f in fields(view))


def _format(value: Any) -> str:
    return ",".join(map(_format, value)) or "-" if isinstance(value, tuple) else format_feature_value(value)


def _count_opening_chance(rules: AnyRules) -> int:
    state, nodes = rules.initial(), 0
    while rules.actor(state) is CHANCE:
        state, nodes = rules.apply(state, rules.actions(state)[0]).state, nodes + 1
    return nodes


def _explore_longest_match(rules: AnyRules) -> tuple[float, float]:
    """Return the largest number of moves and of chance nodes in a match.

    Both are infinity if a match can be endless, or if the game has too many states to measure.
    """
    if rules.limit and rules.limit_value is None:
        return inf, inf
    try:
        return longest_match(explore(rules, limit=MAX_MEASURED_STATES))
    except TooLarge:
        return inf, inf


@lru_cache(maxsize=64)
def _cached_settings(game: Game, parameters: Parameters) -> SpielSettings:
    return SpielSettings(game, parameters)


def get_settings(game: Game, parameters: dict[str, Parameter]) -> SpielSettings:
    """Return the settings for these parameters; missing ones get their defaults. Raises BadOption."""
    return _cached_settings(game, tuple(sorted({**default_parameters(game), **parameters}.items())))


def default_parameters(game: Game) -> dict[str, Parameter]:
    """Return the default value of every parameter."""
    options = {option.name: to_parameter(option.default) for option in list_options(game.rules_class())}
    return options | {"max_moves": MAX_MOVES}


def to_parameter(value: OptionValue) -> Parameter:
    """Convert an option to a type that OpenSpiel has: tuples become strings, None becomes 0."""
    if isinstance(value, tuple):
        return SEPARATOR.join(map(str, value)) + SEPARATOR * (len(value) == 1)
    return 0 if value is None else value


def _value_of(option: Option, parameter: Parameter) -> OptionValue:
    if option.kind in (OptionKind.NUMBERS, OptionKind.NAMES):
        return option.parse(str(parameter).strip(SEPARATOR).replace(SEPARATOR, ","))
    return None if option.kind is OptionKind.LIMIT and parameter == 0 else parameter


class DuelGame(pyspiel.Game):
    """An OpenSpiel game."""

    def __init__(self, game: Game, params: dict[str, Parameter] | None = None) -> None:
        settings = get_settings(game, params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=len(settings.actions),
            max_chance_outcomes=len(settings.outcomes),
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=settings.max_length,
        )
        super().__init__(make_game_type(game), info, params or {})

    @property
    def settings(self) -> SpielSettings:
        """The settings, found by the parameters, because OpenSpiel copies only these."""
        return get_settings(REGISTERED[self.get_type().short_name], self.get_parameters())

    @property
    def rules(self) -> AnyRules:
        """The rules of the game."""
        return self.settings.rules

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of each number in an observation, such as `cells[3]=mine`."""
        return self.settings.encoder.names

    @property
    def action_names(self) -> tuple[str, ...]:
        """Each action in the game's notation."""
        return tuple(map(self.rules.format, self.settings.actions))

    def new_initial_state(self) -> "DuelState":
        return DuelState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.settings.max_chance_nodes

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "DuelObserver":
        """Return an observer, by default without perfect recall. Raises ValueError if it gets `params`."""
        if params:
            raise ValueError(f"Observation parameters not supported; passed {params}")
        return DuelObserver(self.settings, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class DuelState(pyspiel.State):
    """An OpenSpiel state: a match and its number of moves."""

    def __init__(self, game: DuelGame) -> None:
        super().__init__(game)
        self._position = _MatchPosition(game.settings, Match.start(game.settings.rules), 0)

    @property
    def match(self) -> AnyMatch:
        """The match so far."""
        return self._position.match

    def current_player(self) -> int:
        return self._position.player

    def _legal_actions(self, player: int) -> list[int]:
        return self._position.legal if player == self._position.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        match, numbers = self.match, self._position.settings.action_numbers
        odds = match.rules.odds(match.state)
        return [(numbers[outcome], float(p)) for outcome, p in zip(match.actions, odds, strict=True)]

    def _apply_action(self, action: int) -> None:
        self._position = self._position.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        settings = self._position.settings
        choices = settings.outcomes if player == pyspiel.PlayerId.CHANCE else settings.actions
        return settings.rules.format(choices[action])

    def is_terminal(self) -> bool:
        return self._position.player == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        outcome = self.match.outcome
        return [float(2 * outcome.score(seat) - 1) if outcome else 0.0 for seat in Seat]

    def __str__(self) -> str:
        return self._position.text


class _MatchPosition:
    """A match and its number of moves. It is immutable, so that copies of a state can share it."""

    def __init__(self, settings: SpielSettings, match: AnyMatch, moves: int) -> None:
        self.settings = settings
        self.match = match
        self.moves = moves

    def __deepcopy__(self, memo: dict[int, Any]) -> "_MatchPosition":
        return self

    @cached_property
    def player(self) -> int:
        actor = self.match.actor
        if actor is None or (
            self.settings.max_moves and self.moves >= self.settings.max_moves and actor is not CHANCE
        ):
            return int(pyspiel.PlayerId.TERMINAL)
        return actor - 1 if isinstance(actor, Seat) else int(pyspiel.PlayerId.CHANCE)

    @cached_property
    def legal(self) -> list[int]:
        return sorted(self.settings.action_numbers[action] for action in self.match.actions)

    def play(self, number: int) -> "_MatchPosition":
        actor = self.match.actor
        if actor is None or self.player == int(pyspiel.PlayerId.TERMINAL):
            raise GameOver("The game is over.")
        choices = self.settings.outcomes if actor is CHANCE else self.settings.actions
        if not 0 <= number < len(choices):
            raise IllegalMove(f"Action {number} does not exist. Use a number from 0 to {len(choices) - 1}.")
        return _MatchPosition(
            self.settings, self.match.play(actor, choices[number]), self.moves + (actor is not CHANCE)
        )

    @cached_property
    def text(self) -> str:
        """The position, and the number of moves if `max_moves` limits it.

        Equal positions have equal texts, so that algorithms can merge them.
        """
        rules, match = self.settings.rules, self.match
        seats = tuple(Seat) if rules.has_hidden_information else (Seat.ONE,)
        position = " / ".join(rules.format_position(match.sight(seat)) for seat in seats)
        return f"{position} @{self.moves}" if self.settings.max_moves else position


def make_game_type(game: Game) -> Any:
    """Return OpenSpiel's description of the game."""
    rules = game.rules()
    types = pyspiel.GameType
    return types(
        short_name=get_spiel_name(game),
        long_name=f"{game.title} ({game.name})",
        dynamics=types.Dynamics.SEQUENTIAL,
        chance_mode=(
            types.ChanceMode.EXPLICIT_STOCHASTIC if rules.all_outcomes() else types.ChanceMode.DETERMINISTIC
        ),
        information=(
            types.Information.IMPERFECT_INFORMATION
            if rules.has_hidden_information
            else types.Information.PERFECT_INFORMATION
        ),
        utility=types.Utility.ZERO_SUM,
        reward_model=types.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=default_parameters(game),
    )


def get_spiel_name(game: Game) -> str:
    """Return OpenSpiel's name of the game."""
    return f"duels_{game.name}"


class DuelObserver:
    """A player's observations as text and tensors, for any of OpenSpiel's observation types.

    With perfect recall, an observation is every entry of the match as the seat saw it. Otherwise it is the
    position as the seat knows it. Everybody sees public information; only the seat sees its private one.
    """

    def __init__(self, settings: SpielSettings, observation_type: Any) -> None:
        self._settings = settings
        self._recall = observation_type.perfect_recall
        self._public = observation_type.public_info
        self._private = observation_type.private_info
        self.tensor: Any = None
        self.dict: dict[str, Any] = {}
        if self._public and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            self._allocate()

    def _allocate(self) -> None:
        if self._recall:
            entries = len(self._settings.actions) + len(self._settings.outcomes) + 1
            length = self._settings.max_length + self._settings.max_chance_nodes
            shapes = {"player": (2,), "entries": (length, entries)}
        else:
            shapes = {f.name: (f.count, f.width) for f in self._settings.encoder.features}
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        start = 0
        for name, shape in shapes.items():
            stop = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:stop].reshape(shape)
            start = stop

    def set_from(self, state: "DuelState", player: int) -> None:
        """Write the observation into `tensor`, whose parts are in `dict`."""
        if self.tensor is None:
            return
        seat = Seat(player + 1)
        if not self._recall:
            self.tensor[:] = np.frombuffer(self._settings.encoder.encode(seat, state.match), np.int8)
            return
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        entries = self.dict["entries"]
        turns = state.match.turns_known_to(seat)[-len(entries) :]
        for row, turn in zip(entries, turns, strict=False):
            row[self._entry(turn, seat)] = 1

    def _entry(self, turn: Turn[Any], seat: Seat) -> int:
        actions = len(self._settings.actions)
        if turn.hidden_from(seat):
            return actions + len(self._settings.outcomes)
        return self._settings.action_numbers[turn.action] + (actions if turn.actor is CHANCE else 0)

    def string_from(self, state: "DuelState", player: int) -> str:
        """Return the observation as text."""
        match, seat = state.match, Seat(player + 1)
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            return ", ".join(match.rules.format(turn.action) for turn in match.turns)
        if self._private == pyspiel.PrivateInfoType.NONE:
            return self._format_seen(match, None) if self._public else ""
        if not self._public:
            private = [turn for turn in match.turns if turn.hidden_from(None) and not turn.hidden_from(seat)]
            return self._format_entries(match, private, seat)
        if self._recall:
            return f"p{player}: {self._format_seen(match, seat)}"
        return str(self._settings.describe(match.sight(seat).view))

    def _format_seen(self, match: AnyMatch, seat: Seat | None) -> str:
        """Return the entries that `seat` (None: a spectator) saw and, after the end, the result."""
        text = self._format_entries(match, match.turns_known_to(seat), seat)
        return f"{text}. {match.outcome.code}" if match.outcome else text

    @staticmethod
    def _format_entries(match: AnyMatch, turns: Iterable[Turn[Any]], seat: Seat | None) -> str:
        format = match.rules.format
        return ", ".join(HIDDEN if turn.hidden_from(seat) else format(turn.action) for turn in turns)


def register(game: Game) -> str:
    """Register a game and return its name for `pyspiel.load_game`, which takes the rules' options.

    Raises DuelsError if another game has the name.

    >>> import duels
    >>> register(duels.find_game("leap"))
    'duels_leap'
    """
    name = get_spiel_name(game)
    if REGISTERED.add(name, game):
        # OpenSpiel passes only the parameters to the class, and finds the class in this module by name.
        game_class = type(
            f"Duel{game.name.title()}Game",
            (DuelGame,),
            {"__init__": lambda self, params=None: DuelGame.__init__(self, game, params)},
        )
        globals()[game_class.__name__] = game_class
        pyspiel.register_game(make_game_type(game), game_class)
    return name


def load_game(game: str | Game | AnyRules, max_moves: int = MAX_MOVES, **options: OptionValue) -> DuelGame:
    """Load a game for OpenSpiel. `game` is a name, a `Game` or rules. Only the first two take options.

    Raises DuelsError for rules that OpenSpiel could not load by the game's name.

    >>> from open_spiel.python.algorithms.minimax import alpha_beta_search
    >>> value, action = alpha_beta_search(load_game("leap", goal=10))
    >>> value
    1.0
    """
    rules = resolve_env_rules(game, **options)
    if type(rules) is not rules.game.rules_class():
        raise DuelsError(
            f"OpenSpiel can load {rules!r} only if its class is the rules class of {rules.game.package}."
        )
    parameters = {name: to_parameter(value) for name, value in rules.options().items()}
    loaded: DuelGame = pyspiel.load_game(register(rules.game), {**parameters, "max_moves": max_moves})
    return loaded


for _game in all_games():
    try:
        register(_game)
    except Exception as error:  # a faulty package must not break our games
        if _game in GAMES.values():
            raise
        log.warning("The game '%s' cannot be registered with OpenSpiel: %s", _game.name, error)
