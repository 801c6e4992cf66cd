"""OpenSpiel's own tests: simulations, its API test on parts of the tree and on whole trees, playthroughs.

`python -m tests.envs.test_openspiel` rewrites the playthroughs; read the difference.
"""

import contextlib
import copy
import gc
import io
import pickle
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pyspiel
import pytest
from absl import flags

# Their modules define command-line flags and want them read.
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import (
    best_response,
    cfr,
    expected_game_score,
    exploitability,
    generate_playthrough,
    get_all_states,
)
from open_spiel.python.policy import Policy, UniformRandomPolicy

import duels.envs.openspiel  # noqa: F401  (registers the games)
from duels.analysis.exploitability import exploitability as our_exploitability
from duels.core.errors import BadOption, GameOver, IllegalMove
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.games import GAMES
from duels.games.hunt.certify.policies import make_policy_from_tables
from duels.games.hunt.certify.pomdp import Effort
from duels.games.hunt.certify.responder_problem import make_problem
from duels.games.hunt.memory import Window
from duels.games.hunt.rules import Observe, Phase, Tunnel
from duels.players import make_player
from duels.solving.graph import explore, longest_match
from duels.solving.oracles import get_oracle
from tests.games.hunt.certify.test_pomdp import some_tables, tightest

if not flags.FLAGS.is_parsed():
    flags.FLAGS.mark_as_parsed()

GOLDEN = Path(__file__).parent / "playthroughs"

# Forms of the games whose whole tree is small: options, and after how many moves it is cut off.
TREES: dict[str, tuple[dict[str, int], int]] = {
    "lights": ({"lights": 4}, 100),
    "leap": ({"goal": 5}, 100),
    "chain": ({"cells": 3, "run": 3, "max_boards": 1}, 4),
    "hunt": ({"cells": 2, "max_turns": 2}, 100),
    "flip": ({"side": 2, "values": 2, "copies": 2, "target": 3}, 3),
}

# Short games, because a playthrough prints every state with its tensors.
PLAYTHROUGHS = {
    "lights": "duels_lights(lights=4,max_moves=6)",
    "leap": "duels_leap(goal=6,max_moves=12)",
    "chain": "duels_chain(cells=4,run=3,max_boards=1,max_moves=10)",
    "hunt": "duels_hunt(cells=3,max_turns=4,max_moves=8)",
    "flip": "duels_flip(side=3,values=3,copies=3,target=5,max_moves=8)",
}


def run(base: type, name: str, game: Any) -> None:
    """Run OpenSpiel's test case `base` on `game`."""
    kind = type(f"{base.__name__}Ours", (base,), {"game_name": name, "game": game, "__test__": False})
    output = io.StringIO()
    result = unittest.TextTestRunner(output).run(unittest.defaultTestLoader.loadTestsFromTestCase(kind))
    assert result.testsRun > 0
    assert result.wasSuccessful(), output.getvalue()


@pytest.mark.parametrize("game", GAMES)
def test_random_simulations(game: str, capfd: pytest.CaptureFixture[str]) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(f"duels_{game}"), num_sims=5, serialize=True, verbose=False)


@pytest.mark.parametrize("game", GAMES)
def test_openspiel_api_test_on_parts_of_the_tree(game: str) -> None:
    run(api_test.EnforceAPIOnPartialTreeBase, f"duels_{game}", pyspiel.load_game(f"duels_{game}"))


def tree_of(game: str) -> Any:
    options, max_moves = TREES[game]
    parameters = ",".join(f"{name}={value}" for name, value in {**options, "max_moves": max_moves}.items())
    return pyspiel.load_game(f"duels_{game}({parameters})")


class Census:
    """The nodes of a whole tree, counted by the rules alone."""

    def __init__(self, game: str) -> None:
        self.chance = self.ends = self.plays = 0
        self.decisions: set[Any] = set()
        options, max_moves = TREES[game]
        self._count(Match.start(GAMES[game].rules(**options)), max_moves)

    def _count(self, match: AnyMatch, moves_left: int) -> None:
        actor = match.actor
        if actor is CHANCE:
            self.chance += 1
        elif actor is None or moves_left == 0:
            self.ends += 1
            return
        else:
            self.plays += 1
            moves_left -= 1
            self.decisions.add((actor, match.events_seen_by(actor)))
        for action in match.actions:
            self._count(match.play(actor, action), moves_left)


