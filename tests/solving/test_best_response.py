"""Best responses by whole-tree search: against OpenSpiel's own on the same shortened game."""

from collections.abc import Sequence
from typing import Any

import pytest

from duels.core.rules import AnyRules, AnySight, Seat, Sight
from duels.games.hunt.rules import Action, QuantumHunt, View
from duels.solving.best_response import Policy, best_response
from duels.solving.cfr import build_sequence_forms, find_best_responses
from duels.solving.tree import build_tree
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim

SHORT = QuantumHunt(cells=2, max_turns=3)


def uniform(sight: Sight[Action, View]) -> Sequence[float]:
    return [1 / len(sight.actions)] * len(sight.actions)


def test_finds_a_certain_win() -> None:
    """On two cells, against a policy that always takes the first action it has."""

    def takes_the_first(sight: Sight[Action, View]) -> Sequence[float]:
        return [float(action is sight.actions[0]) for action in sight.actions]

    assert best_response(QuantumHunt(cells=2, max_turns=4), Seat.TWO, takes_the_first) == 1.0


def test_a_draw_is_worth_one_half() -> None:
    """Whoever holds the lower of two cards can do no better than to pass until it is cut off."""

    def passes(sight: Sight[str, Any]) -> Sequence[float]:
        return [1.0, 0.0]

    # Dealt 2, show: it wins or draws; dealt 1, wait. So both seats win (1 + 1/2) / 4 + 1/4.
    for seat in Seat:
        assert best_response(HighCard(max_passes=4), seat, passes) == (1 + 0.5) / 4 + 0.5 / 2


def open_spiels(rules: QuantumHunt) -> Any:
    """The shortened game in OpenSpiel; its information states are a seat's observations."""
    pyspiel = pytest.importorskip("pyspiel")
    import duels.envs.openspiel  # noqa: F401  (registers the games)

    return pyspiel.load_game(f"duels_hunt(cells={rules.cells},max_turns={rules.max_turns})")


def policy_of(table: Any, game: Any) -> Policy[Action, View]:
    """One of OpenSpiel's tabular policies as a policy of sights."""

    def chances(sight: Sight[Action, View]) -> Sequence[float]:
        row = table.policy_for_key(keys[sight.seat, sight.history])
        return [float(row[actions.index(action)]) for action in sight.actions]

    actions = game.rules.all_actions()
    keys = {}
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        if not state.is_terminal():
            sight = state.match.sight(Seat(state.current_player() + 1))
            keys[sight.seat, sight.history] = state.information_state_string()
            waiting += [state.child(action) for action in state.legal_actions()]
    return chances


@pytest.mark.parametrize(
    "rules", [SHORT, pytest.param(QuantumHunt(cells=3, max_turns=3), marks=pytest.mark.slow)]
)
def test_agrees_with_openspiel_against_uniform_play(rules: QuantumHunt) -> None:
    game = open_spiels(rules)
    from open_spiel.python import policy
    from open_spiel.python.algorithms import best_response as theirs

    for seat in Seat:
        answer = theirs.BestResponsePolicy(game, seat - 1, policy.UniformRandomPolicy(game))
        expected = (answer.value(game.new_initial_state()) + 1) / 2
        assert best_response(rules, seat, uniform) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rules", "rounds", "most"),
    [(SHORT, 40, 0.1), pytest.param(QuantumHunt(cells=3, max_turns=3), 60, 0.05, marks=pytest.mark.slow)],
)
def test_agrees_with_openspiel_on_exploitability_of_cfr(rules: QuantumHunt, rounds: int, most: float) -> None:
    game = open_spiels(rules)
    from open_spiel.python.algorithms import cfr, exploitability

    solver = cfr.CFRPlusSolver(game)
    for _ in range(rounds):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    learned = policy_of(average, game)
    gains = sum(best_response(rules, seat, learned) for seat in Seat) - 1
    # OpenSpiel's game is worth from -1 to 1, ours from 0 to 1.
    assert gains == pytest.approx(exploitability.nash_conv(game, average) / 2, abs=1e-6)
    assert gains < most


@pytest.mark.parametrize(
    "rules", [SHORT, HighCard(max_passes=4), HighCard(cards=3, max_passes=3), Nim((1, 2), roll=2)]
)
def test_agrees_with_the_sequence_form(rules: AnyRules) -> None:
    def skewed(sight: AnySight) -> Sequence[float]:
        """Never takes the first of three or more actions, so that parts of the game are never reached."""
        shares = [(index + len(sight.events)) % 4 + 0.5 for index in range(len(sight.actions))]
        shares[0] *= len(shares) < 3
        return [share / sum(shares) for share in shares]

    responses = find_best_responses(rules, build_tree(rules), skewed)
    for seat in Seat:
        assert responses[seat][0] == pytest.approx(best_response(rules, seat, skewed))


def test_asks_a_policy_once_per_reachable_information_set() -> None:
    calls: list[tuple[Any, ...]] = []

    def takes_the_last(sight: Sight[Action, View]) -> Sequence[float]:
        calls.append((sight.seat, tuple(sight.history)))
        return [float(action is sight.actions[-1]) for action in sight.actions]

    tree = build_tree(SHORT)
    find_best_responses(SHORT, tree, takes_the_last)
    assert (
        len(set(calls))
        == len(calls)
        < sum(len(side.decisions) for side in build_sequence_forms(tree).values())
    )
