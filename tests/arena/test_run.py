"""Runs: the same for any number of workers, killed and gone on with, in shards, merged, and refused."""

import json
import shutil
import signal
import subprocess
import sys
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

from duels.arena.bout import Bout
from duels.arena.config import FORMAT, Config, ProbeConfig
from duels.arena.folder import AT_ONCE, CONFIG, LOCK, Folder, Log, locked
from duels.arena.pool import Pool
from duels.arena.probe import probe
from duels.arena.report import as_data, report_on
from duels.arena.report_page import as_page
from duels.arena.run import NEXT, _rounds, run
from duels.arena.scores import adjusted_interval, pair_results
from duels.arena.worker import Worker, serve
from duels.core.errors import DuelsError
from duels.players.completions import Usage
from duels.players.endpoint import Settings
from duels.players.program import Limits
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import COMMAND, Done, duels, environment

LIGHTS = Config(("random", "club", "best"), ("lights", "leap"), 8, "7")


def arena(tmp_path: Path, *words: str | Path) -> Done:
    return duels(tmp_path, "arena", *words)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [dict(row) for _, row in sorted(Folder(folder).rows().items())]


def test_any_number_of_workers_and_shards_gives_the_same_rows(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "one", 1)
    run(LIGHTS, tmp_path / "two", 2)
    for part in (1, 2, 3):
        run(LIGHTS, tmp_path / f"part{part}", 1, (part, 3))
    done = arena(
        tmp_path, "merge", *(tmp_path / f"part{part}" for part in (1, 2, 3)), "--out", tmp_path / "all"
    )
    assert done.code == 0
    expected = rows_of(tmp_path / "one")
    assert len(expected) == 2 * 3 * 8
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "all") == expected
    reports = [as_data(report_on(Folder(tmp_path / name))) for name in ("one", "two", "all")]
    assert reports[0] == reports[1] == reports[2]


def test_pairs_exchange_the_seats_of_one_seed(tmp_path: Path) -> None:
    run(Config(("random", "greedy"), ("lights",), 4), tmp_path / "run")
    rows = rows_of(tmp_path / "run")
    assert sorted(row["pair"] for row in rows) == [0, 0, 1, 1]
    for pair in (0, 1):
        one, two = (row for row in rows if row["pair"] == pair)
        assert one["seed"] == two["seed"]
        assert one["players"] == two["players"][::-1]