@pytest.mark.parametrize("game", TREES)
def test_openspiel_api_test_on_whole_trees(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts the nodes and the information states, and checks the perfect recall of both forms."""
    counted = Census(game)
    nodes = (counted.chance, counted.plays, counted.ends)
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, game, nodes)
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, game, len(counted.decisions))
    run(api_test.EnforceAPIOnFullTreeBase, game, tree_of(game))


@pytest.mark.parametrize("game", TREES)
def test_an_information_state_lists_the_observations(game: str) -> None:
    """Texts and tensors are equal exactly if the events that the seat has seen are equal."""
    states = get_all_states.get_all_states(tree_of(game), include_terminals=True, include_chance_states=True)
    for player in (0, 1):
        descriptions_by_events: dict[Any, set[Any]] = {}
        for state in states.values():
            description = (
                state.information_state_string(player),
                tuple(state.information_state_tensor(player)),
            )
            descriptions_by_events.setdefault(state.match.events_seen_by(Seat(player + 1)), set()).add(
                description
            )
        assert all(len(description) == 1 for description in descriptions_by_events.values())
        texts = [next(iter(description))[0] for description in descriptions_by_events.values()]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("game", PLAYTHROUGHS)
def test_playthrough(game: str) -> None:
    expected, actual = generate_playthrough.replay(str(GOLDEN / f"{game}.txt"))
    assert actual == expected


def test_every_game_has_a_playthrough_and_a_tree() -> None:
    assert set(PLAYTHROUGHS) == set(GAMES)
    assert set(TREES) == set(GAMES)


def test_parameters_equal_the_options_of_the_rules() -> None:
    game = pyspiel.load_game("duels_hunt(cells=3,max_turns=5)")
    assert game.rules == GAMES["hunt"].rules(cells=3, max_turns=5)
    state = game.new_initial_state()
    assert state.match.rules == GAMES["hunt"].rules(cells=3, max_turns=5)
    assert game.num_distinct_actions() == 9
    unlimited = pyspiel.load_game("duels_chain").new_initial_state()
    assert unlimited.match.rules == GAMES["chain"].rules()


@pytest.mark.parametrize("game", GAMES)
def test_games_and_states_survive_copies(game: str) -> None:
    """OpenSpiel copies only a game's parameters, so states must work without the Python object."""
    state = pickle.loads(pickle.dumps(tree_of(game))).new_initial_state()
    state.apply_action(state.legal_actions()[0])
    gc.collect()
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state), state.clone()):
        assert str(other) == str(state)
        assert other.match.rules == state.match.rules
        other.apply_action(other.legal_actions()[0])
        assert len(other.history()) == 2
        assert len(state.history()) == 1
    fresh = state.get_game().new_initial_state()
    assert fresh.match.rules == state.match.rules


def test_max_moves_cuts_a_game_off() -> None:
    state = pyspiel.load_game("duels_leap(max_moves=3)").new_initial_state()
    for action in (0, 0, 1):
        assert not state.is_terminal()
        state.apply_action(action)
    assert state.is_terminal()
    assert state.legal_actions() == []
    assert state.returns() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "moves", "draws"),
    [
        ("duels_lights", 7, 0),
        ("duels_lights(max_moves=3)", 3, 0),
        ("duels_leap", 41, 0),
        ("duels_leap(max_moves=0)", 41, 0),
        ("duels_chain(max_boards=2)", 100, 100),  # coins can send a piece back for ever
        ("duels_chain(max_moves=0)", 1000, 1000),
        ("duels_hunt(max_turns=10)", 20, 0),
        ("duels_hunt", 100, 0),
        ("duels_flip", 20, 18),
    ],
)
def test_games_have_their_true_length(name: str, moves: int, draws: int) -> None:
    game = pyspiel.load_game(name)
    assert (game.max_game_length(), game.max_chance_nodes_in_history()) == (moves, draws)
    entries = game.num_distinct_actions() + game.max_chance_outcomes() + 1
    assert game.information_state_tensor_size() == 2 + (moves + draws) * entries


