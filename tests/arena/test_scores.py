"""Scores and ratings from rows: pairs as units, gaps, and small samples."""

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest

from duels.arena.compare import ScoreChange, compare_runs
from duels.arena.confidence import Interval, mean_interval
from duels.arena.config import Config
from duels.arena.folder import Folder
from duels.arena.progress_line import ProgressLine
from duels.arena.report import make_report
from duels.arena.report_views import _render_cell, as_csv, as_data, make_document
from duels.arena.run import RunProgress, run
from duels.arena.scores import (
    _variance_ratio,
    rate_players,
    score_pairing,
    score_player,
    take_unbroken,
)
from duels.arena.tables import Items, Table, format_interval
from tests.arena.test_workers import wait_for
from tests.support import duels


def row(pair: int, one: str, two: str, score: float, short: float = 0.1) -> dict[str, Any]:
    data: dict[str, Any] = {"pair": pair, "players": [one, two], "score": score, "adjusted": score}
    data["seed"] = f"{sorted((one, two))} {pair}"
    data |= {"ending": "finished", "result": "1 won", "failures": [], "manners": [{}, {}]}
    return data | {"shortfalls": [short, short], "decisions": [4, 4]}


def pairs(results: list[tuple[float, float]], short: float = 0.1) -> list[dict[str, Any]]:
    """Return rows of matches between a and b, from a's points in each pair."""
    found = []
    for pair, (first, second) in enumerate(results):
        found += [row(pair, "a", "b", first, short), row(pair, "b", "a", 1 - second, short)]
    return found


def test_matches_of_a_pair_are_one_unit() -> None:
    """Pairs with two equal results count half as much as independent matches."""
    whole = score_pairing("a", "b", pairs([(1, 1), (0, 0)] * 20), range(40))
    single = score_pairing("a", "b", pairs([(1, 0)] * 40), range(40))
    assert whole.won.estimate == single.won.estimate == 0.5
    assert whole.won.margin > 1.3 * single.won.margin
    rows = [*pairs([(1, 0)] * 30, 0.0), *pairs([(1, 0)] * 60, 0.4)[60:]]
    by_pair = score_player("a", rows)
    by_match = [each["shortfalls"][0] for each in rows]
    assert by_pair.per_match.estimate == pytest.approx(sum(by_match) / len(by_match))
    assert by_pair.per_match.margin == pytest.approx(2.0010 * 0.2 / 59**0.5, rel=1e-3)  # 60 units
    assert by_pair.per_decision.margin == pytest.approx(by_pair.per_match.margin / 4)


@pytest.mark.parametrize("played", [1, 10, 100])
def test_equal_pairs_have_no_margin(played: int) -> None:
    alike = score_pairing("a", "b", pairs([(1, 1)] * played), range(played))
    assert alike.won.high - alike.won.low > 0.03
    assert alike.adjusted_fixed
    assert alike.adjusted_fixed.margin == inf
    assert score_player("a", pairs([(1, 1)] * played, 0.0)).per_decision.margin == inf


def test_luck_adjusted_results_are_not_clipped() -> None:
    """Clipping would bias the estimate of a player that nearly always wins."""
    rows = pairs([(1, 1), (1, 0)] * 30)
    pairing = score_pairing(
        "a", "b", [row | {"adjusted": 1.2 if row["players"][0] == "a" else -0.2} for row in rows], range(60)
    )
    assert pairing.adjusted.estimate == pytest.approx(1.2)
    assert pairing.adjusted.high <= 1
    assert "120.0 (" in format_interval(pairing.adjusted)


def test_an_adjustment_that_adds_variance_is_left_out() -> None:
    """Luck that has nothing to do with the results only blurs them; opposite luck would too."""
    rng = Random(1)
    rows = pairs([(1, 1), (1, 0), (0, 0)] * 20)
    blurred = [each | {"adjusted": each["score"] + rng.choice((-0.5, 0.5))} for each in rows]
    plain, adjusted = (score_pairing("a", "b", each, range(60)) for each in (rows, blurred))
    assert adjusted.variance_ratio
    assert adjusted.variance_ratio.estimate >= 1
    assert adjusted.adjusted.estimate == pytest.approx(plain.won.estimate, abs=0.02)
    assert adjusted.adjusted.margin < 1.3 * plain.adjusted.margin


