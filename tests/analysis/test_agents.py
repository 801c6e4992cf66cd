"""An agent over observations becomes a table; a player's name becomes a policy."""

from random import Random
from typing import Any

import numpy as np
import pytest

import duels
from duels.analysis.agents import ask_batch, parse_probabilities, table_of
from duels.analysis.exploitability import exploitability
from duels.core.errors import DuelsError
from duels.envs.gymnasium import DuelEnv
from duels.games import GAMES
from duels.players import make_player
from duels.solving.tables import get_tables


def last_allowed(observation: Any, mask: Any) -> Any:
    return np.flatnonzero(mask)[-1]


@pytest.mark.parametrize(
    ("game", "options"), [("lights", {}), ("chain", {"max_boards": 2}), ("hunt", {"cells": 3})]
)
def test_a_table_repeats_the_agents_choices(game: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    weights = rng.random((400, 100))

    def agent(observation: Any, mask: Any) -> Any:
        liking = weights[: len(observation), : len(mask)].T @ observation
        return np.where(mask == 1, liking, -1).argmax()

    table, tables = table_of(agent, game, **options), get_tables(GAMES[game].rules(**options)).tables
    deciding = tables.actor >= 0
    assert (table[deciding].sum(axis=1) == 1).all()
    batch: Any = duels.vector.make(game, 50, seed=2, **options)
    for _ in range(30):
        inputs = zip(batch.observe(), batch.masks(), strict=True)
        assert [agent(*arguments) for arguments in inputs] == table[batch.states].argmax(axis=1).tolist()
        batch.step(batch.sample())


def test_a_gymnasium_agent_is_graded() -> None:
    best = table_of(last_allowed, "lights")
    odds = table_of(lambda observation, mask: mask / mask.sum(), "lights")
    assert exploitability(best, "lights") == pytest.approx(
        exploitability(lambda sight: sight.actions[-1], "lights")
    )
    assert exploitability(odds, "lights") == exploitability("random", "lights")
    env = DuelEnv("lights")
    observation, info = env.reset(seed=1)
    assert table_of(last_allowed, "lights")[0].argmax() == last_allowed(observation, info["action_mask"])


@pytest.mark.parametrize("game", ["lights", "chain", "hunt"])
def test_an_agent_may_answer_in_batches(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.analysis.agents.BATCH_SIZE", 100)
    options: dict[str, Any] = {"cells": 3} if game == "hunt" else {}
    calls = []

    def firsts(observations: Any, masks: Any) -> Any:
        calls.append(len(observations))
        return masks.argmax(axis=1)

    table = table_of(firsts, game, batch=True, **options)
    assert (table == table_of(lambda observation, mask: mask.argmax(), game, **options)).all()
    assert max(calls) <= 100
    each = table_of(lambda seen, masks: masks / masks.sum(axis=1, keepdims=True), game, batch=True, **options)
    assert (each == table_of(lambda seen, mask: mask / mask.sum(), game, **options)).all()
    for wrong in (lambda seen, masks: masks[:-1].argmax(axis=1), lambda seen, masks: 0):
        with pytest.raises(DuelsError, match=r"one answer per row.* batch=False"):
            table_of(wrong, game, batch=True, **options)


ANSWERS: list[Any] = [
    [0, 2],
    [[0], [2]],
    [[0.25, 0.75, 9], [0, 0, 1]],
    [[1, 0, 0], [0, 0, 1]],
    np.array([[0.1, 0.9, 0], [0.5, 0, 0.5]], np.float32),
    [0, 1],
    [3, 0],
    [0, -1],
    [[0.25, 0.5, 0.25], [0, 0, 1]],
    [[1, 0, 0], [2, 0, -1]],
    [[1, 0, 0], [np.nan, 0, 1]],
    [0.0, 2.0],
    [[1, 0], [0, 1]],
]


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_batch_answers_are_parsed_like_single_ones(answer: Any) -> None:
    masks = np.array([[1, 1, 0], [1, 0, 1]], np.int8)

    def call(parse: Any) -> Any:
        try:
            return np.asarray(parse()).tolist()
        except DuelsError as error:
            return str(error)

    def one_by_one() -> Any:
        return [parse_probabilities(row, mask) for row, mask in zip(np.asarray(answer), masks, strict=True)]

    at_once = call(lambda: ask_batch(lambda seen, mask: answer, masks, masks))
    assert at_once == call(one_by_one)


def test_batch_answers_are_parsed_without_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise AssertionError("read one by one")

    monkeypatch.setattr("duels.analysis.agents.parse_probabilities", fail)
    masks = np.ones((4, 2), np.int8)
    assert (ask_batch(lambda seen, mask: mask / 2, masks, masks) == 0.5).all()


def test_an_agent_gets_observations_of_its_dtype() -> None:
    types = []

    def agent(observation: Any, mask: Any) -> Any:
        types.append((observation.dtype, mask.dtype))
        return mask.argmax(axis=-1)

    for batch in (False, True):
        table_of(agent, "lights", batch=batch)
    exploitability(duels.policy_of(agent, "lights"), "lights")
    assert set(types) == {(np.dtype(np.float32), np.dtype(np.int8))}
    types.clear()
    table_of(agent, "lights", dtype="int8")
    exploitability(duels.policy_of(agent, "lights", dtype=np.int8), "lights")
    assert set(types) == {(np.dtype(np.int8), np.dtype(np.int8))}
    with pytest.raises(DuelsError, match="must be numeric"):
        table_of(agent, "lights", dtype=bool)


def test_checks_memory_like_environments() -> None:
    with pytest.raises(DuelsError, match="memory"):
        duels.policy_of(last_allowed, "hunt", memory=-3)
    with pytest.raises(DuelsError, match="memory must be 0 in lights"):
        duels.policy_of(last_allowed, "lights", memory=4)
    with pytest.raises(DuelsError, match=r"has no table: use duels\.policy_of"):
        table_of(last_allowed, "hunt", memory=4)


def test_observations_include_the_remaining_limit() -> None:
    form: dict[str, Any] = {"cells": 3, "run": 2, "max_boards": 3}
    lefts = set()

    def hasty(observation: Any, mask: Any) -> Any:
        """The first action on the last board, the last one before."""
        left = int(observation[-4:].argmax())
        lefts.add(left)
        return mask.argmax() if left == 1 else np.flatnonzero(mask)[-1]

    table = table_of(hasty, "chain", limit_ends="draw", **form)
    assert lefts == {1, 2, 3}
    states = get_tables(GAMES["chain"].rules(**form)).tables.states
    assert table.shape[:2] == (3, states)

    def the_same(sight: Any) -> Any:
        order = sorted(sight.actions, key=GAMES["chain"].rules(**form).all_actions().index)
        return order[0] if sight.view.boards == 2 else order[-1]

    assert exploitability(table, "chain", **form) == exploitability(the_same, "chain", **form)
    assert exploitability(table[:1].repeat(3, axis=0), "chain", **form) == exploitability(
        table[0], "chain", **form
    )
    for wrong, message in ((table[:2], "table has 2 readings"), (table, "have no limit")):
        with pytest.raises(DuelsError, match=message):
            exploitability(wrong, "chain", **{**form, "max_boards": 3 if message[0] == "t" else None})


@pytest.mark.parametrize(
    ("answer", "message"),
    [(0, "chose action 0"), ("x", "not 'x'"), ([0.5] * 13, "do not sum to 1"), ([1.0, 2.0], "13 probab")],
)
def test_rejects_invalid_answers(answer: Any, message: str) -> None:
    with pytest.raises(DuelsError, match=message):
        table_of(lambda observation, mask: answer, "lights")


def test_rejects_invalid_agents() -> None:
    with pytest.raises(DuelsError, match="a function of an observation and a mask, not None"):
        table_of(None, "lights")  # type: ignore[arg-type]


def test_errors_show_the_signature_of_agents_and_policies() -> None:
    wrongs: list[Any] = [lambda observation: 0, lambda: 0, lambda a, b, c: 0]
    for wrong in wrongs:
        with pytest.raises(DuelsError, match="two arguments, an observation and a mask"):
            table_of(wrong, "lights")
    policies: list[Any] = [last_allowed, lambda: 0]
    for policy in policies:
        with pytest.raises(DuelsError, match=r"one argument, a Sight.*duels.table_of"):
            exploitability(policy, "lights")
    # Functions with optional arguments or an unknown signature are called.
    longer: Any = lambda seen, mask, more=0: mask.argmax()  # noqa: E731
    assert table_of(longer, "lights").shape[1] == 13
    with pytest.raises(DuelsError, match="not allowed at"):
        exploitability(type, "lights")


@pytest.mark.parametrize("wrong", [None, 3, 0.5, {}, True])
def test_errors_list_the_kinds_of_policies(wrong: Any) -> None:
    with pytest.raises(DuelsError, match=r"a player or its name, a table .* or a function from a Sight"):
        exploitability(wrong, "lights")


def test_flip_has_no_table() -> None:
    with pytest.raises(DuelsError, match=r"too many states.* duels\.policy_of"):
        table_of(last_allowed, "flip")
    agent: Any = last_allowed
    with pytest.raises(DuelsError, match=r"a Sight.* duels\.policy_of\(agent, 'flip'\)"):
        exploitability(agent, "flip")


@pytest.mark.parametrize("name", ["random", "greedy", "club"])
def test_players_follow_their_odds(name: str) -> None:
    rules: Any = GAMES["leap"].rules()
    player: Any = make_player(name, rules)
    sight = rules.parse_position("4 6 1")
    odds, rng = player.odds(sight), Random(1)
    assert sum(odds.values()) == pytest.approx(1)
    taken = [player.choose(sight, rng) for _ in range(2000)]
    for action in sight.actions:
        assert taken.count(action) / 2000 == pytest.approx(odds.get(action, 0), abs=0.05)


def test_players_are_graded_by_name() -> None:
    graded = [exploitability(name, "leap") for name in ("perfect", "expert", "club", "random")]
    assert graded[0] == 0
    assert graded == sorted(set(graded))
    with pytest.raises(DuelsError, match="no player 'nobody'"):
        exploitability("nobody", "leap")


SMALL_CHAIN: dict[str, Any] = {"cells": 5, "run": 3, "max_boards": 2}
SMALL_FLIP: dict[str, Any] = {"side": 2, "values": 2, "copies": 2, "target": 2}


@pytest.mark.parametrize(("game", "options"), [("leap", {}), ("chain", SMALL_CHAIN), ("flip", SMALL_FLIP)])
def test_a_player_is_graded_like_its_name(game: str, options: dict[str, Any]) -> None:
    player = make_player("random", GAMES[game].rules(**options))
    assert exploitability(player, game, **options) == exploitability("random", game, **options) > 0


def test_rejects_players_without_odds() -> None:
    class Silent:
        def choose(self, sight: Any, rng: Random) -> Any:
            return sight.actions[0]

    with pytest.raises(DuelsError, match="has no method"):
        exploitability(Silent(), "leap")


def test_errors_explain_the_order_of_arguments() -> None:
    with pytest.raises(DuelsError, match="follow the policy"):
        exploitability("leap", last_allowed)  # type: ignore[arg-type]
