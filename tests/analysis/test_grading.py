"""Grades come from the oracle and reveal no secrets; exploitability agrees with OpenSpiel's."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from duels_tictactoe.rules import TicTacToe
from open_spiel.python.algorithms import exploitability as theirs
from open_spiel.python.policy import TabularPolicy

import duels.envs.openspiel  # noqa: F401  (registers the games)
from duels.analysis.agents import table_of
from duels.analysis.exploitability import exploitability, exploitability_bounds, tabulate_policy
from duels.analysis.grading import Grader, compute_grades
from duels.core.errors import DuelsError
from duels.core.explore import iter_reachable
from duels.core.match import Match
from duels.core.rules import CHANCE, AnySight, Seat
from duels.envs import pettingzoo as duels_pettingzoo
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.envs.openspiel import load_game
from duels.games import GAMES
from duels.players import make_player
from duels.players.levels import LevelPlayer
from duels.solving.best_response import best_response
from duels.solving.oracles import get_oracle
from duels.solving.tables import DRAWN, get_tables
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lights", {"lights": 4}),
    ("lights", {"lights": 5}),
    ("leap", {"goal": 6}),
    ("leap", {"goal": 8}),
    ("chain", {"cells": 3, "run": 2, "max_boards": 1}),
    ("hunt", {"cells": 2, "max_turns": 3}),
    ("flip", {"side": 2, "values": 2, "copies": 2, "target": 2}),
]


def skewed(sight: AnySight) -> dict[Any, float]:
    """An arbitrary but deterministic policy: weights from a hash of the sight."""
    weights = [1 + (hash_of(sight) + 7 * place) % 5 for place in range(len(sight.actions))]
    return {action: weight / sum(weights) for action, weight in zip(sight.actions, weights, strict=True)}


def hash_of(sight: AnySight) -> int:
    return sum(map(ord, repr(sight.view)))


@pytest.mark.parametrize(("game", "options"), FORMS)
def test_exploitability_is_half_of_openspiels_nash_conv(game: str, options: dict[str, Any]) -> None:
    parameters = ",".join(f"{name}={value}" for name, value in options.items())
    spiel = pyspiel.load_game(f"duels_{game}({parameters})")
    policy = TabularPolicy(spiel)
    for number, state in enumerate(policy.states):
        sight = state.match.sight(Seat(state.current_player() + 1))
        action_numbers = state._position.settings.action_numbers
        for action, probability in skewed(sight).items():
            policy.action_probability_array[number, action_numbers[action]] = probability
        untaken = [a for a in range(spiel.num_distinct_actions()) if a not in state.legal_actions()]
        policy.action_probability_array[number, untaken] = 0
    ours = exploitability(skewed, game, **options)
    assert ours > 0
    assert theirs.exploitability(spiel, policy) == pytest.approx(2 * ours)


def test_perfect_play_of_a_short_leap_is_not_exploitable() -> None:
    """Backward induction by hand, over the rules: a policy that keeps every win it has."""
    rules: Any = GAMES["leap"].rules(goal=9)

    def wins(state: Any) -> bool:
        """Return whether the player to move wins."""
        return any(not wins(rules.apply(state, action).state) for action in rules.actions(state))

    def perfect(sight: AnySight) -> Any:
        winning = [a for a in sight.actions if not wins(rules.apply(sight.view, a).state)]
        return (winning or sight.actions)[0]

    assert exploitability(perfect, "leap", goal=9) == 0
    assert exploitability(skewed, "leap", goal=9) > 0.1


@cache
def perfect_chain(**options: int) -> Any:
    """Return perfect play of chain as a table."""
    rules = GAMES["chain"].rules(**options)
    player: Any = make_player("perfect", rules)
    return tabulate_policy(player.odds, rules)


@pytest.mark.parametrize("options", [{"cells": 5, "run": 3}, pytest.param({}, marks=pytest.mark.slow)])
def test_rare_mistakes_lose_chain_without_a_limit(options: dict[str, Any]) -> None:
    """Without a limit of boards the best opponent of random play, or of rare mistakes, always wins."""
    rules = GAMES["chain"].rules(**options)
    tables = get_tables(rules).tables
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    careless = 0.99 * perfect_chain(**options) + 0.01 * uniform
    assert exploitability(uniform, "chain", **options) == 0.5
    assert exploitability(careless, "chain", **options) == 0.5


GRADED: list[tuple[str, dict[str, Any]]] = [
    ("lights", {}),
    ("leap", {}),
    ("chain", {}),
    ("flip", {}),
]


@pytest.mark.parametrize(("game", "options"), GRADED)
def test_pettingzoo_grades_come_from_the_oracle(game: str, options: dict[str, Any]) -> None:
    env = getattr(duels_pettingzoo, f"{game}_v0").env(grade=True, **options)
    oracle = get_oracle(GAMES[game].rules(**options))
    rng = Random(2)
    for seed in range(2):
        env.reset(seed=seed)
        regrets = dict.fromkeys(env.agents, 0.0)
        session = env.unwrapped._session
        while env.agents and not any(env.terminations.values()):
            for seat, agent in enumerate(env.possible_agents):
                assert env.infos[agent]["value"] == oracle.value(session.sight(seat)).number
                assert env.infos[agent]["regret"] == regrets[agent]
            verdict = oracle.judge(session.sight(session.engine.actor))
            taken = rng.choice(verdict.actions)
            regrets[env.agent_selection] = max(0.0, verdict.value.number - taken.value.number)
            env.step(oracle.rules.all_actions().index(taken.action))
        won = env.rewards["player_1"] > 0
        assert [env.infos[agent]["value"] for agent in env.possible_agents] == [won, not won]


@pytest.mark.parametrize(("game", "sure"), [("chain", "exact"), ("hunt", "estimate")])
def test_an_illegal_action_in_pettingzoo_loses_the_whole_value(game: str, sure: str) -> None:
    env = getattr(duels_pettingzoo, f"{game}_v0").env(grade=True)
    env.reset(seed=1)
    before = env.infos["player_1"]["value"]
    assert before > 0
    env.step(int(env.observe("player_1")["action_mask"].argmin()))
    assert env.rewards == {"player_1": -1.0, "player_2": 0.0}
    assert env.infos == {
        "player_1": {"value": 0.0, "regret": before, "exactness": sure},
        "player_2": {"value": 1.0, "regret": 0.0, "exactness": sure},
    }


@pytest.mark.parametrize("seat", [1, 2])
def test_grades_in_gymnasium(seat: int) -> None:
    env = DuelEnv("lights", "perfect", seat, grade=True)
    _, info = env.reset(seed=1)
    assert info["value"] == (seat == 1)  # the first player wins seven lights
    assert info["regret"] == 0
    rules, oracle = env.rules, get_oracle(env.rules)
    over = False
    while not over:
        verdict = oracle.judge(env._session.sight(seat - 1))
        worst = min(verdict.actions, key=lambda judged: judged.value.number)
        _, reward, over, _, info = env.step(np.int64(rules.all_actions().index(worst.action)))
        assert info["regret"] == verdict.value.number - worst.value.number
    assert (reward, info["value"]) == (-1.0, 0.0)


SURE = {"lights": "exact", "leap": "exact", "chain": "exact", "hunt": "estimate", "flip": "bound"}


@pytest.mark.parametrize("game", SURE)
def test_grades_state_their_exactness(game: str) -> None:
    """To the end: a game of hunt that is won is worth 1 for sure, what its last action gave away is not."""
    env = DuelEnv(game, grade=True)
    _, info = env.reset(seed=1)
    assert info["exactness"] == SURE[game]
    zoo = getattr(duels_pettingzoo, f"{game}_v0").env(grade=True)
    zoo.reset(seed=1)
    assert [seat_info["exactness"] for seat_info in zoo.infos.values()] == [SURE[game]] * 2
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[0])
        over = terminated or truncated
        # Where nothing is left to chance, flip's values are exact too.
        assert info["exactness"] == SURE[game] or (game, info["exactness"]) == ("flip", "exact")
    assert info["value"] in (0.0, 1.0)


def test_batch_grades_state_their_exactness() -> None:
    envs: Any = DuelVectorEnv("leap", 3, grade=True, autoreset_mode="SameStep")
    _, info = envs.reset(seed=1)
    assert info["exactness"].tolist() == ["exact"] * 3
    while "final_info" not in info:
        *_, info = envs.step(info["action_mask"].argmax(axis=1))
    assert info["final_info"]["exactness"][info["_final_info"]][0] == "exact"


def test_grades_agree_with_successor_values() -> None:
    rules: Any = GAMES["leap"].rules()
    grades, tables = compute_grades(rules), get_tables(rules).tables
    assert (grades.values.sum(axis=0) == 1).all()
    deciding = tables.actor >= 0
    assert np.isnan(grades.regrets[~tables.legal]).all()
    # Every state has a move without regret, and each regret is the value that its move loses.
    assert (np.nanmin(grades.regrets[deciding], axis=1) == 0).all()
    state, action = np.nonzero(tables.legal)
    mover = tables.actor[state]
    after = grades.values[mover, tables.successor[state, action, 0] >> 1]
    assert (grades.values[mover, state] - after == grades.regrets[state, action]).all()


def test_only_imperfect_policies_are_exploitable() -> None:
    for game in ("lights", "leap"):
        rules: Any = GAMES[game].rules()
        graded = {
            name: exploitability(player.odds, game)
            for name in ("perfect", "expert", "novice")
            if isinstance(player := make_player(name, rules), LevelPlayer)
        }
        assert graded["perfect"] == 0
        assert 0 < graded["expert"] < graded["novice"]
    assert exploitability(perfect_chain(), "chain") == 0


def test_vector_environments_give_grades() -> None:
    envs: Any = DuelVectorEnv("lights", 5, seat=2, grade=True, autoreset_mode="SameStep")
    one = [DuelEnv("lights", seat=2, grade=True) for _ in range(5)]
    _, info = envs.reset(seed=3)
    for number, env in enumerate(one):
        _, single = env.reset(seed=3 + number)
        assert info["value"][number] == single["value"]
        assert info["regret"][number] == 0
    for _ in range(2):
        actions = np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
        _, _, terminated, _, info = envs.step(actions)
        for number, env in enumerate(one):
            _, _, over, _, single = env.step(actions[number])
            assert over == terminated[number]
            last = info["final_info"] if over else info
            assert single["regret"] == last["regret"][number]
            assert over or single["value"] == info["value"][number]
            if over:
                env.reset()


def test_a_level_opposes_a_vector_environment() -> None:
    envs: Any = DuelVectorEnv("lights", 50, opponent="perfect", seat=2, autoreset_mode="SameStep")
    _, info = envs.reset(seed=1)
    wins = games = 0
    for _ in range(30):
        actions = np.array([np.flatnonzero(mask)[-1] for mask in info["action_mask"]])
        _, rewards, terminated, _, info = envs.step(actions)
        wins, games = wins + (rewards > 0).sum(), games + terminated.sum()
    assert (wins, games > 50) == (0, True)  # nobody beats perfect play from the seat that is lost


def test_rejects_invalid_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    # A search gives up sooner here than for a user.
    monkeypatch.setattr("duels.solving.tree.MAX_HISTORIES", 10_000)
    with pytest.raises(DuelsError, match="a table of 39719 states"):
        exploitability(np.zeros(3), "hunt")
    with pytest.raises(DuelsError, match="too many states"):
        exploitability(np.zeros(3), "flip")
    with pytest.raises(DuelsError, match="too large to search"):
        exploitability(skewed, "flip")
    with pytest.raises(DuelsError, match=r"or a lower limit\. What works: without max_turns"):
        exploitability(skewed, "hunt", max_turns=40)
    with pytest.raises(DuelsError, match=r"reads sight.events .* memory="):
        exploitability("greedy", "hunt")
    with pytest.raises(DuelsError, match="a table of 222 states"):
        exploitability(np.zeros(3, int), "lights")
    for wrong in (np.full(222, 99), np.full(222, -1), np.full((222, 13), np.nan), np.full((222, 13), "1")):
        with pytest.raises(DuelsError, match="policy"):
            exploitability(wrong, "lights")


SHORT: dict[str, Any] = {"cells": 2, "max_turns": 3}


def weigh(sight: AnySight, number: int) -> float:
    """Return a weight that depends on the observation and on the action."""
    view = sight.view
    observed: int = view.last_observed[sight.seat - 1] + 3 * view.last_observed[sight.seat.other - 1]
    return float(1 + (observed + 5 * view.cell + 11 * view.tunnel + 7 * number) % 5)


def skewed_by_observation(sight: AnySight) -> dict[Any, float]:
    weights = {action: weigh(sight, number) for number, action in enumerate(sight.actions)}
    return {action: weight / sum(weights.values()) for action, weight in weights.items()}


def as_table(policy: Any, **options: int) -> Any:
    rules: Any = GAMES["hunt"].rules(**options)
    tables = get_tables(rules).tables
    number = {action: place for place, action in enumerate(rules.all_actions())}
    table = np.zeros((tables.states, tables.actions))
    for place, state in enumerate(tables.rules_states(rules)):
        actor = rules.actor(state)
        for action, probability in policy(rules.sight(state, actor)).items() if actor else ():
            table[place, number[action]] = probability
    return table


def test_a_hunt_table_is_graded_like_its_function() -> None:
    table = as_table(skewed_by_observation, **SHORT)
    exact = exploitability(skewed_by_observation, "hunt", **SHORT)
    assert 0 < exact < 0.5
    assert exploitability(table, "hunt", **SHORT) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("cells", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_an_endless_hunt_table_is_graded_like_its_function(cells: int) -> None:
    table = as_table(skewed_by_observation, cells=cells)
    assert exploitability_bounds(table, "hunt", cells=cells) == exploitability_bounds(
        skewed_by_observation, "hunt", cells=cells
    )


def test_rejects_hunt_tables_that_use_hidden_information() -> None:
    def sees(sight: AnySight) -> dict[Any, float]:
        return {sight.actions[0]: 1.0}

    rules = GAMES["hunt"].rules(**SHORT)
    tables = get_tables(rules).tables
    table = as_table(sees, **SHORT)
    telling = np.flatnonzero(tables.actor == 1)[0]  # Player 1's token may be elsewhere
    table[telling] = tables.legal[telling] / tables.legal[telling].sum()
    with pytest.raises(DuelsError, match="acts on secrets"):
        exploitability(table, "hunt", **SHORT)


def test_grades_an_agent_on_full_hunt() -> None:
    table = table_of(lambda observation, mask: mask.argmax(), "hunt")
    assert exploitability(table, "hunt") == pytest.approx(0.5)


def test_small_forms_of_hunt_grade_perfect_play_by_search() -> None:
    """A search of two turns finds how much each seat's strategy gives away."""
    rules: Any = GAMES["hunt"].rules(max_turns=2)
    perfect: Any = make_player("perfect", rules)
    assert exploitability("perfect", "hunt", max_turns=2) == exploitability(perfect.odds, "hunt", max_turns=2)


