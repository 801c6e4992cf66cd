"""A duel and a match of it, for OpenSpiel."""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyspiel

from duels.analysis.encoding import ObservationEncoder
from duels.core.errors import BadOption, GameOver, IllegalMove
from duels.core.features import format_feature_value, number_actions
from duels.core.game import Game
from duels.core.match import AnyMatch, Match, Turn
from duels.core.options import Option, OptionKind, OptionValue, list_options
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.envs.versions import Registered

# Some duels can go on for ever. OpenSpiel wants an end: after so many moves nobody has won, unless
# `max_moves` is 0, for algorithms that can do with a game that comes back to where it was.
MAX_MOVES = 100
UNLIMITED = 1000  # what is then said to be the longest game, and remembered of one

SEPARATOR = ";"  # OpenSpiel keeps the comma for itself

Parameter = int | bool | str
Parameters = tuple[tuple[str, Parameter], ...]

HIDDEN = "?"

REGISTERED = Registered()


class SpielForm:
    """A game under some parameters: its rules, and the integers of what can be done."""

    def __init__(self, game: Game, parameters: Parameters) -> None:
        self._made_of = game, parameters
        given = dict(parameters)
        self.max_moves = int(given.pop("max_moves"))
        if self.max_moves < 0:
            raise BadOption(f"max_moves is 0 (no limit) or more in {game.name}, not {self.max_moves}.")
        options = {option.name: option for option in list_options(game.rules_class())}
        self.rules = game.rules(**{name: _value_of(options[name], value) for name, value in given.items()})
        # A limit is an end like any other here, so what is left of it is part of the position.
        self.shown = ObservationEncoder(self.rules, with_left=True)
        self.describe = game.find("features", "describe") or _describe_fields
        self.actions = self.rules.all_actions()
        self.outcomes = self.rules.all_outcomes()
        self.number = number_actions(self.rules)
        self.number |= {outcome: number for number, outcome in enumerate(self.outcomes)}
        self.longest = self.max_moves or UNLIMITED
        # A move may be followed by chance, and chance may come before the first.
        self.most_chance = self.longest + _opening(self.rules) if self.outcomes else 0

    def __reduce__(self) -> Any:
        return _cached_form, self._made_of


def _describe_fields(view: Any) -> str:
    """The view of a game that does not describe it: field by field."""
    if not is_dataclass(view):
        return _plain(view)
    return " ".join(f"{f.name}={_plain(getattr(view, f.name))}" for f in fields(view))


def _plain(value: Any) -> str:
    return ",".join(map(_plain, value)) or "-" if isinstance(value, tuple) else format_feature_value(value)


def _opening(rules: AnyRules) -> int:
    """How many chance nodes come before the first decision."""
    state, nodes = rules.initial(), 0
    while rules.actor(state) is CHANCE:
        state, nodes = rules.apply(state, rules.actions(state)[0]).state, nodes + 1
    return nodes


@lru_cache(maxsize=64)
def _cached_form(game: Game, parameters: Parameters) -> SpielForm:
    return SpielForm(game, parameters)


def form_of(game: Game, given: dict[str, Parameter]) -> SpielForm:
    return _cached_form(game, tuple(sorted({**parameters_of(game), **given}.items())))


def parameters_of(game: Game) -> dict[str, Parameter]:
    """What OpenSpiel is told of the options: their names, kinds and defaults."""
    options = {option.name: parameter_of(option.default) for option in list_options(game.rules_class())}
    return options | {"max_moves": MAX_MOVES}


def parameter_of(value: OptionValue) -> Parameter:
    if isinstance(value, tuple):
        return SEPARATOR.join(map(str, value)) + SEPARATOR * (len(value) == 1)
    return 0 if value is None else value


def _value_of(option: Option, parameter: Parameter) -> OptionValue:
    if option.kind in (OptionKind.NUMBERS, OptionKind.NAMES):
        return option.parse(str(parameter).strip(SEPARATOR).replace(SEPARATOR, ","))
    return None if option.kind is OptionKind.LIMIT and parameter == 0 else parameter


