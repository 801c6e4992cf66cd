"""Runs: repeatable with any number of workers, after kills, in shards and merged; and errors."""

import json
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from duels.arena.commands import quote_for_shell
from duels.arena.config import Config, ProbeConfig
from duels.arena.folder import WHOLE_RUN, Folder
from duels.arena.match_plan import MatchPlan
from duels.arena.probe import run_probe
from duels.arena.report import make_report
from duels.arena.report_views import as_data, make_document
from duels.arena.run import MIN_ROUND, _iter_rounds, _Session, run
from duels.arena.scores import adjusted_interval, list_finished_pairs, make_match_pairs
from duels.core.errors import DuelsError
from duels.core.svg import stylesheet
from duels.players.endpoint import EndpointSettings
from duels.players.program import ProgramLimits
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import CommandResult, duels

LIGHTS = Config(("random", "club", "best"), ("lights", "leap"), 8, "7")


def arena(tmp_path: Path, *words: str | Path) -> CommandResult:
    return duels(tmp_path, "arena", *words)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [dict(row) for _, row in sorted(Folder(folder).load_rows().items())]


def test_any_number_of_workers_and_shards_gives_the_same_rows(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "one", 1)
    run(LIGHTS, tmp_path / "two", 2)
    for part in (1, 2, 3):
        run(LIGHTS, tmp_path / f"part{part}", 1, (part, 3))
    result = arena(
        tmp_path, "merge", *(tmp_path / f"part{part}" for part in (1, 2, 3)), "--out", tmp_path / "all"
    )
    assert result.code == 0
    expected = rows_of(tmp_path / "one")
    assert len(expected) == 2 * 3 * 8
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "all") == expected
    reports = [as_data(make_report(Folder(tmp_path / name))) for name in ("one", "two", "all")]
    assert reports[0] == reports[1] == reports[2]


def test_pairs_swap_the_seats_of_one_seed(tmp_path: Path) -> None:
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


def test_an_incomplete_line_is_dropped_and_its_match_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(LIGHTS, folder)
    whole = rows_of(folder)
    log = folder / "log-1.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    assert len(rows_of(folder)) == len(whole) - 1
    run(LIGHTS, folder)
    assert rows_of(folder) == whole