@pytest.mark.parametrize(("game", "options"), FORMS)
def test_checks_the_answers_of_functions(game: str, options: dict[str, Any]) -> None:
    with pytest.raises(DuelsError, match="not allowed"):
        exploitability(lambda sight: "nothing", game, **options)
    with pytest.raises(DuelsError, match="sum to 1"):
        exploitability(lambda sight: {sight.actions[0]: 0.5}, game, **options)
    for number in (0, np.int64(0), {0: 1.0}):
        with pytest.raises(DuelsError, match="choose one of"):
            exploitability(always(number), game, **options)
    for answer in ([0], np.array([0.5, 0.5])):
        with pytest.raises(DuelsError, match="must return an action or a mapping"):
            exploitability(always(answer), game, **options)


@pytest.mark.parametrize(("game", "options"), [*FORMS, ("hunt", {})])
def test_rejects_functions_that_sample_actions(game: str, options: dict[str, Any]) -> None:
    rng = Random(1)
    for draws in (lambda sight: rng.choice(sight.actions), lambda sight: {rng.choice(sight.actions): 1.0}):
        with pytest.raises(DuelsError, match="different answers"):
            exploitability_bounds(draws, game, **options)


def always(answer: object) -> Callable[[AnySight], object]:
    return lambda sight: answer