class DuelGame(pyspiel.Game):
    """A duel, for OpenSpiel."""

    def __init__(self, game: Game, params: dict[str, Parameter] | None = None) -> None:
        form = form_of(game, params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=len(form.actions),
            max_chance_outcomes=len(form.outcomes),
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=form.longest,
        )
        super().__init__(game_type(game), info, params or {})

    @property
    def form(self) -> SpielForm:
        """What is played; from the parameters, which are all that OpenSpiel keeps of a game it copies."""
        return form_of(REGISTERED[self.get_type().short_name], self.get_parameters())

    @property
    def rules(self) -> AnyRules:
        """What is played by."""
        return self.form.rules

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each number of an observation says, such as `cells[3]=mine`."""
        return self.form.shown.names

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action is, in the game's notation."""
        return tuple(map(self.rules.format, self.form.actions))

    def new_initial_state(self) -> "DuelState":
        return DuelState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.form.most_chance

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "DuelObserver":
        """An observer of this kind of observation; the default is what a player is shown now."""
        if params:
            raise ValueError(f"Observation parameters not supported; passed {params}")
        return DuelObserver(self.form, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class DuelState(pyspiel.State):
    """A match under way."""

    def __init__(self, game: DuelGame) -> None:
        super().__init__(game)
        self._at = _Place(game.form, Match.start(game.form.rules), 0)

    @property
    def match(self) -> AnyMatch:
        """The match so far."""
        return self._at.match

    def current_player(self) -> int:
        return self._at.player

    def _legal_actions(self, player: int) -> list[int]:
        return self._at.legal if player == self._at.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        match, number = self.match, self._at.form.number
        odds = match.rules.odds(match.state)
        return [(number[outcome], float(p)) for outcome, p in zip(match.actions, odds, strict=True)]

    def _apply_action(self, action: int) -> None:
        self._at = self._at.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        form = self._at.form
        known = form.outcomes if player == pyspiel.PlayerId.CHANCE else form.actions
        return form.rules.format(known[action])

    def is_terminal(self) -> bool:
        return self._at.player == int(pyspiel.PlayerId.TERMINAL)

    def returns(self) -> list[float]:
        outcome = self.match.outcome
        return [float(2 * outcome.score(seat) - 1) if outcome else 0.0 for seat in Seat]

    def __str__(self) -> str:
        return self._at.text


class _Place:
    """A match and how many moves were made in it; never changed, so that copies of a state share it."""

    def __init__(self, form: SpielForm, match: AnyMatch, moves: int) -> None:
        self.form = form
        self.match = match
        self.moves = moves

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Place":
        return self

    @cached_property
    def player(self) -> int:
        actor = self.match.actor
        if actor is None or (
            self.form.max_moves and self.moves >= self.form.max_moves and actor is not CHANCE
        ):
            return int(pyspiel.PlayerId.TERMINAL)
        return actor - 1 if isinstance(actor, Seat) else int(pyspiel.PlayerId.CHANCE)

    @cached_property
    def legal(self) -> list[int]:
        return sorted(self.form.number[action] for action in self.match.actions)

    def after(self, number: int) -> "_Place":
        actor = self.match.actor
        if actor is None or self.player == int(pyspiel.PlayerId.TERMINAL):
            raise GameOver("The game is over.")
        known = self.form.outcomes if actor is CHANCE else self.form.actions
        if not 0 <= number < len(known):
            raise IllegalMove(f"Action {number} is not allowed now: there are 0 to {len(known) - 1}.")
        return _Place(self.form, self.match.play(actor, known[number]), self.moves + (actor is not CHANCE))

    @cached_property
    def text(self) -> str:
        """The position, and, where the moves are counted, how many were made.

        Positions that are equal for the rules have equal texts, so that algorithms can merge them.
        """
        rules, match = self.form.rules, self.match
        seats = tuple(Seat) if rules.has_secrets else (Seat.ONE,)
        position = " / ".join(rules.format_position(match.sight(seat)) for seat in seats)
        return f"{position} @{self.moves}" if self.form.max_moves else position


def game_type(game: Game) -> Any:
    """What OpenSpiel is told of the game."""
    rules = game.rules()
    kinds = pyspiel.GameType
    return kinds(
        short_name=name_of(game),
        long_name=f"{game.title} ({game.name})",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=(
            kinds.ChanceMode.EXPLICIT_STOCHASTIC if rules.all_outcomes() else kinds.ChanceMode.DETERMINISTIC
        ),
        information=(
            kinds.Information.IMPERFECT_INFORMATION
            if rules.has_secrets
            else kinds.Information.PERFECT_INFORMATION
        ),
        utility=kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters_of(game),
    )


def name_of(game: Game) -> str:
    """What OpenSpiel calls the game."""
    return f"duels_{game.name}"


class DuelObserver:
    """What a player observes, as text and as numbers, by OpenSpiel's kinds of observation.

    With perfect recall it is every entry of the match as the player's seat saw it; without, the
    position as the seat knows it. Public is what a bystander sees; private is what only the seat does.
    """

    def __init__(self, form: SpielForm, kind: Any) -> None:
        self._form = form
        self._recall = kind.perfect_recall
        self._public = kind.public_info
        self._private = kind.private_info
        self.tensor: Any = None
        self.dict: dict[str, Any] = {}
        if self._public and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            self._lay_out()

    def _lay_out(self) -> None:
        if self._recall:
            entries = len(self._form.actions) + len(self._form.outcomes) + 1
            length = self._form.longest + self._form.most_chance
            shapes = {"player": (2,), "entries": (length, entries)}
        else:
            shapes = {f.name: (f.count, f.width) for f in self._form.shown.features}
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        start = 0
        for name, shape in shapes.items():
            stop = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:stop].reshape(shape)
            start = stop

    def set_from(self, state: "DuelState", player: int) -> None:
        """Fill `tensor`, and its parts in `dict`."""
        if self.tensor is None:
            return
        seat = Seat(player + 1)
        if not self._recall:
            self.tensor[:] = np.frombuffer(self._form.shown.to(seat, state.match), np.int8)
            return
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        entries = self.dict["entries"]
        turns = state.match.turns_known_to(seat)[-len(entries) :]
        for row, turn in zip(entries, turns, strict=False):
            row[self._entry(turn, seat)] = 1

    def _entry(self, turn: Turn[Any], seat: Seat) -> int:
        actions = len(self._form.actions)
        if turn.hidden_from(seat):
            return actions + len(self._form.outcomes)
        return self._form.number[turn.action] + (actions if turn.actor is CHANCE else 0)

    def string_from(self, state: "DuelState", player: int) -> str:
        """The observation as text."""
        match, seat = state.match, Seat(player + 1)
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            return self._entries(match, match.turns, hidden=lambda turn: False)
        if self._private == pyspiel.PrivateInfoType.NONE:
            return self._seen(match, None) if self._public else ""
        if not self._public:
            mine = [turn for turn in match.turns if turn.hidden_from(None) and not turn.hidden_from(seat)]
            return self._entries(match, mine, hidden=lambda turn: False)
        if self._recall:
            return f"p{player}: {self._seen(match, seat)}"
        return str(self._form.describe(match.sight(seat).view))

    def _seen(self, match: AnyMatch, seat: Seat | None) -> str:
        """The match as `seat` (None: a bystander) saw it; and, when it is over, how it ended."""
        text = self._entries(match, match.turns_known_to(seat), lambda turn: turn.hidden_from(seat))
        return f"{text}. {match.outcome.code}" if match.outcome else text

    def _entries(
        self, match: AnyMatch, turns: Iterable[Turn[Any]], hidden: Callable[[Turn[Any]], bool]
    ) -> str:
        return ", ".join(HIDDEN if hidden(turn) else match.rules.format(turn.action) for turn in turns)