@pytest.mark.parametrize(
    "rules",
    [
        *(GAMES["hunt"].rules(cells=cells, max_turns=turns) for cells in (2, 3) for turns in (1, 2, 3)),
        GAMES["flip"].rules(side=2, values=2, copies=2, target=3),
        GAMES["flip"].rules(side=2, values=4, copies=1, target=5),
        GAMES["flip"].rules(side=2, values=1, copies=4, target=2),
    ],
    ids=str,
)
def test_stated_lengths_equal_those_of_the_state_graph(rules: AnyRules) -> None:
    assert rules.game.find("features", "longest_match")(rules) == longest_match(explore(rules))


@pytest.mark.parametrize("wrong", ["max_moves=-1", "max_turns=-1", "cells=0", "cells=-1"])
def test_rejects_parameters_without_a_game(wrong: str) -> None:
    with pytest.raises(BadOption, match=wrong.split("=")[0]):
        pyspiel.load_game(f"duels_hunt({wrong})")


@pytest.mark.parametrize("game", GAMES)
def test_rejects_illegal_actions(game: str) -> None:
    state = tree_of(game).new_initial_state()
    for action in (999, -2, state.num_distinct_actions()):
        with pytest.raises(IllegalMove, match=f"Action {action} (is not allowed now|does not exist)"):
            state.apply_action(action)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    for action in (0, 999):
        with pytest.raises(GameOver):
            state.apply_action(action)


def test_rejects_impossible_chance_outcomes() -> None:
    state = pyspiel.load_game("duels_flip(side=2,values=2,copies=2,target=3)").new_initial_state()
    state.apply_action(0)
    assert state.is_chance_node()
    with pytest.raises(IllegalMove, match=r"Action 999 does not exist\. Use a number from 0 to"):
        state.apply_action(999)