def test_tables_are_normalized() -> None:
    tables = get_tables(GAMES["lights"].rules()).tables
    uniform = tables.legal / np.maximum(tables.legal.sum(axis=1, keepdims=True), 1)
    assert exploitability(uniform * (1 + 5e-6), "lights") == pytest.approx(
        exploitability(uniform, "lights"), abs=1e-12
    )


def by_sweeps(rules: Any, policy: Any, responder: Seat) -> float:
    """The best response by value iteration on the rules' own states, including the clock."""
    states = [match.state for match in iter_reachable(rules)]
    values = dict.fromkeys(states, 0.5)
    for _ in range(200):
        for state in states:
            actor, outcome = rules.actor(state), rules.outcome(state)
            after = [values[rules.apply(state, action).state] for action in rules.actions(state)]
            if outcome:
                values[state] = 0.5 if outcome.winner is None else float(outcome.winner is responder)
            elif actor is responder:
                values[state] = max(after)
            else:
                odds = rules.odds(state) if actor is CHANCE else policy(rules.sight(state, actor))
                values[state] = sum(float(p) * value for p, value in zip(odds, after, strict=True))
    return values[rules.initial()]


def test_a_function_may_depend_on_the_clock() -> None:
    rules: Any = GAMES["chain"].rules(cells=3, run=2, max_boards=3)

    def hurried(sight: AnySight) -> Any:
        return sight.actions[sight.view.boards % len(sight.actions)]

    def odds(sight: AnySight) -> list[float]:
        return [float(action == hurried(sight)) for action in sight.actions]

    expected = (sum(by_sweeps(rules, odds, seat) for seat in Seat) - 1) / 2
    assert exploitability(hurried, "chain", cells=3, run=2, max_boards=3) == pytest.approx(expected)
    perfect: Any = make_player("perfect", GAMES["chain"].rules(cells=4, run=2, max_boards=2))
    assert exploitability(perfect.odds, "chain", cells=4, run=2, max_boards=2) == pytest.approx(0, abs=1e-12)


