"""Workers that die or are killed: no match is lost or played twice."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread
from typing import Any
from unittest import mock

import pytest

from duels.arena.config import Config
from duels.arena.folder import LOCK, Folder, lock_file
from duels.arena.logs import Log
from duels.arena.pool import ProcessPool, Worker, run_worker
from duels.arena.run import run
from duels.core.errors import DuelsError
from tests.arena.test_run import arena, rows_of
from tests.players.test_program import PYTHON
from tests.support import COMMAND, environment


def test_kill_9_loses_only_matches_in_progress(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["arena", "run", "--players", "random,club,expert", "--games", "lights,leap", "--matches", "60"]
    command = [*COMMAND, *words, "--workers", "2", "--out", str(folder)]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: folder.is_dir() and len(_lines(folder)) > 20)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_for(lambda: _lock_is_free(folder))
    lines_before = _lines(folder)
    assert 20 < len(lines_before) < 360
    assert arena(tmp_path, "run", *words[2:], "--workers", "1", "--out", folder).code == 0
    rows = rows_of(folder)
    assert len(rows) == 360
    assert len(_lines(folder)) == 360  # each once
    run(Config(("random", "club", "expert"), ("lights", "leap"), 60), tmp_path / "whole")
    assert rows_of(tmp_path / "whole") == rows


def test_a_late_worker_of_a_killed_run_plays_nothing(tmp_path: Path) -> None:
    """Another worker may have played its matches by then."""
    config = Config(("random", "club"), ("lights",), 2)
    run(config, tmp_path)
    played = _lines(tmp_path)
    for alive in (False, True):
        ours, theirs = Pipe()
        ours.send(next(iter(config.plan_matches("lights", "random", "club", range(1)))))
        ours.close()
        starter = mock.Mock(is_alive=mock.Mock(return_value=alive))
        with (
            mock.patch("duels.arena.pool.parent_process", return_value=starter),
            mock.patch("signal.signal"),
        ):
            run_worker(theirs, config, tmp_path, "", "1")
        assert len(_lines(tmp_path)) == len(played) + alive


@contextmanager
def _mortal_workers(
    config: Config, folder: Path, deadly: int, lives: int, at_once: int = 0, is_played: bool = False
) -> Iterator[None]:
    """Run workers as threads. `lives` of them die when they receive the match at index `deadly`.

    With `is_played`, they log that match first. Before them, `at_once` workers die while starting.
    """
    left, early = iter(range(lives)), iter(range(at_once))
    fatal = list(config.plan_matches("lights", "random", "club", range(config.count_matches("lights") // 2)))[
        deadly
    ]

    def live(connection: Any, name: str) -> None:
        if next(early, None) is not None:
            connection.recv()
            connection.close()
            return
        with closing(Worker(config, folder, name)) as worker, closing(connection):
            while (plan := connection.recv()) is not None:
                if plan == fatal and next(left, None) is not None:
                    if is_played:
                        worker.play_one(plan)
                    return
                connection.send(worker.play_one(plan))

    def start(self: ProcessPool, name: str) -> Any:
        ours, theirs = Pipe()
        thread = Thread(target=live, name=name, args=(theirs, name))
        thread.start()
        self._processes[ours] = thread  # type: ignore[assignment]
        return ours

    with mock.patch.object(ProcessPool, "_start", start):
        yield


@pytest.mark.parametrize("is_played", [False, True])
def test_a_match_logged_by_a_dead_worker_is_not_repeated(tmp_path: Path, is_played: bool) -> None:
    config = Config(("random", "club"), ("lights",), 40)
    run(config, tmp_path / "whole")
    folder = tmp_path / "run"
    with _mortal_workers(config, folder, deadly=11, lives=2, is_played=is_played):
        run(config, folder, workers=2)
    assert len(_lines(folder)) == 40
    assert rows_of(folder) == rows_of(tmp_path / "whole")


def test_a_worker_may_die_before_it_has_a_log(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 6)
    with _mortal_workers(config, tmp_path, deadly=0, lives=0, at_once=2):
        run(config, tmp_path, workers=2)
    assert len(rows_of(tmp_path)) == 6


def test_gives_up_a_match_that_kills_workers(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 40)
    with (
        _mortal_workers(config, tmp_path, deadly=11, lives=3),
        pytest.raises(
            DuelsError, match="3 workers died while playing the same match of lights between club and random"
        ),
    ):
        run(config, tmp_path, workers=2)


def _lines(folder: Path) -> list[bytes]:
    logs = sorted(folder.glob("log-*.jsonl"))
    return [line for log in logs for line in log.read_bytes().splitlines(True) if line.endswith(b"\n")]


def _lock_is_free(folder: Path) -> bool:
    try:
        with lock_file(folder / LOCK):
            return True
    except DuelsError:
        return False


def wait_for(condition: Any) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it never came about")


KILLER = (
    "import json, os, sys\n"
    "for line in sys.stdin:\n"
    "    message = json.loads(line)\n"
    "    if message['type'] == 'hello':\n"
    "        print(json.dumps({'type': 'ready'}), flush=True)\n"
    "        continue\n"
    "    if not os.path.exists(sys.argv[1]):\n"
    "        open(sys.argv[1], 'w').close()\n"
    "        os.kill(os.getppid(), 9)\n"
    "    print(json.dumps({'id': message['id'], 'action': message['actions'][0]}), flush=True)\n"
)


"""A bot that kills its worker once."""


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """The bot kills its worker once, and another worker plays the match again."""
    bot = tmp_path / "killer.py"
    bot.write_text(KILLER)
    config = Config(("random", f"killer=cmd:{PYTHON} {bot} {tmp_path / 'done'}"), ("lights",), 6)
    run(config, tmp_path / "run", 2)
    assert (tmp_path / "done").exists()
    assert len(rows_of(tmp_path / "run")) == 6


def test_a_worker_that_dies_idle_is_replaced(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 6)
    run(replace(config, matches=2), tmp_path)
    pool = ProcessPool(config, tmp_path, "", 2)
    try:
        for process in list(pool._processes.values()):
            process.kill()
            process.join()
        messages: list[Any] = []
        pool.play(
            config.plan_matches("lights", "random", "club", range(1, 3)),
            lambda *match: messages.append(match),
        )
        assert len(messages) == 4
    finally:
        pool.close()
    assert len(rows_of(tmp_path)) == 6


def _serve_without_a_disk(*messages: Any) -> None:
    with mock.patch.object(Log, "close", side_effect=OSError(5, "Input/output error")):
        run_worker(*messages)


def test_a_worker_reports_rows_that_it_could_not_save(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 2)
    with (
        Folder.open_locked(tmp_path, config),
        mock.patch("duels.arena.pool.run_worker", _serve_without_a_disk),
    ):
        pool = ProcessPool(config, tmp_path, "", 1)
    with pytest.raises(OSError, match="Input/output error"):
        pool.close()