def test_failures_of_a_program_are_reported_by_class(tmp_path: Path) -> None:
    config = Config(("random", f"bad=cmd:{PYTHON} {BAD} die", f"good=cmd:{GOOD['shell']}"), ("lights",), 2)
    run(config, tmp_path / "run")
    report = make_report(Folder(tmp_path / "run"))
    assert "<li>bad: 12 crashed</li>" in make_document(report).render_html()
    expected_text = as_data(report)["games"]["lights"]["players"]
    assert expected_text["bad"]["failures"] == {"crashed": 3 * 4}
    assert expected_text["bad"]["forfeits"] == 4
    assert expected_text["good"]["failures"] == {}
    assert "no more" in next((tmp_path / "run" / "bots").glob("bad-*.log")).read_text()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{PYTHON} nofile.py", "it ended with exit code 2, saying "),
        ("nosuchprogram", "'nosuchprogram' cannot be started: No such file or directory."),
        ("sh -c 'read -r _; echo hello'", "hello"),
    ],
)
def test_rejects_a_program_that_does_not_start_before_writing(tmp_path: Path, command: str, why: str) -> None:
    config = Config(("random", f"x=cmd:{command}"), ("lights",), 2)
    probe_config = ProbeConfig(config.players[1], config.games)
    for attempt in (
        partial(run, config, tmp_path / "run", 2),
        partial(run, config, tmp_path / "run", 1, (1, 2)),
        partial(run_probe, probe_config, tmp_path / "run"),
    ):
        with pytest.raises(DuelsError, match="x does not start: ") as problem:
            attempt()
        assert why in str(problem.value)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_starts_no_program(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    command = f"sh -c 'echo started >> {starts} && exec {GOOD['shell']}'"
    config = Config(("random", f"mine=cmd:{command}"), ("lights",), 2)
    probe_config = ProbeConfig(config.players[1], config.games)
    for attempt in (
        partial(run, config, tmp_path / "run"),
        partial(run_probe, probe_config, tmp_path / "probe"),
    ):
        starts.unlink(missing_ok=True)
        attempt()
        before = starts.read_text()
        assert attempt().unfinished == ()
        assert starts.read_text() == before
    starts.unlink()
    starts.mkdir()  # makes the program fail to start
    with pytest.raises(DuelsError, match="mine does not start: "):
        run(replace(config, matches=4), tmp_path / "run")
    assert len(rows_of(tmp_path / "run")) == 2


@pytest.mark.parametrize("name", ["bot (v2)", "x" * 41, "-x"])
def test_rejects_unknown_names_and_lists_valid_ones(name: str) -> None:
    with pytest.raises(DuelsError, match="is not a valid player name: use up to 40 letters"):
        Config(("random", f"{name}=cmd:python bot.py"), ("lights",), 2)


def test_a_folder_needs_a_name_and_is_quoted_for_a_shell(tmp_path: Path) -> None:
    words = ("run", "--players", "random,club", "--games", "lights", "--matches", "2", "--workers", "1")
    result = arena(tmp_path, *words, "--out", "")
    assert (result.code, "a folder needs a name" in result.err) == (2, True)
    config = tmp_path / "t.toml"
    config.write_text('players = ["random", "club"]\ngames = ["lights"]\nout = ""\n')
    result = arena(tmp_path, "run", config)
    assert (result.code, "out must be the name of a folder" in result.err) == (2, True)
    assert quote_for_shell(Path("runs/first")) == "runs/first"
    assert quote_for_shell(Path("my runs")) == "'my runs'"
    assert quote_for_shell(Path("-x")) == "./-x"


def test_pairs_after_an_unfinished_one_decide_nothing(tmp_path: Path) -> None:
    """A match that takes long is missing, so later results would favour whoever wins quickly."""
    config = Config(("random", "best"), ("lights",), 80, until=0.2)
    pairing = next(iter(config.iter_pairings()))
    plans = list(config.plan_matches(*pairing, range(40)))
    scores = {plan.key: (1.0, 1.0) if plan.players[0] == "best" else (0.0, 0.0) for plan in plans}
    with Folder.open_locked(tmp_path / "run", config) as folder:
        for missing, is_decided in ((None, True), (plans[0], False), (plans[1], False), (plans[-1], True)):
            known = {key: score for key, score in scores.items() if missing is None or key != missing.key}
            session = _Session(config, folder, "", 1, None, WHOLE_RUN, lambda: None, lambda _: None, known)
            assert session._is_decided(pairing, plans) == is_decided


def test_until_stops_at_the_requested_precision(tmp_path: Path) -> None:
    config = Config(("best", "perfect"), ("lights",), 2000, until=0.1)
    run(config, tmp_path / "run")
    pairs = [
        (unit.score, unit.adjusted_score)
        for unit in list_finished_pairs(make_match_pairs(rows_of(tmp_path / "run"), "best"))
    ]
    assert adjusted_interval(pairs).margin <= 0.1 < adjusted_interval(pairs[:-MIN_ROUND]).margin
    run(config, tmp_path / "two", 2)
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "run")


def test_rounds_do_not_depend_on_the_number_of_planned_pairs() -> None:
    long = [last for _, last in _iter_rounds(5000, 0.03)]
    assert long[:8] == [20, 30, 40, 50, 60, 70, 80, 90]
    assert (long[-1], len(long)) == (5000, 43)
    for planned in (1, 20, 33, 100):
        assert [last for _, last in _iter_rounds(planned, 0.03)] == [
            *(x for x in long if x < planned),
            planned,
        ]


def test_a_config_file_equals_flags(tmp_path: Path) -> None:
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
def test_programs_do_not_get_the_key_of_a_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a secret")
    monkeypatch.setenv("NO_KEY", "no secret")
    teller = tmp_path / "teller.sh"
    teller.write_text(f"env >&2\nexec {PYTHON} {BAD} unknown\n")
    config = Config(
        (f"teller=cmd:sh {teller}", "random"), ("lights",), 2, model=EndpointSettings(key_env=name)
    )
    run(replace(config, limits=ProgramLimits(retries=0)), tmp_path / "run")
    expected_text = "".join(log.read_text() for log in (tmp_path / "run").rglob("*.log"))
    assert "NO_KEY=no secret" in expected_text
    assert "a secret" not in expected_text