def test_openspiel_cfr_converges() -> None:
    game = pyspiel.load_game("duels_hunt(cells=2,max_turns=3)")
    solver = cfr.CFRPlusSolver(game)
    first = exploitability.exploitability(game, UniformRandomPolicy(game))
    for _ in range(30):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) < first / 3


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("lights", {}),
        ("leap", {}),
        ("chain", {"cells": 5, "run": 3}),
        ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}),
        pytest.param("chain", {}, marks=pytest.mark.slow),
    ],
)
def test_openspiel_value_iteration_agrees_with_our_oracles(
    game: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It imports a solver that it needs for simultaneous moves only.
    solver = "open_spiel.python.algorithms.lp_solver"
    monkeypatch.setitem(sys.modules, solver, ModuleType(solver))
    from open_spiel.python.algorithms.value_iteration import value_iteration

    parameters = ",".join(f"{name}={value}" for name, value in {**options, "max_moves": 0}.items())
    spiel = pyspiel.load_game(f"duels_{game}({parameters})")
    values = value_iteration(spiel, -1, 1e-9, cyclic_game=True)
    rules: Any = GAMES[game].rules(**options)
    oracle: Any = get_oracle(rules)
    assert len(values) > 200
    for text, points in values.items():
        sight = rules.parse_position(text)
        ours = oracle.value(sight) if sight.seat is Seat.ONE else oracle.value(sight).for_other()
        assert ours.error < 1e-4  # flip's values are bounds, close ones
        assert points == pytest.approx(2 * ours.number - 1, abs=2 * ours.error + 1e-6)


class OurPolicy(Policy):  # type: ignore[misc]
    """One of our policies, of a seat's observations, for OpenSpiel's algorithms."""

    def __init__(self, game: Any, odds: Callable[[AnySight], dict[Any, float]]) -> None:
        super().__init__(game, [0, 1])
        self._odds = odds
        self._policy_cache: dict[str, dict[int, float]] = {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        key = state.information_state_string()
        if key not in self._policy_cache:
            odds = self._odds(state.match.sight(Seat(state.current_player() + 1)))
            number = state.get_game().rules.all_actions().index
            self._policy_cache[key] = {number(action): chance for action, chance in odds.items() if chance}
        return self._policy_cache[key]


def their_best_response(game: Any, seat: Seat, odds: Callable[[AnySight], dict[Any, float]]) -> float:
    """Return how often OpenSpiel's best responder wins against our policy at `seat`."""
    responder = best_response.BestResponsePolicy(game, seat.other - 1, OurPolicy(game, odds))
    points: float = responder.value(game.new_initial_state())
    return (points + 1) / 2


@pytest.mark.parametrize("level", ["perfect", pytest.param("club", marks=pytest.mark.slow)])
def test_openspiel_best_response_to_our_hunt_oracle_agrees_with_ours(level: str) -> None:
    """On the book's seven cells, cut off after each player's first turn."""
    rules: Any = GAMES["hunt"].rules(max_turns=2)
    player: Any = make_player(level, rules)
    game = pyspiel.load_game("duels_hunt(max_turns=2)")
    theirs = [their_best_response(game, seat, player.odds) for seat in Seat]
    assert (sum(theirs) - 1) / 2 == pytest.approx(our_exploitability(player.odds, "hunt", max_turns=2))


@pytest.mark.parametrize("seat", list(Seat))
@pytest.mark.parametrize("seed", range(4))
def test_openspiel_best_response_is_within_our_certificate(seed: int, seat: Seat) -> None:
    """The method of hunt's certificate, on two cells, where the best responder needs four turns at most."""
    memory = Window(2, 1)
    tables = some_tables(seed, memory)

    def odds(sight: AnySight) -> dict[Any, float]:
        observed = [entry.cell - 1 for entry in sight.history if isinstance(entry, Observe)]
        own, other = observed[sight.seat - 1 :: 2], observed[sight.seat.other - 1 :: 2]
        row = memory.index(tuple(own)) * len(memory.states) + memory.index(tuple(other))
        index = (sight.view.cell - 1) % 3
        moving = sight.view.phase is Phase.MOVE
        start = (row * 3 + index) * 2 if moving else (row * 2 + index) * 2
        weights = (tables.moves if moving else tables.observations)[start : start + 2]
        allowed = [action for action in sight.actions if not isinstance(action, Tunnel)]
        return {action: weights[action.cell - 1] / sum(weights) for action in allowed}

    bounds = tightest(
        make_problem(make_policy_from_tables(tables, memory, memory), seat),
        Effort(sweeps=12, trials=400, depth=6),
    )
    four, six = (
        their_best_response(pyspiel.load_game(f"duels_hunt(cells=2,max_turns={turns})"), seat, odds)
        for turns in (4, 6)
    )
    assert four == pytest.approx(six)  # the limit cuts nothing off
    assert bounds.low <= four <= bounds.high
    assert four == pytest.approx(bounds.high, abs=1e-6)  # what the certificate claims is no more than true


@pytest.mark.parametrize("settings", ["chain(cells=4,run=3,max_boards=2)", "hunt(cells=2,max_turns=3)"])
def test_observations_include_the_remaining_limit(settings: str) -> None:
    game, rng, pairs = pyspiel.load_game(f"duels_{settings}"), Random(1), set()
    for _ in range(60):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            for player in (0, 1):
                numbers = tuple(state.observation_tensor(player))
                assert len(numbers) == len(game.feature_names)
                pairs.add((player, numbers, getattr(state.match.state, game.rules.clock)))
    assert len({(player, numbers) for player, numbers, _ in pairs}) == len(pairs)
    assert {clock for *_, clock in pairs} == set(range(game.rules.limit_value + 1))
    assert game.feature_names[-1] == f"left={game.rules.limit_value}"


def test_openspiel_tree_values_agree_with_ours() -> None:
    game = pyspiel.load_game("duels_lights(lights=3)")
    uniform = UniformRandomPolicy(game)
    value = expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform])
    # Three lights: five first moves. After an end light (2 of 5) two neighbours are left, and the other
    # wins 1 time in 3 at once, else the first does; after the middle one the other can only leave one;
    # after a pair (2 of 5) the other takes the last.
    expected = 2 / 5 * (-1 / 3 + 2 / 3) + 1 / 5 * 1 + 2 / 5 * -1
    assert value[0] == pytest.approx(expected)
    assert value[1] == pytest.approx(-expected)


if __name__ == "__main__":
    for _game, _text in PLAYTHROUGHS.items():
        with contextlib.redirect_stdout(io.StringIO()):
            _lines = generate_playthrough.playthrough(_text, [], seed=1)
        (GOLDEN / f"{_game}.txt").write_text(_lines, encoding="utf-8")
