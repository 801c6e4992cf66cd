"""Exact sums over two policies: against every line of play through the rules, and against plain matches."""

from collections import defaultdict

import pytest

from duels.core.rules import Seat, Sight
from duels.games.hunt.certify.policies import Weigh, make_policy_from_function, make_policy_from_tables
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.rules import Action, End, QuantumHunt, State, View
from duels.games.hunt.self_play import ROUNDING
from duels.games.hunt.strategy import OFF, load_strategy

pytest.importorskip("numba")

from tools.hunt.evaluation import evaluate
from tools.hunt.naive import NAIVE
from tools.hunt.simulation import simulate

RULES = QuantumHunt()
UNIFORM, SWEEPS = NAIVE["uniform"], NAIVE["stays and sweeps"]


def every_line(one: Weigh, two: Weigh, turns: int) -> list[dict[End, float]]:
    """Return how each of the first turns ends the game, by the rules alone, with its probability."""
    lines: dict[State, float] = {RULES.initial(): 1.0}
    ends = []
    for number in range(turns):
        seat = Seat.TWO if number % 2 else Seat.ONE
        for _ in range(2):  # movement, then observation
            after: dict[State, float] = defaultdict(float)
            for state, chance in lines.items():
                actions = RULES.actions(state)
                weights = (one, two)[number % 2](RULES.sight(state, seat).view, actions)
                for action, weight in zip(actions, weights, strict=True):
                    if weight:
                        after[RULES.apply(state, action).state] += chance * weight / sum(weights)
            lines = after
        ended: dict[End, float] = defaultdict(float)
        for state, chance in lines.items():
            if state.end:
                ended[state.end] += chance
        ends.append(ended)
        lines = {state: chance for state, chance in lines.items() if not state.end}
    return ends


@pytest.mark.parametrize(
    ("one", "two"), [(UNIFORM, UNIFORM), (SWEEPS, UNIFORM), (UNIFORM, NAIVE["always stays"])]
)
def test_frequencies_of_endings_agree_with_the_rules(one: Weigh, two: Weigh) -> None:
    turns = 4
    evaluation = evaluate(
        make_policy_from_function(one, Seat.ONE), make_policy_from_function(two, Seat.TWO), max_turns=turns
    )
    for turn, ended in zip(evaluation.turns, every_line(one, two, turns), strict=True):
        assert turn.captured == pytest.approx(ended[End.CAPTURE], abs=1e-12)
        assert turn.collided == pytest.approx(ended[End.COLLISION], abs=1e-12)
    assert evaluation.unfinished == pytest.approx(1 - sum(evaluation.lengths))


def test_reports_progress_by_turn() -> None:
    messages: list[str] = []
    evaluate(
        make_policy_from_function(SWEEPS, Seat.ONE),
        make_policy_from_function(SWEEPS, Seat.TWO),
        progress=messages.append,
    )
    assert messages[0] == "exact sums, turn 1, 1 of the games left"
    assert len(messages) > 5


def test_counts_add_up() -> None:
    evaluation = evaluate(
        make_policy_from_function(SWEEPS, Seat.ONE), make_policy_from_function(UNIFORM, Seat.TWO), max_turns=6
    )
    left = 1.0
    for turn in evaluation.turns:
        assert turn.moved.sum() == pytest.approx(left)
        assert turn.moved_after_observation.sum() == pytest.approx(left)
        assert turn.observed.sum() == pytest.approx(left - turn.collided)
        assert turn.observed_after_observation.sum() == pytest.approx(left - turn.collided)
        left -= turn.captured + turn.collided
    third = evaluation.turns[2]  # a player who sweeps names 2 after 1, and never moves
    assert third.observed[0, 1] == pytest.approx(third.observed.sum())
    assert third.moved.trace() == pytest.approx(third.moved.sum())


@pytest.mark.parametrize("seat", list(Seat))
def test_evaluation_against_a_naive_policy_agrees_with_simulation(seat: Seat) -> None:
    """The tables as they are summed are the ones that the oracle plays by."""
    strategy = load_strategy()
    sides = {
        seat: make_policy_from_tables(strategy[seat]),
        seat.other: make_policy_from_function(SWEEPS, seat.other),
    }
    evaluation = evaluate(sides[Seat.ONE], sides[Seat.TWO])

    def sweeper(sight: Sight[Action, View]) -> list[float]:
        return SWEEPS(sight.view, sight.actions)

    played = {seat: HuntOracle(RULES, strategy).weights, seat.other: sweeper}
    won, entries = simulate(RULES, played, 600, seed=3)
    assert won.agrees(evaluation.won)
    assert entries.agrees(2 * evaluation.turns_on_average)
    assert evaluation.unfinished < 1e-8


@pytest.mark.slow
def test_evaluation_of_the_shipped_pair_agrees_with_its_table_and_simulation() -> None:
    oracle = HuntOracle(RULES, load_strategy())
    one, two = (make_policy_from_tables(load_strategy()[seat]) for seat in Seat)
    evaluation = evaluate(one, two)
    value = oracle.pair.before_turn(Seat.ONE, 0, 0, OFF, OFF)
    assert abs(value - evaluation.won) <= ROUNDING + evaluation.unfinished
    won, entries = simulate(RULES, dict.fromkeys(Seat, oracle.weights), 4000, "hunt")
    assert won.agrees(evaluation.won)
    assert entries.agrees(2 * evaluation.turns_on_average)