def test_the_report_in_every_form(tmp_path: Path) -> None:
    run(LIGHTS, tmp_path / "run")
    text = arena(tmp_path, "report", tmp_path / "run").out
    assert "Light Out Duel (lights): 24 matches" in text
    assert text.count("Luck adjustment removes the random choices") == len(LIGHTS.games)
    page, csv, table = tmp_path / "p.html", tmp_path / "s.csv", tmp_path / "m.parquet"
    result = arena(tmp_path, "report", tmp_path / "run", "--html", page, "--csv", csv, "--parquet", table)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == [f"Wrote {each}." for each in (table, page, csv)]
    assert "<svg" in page.read_text()
    assert stylesheet() in page.read_text()  # else boards have light colours only
    assert page.read_text().count("Luck adjustment removes the random choices") == len(LIGHTS.games)
    assert re.search(r"<td>[0-9.]+ \([0-9.]+\xa0to\xa0[0-9.]+\)</td>", page.read_text())
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "")
    assert len(csv.read_text().splitlines()) == 1 + 2 * 3
    from pyarrow import parquet

    assert parquet.read_table(table).num_rows == 48
    result = arena(tmp_path, "report", tmp_path / "run", "--csv", csv)
    assert (result.code, "exists; pass --force to overwrite it" in result.err) == (2, True)
    assert arena(tmp_path, "report", tmp_path / "run", "--csv", csv, "--force").code == 0
    expected_text = arena(tmp_path, "report", tmp_path / "run", "--json").out
    assert str(tmp_path) not in expected_text
    assert json.loads(expected_text) == as_data(make_report(Folder(tmp_path / "run")))


def test_players_are_called_perfect_only_if_proven() -> None:
    assert Config(("random", "perfect"), ("hunt",)).names == ["random", "best"]
    assert Config(("random", "perfect"), ("leap",)).names == ["random", "perfect"]
    with pytest.raises(DuelsError, match="two players are called 'best'"):
        Config(("best", "perfect"), ("lights", "hunt"))


def test_the_ladder_is_an_ordinary_run(tmp_path: Path) -> None:
    result = arena(
        tmp_path, "ladder", "--games", "lights", "--matches", "2", "--workers", "1", "--out", tmp_path / "l"
    )
    assert result.code == 0
    assert "random" in result.out
    assert len(rows_of(tmp_path / "l")) == 21 * 2


def test_progress_shows_the_number_of_matches() -> None:
    from duels.arena.progress_line import format_progress
    from duels.arena.run import RunProgress

    progress = RunProgress(10, 100, 10)
    expected_text = "10 of 100 matches, 0:09:00 left at most"
    assert format_progress(progress, 60.0) == expected_text
    progress.count(MatchPlan("lights", (), ("random", "club"), "1", 0), 0.0)
    progress.count(MatchPlan("lights", (), ("club", "random"), "1", 0), 0.5)
    assert format_progress(progress, 60.0) == f"{expected_text}; won: club 75%, random 25%"


def test_a_run_is_compacted_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    words = ("run", "--players", "random,club", "--games", "lights", "--matches", "4", "--workers", "1")
    assert arena(tmp_path, *words, "--out", tmp_path / "run").code == 0
    table = parquet.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    assert [row["key"] for row in table] == sorted(row["key"] for row in rows_of(tmp_path / "run"))
    assert arena(tmp_path, "merge", tmp_path / "run", "--out", tmp_path / "all").code == 0
    assert parquet.read_table(tmp_path / "all" / "matches.parquet").to_pylist() == table
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = arena(tmp_path, *words, "--out", tmp_path / "without")
    assert (result.code, "No Parquet file was written. This needs pyarrow" in result.err) == (0, True)
    assert "Light Out Duel" in result.out
