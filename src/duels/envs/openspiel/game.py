"""A duel and a match of it, for OpenSpiel."""

from functools import cached_property
from typing import Any

import pyspiel

from duels.core.errors import GameOver, IllegalMove
from duels.core.game import Game
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.envs.openspiel.form import Parameter, SpielForm, form_of, parameters_of
from duels.envs.openspiel.observer import DuelObserver
from duels.envs.registered import Registered

REGISTERED = Registered()


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
