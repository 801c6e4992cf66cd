"""The text seat: the arena's questions and grades, and rewards that cannot be gamed."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.arena.match_plan import Judge
from duels.arena.text_seat import (
    MIN_REWARD,
    Forfeit,
    MatchEnd,
    MatchTask,
    MoveResult,
    RetryRequest,
    TextSeat,
)
from duels.core.errors import BadOption, DuelsError, GameOver, UnknownName
from duels.core.match import AnyMatch
from duels.core.rules import AnySight
from duels.games import GAMES
from duels.players.text_player import Conditions
from duels.solving.oracle import Verdict
from duels.solving.oracles import get_oracle

OPTIONS: Mapping[str, dict[str, Any]] = {"chain": {"max_boards": 1}, "hunt": {"max_turns": 4}}
TASKS = st.builds(
    lambda game, opponent, seat, seed: MatchTask(game, opponent, seat, seed, options=OPTIONS.get(game, {})),
    st.sampled_from(list(GAMES)),
    st.sampled_from(["random", "greedy", "novice", "club"]),
    st.sampled_from([1, 2]),
    st.text("ab", max_size=4),
)


def act(action: str) -> str:
    return json.dumps({"action": action})


def play_randomly(seat: TextSeat, rng: Random, failures: float = 0.1) -> Iterator[Any]:
    """Reply until the match ends, mostly with legal moves, and yield the results."""
    while not seat.over:
        bad = rng.random() < failures
        yield seat.reply(rng.choice(["", "I pass.", act("99")]) if bad else act(rng.choice(seat.actions)))


def play_by_verdict(seat: TextSeat, choose: Callable[[Verdict[Any]], Any]) -> None:
    """Reply with the action that is chosen by the verdict of perfect play, until the match ends."""
    while sight := seat.sight:
        seat.reply(act(sight.rules.format(choose(get_oracle(sight.rules).judge(sight)))))


def choose_worst(verdict: Verdict[Any]) -> Any:
    return max((each.action for each in verdict.actions), key=verdict.loss)


def give_up(seat: TextSeat) -> None:
    while not seat.over:
        seat.reply("I pass.")


def replay(task: MatchTask, replies: list[str]) -> TextSeat:
    seat = TextSeat(task)
    for reply in replies:
        seat.reply(reply)
    return seat


@settings(max_examples=25, deadline=None)
@given(TASKS, st.randoms(use_true_random=False))
def test_a_forfeit_never_earns_more_than_legal_play(task: MatchTask, rng: Random) -> None:
    """This holds in any position, even a lost one, and for any legal play instead, however bad."""
    seat, replies = TextSeat(task), list[str]()
    for _ in range(rng.randrange(6)):
        if seat.over:
            return
        replies.append(act(rng.choice(seat.actions)))
        seat.reply(replies[-1])
    if seat.over:
        return
    forfeited, worst, random = seat, replay(task, replies), replay(task, replies)
    give_up(forfeited)
    play_by_verdict(worst, choose_worst)
    for _ in play_randomly(random, rng, failures=0):
        pass
    assert forfeited.reward is not None
    for legal in (worst.reward, random.reward):
        assert legal is not None
        assert forfeited.reward <= legal <= 0


@settings(max_examples=25, deadline=None)
@given(TASKS, st.randoms(use_true_random=False))
def test_longer_play_never_earns_more(task: MatchTask, rng: Random) -> None:
    """Each further decision can only lower the reward, and decisions without a loss leave it unchanged."""
    seat = TextSeat(task)
    for _ in play_randomly(seat, rng, failures=0):
        pass
    totals = list(accumulate(-grade.loss for grade in seat.grades)) or [0.0]
    assert totals == sorted(totals, reverse=True)
    assert seat.reward == pytest.approx(max(MIN_REWARD, totals[-1]))
    best = TextSeat(task)
    play_by_verdict(best, lambda verdict: verdict.best[0])
    assert best.reward == pytest.approx(0, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(TASKS, st.randoms(use_true_random=False))
def test_only_a_finished_match_has_a_reward(task: MatchTask, rng: Random) -> None:
    seat = TextSeat(task)
    if seat.over:
        return
    for result in play_randomly(seat, rng):
        if not seat.over:
            assert (seat.reward, seat.scores(), seat.row) == (None, None, None)
            assert isinstance(result, MoveResult | RetryRequest)
    assert isinstance(result, MatchEnd | Forfeit)
    scores = seat.scores()
    assert scores
    assert scores["reward"] == seat.reward
    with pytest.raises(GameOver):
        seat.reply(act("1"))


@pytest.mark.parametrize("game", GAMES)
def test_texts_do_not_depend_on_grades(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other values of all positions, the model reads the same texts, so no reward is in them."""

    def read() -> tuple[list[str], list[float]]:
        seat = TextSeat(MatchTask(game, "random", seed="7", options=OPTIONS.get(game, {})))
        texts = [seat.briefing]
        for result in play_randomly(seat, Random(3)):
            texts += [seat.question, json.dumps(seat.messages), getattr(result, "text", "")]
        return texts, [grade.before for grade in seat.grades]

    def scramble(self: Judge, match: AnyMatch, sight: AnySight) -> Verdict[Any]:
        verdict = original(self, match, sight)
        return replace(verdict, value=replace(verdict.value, number=0.123))

    texts, values = read()
    original = Judge.get_verdict
    monkeypatch.setattr(Judge, "get_verdict", scramble)
    changed_texts, changed_values = read()
    assert changed_texts == texts
    assert set(changed_values) == {0.123} != set(values)