def test_results_outside_their_bounds_are_compared_by_variance() -> None:
    """Clipped bounds would make the interval of the change too narrow."""
    one, two = (
        mean_interval([middle + spread, middle - spread] * 30)
        for middle, spread in ((0.99, 0.2), (1.03, 0.08))
    )
    pairing = replace(score_pairing("a", "b", pairs([(1, 1)] * 60), range(60)), adjusted_fixed=one)
    assert pairing.adjusted_fixed_clipped
    assert pairing.adjusted_fixed_clipped.high == 1
    assert ScoreChange("flip", "a", "against b", one, two, True).verdict == "no clear change"


@pytest.mark.parametrize(("after", "verdict"), [(5e-17, "no change"), (-5e-17, "no change"), (0.01, "worse")])
def test_rounding_does_not_count_as_a_change(after: float, verdict: str) -> None:
    first, second = (Interval(number, number, number) for number in (0.0, after))
    assert ScoreChange("lights", "a", "exploitability", first, second, False).verdict == verdict
    even = Interval(0.5, 0.5 + after, 0.5 + after)
    assert even.is_above(0.5) == (verdict == "worse")


def test_text_fits_a_terminal() -> None:
    wide = ["x", "y", *(letter * 20 for letter in "abcdef")]
    lines = Table("", ["one", "two", *"abcdef"], [wide], label_columns=2).render_text()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:2] for line in lines] == [
        ["one", "two"],
        ["x", "y"],
        [],
        ["one", "two"],
        ["x", "y"],
    ]
    assert [letter * 20 in "".join(lines) for letter in "abcdef"] == [True] * 6
    assert Items("", ["word " * 40]).render_text()[2].startswith("    word")
    assert Table("", ["a", "b"], [["1", 2]]).render_text() == ["a  b", "1  2"]


def test_long_names_are_shortened_and_stay_distinct() -> None:
    names = [f"{'a' * 60}-{end}" for end in ("small", "large")]
    row = [*names, "50.0 (0.0 to 100.0)", "3 crashed, " * 20]
    lines = Table("", ["one", "two", "won", "failures"], [row], label_columns=2).render_text()
    assert max(map(len, lines)) <= 80
    assert all(f"…{'a' * 9}-small" in line and "-large" in line for line in lines if "a" * 9 in line)
    assert Table("", ["one", "two"], [["a" * 30, "b" * 30]]).render_text() == [
        f"one{' ' * 29}two",
        f"{'a' * 30}  {'b' * 30}",
    ]


def test_a_line_of_progress_is_never_wider_than_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    line = ProgressLine()
    line.show(RunProgress(1, 2, points={f"player {n}": (1.0, 2) for n in range(30)}))
    line.write(monotonic() + 1)
    last_line = capsys.readouterr().err.rpartition("\x1b[K")[2]
    assert len(last_line) == 79


def test_on_a_pipe_progress_prints_occasional_lines(capsys: pytest.CaptureFixture[str]) -> None:
    line, progress, began = ProgressLine(), RunProgress(1, 9), monotonic()

    def written(seconds: float) -> str:
        line.write(began + seconds)
        return capsys.readouterr().err

    line.show(progress)
    assert written(1) == ""
    assert written(6) == "1 of 9 matches\n"
    progress.done = 2
    assert written(20) == ""
    assert written(40) == "2 of 9 matches\n"
    progress.delay_reason = "the endpoint is busy (429)"
    assert written(42) == ""
    assert written(46) == "2 of 9 matches; the endpoint is busy (429)\n"
    assert written(99) == "", "nothing is new"
    line.show("ratings")
    assert written(99) == "ratings\n"


