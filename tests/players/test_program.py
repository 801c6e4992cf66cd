"""Programs as players: good ones in three languages, and every failure of a program."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import AnySight, Seat
from duels.games import find_game
from duels.players import child, protocol
from duels.players.child import MAX_LOG
from duels.players.failures import BadAnswer, Failure, NoMove
from duels.players.program import ProgramLimits, ProgramPlayer, make_program_name

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "examples" / "bots"
BAD = Path(__file__).with_name("bad_bot.py")
PYTHON = f"{sys.executable} -I -S"
GOOD = {
    "python": f"{PYTHON} {BOTS / 'bot.py'}",
    "mixing": f"{PYTHON} {BOTS / 'mixing.py'}",
    "javascript": f"node {BOTS / 'bot.js'}",
    "shell": f"sh {BOTS / 'bot.sh'}",
}
LIGHTS = find_game("lights").rules()


def opening(game: str = "lights") -> AnySight:
    return Match.start(find_game(game).rules()).sight(Seat.ONE)


def make_bad_bot(habit: str, *words: object, **limits: Any) -> ProgramPlayer:
    command = " ".join([PYTHON, str(BAD), habit, *map(str, words)])
    return ProgramPlayer(command, LIGHTS, ProgramLimits(**{"retries": 0, "move_seconds": 5.0, **limits}))


def get_failure(player: ProgramPlayer) -> BadAnswer:
    try:
        with pytest.raises(NoMove) as problem:
            player.choose(opening(), Random(1))
    finally:
        player.close()
    return problem.value.failed[-1]


@pytest.mark.parametrize("language", GOOD)
@pytest.mark.parametrize("game", ["chain", "hunt"])
def test_the_example_bots_play_whole_matches(language: str, game: str) -> None:
    if not shutil.which(GOOD[language].split()[0]):
        pytest.skip("not installed here")
    rules = find_game(game).rules(**{"max_boards" if game == "chain" else "max_turns": 3})
    player = ProgramPlayer(GOOD[language], rules)
    match, rng = Match.start(rules), Random(2)
    try:
        while (actor := match.actor) is not None:
            if isinstance(actor, Seat):
                answer = player.decide(match.sight(actor), rng)
                assert answer.failed == ()
                assert (answer.policy is not None) == (language == "mixing")
                match = match.play(actor, answer.action)
            else:
                match = match.play(actor, rng.choice(match.actions))
    finally:
        player.close()
    assert match.over


@pytest.mark.parametrize(
    ("habit", "failure", "message"),
    [
        ("flood", Failure.FLOODED, "1,048,576 bytes"),
        ("many-lines", Failure.FLOODED, "100 answers"),
        ("die", Failure.CRASHED, "exit code 1, saying 'no more'"),
        ("killed", Failure.CRASHED, "it was ended by SIGKILL"),
        ("unknown", Failure.UNREADABLE, "'pass'"),
        ("prose", Failure.UNREADABLE, "is not a line of JSON"),
        ("no-id", Failure.UNREADABLE, "has no id"),
        ("empty", Failure.EMPTY, "neither an action nor a policy"),
        ("policy", Failure.UNREADABLE, "sum to 1, not to 0.5"),
        ("huge-policy", Failure.UNREADABLE, "is not a number"),
        ("early", Failure.UNREADABLE, "'Loading the model...'"),
        ("newer", Failure.REFUSED, "version is '2'; ours is 1"),
    ],
)
def test_every_failure_has_its_class(habit: str, failure: Failure, message: str) -> None:
    failed = get_failure(make_bad_bot(habit))
    assert failed.failure is failure
    assert message in str(failed)


def test_illegal_and_unreadable_actions_differ() -> None:
    match = Match.start(LIGHTS).play_text("1")
    with pytest.raises(BadAnswer) as problem:
        protocol.parse_action("1", match.sight(Seat.TWO))
    assert problem.value.failure is Failure.ILLEGAL
    assert "allowed: 2, 3," in str(problem.value)


def test_a_bot_that_hangs_times_out_and_is_killed() -> None:
    failed = get_failure(make_bad_bot("hang", move_seconds=0.2))
    assert failed.failure is Failure.LATE


def test_a_bot_that_never_stops_writing_times_out() -> None:
    failed = get_failure(make_bad_bot("chatters", move_seconds=0.5))
    assert failed.failure is Failure.LATE


def test_a_bot_is_restarted_after_a_hang(tmp_path: Path) -> None:
    player = make_bad_bot("hang-once", tmp_path / "hung", move_seconds=1.0, retries=1)
    try:
        answer = player.decide(opening(), Random(1))
    finally:
        player.close()
    assert [failed.failure for failed in answer.failed] == [Failure.LATE]
    assert answer.action in opening().actions


STARTS_ANOTHER = pytest.mark.parametrize("habit", ["fork", "leave"])
"""In its own session, or in one that is not ended with it."""


@STARTS_ANOTHER
def test_child_processes_end_with_the_bot(habit: str, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    assert get_failure(make_bad_bot(habit, pid_file, move_seconds=1.0)).failure is Failure.LATE
    pid = int(pid_file.read_text())
    wait_until(lambda: not is_running(pid))


IN_A_THREAD = """
import sys, threading
from random import Random
from tests.players.test_program import make_bad_bot, opening

