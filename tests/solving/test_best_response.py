"""Best responses by whole-tree search: against OpenSpiel's own on the same shortened game."""

from collections.abc import Sequence
from typing import Any

import pytest

from duels.core.match import Match
from duels.core.rules import Seat, Sight
from duels.games.hunt.rules import Action, Known, QuantumHunt
from duels.solving.best_response import best_response

SHORT = QuantumHunt(cells=2, max_turns=3)


def uniform(sight: Sight[Action, Known]) -> Sequence[float]:
    return [1 / len(sight.actions)] * len(sight.actions)


def test_a_certain_win_is_found() -> None:
    """On two cells, against a policy that always takes the first action it has."""

    def takes_the_first(sight: Sight[Action, Known]) -> Sequence[float]:
        return [float(action is sight.actions[0]) for action in sight.actions]

    assert best_response(QuantumHunt(cells=2, max_turns=4), Seat.TWO, takes_the_first) == 1.0


def open_spiel_game() -> Any:
    """The shortened game as OpenSpiel sees it: information states are what a seat has seen."""
    pyspiel = pytest.importorskip("pyspiel")
    actions = SHORT.all_actions()

    class State(pyspiel.State):  # type: ignore[misc, name-defined]
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.match: Any = Match.start(SHORT)

        def current_player(self) -> int:
            actor = self.match.actor
            return int(pyspiel.PlayerId.TERMINAL) if actor is None else actor - 1

        def _legal_actions(self, player: int) -> list[int]:
            return sorted(actions.index(action) for action in self.match.actions)

        def _apply_action(self, action: int) -> None:
            self.match = self.match.play(self.match.actor, actions[action])

        def _action_to_string(self, player: int, action: int) -> str:
            return SHORT.format(actions[action])

        def is_terminal(self) -> bool:
            return self.match.actor is None

        def returns(self) -> list[float]:
            outcome = self.match.outcome
            if outcome is None or outcome.winner is None:
                return [0.0, 0.0]
            return [1.0, -1.0] if outcome.winner is Seat.ONE else [-1.0, 1.0]

        def information_state_string(self, player: int = -1) -> str:
            seat = Seat((self.current_player() if player < 0 else player) + 1)
            return f"{seat.value} {self.match.seen(seat)}"

        def __str__(self) -> str:
            return str([turn.action for turn in self.match.turns])

    kind = pyspiel.GameType(
        short_name="short_hunt",
        long_name="short hunt",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=len(actions),
        max_chance_outcomes=0,
        num_players=2,
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0,
        max_game_length=2 * (SHORT.max_turns or 0),
    )

    class Game(pyspiel.Game):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(kind, info, {})

        def new_initial_state(self) -> State:
            return State(self)

    return Game()


def test_the_best_response_to_uniform_play_is_open_spiels() -> None:
    game = open_spiel_game()
    from open_spiel.python import policy
    from open_spiel.python.algorithms import best_response as theirs

    for seat in Seat:
        answer = theirs.BestResponsePolicy(game, seat - 1, policy.UniformRandomPolicy(game))
        expected = (answer.value(game.new_initial_state()) + 1) / 2
        assert best_response(SHORT, seat, uniform) == pytest.approx(expected)


def test_open_spiels_cfr_leaves_us_as_little_to_gain_as_it_says() -> None:
    game = open_spiel_game()
    from open_spiel.python.algorithms import cfr, exploitability

    solver = cfr.CFRSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    table = {key: average.action_probability_array[i] for key, i in average.state_lookup.items()}
    actions = SHORT.all_actions()

    def learned(sight: Sight[Action, Known]) -> Sequence[float]:
        row = table[f"{sight.seat.value} {sight.events}"]
        return [float(row[actions.index(action)]) for action in sight.actions]

    gains = sum(best_response(SHORT, seat, learned) for seat in Seat) - 1
    # OpenSpiel's game is worth from -1 to 1, ours from 0 to 1.
    assert gains == pytest.approx(exploitability.nash_conv(game, average) / 2, abs=1e-6)
    assert gains < 0.1