def test_slow_work_without_messages_still_shows_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.arena.progress_line._REFRESH_SECONDS", 0.001)
    monkeypatch.setattr("duels.arena.progress_line._FIRST_SECONDS", 0.0)
    with ProgressLine() as line:
        line.show("ratings")
        wait_for(lambda: line.lines_written)
    assert capsys.readouterr().err == "ratings\n"


def test_the_saving_by_luck_adjustment_has_a_valid_interval() -> None:
    rng, runs, held = Random(1), 200, 0
    for _ in range(runs):
        skill = [rng.gauss(0.5, 0.1) for _ in range(100)]
        ratio = _variance_ratio([each + rng.gauss(0, 0.2) for each in skill], skill)
        assert ratio
        held += ratio.low <= 5 <= ratio.high
    assert held >= 0.9 * runs
    few = _variance_ratio([0.0, 1.0, 0.5], [0.4, 0.6, 0.5])
    assert few
    assert few.estimate == pytest.approx(25)
    assert few.margin == inf
    assert _variance_ratio([], []) is _variance_ratio([0.5] * 60, [0.1, 0.2] * 30) is None


def test_unsettled_pairings_are_pale_in_the_matrix() -> None:
    sure, unsure, worse, slightly = (
        _render_cell(Interval(*each))
        for each in ((0.9, 0.6, 1.0), (0.9, 0.4, 1.0), (0.1, 0.0, 0.4), (0.52, 0.51, 0.53))
    )
    assert sure.startswith('<td class="won" style="--p:0.86">90.0')
    assert unsure.startswith('<td class="won" style="--p:0.24">90.0')
    assert worse.startswith('<td class="lost" style="--p:0.86">10.0')
    assert slightly.startswith('<td class="won" style="--p:0.33">52.0')


def test_without_a_pair_there_is_no_result() -> None:
    assert score_pairing("a", "b", [], range(1)).adjusted_fixed is None


def test_pairs_count_up_to_the_first_gap() -> None:
    """Later pairs may have finished first because of their results."""
    results = {0: 0.0, 1: 0.1, 3: 0.3, 4: 0.4}
    assert take_unbroken(results, range(6)) == [0.0, 0.1]
    assert take_unbroken(results, [1, 4]) == [0.1, 0.4]
    rows = pairs([(1, 1)] * 30)
    pairing = score_pairing("a", "b", rows, range(30))
    broken = score_pairing("a", "b", [each for each in rows if each["pair"] != 4], range(30))
    assert (pairing.left_out, broken.left_out) == (0, 25)
    assert broken.adjusted.margin > pairing.adjusted.margin
    assert broken.adjusted == score_pairing("a", "b", rows[:8], range(30)).adjusted


def test_a_part_has_no_gaps_and_an_interrupted_run_says_so(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 60)
    for part in (1, 3):
        run(config, tmp_path / str(part), 1, (part, 3))
    alone = make_report(Folder(tmp_path / "1")).games[0].pairings[0]
    assert (alone.matches, alone.left_out) == (20, 0)
    words = ("merge", tmp_path / "1", tmp_path / "3", "--out", tmp_path / "two")
    assert "40 of 60 matches" in duels(tmp_path, "arena", *words).err
    joined = Folder(tmp_path / "two")
    both = make_report(joined).games[0].pairings[0]
    assert (both.matches, both.left_out) == (40, 0)
    log = joined.path / "log-1-of-3-merged.jsonl"
    lines = [line for line in log.read_text().splitlines(True) if json.loads(line)["pair"] != 27]
    log.write_text("".join(lines))
    broken = make_report(Folder(joined.path))
    assert broken.games[0].pairings[0].left_out == 1  # pair 29, which comes later
    assert "1 finished pair is left out" in make_document(broken).render_text()


