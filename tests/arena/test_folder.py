"""The folder of a run: locks, error messages, and recovery from damage."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from duels.arena.config import Config, ProbeConfig
from duels.arena.folder import CONFIG, FORMAT, FORMAT_WITHOUT_DIGESTS, Folder, merge
from duels.arena.logs import SYNC_NOW, Log
from duels.arena.probe import run_probe
from duels.arena.report import make_report
from duels.arena.report_views import as_data
from duels.arena.run import RunProgress, run
from duels.arena.schemas import ANSWER, DIGEST, MATCH, encode_row
from duels.core.errors import BadOption, DuelsError
from duels.players.completions import Usage
from duels.players.endpoint import EndpointSettings
from tests.arena.test_run import LIGHTS, arena, rows_of
from tests.arena.test_workers import wait_for
from tests.players.test_program import GOOD
from tests.support import environment


def test_rejects_two_runs_in_one_folder(tmp_path: Path) -> None:
    more = replace(LIGHTS, matches=10)
    for second in (LIGHTS, more):
        with Folder.open_locked(tmp_path / "run", LIGHTS) as folder:
            with pytest.raises(DuelsError, match="is in use by another process"):
                run(second, folder.path)
            assert Folder(folder.path).config == LIGHTS.as_data()  # of the current run
    probing = ProbeConfig("random", ("lights",), budget=None)
    with Folder.open_locked(tmp_path / "probe", probing) as folder:
        with pytest.raises(DuelsError, match="is in use by another process"):
            run_probe(
                replace(
                    probing,
                    budget="1usd",
                    model=EndpointSettings(max_tokens=100, input_price=1.0, output_price=1.0),
                ),
                folder.path,
            )
        assert Folder(folder.path).config == probing.as_data()


def test_parts_of_a_run_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Folder.open_locked(folder, LIGHTS, (1, 3)):
        run(LIGHTS, folder, 1, (2, 3))
        for part in ((1, 1), (1, 3)):
            with pytest.raises(DuelsError, match="is in use by another process"):
                run(LIGHTS, folder, 1, part)
        with pytest.raises(DuelsError, match="is split into 3 shards, not 4"):
            run(LIGHTS, folder, 1, (4, 4))
        with pytest.raises(DuelsError, match="is in use by a run with different matches"):
            run(replace(LIGHTS, matches=10), folder, 1, (3, 3))
        assert Folder(folder).config == LIGHTS.as_data()
    with Folder.open_locked(folder, LIGHTS), pytest.raises(DuelsError, match="in use by another process"):
        run(LIGHTS, folder, 1, (3, 3))
    run(replace(LIGHTS, matches=10), folder, 1, (3, 3))
    assert Folder(folder).config["matches"] == {"lights": 10, "leap": 10}
    run(LIGHTS, folder)  # the matches of other shards
    run(LIGHTS, tmp_path / "whole")
    assert as_data(make_report(Folder(folder))) == as_data(make_report(Folder(tmp_path / "whole")))


def test_rejects_the_folder_of_another_run(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    other = Config(LIGHTS.players, LIGHTS.games, 8, "8")
    with pytest.raises(DuelsError, match="belongs to another run: seed differs"):
        run(other, tmp_path / "run")


def test_a_run_may_get_prices_and_a_budget_later(tmp_path: Path) -> None:
    endpoint = EndpointSettings("http://127.0.0.1:9/v1", max_tokens=4096)
    config = Config(("random", "model:NAME"), ("lights",), 2, model=endpoint)
    with Folder.open_locked(tmp_path, config) as folder:
        assert make_report(folder).costs.prices.cost(Usage(1000, 1000, 1)) is None
    priced = replace(config, model=replace(endpoint, input_price=1.0, output_price=2.0), budget="5usd")
    in_euros = replace(priced, budget="5eur")
    with Folder.open_locked(tmp_path, priced) as folder:
        assert make_report(folder).costs.prices.format_cost(Usage(1_000_000, 1_000_000, 1)) == "3.00 usd"
    with Folder.open_locked(tmp_path, config) as folder:  # reports show the cost even without a budget
        assert make_report(folder).costs.prices.format_cost(Usage(1_000_000, 1_000_000, 1)) == "3.00 usd"
    with pytest.raises(DuelsError, match="has costs in usd"), Folder.open_locked(tmp_path, in_euros):
        pass
    with Folder.open_locked(tmp_path / "eur", in_euros):
        pass
    with pytest.raises(DuelsError, match="costs in different currencies: eur and usd"):
        merge([tmp_path, tmp_path / "eur"], tmp_path / "merged")
    with (
        pytest.raises(DuelsError, match="model differs"),
        Folder.open_locked(tmp_path, replace(config, model=replace(endpoint, temperature=1.0))),
    ):
        pass


def test_rejects_the_folder_of_another_version(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    config_file = tmp_path / "run" / CONFIG
    config_file.write_text(config_file.read_text().replace(f'"format": {FORMAT}', '"format": 9'))
    result = arena(tmp_path, "report", tmp_path / "run")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"was made by another version of duels: format 9, not {FORMAT}" in result.err


def test_reports_a_read_only_parent_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run(LIGHTS, tmp_path / "run")
    out = tmp_path / "file" / "run"
    for words in (
        ("run", "--players", "random,club", "--games", "lights"),
        ("probe", "--player", "random", "--games", "lights"),
        ("merge", tmp_path / "run"),
    ):
        result = arena(tmp_path, *words, "--out", out)
        expected_text = (
            f"duels: cannot write to the folder {out}: Not a directory. Name another with --out.\n"
        )
        assert (result.code, result.err) == (1, expected_text)


def test_rejects_a_path_that_is_not_a_folder(tmp_path: Path) -> None:
    result = arena(tmp_path, "report", tmp_path)
    assert result.err == f"duels: {tmp_path} is not the folder of a run: it has no config.json.\n"


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("player = ['club']", "'player' is not a run setting; the run settings are"),
        ("players = ['club', 'clubb']\ngames = ['lights']", "There is no player 'clubb'"),
        ("players = ['club', 'best']\ngames = ['light']", "There is no game 'light'"),
        ("players = ['club', 'human']\ngames = ['lights']", "a person cannot play in a run"),
        ("players = ['club', 'club']\ngames = ['lights']", "two players are called 'club'"),
        ("players = ['club', 'best']\ngames = ['lights']\nmatches = 7", "matches must be even"),
        (
            "players = ['club', 'best']\ngames = ['lights']\n[limits]\nmove = 1",
            "'move' is not a program limit",
        ),
        (
            "players = ['club', 'best']\ngames = ['lights']\n[options.chain]\ncells = 5",
            "'chain' is not one of the games",
        ),
        ("players = [", "invalid TOML"),
        *(
            (f"players = ['club', 'best']\ngames = ['lights']\n{text}", expected_text)
            for text, expected_text in [
                ("until = '0.03'", "until must be a number between 0 and 0.5, not '0.03'"),
                ("until = 0.5", "until must be a number between 0 and 0.5, not 0.5"),
                ("budget = 5", "budget must be a string, not 5"),
                ("matches = '8'", "matches must be a whole number of 2 or more, not '8'"),
                ("options = 3", "options must be a table, not 3"),
                ("options.lights = 3", "options.lights must be a table, not 3"),
                ("limits = 3", "limits must be a table, not 3"),
                ("model = 3", "model must be a table, not 3"),
                ("limits.retries = 1.5", "retries must be a whole number of 0 or more, not 1.5"),
                ("limits.move_seconds = -1", "move_seconds must be a number above 0, not -1"),
                ("limits.memory_mb = 1", "memory_mb must be a whole number of 16 or more, not 1"),
                ("model.concurrency = 2.5", "concurrency must be a whole number of 1 or more, not 2.5"),
                ("model.input_price = -1", "input_price must be a number of 0 or more, not -1"),
                ("model.mirror = 1", "mirror must be true or false, not 1"),
                ("model.max_tokens = true", "max_tokens must be a whole number of 0 or more, not True"),
                ("model.base_url = 3", "base_url must be a string, not 3"),
            ]
        ),
    ],
)
def test_rejects_an_invalid_config(text: str, expected_text: str, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(text)
    result = arena(tmp_path, "run", config, "--out", tmp_path / "run")
    assert result.code == 2
    assert expected_text in result.err
    assert not (tmp_path / "run").exists()


def test_reports_a_read_only_folder_and_a_full_disk(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    rows_before = rows_of(tmp_path / "run")
    more = ("--players", "random,club,best", "--games", "lights,leap", "--seed", "7", "--matches", "10")
    with mock.patch("duels.arena.logs.os.write", side_effect=OSError(28, "No space left on device")):
        result = arena(tmp_path, "run", *more, "--workers", "1", "--out", tmp_path / "run")
    assert result.code == 1
    assert "No space left on device" in result.err
    assert rows_of(tmp_path / "run") == rows_before
    with mock.patch("duels.arena.folder.os.open", side_effect=OSError(30, "Read-only file system")):
        result = arena(tmp_path, "run", *more, "--out", tmp_path / "run")
    assert (result.code, "Read-only file system" in result.err) == (1, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is the kernel's")
def test_a_file_that_cannot_grow_keeps_its_content(tmp_path: Path) -> None:
    """A system limit cuts a row in the middle."""
    config = Config(("random", "club"), ("lights",), 200, "7")
    run(Config(("random", "club"), ("lights",), 4, "7"), tmp_path / "run")
    rows_before = rows_of(tmp_path / "run")
    limited = (
        "import resource, signal, sys; from duels.terminal.commands import main; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); sys.exit(main())"
    )
    words = ("--players", "random,club", "--games", "lights", "--seed", "7", "--matches", "200")
    result = subprocess.run(
        [sys.executable, "-c", limited, "arena", "run", *words, "--workers", "1", "--out", tmp_path / "run"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "the last row is not saved" in result.stderr
    written = rows_of(tmp_path / "run")
    assert len(rows_before) < len(written) < 200
    assert [row for row in written if row in rows_before] == rows_before
    (log,) = (tmp_path / "run").glob("log-*.jsonl")
    assert log.read_bytes().endswith(b"\n")
    run(config, tmp_path / "run")
    assert len(rows_of(tmp_path / "run")) == 200


def test_rows_are_synced_soon_and_paid_rows_at_once(tmp_path: Path) -> None:
    synced: list[int] = []
    with mock.patch("duels.arena.logs.os.fsync", synced.append):
        quick, later, paid = (
            Log(tmp_path, "1"),
            Log(tmp_path, "2", sync_interval=600),
            Log(tmp_path, "3", sync_interval=SYNC_NOW),
        )
        synced.clear()
        for _ in range(3):
            later.add({"key": "x"})
        assert synced == []
        quick.add({"key": "x"})
        wait_for(lambda: len(synced) == 1)
        quick.add({"key": "y"})
        wait_for(lambda: len(synced) == 2)
        for _ in range(3):
            paid.add({"key": "x"})
        assert len(synced) == 5
        for log in (quick, later, paid):
            log.close()
        assert len(synced) == 8


LOST = OSError(5, "Input/output error")


def test_a_failed_sync_is_raised_by_the_next_add_and_by_close(tmp_path: Path) -> None:
    log = Log(tmp_path, "1", sync_interval=0.01)
    with mock.patch("duels.arena.logs.os.fsync", side_effect=[LOST, None]):  # the system reports it once
        log.add({"key": "x"})
        wait_for(lambda: log._sync_error)
        with pytest.raises(OSError, match="Input/output error: the last row is not saved"):
            log.add({"key": "y"})
        with pytest.raises(OSError, match="Input/output error: the last row is not saved"):
            log.close()
    assert log.path.read_bytes().count(b"\n") == 1


def test_close_raises_if_it_cannot_sync(tmp_path: Path) -> None:
    log = Log(tmp_path, "1", sync_interval=60)
    log.add({"key": "x"})
    with (
        mock.patch("duels.arena.logs.os.fsync", side_effect=LOST),
        pytest.raises(OSError, match="the last row is not saved"),
    ):
        log.close()


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes in folders")
def test_a_log_that_never_ends_is_refused(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    log = tmp_path / "run" / "log-9.jsonl"
    log.symlink_to("/dev/zero")
    for command in ("report", "verify"):
        result = arena(tmp_path, command, tmp_path / "run")
        assert result.code == 1
        assert result.err.splitlines()[-1] == f"duels: {log}: this is not a regular file."


def test_the_folder_contains_no_commands(tmp_path: Path) -> None:
    run(Config(("random", f"mine=cmd:{GOOD['shell']} secret"), ("lights",), 2), tmp_path / "run")
    text = "".join(each.read_text() for each in (tmp_path / "run").rglob("*") if each.is_file())
    assert "secret" not in text
    assert "mine" in text


def test_merge_refuses_different_runs(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "a")
    run(Config(LIGHTS.players, ("lights",), 8, "7"), tmp_path / "b")
    result = arena(tmp_path, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c")
    assert (result.code, "are different runs: games differs" in result.err) == (1, True)
    shutil.copytree(tmp_path / "a", tmp_path / "d")
    result = arena(tmp_path, "merge", tmp_path / "a", "--out", tmp_path / "d")
    assert (result.code, "is not empty" in result.err) == (1, True)


def test_a_row_with_an_invalid_number_is_damaged(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    first, *rest = log.read_text().splitlines(keepends=True)
    log.write_text("".join([json.dumps({**json.loads(first), "adjusted": float("nan")}) + "\n", *rest]))
    folder = Folder(tmp_path / "run")
    assert len(folder.load_rows()) == len(rest)
    assert folder.damage == "Skipped 1 damaged line of logs, the first in log-1.jsonl, line 1."


def test_rejects_until_in_a_part_of_a_run(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="cannot be combined with --shard"):
        run(replace(LIGHTS, until=0.1), tmp_path / "run", 1, (1, 2))
    assert not (tmp_path / "run").exists()


def test_rejects_rows_of_another_version(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    log.write_text(encode_row({"v": 9}) + log.read_text())
    result = arena(tmp_path, "report", tmp_path / "run")
    assert (result.code, len(result.err.splitlines())) == (1, 1)
    assert "log-1.jsonl, line 1: this row was written by another version of duels" in result.err


CHANGES: dict[str, Any] = {
    "points beyond the possible": lambda row: {**row, "shortfalls": [2.0 * len(row["entries"]), 0.0]},
    "a little more lost": lambda row: {**row, "shortfalls": [row["shortfalls"][0] + 0.01, 0.0]},
    "the other player won": lambda row: {**row, "score": 1 - row["score"]},
    "an infinite result": lambda row: {**row, "adjusted": 1e999},
    "another entry": lambda row: {**row, "entries": ["7", *row["entries"]]},
    "another seed": lambda row: {**row, "seed": "8"},
    "another pair": lambda row: {**row, "pair": row["pair"] + 1},
    "another player": lambda row: {**row, "players": ["random", "nobody"]},
    "another game": lambda row: {**row, "game": "chain"},
    "a blunder at no entry": lambda row: {
        **row,
        "blunders": [{"seat": 1, "entry": 99, "shortfall": 1.0, "best": []}],
    },
    "text for numbers": lambda row: {**row, "decisions": ["1", "2"]},
    "no digest": lambda row: row,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", [FORMAT, FORMAT_WITHOUT_DIGESTS])
def test_a_changed_row_is_reported_and_its_match_repeated(change: str, form: int, tmp_path: Path) -> None:
    """By its digest; without one, because it cannot be right."""
    if form == FORMAT_WITHOUT_DIGESTS and change == "no digest":
        return
    config = replace(LIGHTS, games=("lights",), matches=4)
    expected = run(config, tmp_path / "run").load_rows()
    log = tmp_path / "run" / "log-1.jsonl"
    rows = [{name: row[name] for name in MATCH} for row in map(json.loads, log.read_text().splitlines())]
    rows[1] = CHANGES[change](rows[1])
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "run" / CONFIG
    content = json.loads(path.read_text())
    if form == FORMAT:
        log.write_text("".join([encode_row(rows[0]), json.dumps(rows[1]), "\n", *map(encode_row, rows[2:])]))
    else:
        path.write_text(json.dumps({**content, "format": form}))
    folder = Folder(tmp_path / "run")
    assert len(folder.load_rows()) == len(expected) - 1
    assert list(folder.damaged) == ["log-1.jsonl, line 2"]
    again = run(config, tmp_path / "run")
    assert again.load_rows() == expected
    assert Folder(tmp_path / "run").format == form


def test_detects_one_changed_digit(tmp_path: Path) -> None:
    run(replace(LIGHTS, games=("lights",), matches=2), tmp_path / "run")
    log, config = tmp_path / "run" / "log-1.jsonl", tmp_path / "run" / CONFIG
    log.write_text(log.read_text().replace('"adjusted": 0.', '"adjusted": 0.0', 1))
    result = arena(tmp_path, "report", tmp_path / "run")
    assert "Skipped 1 damaged line of logs, the first in log-1.jsonl, line " in result.out
    config.write_text(config.read_text().replace('"seed": "7"', '"seed": "8"'))
    result = arena(tmp_path, "report", tmp_path / "run")
    problem = "is damaged: its digest does not match, so it was changed after the run began."
    assert result.err == f"duels: {config} {problem} Correct it or restore it from a copy.\n"
    assert result.code == 1


def test_a_run_with_damaged_logs_is_not_finished(tmp_path: Path) -> None:
    def damage(progress: RunProgress) -> None:
        if progress.played == 10:
            log = tmp_path / "run" / "log-1.jsonl"
            log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 2))

    folder = run(LIGHTS, tmp_path / "run", listener=damage)
    problem = "logs were damaged meanwhile: 2 rows lost, 2 lines damaged, the first in log-1.jsonl, line 1"
    assert folder.unfinished == (problem,)
    assert run(LIGHTS, tmp_path / "run").unfinished == ()
    assert len(Folder(tmp_path / "run").load_rows()) == 48


def test_the_command_fails_if_logs_are_damaged(tmp_path: Path) -> None:
    """The program at the table empties the log of the run."""
    bot, log = tmp_path / "bot.sh", tmp_path / "run" / "log-1.jsonl"
    ready = """echo '{"type": "ready", "protocol": 1}'"""
    bot.write_text(f"while read -r line; do [ -s {log} ] && : > {log}; {ready}; done")
    words = ("--players", "random", "--player", f"cmd:sh {bot}", "--games", "lights", "--matches", "4")
    result = arena(tmp_path, "run", *words, "--retries", "0", "--workers", "1", "--out", tmp_path / "run")
    assert result.code == 75
    assert "Some matches are unfinished: logs were damaged meanwhile" in result.err


@pytest.mark.parametrize(
    ("old", "new", "expected_text"),
    [
        ('"seed"', '"sed"', "'sed' is not a key of a config; the keys are budget, currency, games, "),
        ('"retries"', '"retry"', "'limits.retry' is not a key of a config; the keys are memory_mb, "),
        ('"until": null,', "", "the key 'until' is missing."),
        ('"matches": {', '"matches": 7, "limits": {', "'matches' cannot be '7'"),
        ('"lights": 8', '"lights": 7', "'matches' cannot be"),
        ('"lights": 8', '"light": 8', "'games', 'matches' and 'options' name different games."),
        ('"sort": "ours"', '"sort": "theirs"', "'players' cannot be"),
    ],
)
def test_reports_a_damaged_config_in_one_sentence(
    old: str, new: str, expected_text: str, tmp_path: Path
) -> None:
    with Folder.open_locked(tmp_path / "run", LIGHTS):
        pass
    path = tmp_path / "run" / CONFIG
    path.write_text(path.read_text().replace(old, new, 1))
    for words in (("report",), ("verify",), ("merge", "--out", tmp_path / "merged")):
        result = arena(tmp_path, *words, tmp_path / "run")
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert result.err.startswith(f"duels: {path} is damaged: ")
        assert expected_text in result.err
    path.write_text('{"format": ' + "[" * 50_000)
    result = arena(tmp_path, "report", tmp_path / "run")
    assert (result.code, result.err) == (1, f"duels: {path} is not the config of a run.\n")


def test_rows_have_only_documented_fields(tmp_path: Path) -> None:
    matches = run(replace(LIGHTS, matches=2), tmp_path / "run").load_rows().values()
    answers = run_probe(ProbeConfig("random", ("lights",)), tmp_path / "probe").load_rows().values()
    for rows, fields in ((matches, MATCH), (answers, ANSWER)):
        assert rows
        assert all(set(row) == set(fields) for row in rows)


def test_matches_logged_twice_with_different_results_are_reported(tmp_path: Path) -> None:
    for name in "ab":
        run(LIGHTS, tmp_path / name)
    log = tmp_path / "b" / "log-1.jsonl"
    first, *rest = log.read_text().splitlines()
    row = json.loads(first)
    won = row["score"] == 1.0
    other = {**row, "score": 1 - row["score"], "result": f"{2 if won else 1} won"}
    del other[DIGEST]
    log.write_text("\n".join([*rest, encode_row(other)]))
    result = arena(tmp_path, "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c")
    places = f"{tmp_path / 'a' / 'log-1.jsonl'}, line 1 and {log}, line 48"
    assert result.err.splitlines()[0] == (
        f"Matches that were logged twice and differ: 1. The first is used; see {places}."
    )
    assert rows_of(tmp_path / "c") == rows_of(tmp_path / "a")
    log.rename(tmp_path / "a" / "log-2.jsonl")
    expected_text = make_report(Folder(tmp_path / "a"))
    places = "log-1.jsonl, line 1 and log-2.jsonl, line 48"
    assert expected_text.notes == (
        f"Matches that were logged twice and differ: 1. The first is used; see {places}.",
    )
    assert rows_of(tmp_path / "c") == rows_of(tmp_path / "a")


@pytest.mark.parametrize(
    "cut",
    [
        lambda line: line[:50],
        lambda line: bytes(len(line)),
        lambda line: b"7",
        lambda line: b'{"v": ' + b"[" * 50_000,
        lambda line: line.replace(b'"shortfalls"', b'"shortfall"'),
        lambda line: line.replace(b'"score": ', b'"score": null, "was": '),
    ],
)
def test_an_unreadable_line_is_reported_and_its_match_repeated(cut: Any, tmp_path: Path) -> None:
    expected = as_data(make_report(run(LIGHTS, tmp_path / "run")))
    log = tmp_path / "run" / "log-1.jsonl"
    first, second, *rest = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([first, cut(second), *rest, b""]))
    result = arena(tmp_path, "report", tmp_path / "run")
    assert result.code == 0
    assert "47 of 48 matches" in result.out
    skipped = "Skipped 1 damaged line of logs, the first in log-1.jsonl, line 2."
    assert skipped in result.out
    again = run(LIGHTS, tmp_path / "run")
    assert {row["key"] for row in again.load_rows().values()} >= {json.loads(second)["key"]}
    assert as_data(make_report(again)) == {
        **expected,
        "notes": [f"{skipped} Lost matches were played again."],
    }


def test_merge_reports_damaged_lines(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    log = tmp_path / "run" / "log-1.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 2))
    result = arena(tmp_path, "merge", tmp_path / "run", "--out", tmp_path / "merged")
    expected_text = "Skipped 2 damaged lines of logs, the first in log-1.jsonl, line 1."
    assert result.err.splitlines() == [
        f"{tmp_path / 'run'}: {expected_text}",
        f"{tmp_path / 'merged'}: 46 of 48 matches.",
    ]
    assert not make_report(Folder(tmp_path / "merged")).notes
    assert make_report(run(LIGHTS, tmp_path / "run")).notes == (
        f"{expected_text} Lost matches were played again.",
    )


def test_a_report_lists_all_versions_that_played(tmp_path: Path) -> None:
    for number, matches in (("0.1", 2), ("0.2", 2), ("0.1", 4), ("0.3", 4)):
        with mock.patch("duels.arena.folder.version", return_value=number):
            run(replace(LIGHTS, matches=matches), tmp_path / "run")
    assert Folder(tmp_path / "run").versions == ("0.1", "0.2", "0.3")
    expected_text = "Played by several versions of duels: 0.1, 0.2, 0.3."
    assert expected_text in arena(tmp_path, "report", tmp_path / "run").out
    with mock.patch("duels.arena.folder.version", return_value="0.4"):
        run(replace(LIGHTS, matches=4), tmp_path / "other")
    arena(tmp_path, "merge", tmp_path / "run", tmp_path / "other", "--out", tmp_path / "all")
    assert Folder(tmp_path / "all").versions == ("0.1", "0.2", "0.3", "0.4")


def test_parts_continue_with_a_new_version(tmp_path: Path) -> None:
    """A shard with the old version does not block the others, which do not block each other."""
    with (
        Folder.open_locked(tmp_path, LIGHTS, (1, 3)),
        mock.patch("duels.arena.folder.version", return_value="99"),
    ):
        for part in ((2, 3), (3, 3)):
            with Folder.open_locked(tmp_path, LIGHTS, part) as folder:
                assert folder.versions == (version("duels"), "99")
    assert Folder(tmp_path).versions == (version("duels"), "99")