def test_grades_under_a_limit_need_single_environments() -> None:
    options: Any = {"cells": 4, "run": 2, "max_boards": 2}
    with pytest.raises(DuelsError, match="sync"):
        DuelVectorEnv("chain", 2, grade=True, **options)
    with pytest.raises(DuelsError, match="sync"):
        DuelVectorEnv("chain", 2, opponent="club", **options)
    # Here an empty board is worth one half with any number of boards left.
    DuelVectorEnv("chain", 2, opponent="club", grade=True, cells=5, run=4, max_boards=2)


# -- a game that can be drawn -------------------------------------------------------------------------


def test_a_draw_is_graded_as_one_half() -> None:
    grades, tables = compute_grades(TicTacToe()), get_tables(TicTacToe()).tables
    drawn = tables.result == DRAWN
    assert drawn.sum() == 16  # full boards without three in a row
    assert (grades.values[:, drawn] == 0.5).all()
    assert (grades.values.sum(axis=0) == 1).all()
    assert grades.values[0, 0] == 0.5
    grader = Grader(TicTacToe())
    match = Match.start(TicTacToe()).play_text(*"1592873")
    grader.judge_action(match.sight(Seat.TWO), match.rules.parse("4"))
    assert grader.grade(match.sight(Seat.TWO))["regret"] == 0.5  # Player 1 can now take 6 and win
    full = match.play_text("6", "4")
    assert [grader.grade(full.sight(seat))["value"] for seat in Seat] == [0.5, 0.5]


@pytest.mark.parametrize("rules", [HighCard(max_passes=2), HighCard(cards=3, max_passes=3)])
def test_exploitability_after_a_hidden_chance_event(rules: HighCard) -> None:
    """Our search of all lines agrees with OpenSpiel's on the same game."""
    spiel = load_game(rules)
    policy = TabularPolicy(spiel)
    ours = exploitability("random", rules)
    assert ours > 0
    assert theirs.exploitability(spiel, policy) == pytest.approx(2 * ours)


def test_exploitability_after_a_public_chance_event() -> None:
    """On tables with several starts, beside the search of all lines."""
    rules = Nim(heaps=(1, 2), misere=True, roll=3)

    def uniform(sight: AnySight) -> list[float]:
        return [1 / len(sight.actions)] * len(sight.actions)

    by_search = [best_response(rules, seat, uniform) for seat in Seat]
    assert exploitability("random", rules) == pytest.approx((sum(by_search) - 1) / 2)