def test_seeds_hold_under_concurrency() -> None:
    """Matches that are played at the same time, in threads or in turns, are those played one by one."""
    tasks = [
        MatchTask(game, "club", seat, f"{number}", options=OPTIONS.get(game, {}))
        for game in GAMES
        for seat in (1, 2)
        for number in range(2)
    ]

    def play(task: MatchTask) -> Any:
        seat = TextSeat(task)
        for _ in play_randomly(seat, Random(task.seed)):
            pass
        return seat.row, seat.grades

    alone = [play(task) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, tasks)) == alone
    seats = [TextSeat(task) for task in tasks]
    open_matches = [play_randomly(seat, Random(seat.task.seed)) for seat in seats]
    while open_matches:
        open_matches = [each for each in open_matches if next(each, None)]
    assert [(seat.row, seat.grades) for seat in seats] == alone


class BrokenPlayer:
    """A player that raises an error in its second decision."""

    decisions = 0

    def choose(self, sight: AnySight, rng: Random) -> Any:
        self.decisions += 1
        if self.decisions == 2:
            raise RuntimeError("out of order")
        return sight.actions[0]


def test_a_failing_opponent_raises() -> None:
    seat = TextSeat(MatchTask("lights", "club", 2), BrokenPlayer())
    with pytest.raises(RuntimeError, match="out of order"):
        seat.reply(act("4"))
    assert (seat.over, seat.is_to_move, seat.reward, seat.scores()) == (False, False, None, None)
    with pytest.raises(DuelsError, match="broken off by an error"):
        seat.reply(act("5"))


def test_a_reply_is_graded() -> None:
    seat = TextSeat(MatchTask("lights", "perfect", seed="1"))
    result = seat.reply(act("1"))
    assert isinstance(result, MoveResult)
    assert result.grade
    assert (result.grade.action, result.grade.before, result.grade.after, result.grade.loss) == ("1", 1, 0, 1)
    assert "1" not in result.grade.best
    assert seat.grades == [result.grade]


def test_a_seat_retries_and_forfeits() -> None:
    seat = TextSeat(MatchTask("lights", "perfect", conditions=Conditions(retries=1)))
    question = seat.question
    retry = seat.reply("Let me think", "length")
    reason, form = "the answer was cut off at the endpoint's length limit.", question.rpartition("\n\n")[2]
    assert retry == RetryRequest(reason, f"That is not a move: {reason} Please answer again. {form}")
    assert [message["role"] for message in seat.messages] == ["system", "user", "assistant", "user"]
    assert seat.question == question
    forfeit = seat.reply("", "content_filter")
    assert isinstance(forfeit, Forfeit)
    assert "the model refused" in forfeit.reason
    (grade,) = seat.grades
    assert (grade.action, grade.loss, grade.after, grade.failures) == (None, 1, 0, ("cut off", "refused"))
    scores = {"win": 0, "adjusted": 0, "loss": 0, "failures": 2, "forfeit": 1, "reward": MIN_REWARD}
    assert seat.scores() == scores
    assert seat.row
    assert seat.row["result"] == "2 won, 1 forfeited"