def test_nothing_is_played_twice(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(LIGHTS, folder)
    before = (folder / "log-1.jsonl").read_bytes()
    run(LIGHTS, folder)
    assert (folder / "log-1.jsonl").read_bytes() == before
    more = Config(LIGHTS.players, LIGHTS.games, 10, "7")
    run(more, folder)
    assert len(rows_of(folder)) == 60
    assert (folder / "log-1.jsonl").read_bytes().startswith(before)


def test_a_torn_line_is_dropped_and_played_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(LIGHTS, folder)
    whole = rows_of(folder)
    log = folder / "log-1.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    assert len(rows_of(folder)) == len(whole) - 1
    run(LIGHTS, folder)
    assert rows_of(folder) == whole


def test_kill_9_loses_at_most_the_matches_under_way(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["arena", "run", "--players", "random,club,expert", "--games", "lights,leap", "--matches", "60"]
    command = [*COMMAND, *words, "--workers", "2", "--out", str(folder)]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    try:
        _wait_for(lambda: folder.is_dir() and len(_lines(folder)) > 20)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    _wait_for(lambda: _lock_is_free(folder))
    kept = _lines(folder)
    assert 20 < len(kept) < 360
    assert arena(tmp_path, "run", *words[2:], "--workers", "1", "--out", folder).code == 0
    rows = rows_of(folder)
    assert len(rows) == 360
    assert len(_lines(folder)) == 360  # none of them twice
    run(Config(("random", "club", "expert"), ("lights", "leap"), 60), tmp_path / "whole")
    assert rows_of(tmp_path / "whole") == rows


def test_a_worker_that_starts_after_its_run_was_killed_plays_nothing(tmp_path: Path) -> None:
    """What it was to play may have been played again by then."""
    config = Config(("random", "club"), ("lights",), 2)
    run(config, tmp_path)
    played = _lines(tmp_path)
    for alive in (False, True):
        ours, theirs = Pipe()
        ours.send([next(iter(config.bouts("lights", "random", "club", range(1))))])
        ours.close()
        starter = mock.Mock(is_alive=mock.Mock(return_value=alive))
        with (
            mock.patch("duels.arena.worker.parent_process", return_value=starter),
            mock.patch("signal.signal"),
        ):
            serve(theirs, config, tmp_path, "", "1")
        assert len(_lines(tmp_path)) == len(played) + alive


@contextmanager
def _mortal_workers(
    config: Config, folder: Path, deadly: int, lives: int, at_once: int = 0
) -> Iterator[None]:
    """Workers as threads: so many of them die, each as it comes to the match with the place `deadly`.

    Before them, `at_once` die as they start.
    """
    left, early = iter(range(lives)), iter(range(at_once))
    fatal = list(config.bouts("lights", "random", "club", range(config.matches_of("lights") // 2)))[deadly]

    def live(connection: Any, name: str) -> None:
        if next(early, None) is not None:
            connection.recv()
            connection.close()
            return
        with closing(Worker(config, folder, name)) as worker, closing(connection):
            while (bouts := connection.recv()) is not None:
                if fatal in bouts and next(left, None) is not None:
                    worker.play_some(bouts[: bouts.index(fatal)])
                    return
                connection.send(worker.play_some(bouts))

    def start(self: Pool, name: str) -> Any:
        ours, theirs = Pipe()
        thread = Thread(target=live, args=(theirs, name))
        thread.start()
        self._processes[ours], self._names[ours] = thread, name  # type: ignore[assignment]
        return ours

    with mock.patch.object(Pool, "_start", start):
        yield


def test_what_a_worker_played_before_it_died_is_not_played_again(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 40)
    run(config, tmp_path / "whole")
    folder = tmp_path / "run"
    with _mortal_workers(config, folder, deadly=11, lives=2):
        run(config, folder, workers=2)
    assert len(_lines(folder)) == 40
    assert rows_of(folder) == rows_of(tmp_path / "whole")


def test_a_worker_may_die_before_it_has_a_log(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 6)
    with _mortal_workers(config, tmp_path, deadly=0, lives=0, at_once=2):
        run(config, tmp_path, workers=2)
    assert len(rows_of(tmp_path)) == 6


def test_a_match_that_workers_die_of_is_given_up(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 40)
    with (
        _mortal_workers(config, tmp_path, deadly=11, lives=3),
        pytest.raises(DuelsError, match="3 workers died of one match of lights between club and random"),
    ):
        run(config, tmp_path, workers=2)


def _lines(folder: Path) -> list[bytes]:
    logs = sorted(folder.glob("log-*.jsonl"))
    return [line for log in logs for line in log.read_bytes().splitlines(True) if line.endswith(b"\n")]


def _lock_is_free(folder: Path) -> bool:
    try:
        with locked(folder / LOCK):
            return True
    except DuelsError:
        return False


def _wait_for(condition: Any) -> None:
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
"""A bot that kills whoever plays with it, once."""


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """The bot kills whoever plays with it, once: its match is played again by somebody else."""
    bot = tmp_path / "killer.py"
    bot.write_text(KILLER)
    config = Config(("random", f"killer=cmd:{PYTHON} {bot} {tmp_path / 'done'}"), ("lights",), 6)
    run(config, tmp_path / "run", 2)
    assert (tmp_path / "done").exists()
    assert len(rows_of(tmp_path / "run")) == 6


def test_a_worker_that_dies_idle_is_replaced(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 6)
    run(replace(config, matches=2), tmp_path)
    pool = Pool(config, tmp_path, "", 2)
    try:
        for process in list(pool._processes.values()):
            process.kill()
            process.join()
        assert len(list(pool.play(config.bouts("lights", "random", "club", range(1, 3))))) == 4
    finally:
        pool.close()
    assert len(rows_of(tmp_path)) == 6


def test_failures_of_a_program_are_reported_by_class(tmp_path: Path) -> None:
    config = Config(("random", f"bad=cmd:{PYTHON} {BAD} die", f"good=cmd:{GOOD['shell']}"), ("lights",), 2)
    run(config, tmp_path / "run")
    found = report_on(Folder(tmp_path / "run"))
    assert "<td>bad</td><td>12 crashed</td><td>4</td>" in as_page(found)
    told = as_data(found)["games"]["lights"]["players"]
    assert told["bad"]["failures"] == {"crashed": 3 * 4}
    assert told["bad"]["forfeits"] == 4
    assert told["good"]["failures"] == {}
    assert "no more" in next((tmp_path / "run" / "bots").glob("bad-*.log")).read_text()


def test_until_stops_where_enough_is_known(tmp_path: Path) -> None:
    config = Config(("best", "perfect"), ("lights",), 2000, until=0.2)
    run(config, tmp_path / "run")
    pairs = pair_results(rows_of(tmp_path / "run"), "best")
    assert adjusted_interval(pairs).margin <= 0.2 < adjusted_interval(pairs[:-NEXT]).margin
    run(config, tmp_path / "two", 2)
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "run")


def test_when_it_is_asked_whether_enough_is_known_does_not_depend_on_how_much_is_planned() -> None:
    long = [last for _, last in _rounds(5000, 0.03)]
    assert long[:8] == [20, 30, 40, 50, 60, 70, 80, 90]
    assert (long[-1], len(long)) == (5000, 43)
    for planned in (1, 20, 33, 100):
        assert [last for _, last in _rounds(planned, 0.03)] == [*(x for x in long if x < planned), planned]


# -- what is refused, in one clear line -----------------------------------------------------------------


def test_two_runs_on_one_folder(tmp_path: Path) -> None:
    more = replace(LIGHTS, matches=10)
    for second in (LIGHTS, more):
        with Folder.held(tmp_path / "run", LIGHTS) as folder:
            with pytest.raises(DuelsError, match="is being run somewhere else right now"):
                run(second, folder.path)
            assert Folder(folder.path).config == LIGHTS.told()  # that of the run under way
    probing = ProbeConfig("random", ("lights",), budget=None)
    with Folder.held(tmp_path / "probe", probing) as folder:
        with pytest.raises(DuelsError, match="is being run somewhere else right now"):
            probe(
                replace(probing, budget="1usd", model=Settings(input_price=1.0, output_price=1.0)),
                folder.path,
            )
        assert Folder(folder.path).config == probing.told()


def test_parts_of_a_run_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Folder.held(folder, LIGHTS, (1, 3)):
        run(LIGHTS, folder, 1, (2, 3))
        for part in ((1, 1), (1, 3)):
            with pytest.raises(DuelsError, match="is being run somewhere else right now"):
                run(LIGHTS, folder, 1, part)
        with pytest.raises(DuelsError, match="is played in 3 parts, not in 4"):
            run(LIGHTS, folder, 1, (4, 4))
        with pytest.raises(DuelsError, match="is being run with other matches right now"):
            run(replace(LIGHTS, matches=10), folder, 1, (3, 3))
        assert Folder(folder).config == LIGHTS.told()
    with Folder.held(folder, LIGHTS), pytest.raises(DuelsError, match="somewhere else right now"):
        run(LIGHTS, folder, 1, (3, 3))
    run(replace(LIGHTS, matches=10), folder, 1, (3, 3))
    assert Folder(folder).config["matches"] == {"lights": 10, "leap": 10}
    run(LIGHTS, folder)  # what the parts have left
    run(LIGHTS, tmp_path / "whole")
    assert as_data(report_on(Folder(folder))) == as_data(report_on(Folder(tmp_path / "whole")))


def test_another_runs_folder(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    other = Config(LIGHTS.players, LIGHTS.games, 8, "8")
    with pytest.raises(DuelsError, match="is of another run: seed is not as it was"):
        run(other, tmp_path / "run")


def test_a_run_may_get_prices_and_a_budget_later(tmp_path: Path) -> None:
    asked = Settings("http://127.0.0.1:9/v1")
    config = Config(("random", "model:NAME"), ("lights",), 2, model=asked)
    with Folder.held(tmp_path, config) as folder:
        assert report_on(folder).prices.cost(Usage(1000, 1000, 1)) is None
    priced = replace(config, model=replace(asked, input_price=1.0, output_price=2.0), budget="5usd")
    with Folder.held(tmp_path, priced) as folder:
        assert report_on(folder).prices.told(Usage(1_000_000, 1_000_000, 1)) == "3.00 usd"
    with (
        pytest.raises(DuelsError, match="model is not as it was"),
        Folder.held(tmp_path, replace(config, model=replace(asked, temperature=1.0))),
    ):
        pass


def test_another_versions_folder(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    kept = tmp_path / "run" / CONFIG
    kept.write_text(kept.read_text().replace(f'"format": {FORMAT}', '"format": 9'))
    done = arena(tmp_path, "report", tmp_path / "run")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"was made by another version of duels: format 9, not {FORMAT}" in done.err


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    done = arena(tmp_path, "report", tmp_path)
    assert done.err == f"duels: {tmp_path} is no folder of a run: it has no config.json.\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("player = ['club']", "there is nothing called 'player' in a run; there are"),
        ("players = ['club', 'clubb']\ngames = ['lights']", "There is no player 'clubb'"),
        ("players = ['club', 'best']\ngames = ['light']", "There is no game 'light'"),
        ("players = ['club', 'human']\ngames = ['lights']", "a person cannot play in a run"),
        ("players = ['club', 'club']\ngames = ['lights']", "two players are called 'club'"),
        ("players = ['club', 'best']\ngames = ['lights']\nmatches = 7", "matches is even"),
        ("players = ['club', 'best']\ngames = ['lights']\n[limits]\nmove = 1", "there is no limit 'move'"),
        ("players = ['club', 'best']\ngames = ['lights']\n[options.chain]\ncells = 5", "options for 'chain'"),
        ("players = [", "this is no TOML"),
        *(
            (f"players = ['club', 'best']\ngames = ['lights']\n{text}", told)
            for text, told in [
                ("until = '0.03'", "until is a number between 0 and 0.5, not '0.03'"),
                ("until = 0.5", "until is a number between 0 and 0.5, not 0.5"),
                ("budget = 5", "budget is a text, not 5"),
                ("matches = '8'", "matches is a whole number of 2 or more, not '8'"),
                ("options = 3", "options is a table, not 3"),
                ("options.lights = 3", "options.lights is a table, not 3"),
                ("limits = 3", "about each limit is a table, not 3"),
                ("model = 3", "about each setting of models is a table, not 3"),
                ("limits.retries = 1.5", "retries is a whole number of 0 or more, not 1.5"),
                ("limits.move_seconds = -1", "move_seconds is a number above 0, not -1"),
                ("limits.memory_mb = 1", "memory_mb is a whole number of 16 or more, not 1"),
                ("model.concurrency = 2.5", "concurrency is a whole number of 1 or more, not 2.5"),
                ("model.input_price = -1", "input_price is a number of 0 or more, not -1"),
                ("model.mirror = 1", "mirror is true or false, not 1"),
                ("model.max_tokens = true", "max_tokens is a whole number of 0 or more, not True"),
                ("model.base_url = 3", "base_url is a text, not 3"),
            ]
        ),
    ],
)
def test_a_config_with_a_mistake(text: str, told: str, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(text)
    done = arena(tmp_path, "run", config, "--out", tmp_path / "run")
    assert done.code == 2
    assert told in done.err
    assert not (tmp_path / "run").exists()


def test_a_read_only_folder_and_a_full_disk(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    kept = rows_of(tmp_path / "run")
    more = ("--players", "random,club,best", "--games", "lights,leap", "--seed", "7", "--matches", "10")
    with mock.patch("duels.arena.folder.os.write", side_effect=OSError(28, "No space left on device")):
        done = arena(tmp_path, "run", *more, "--workers", "1", "--out", tmp_path / "run")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert rows_of(tmp_path / "run") == kept
    with mock.patch("duels.arena.folder.os.open", side_effect=OSError(30, "Read-only file system")):
        done = arena(tmp_path, "run", *more, "--out", tmp_path / "run")
    assert (done.code, "Read-only file system" in done.err) == (1, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is the kernel's")
def test_a_file_that_cannot_grow_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """A real limit of the system, by which a row is cut in the middle."""
    config = Config(("random", "club"), ("lights",), 200, "7")
    run(Config(("random", "club"), ("lights",), 4, "7"), tmp_path / "run")
    kept = rows_of(tmp_path / "run")
    limited = (
        "import resource, signal, sys; from duels.terminal.commands import main; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); sys.exit(main())"
    )
    words = ("--players", "random,club", "--games", "lights", "--seed", "7", "--matches", "200")
    done = subprocess.run(
        [sys.executable, "-c", limited, "arena", "run", *words, "--workers", "1", "--out", tmp_path / "run"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the last match is not saved" in done.stderr
    written = rows_of(tmp_path / "run")
    assert len(kept) < len(written) < 200
    assert [row for row in written if row in kept] == kept
    (log,) = (tmp_path / "run").glob("log-*.jsonl")
    assert log.read_bytes().endswith(b"\n")
    run(config, tmp_path / "run")
    assert len(rows_of(tmp_path / "run")) == 200


def test_every_row_is_synced_soon_and_what_was_paid_for_at_once(tmp_path: Path) -> None:
    synced: list[int] = []
    with mock.patch("duels.arena.folder.os.fsync", synced.append):
        quick, paid = Log(tmp_path, "1"), Log(tmp_path, "2", every=AT_ONCE)
        synced.clear()
        for _ in range(3):
            quick.add({"key": "x"})
        assert synced == []
        _wait_for(lambda: len(synced) == 1)
        quick.add({"key": "y"})
        _wait_for(lambda: len(synced) == 2)
        for _ in range(3):
            paid.add({"key": "x"})
        assert len(synced) == 5
        quick.close()
        paid.close()


def test_what_could_not_be_synced_is_told_with_the_next_row(tmp_path: Path) -> None:
    log = Log(tmp_path, "1", every=0.01)
    with mock.patch("duels.arena.folder.os.fsync", side_effect=OSError(5, "Input/output error")) as sync:
        log.add({"key": "x"})
        _wait_for(lambda: sync.called)
        with pytest.raises(OSError, match="Input/output error"):
            log.add({"key": "y"})
        log.close()
    assert log.path.read_bytes().count(b"\n") == 1


def test_a_config_as_a_file_is_the_same_as_flags(tmp_path: Path) -> None:
    config = tmp_path / "t.toml"
    config.write_text(
        'players = ["random", "club"]\ngames = ["chain"]\nmatches = 2\nseed = 3\nout = "run"\n'
        "[options.chain]\ncells = 5\nrun = 3\nmax_boards = 2\n"
    )
    assert arena(tmp_path, "run", config, "--workers", "1").code == 0
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 2
    assert rows[0]["options"] == {"cells": 5, "max_boards": 2, "run": 3}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OTHER_KEY"])
def test_a_program_is_not_given_the_key_of_a_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a secret")
    monkeypatch.setenv("NO_KEY", "no secret")
    teller = tmp_path / "teller.sh"
    teller.write_text(f"env >&2\nexec {PYTHON} {BAD} unknown\n")
    config = Config((f"teller=cmd:sh {teller}", "random"), ("lights",), 2, model=Settings(key_env=name))
    run(replace(config, limits=Limits(retries=0)), tmp_path / "run")
    told = "".join(log.read_text() for log in (tmp_path / "run").rglob("*.log"))
    assert "NO_KEY=no secret" in told
    assert "a secret" not in told


def test_no_command_stands_in_the_folder(tmp_path: Path) -> None:
    run(Config(("random", f"mine=cmd:{GOOD['shell']} secret"), ("lights",), 2), tmp_path / "run")
    text = "".join(each.read_text() for each in (tmp_path / "run").rglob("*") if each.is_file())
    assert "secret" not in text
    assert "mine" in text


def test_merge_refuses_what_does_not_belong_together(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "a")
    run(Config(LIGHTS.players, ("lights",), 8, "7"), tmp_path / "b")
    done = arena(tmp_path, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c")
    assert (done.code, "are different runs: their games differ" in done.err) == (1, True)
    shutil.copytree(tmp_path / "a", tmp_path / "d")
    done = arena(tmp_path, "merge", tmp_path / "a", "--out", tmp_path / "d")
    assert (done.code, "is not empty" in done.err) == (1, True)


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    first, *rest = log.read_text().splitlines(keepends=True)
    row = json.loads(first)
    for damaged, told in (
        ({}, "this is no match of a run"),
        ({**row, "score": 7.0}, f"score 7.0 does not go with the result '{row['result']}'"),
        ({**row, "score": 1 - row["score"]}, "does not go with the result"),
    ):
        log.write_text("".join([json.dumps(damaged) + "\n", *rest]))
        done = arena(tmp_path, "report", tmp_path / "run")
        assert (done.code, len(done.err.splitlines())) == (1, 1)
        assert "log-1.jsonl, line 1: " in done.err
        assert told in done.err


def test_the_report_in_every_form(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    text = arena(tmp_path, "report", tmp_path / "run").out
    assert "Light Out Duel (lights): 24 matches" in text
    assert "There is no chance in it" in text
    page, csv, table = tmp_path / "p.html", tmp_path / "s.csv", tmp_path / "m.parquet"
    done = arena(tmp_path, "report", tmp_path / "run", "--html", page, "--csv", csv, "--parquet", table)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [f"{each} is written." for each in (table, page, csv)]
    assert "<svg" in page.read_text()
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "")
    assert len(csv.read_text().splitlines()) == 1 + 2 * 3
    from pyarrow import parquet

    assert parquet.read_table(table).num_rows == 48
    done = arena(tmp_path, "report", tmp_path / "run", "--csv", csv)
    assert (done.code, "exists already; --force writes over it" in done.err) == (2, True)
    assert arena(tmp_path, "report", tmp_path / "run", "--csv", csv, "--force").code == 0
    told = arena(tmp_path, "report", tmp_path / "run", "--json").out
    assert str(tmp_path) not in told
    assert json.loads(told) == as_data(report_on(Folder(tmp_path / "run")))


def test_nobody_is_called_perfect_where_that_is_not_proven() -> None:
    assert [kind.name for kind in Config(("random", "perfect"), ("hunt",)).kinds()] == ["random", "best"]
    assert [kind.name for kind in Config(("random", "perfect"), ("leap",)).kinds()] == ["random", "perfect"]
    with pytest.raises(DuelsError, match="two players are called 'best'"):
        Config(("best", "perfect"), ("lights", "hunt"))


def test_the_ladder_is_a_run_like_any_other(tmp_path: Path) -> None:
    done = arena(
        tmp_path, "ladder", "--games", "lights", "--matches", "2", "--workers", "1", "--out", tmp_path / "l"
    )
    assert done.code == 0
    assert "random" in done.out
    assert len(rows_of(tmp_path / "l")) == 21 * 2


def test_progress_tells_how_far_it_is() -> None:
    from duels.arena.progress_line import ProgressLine
    from duels.arena.run import Progress

    progress = Progress(10, 100, 10)
    told = "10 of 100 matches, 9 min 0 s left at most"
    assert ProgressLine.text(progress, 60.0) == told
    progress.count(Bout("lights", (), ("random", "club"), "1", 0), 0.0)
    progress.count(Bout("lights", (), ("club", "random"), "1", 0), 0.5)
    assert ProgressLine.text(progress, 60.0) == f"{told}; won: club 75%, random 25%"


def test_a_run_is_compacted_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    words = ("run", "--players", "random,club", "--games", "lights", "--matches", "4", "--workers", "1")
    assert arena(tmp_path, *words, "--out", tmp_path / "run").code == 0
    table = parquet.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    assert [row["key"] for row in table] == sorted(row["key"] for row in rows_of(tmp_path / "run"))
    assert arena(tmp_path, "merge", tmp_path / "run", "--out", tmp_path / "all").code == 0
    assert parquet.read_table(tmp_path / "all" / "matches.parquet").to_pylist() == table
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = arena(tmp_path, *words, "--out", tmp_path / "without")
    assert (done.code, "No table of it was written. This needs pyarrow" in done.err) == (0, True)
    assert "Light Out Duel" in done.out