def test_a_report_includes_only_planned_matches(tmp_path: Path) -> None:
    run(Config(("random", "club"), ("lights",), 8), tmp_path / "fewer")
    words = ("--players", "random,club", "--games", "lights", "--matches", "4", "--out", tmp_path / "fewer")
    assert (
        "leaves out 4 logged matches, because the run now has fewer.\n"
        in duels(tmp_path, "arena", "run", *words).err
    )
    run(Config(("random", "club"), ("lights",), 4), tmp_path / "new")
    data, new = (as_data(make_report(Folder(tmp_path / name))) for name in ("fewer", "new"))
    assert data == new
    assert data["matches"] == data["planned"] == 4


def test_one_pair_gives_no_interval_and_no_verdict(tmp_path: Path) -> None:
    for name, player in (("a", "novice"), ("b", "best")):
        run(Config(("random", f"mine={player}"), ("lights",), 2), tmp_path / name)
    one, two = (make_report(Folder(tmp_path / name)) for name in ("a", "b"))
    text = json.dumps(as_data(one))
    assert "Infinity" not in text
    assert as_data(one)["games"]["lights"]["players"]["random"]["loss_per_match"]["low"] is None
    assert "±?" in make_document(one).render_text()
    assert "<th>fewer pairs</th><th>cut off</th>" in make_document(one).render_html()
    assert "valid however often you look" in make_document(one).render_html()
    assert "inf" not in as_csv(one)
    assert {change.verdict for change in compare_runs(one, two).changes} == {"too few matches"}
    assert "inf" not in duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "b").out


def test_results_with_a_stopping_rule_are_compared_by_sequences(tmp_path: Path) -> None:
    for name, player in (("a", "novice"), ("b", "best")):
        config = Config(("random", f"mine={player}"), ("lights",), 400, until=0.2)
        run(config, tmp_path / name)
    one, two = (make_report(Folder(tmp_path / name)) for name in ("a", "b"))
    assert one.games[0].pairings[0].adjusted_fixed is None
    assert "The run may stop early" in make_document(one).render_text()
    data = as_data(one)
    game = data["games"]["lights"]
    for usual in (
        game["pairings"][0]["won"],
        *(game["players"]["mine"][n] for n in ("won", "loss_per_match")),
    ):
        assert usual["low"] is usual["high"] is None  # they do not hold
    assert data["ratings"]["players"]["mine"]["low"] is None
    assert f"{100 * game['pairings'][0]['won']['estimate']:.1f} (–)" in make_document(one).render_text()
    assert "too few mistakes" not in make_document(one).render_text()
    (change,) = compare_runs(one, two).changes
    assert change.player == "mine"
    assert change.first == one.games[0].pairings[0].swapped.adjusted
    assert change.difference.low == pytest.approx(change.second.low - change.first.high)


def test_equal_pairs_give_no_certain_rating() -> None:
    """The middle player won all matches against one and lost all against the other: no variation."""
    field = [("s", "m"), ("m", "w"), ("s", "w")]
    rows = {each: [row(pair, *each, 1) for pair in range(50) for _ in range(2)] for each in field}
    rated = rate_players(("s", "m", "w"), [score_pairing(*each, rows[each], range(50)) for each in field])
    assert rated
    assert {each.margin for each in rated.players.values()} == {inf}


def test_ratings_are_drawn_from_pairs_and_misfits_spread_like_them(tmp_path: Path) -> None:
    def rated(results: list[tuple[float, float]]) -> Any:
        return rate_players(("a", "b"), [score_pairing("a", "b", pairs(results), range(99))])

    whole, single = rated([(1, 1), (0, 0)] * 30), rated([(1, 0)] * 60)
    assert whole.players["a"].margin > 20
    assert single.players["a"].margin == inf  # all pairs are equal
    assert single.as_data()["players"]["a"]["low"] is None
    assert rated([(1, 1), (0, 0)] * 24).players["a"].margin == inf  # too few
    nothing = rate_players(("a", "b"), [])
    assert nothing
    assert nothing.players == {}
    run(Config(("random", "club"), ("lights",), 2), tmp_path / "run")
    (tmp_path / "run" / "log-1.jsonl").write_text("")
    data = make_document(make_report(Folder(tmp_path / "run"))).render_text()
    assert "extra 'arena'" not in data
    assert "rating" not in data