@pytest.mark.parametrize("memory", ["none", "conversation"])
@pytest.mark.parametrize("form", ["text", "tool"])
def test_messages_follow_the_conditions(memory: str, form: str) -> None:
    seat = TextSeat(MatchTask("lights", "random", seed="2", conditions=Conditions(memory=memory, form=form)))
    call = "c1" if form == "tool" else ""
    first = seat.messages
    assert ("Call the tool `play`" in seat.question) == (form == "tool")
    assert ("call the tool `play`" in seat.briefing) == (form == "tool")
    seat.reply(act("99"), call_id=call)
    retried = seat.messages
    assert retried[: len(first)] == first
    assert retried[-1]["role"] == ("tool" if call else "user")
    seat.reply(act("1"), call_id=call)
    assert seat.messages[-1] == {"role": "user", "content": seat.question}
    if memory == "none":
        assert len(seat.messages) == 2
    else:
        assert seat.messages[: len(retried)] == retried
        roles = [message["role"] for message in seat.messages[len(retried) :]]
        assert roles == (["assistant", "tool", "user"] if call else ["assistant", "user"])


def test_forced_moves_are_asked_only_on_request() -> None:
    """In leap, the first entry is forced."""
    assert "enter" not in TextSeat(MatchTask("leap", "random")).actions
    asked = TextSeat(MatchTask("leap", "random", conditions=Conditions(ask_forced=True)))
    assert asked.actions == ("enter",)
    assert asked.reply(act("enter")) == MoveResult(None)
    assert asked.grades == []


def test_two_text_seats_play_each_other() -> None:
    task = MatchTask("lights", seed="5")
    one, two = TextSeat.make_self_play(task, Conditions(show_actions=True))
    assert "You may play:" not in one.question
    with pytest.raises(DuelsError, match="not the turn of Player 2"):
        two.reply(act("4"))
    assert isinstance(one.reply(act("4")), MoveResult)
    assert (one.is_to_move, two.is_to_move) == (False, True)
    assert "You may play:" in two.question
    give_up(two)
    assert one.over
    assert one.row == two.row
    assert (one.reward, two.reward) == (0, MIN_REWARD)


def test_a_task_survives_a_dataset() -> None:
    task = MatchTask("hunt", "best", 2, "s", 3, {"max_turns": 9}, Conditions(mirror=True, form="tool"))
    row = json.loads(json.dumps(task.as_row()))
    assert MatchTask.from_row({**row, "prompt": "something else"}) == task
    assert MatchTask.from_row({"game": "lights", "options": {"lights": 5, "max_turns": None}}).options == {
        "lights": 5
    }
    assert {type(value) for value in row.values()} == {str, int}


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"game": "chess"}, UnknownName, "chess"),
        ({"game": "lights", "opponent": "human"}, UnknownName, "is a person"),
        ({"game": "lights", "opponent": "cmd:rm -rf x"}, UnknownName, "cmd:rm -rf x"),
        ({"game": "lights", "opponent": "model:x"}, UnknownName, "model:x"),
        ({"game": "lights", "seat": 3}, DuelsError, "seat must be"),
        ({"game": "lights", "seed": 3}, BadOption, "seed must be a string, not 3"),
        ({"game": "lights", "options": {"lamps": 5}}, DuelsError, "lamps"),
        ({"game": "lights", "options": [1]}, BadOption, "options must be a table"),
        (
            {"game": "lights", "conditions": {"memory": "all"}},
            BadOption,
            "memory must be none or conversation",
        ),
        (
            {"game": "lights", "conditions": {"retries": -1}},
            BadOption,
            "retries must be a whole number of 0 or more, not -1",
        ),
        (
            {"game": "lights", "conditions": {"mirror": "yes"}},
            BadOption,
            "mirror must be true or false, not 'yes'",
        ),
        ({"game": "lights", "conditions": {"tries": 1}}, UnknownName, "'tries' is not a condition"),
        ({"game": "leap", "conditions": {"mirror": True}}, BadOption, "no mirror symmetry"),
    ],
)
def test_rejects_invalid_rows(row: dict[str, Any], error: type[Exception], message: str) -> None:
    """Opponents are built-in players: a dataset must not run a command."""
    with pytest.raises(error, match=message):
        TextSeat(row)