player = make_bad_bot(sys.argv[1], sys.argv[2], move_seconds=60.0)
thread = threading.Thread(target=player.decide, args=(opening(), Random(1)))
thread.start()
thread.join()
"""


@STARTS_ANOTHER
def test_a_bot_ends_if_its_parent_is_killed(habit: str, tmp_path: Path) -> None:
    """The bot hangs, so it never notices that nobody is there any more; nor does what it started."""
    pid_file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", IN_A_THREAD, habit, pid_file], cwd=ROOT) as us:
        wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
        us.kill()
    started = int(pid_file.read_text())
    wait_until(lambda: not is_running(started))


def test_a_bot_can_be_closed_during_a_request(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    player = make_bad_bot("fork", pid_file, move_seconds=60.0, retries=2)
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(player.decide, opening(), Random(1))
        wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
        player.close()
        with pytest.raises(DuelsError, match="has been closed"):
            asking.result(20)
    started = int(pid_file.read_text())
    wait_until(lambda: not is_running(started))


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("habit", ["twice", "older", "stays", "stderr"])
def test_harmless_output_is_no_failure(habit: str) -> None:
    player, match = make_bad_bot(habit), Match.start(LIGHTS)
    try:
        for _ in range(3):
            actor = match.actor
            assert isinstance(actor, Seat)
            answer = player.decide(match.sight(actor), Random(1))
            assert answer.failed == ()
            match = match.play(actor, answer.action)
    finally:
        player.close()


def test_the_bot_receives_the_reason_of_a_failure() -> None:
    player = make_bad_bot("learns", retries=1)
    try:
        answer = player.decide(opening(), Random(1))
    finally:
        player.close()
    assert [failed.failure for failed in answer.failed] == [Failure.UNREADABLE]


def test_stderr_goes_to_the_log_up_to_a_limit(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    player = ProgramPlayer(f"{PYTHON} {BAD} stderr", LIGHTS, ProgramLimits(), log)
    try:
        player.choose(opening(), Random(1))
        player.choose(opening(), Random(1))
    finally:
        player.close()
    assert 0 < log.stat().st_size <= MAX_LOG
    assert set(log.read_bytes()) <= set(b"y\n")


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc elsewhere")
def test_ends_even_if_processes_keep_forking(tmp_path: Path) -> None:
    """A process may start another one before it is found and killed."""
    calls, nobody = tmp_path / "looks", 1 << 30  # beyond the largest process id
    search = tmp_path / "grep"
    search.write_text(f"#!/bin/sh\necho >>{calls}\necho /proc/{nobody}/environ\n")
    search.chmod(0o755)
    watch = ["sh", "-c", child.WATCHDOG_SCRIPT, "sh", str(nobody), "a mark"]
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(watch, env=paths, stdin=subprocess.DEVNULL, check=False)
    assert 1 < len(calls.read_text()) < 999


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is the kernel's")
def test_memory_is_limited() -> None:
    failed = get_failure(make_bad_bot("memory", memory_mb=256))
    assert failed.failure is Failure.CRASHED
    assert "MemoryError" in str(failed)


def test_actions_are_sampled_from_a_policy() -> None:
    player = ProgramPlayer(GOOD["mixing"], LIGHTS)
    try:
        drawn = [player.decide(opening(), Random(seed)) for seed in range(30)]
        again = [player.decide(opening(), Random(seed)) for seed in range(30)]
    finally:
        player.close()
    assert len({answer.action for answer in drawn}) > 5
    assert [answer.action for answer in drawn] == [answer.action for answer in again]
    assert drawn[0].policy == pytest.approx(dict.fromkeys(opening().actions, 1 / 13))


def test_the_request_holds_all_observations_of_the_seat() -> None:
    rules = find_game("hunt").rules()
    match = Match.start(rules).play_text("move 3", "observe 5", "move 4")
    question = protocol.make_request(match.sight(Seat.TWO), 7, 500, match="m", card=True, error="late")
    assert question["history"] == ["?", "observe 5", "move 4"]
    assert question["actions"] == [rules.format(action) for action in match.actions]
    assert (question["id"], question["seat"], question["budget_ms"]) == (7, 2, 500)
    assert question["card"] == rules.game.card()
    assert question["error"] == "late"
    assert "move 3" not in str({**question, "card": "", "actions": []})


def test_names_a_missing_command() -> None:
    with pytest.raises(DuelsError, match="'no-such-bot x' cannot be started: No such file"):
        ProgramPlayer("no-such-bot x", LIGHTS).choose(opening(), Random(1))
    with pytest.raises(DuelsError, match="needs a command"):
        ProgramPlayer(" ", LIGHTS)
    with pytest.raises(DuelsError, match="No closing quotation"):
        ProgramPlayer("bot '", LIGHTS)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -u src/bot.py --deep", "program bot.py"),
        ("./bot", "program bot"),
        ("node 'my bots/x.js'", "program x.js"),
    ],
)
def test_a_program_is_named_after_its_script(command: str, name: str) -> None:
    assert make_program_name(command) == name
