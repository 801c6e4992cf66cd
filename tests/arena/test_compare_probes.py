"""Comparison of probes."""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from duels.arena import confidence
from duels.arena.compare import AnswerChanges, as_data, as_text, compare_probes
from duels.arena.config import Config, ProbeConfig
from duels.arena.folder import Folder
from duels.arena.probe import run_probe
from duels.arena.probe_report import GameProbe, make_report
from duels.arena.run import run
from duels.arena.schemas import Row
from duels.players.program import ProgramLimits
from duels.solving.oracles import get_oracle
from tests.players.test_program import BAD, PYTHON
from tests.support import duels


def test_two_probes_are_compared_number_by_number_and_answer_by_answer(tmp_path: Path) -> None:
    bad = f"mine=cmd:{PYTHON} {BAD} unknown"
    run_probe(ProbeConfig("mine=best", ("lights",)), tmp_path / "a")
    run_probe(ProbeConfig(bad, ("lights",), limits=ProgramLimits(retries=0)), tmp_path / "b")
    (best, worse) = (Folder(tmp_path / each) for each in "ab")
    comparison = compare_probes(make_report(best), make_report(worse))
    data = as_data(comparison)
    verdicts = {each["what"]: each["verdict"] for each in data["changes"]}
    assert {"exploitability", "against best", "questions with a failure"} < set(verdicts)
    assert set(verdicts.values()) == {"worse"}
    answers = data["answers"]["lights"]
    assert answers["failures"] == {"first": {}, "second": {"unreadable": len(worse.load_rows())}}
    worst = answers["differ"][0]
    assert worst["loss_change"] == max(each["loss_change"] for each in answers["differ"]) > 0
    assert {each["second"] for each in answers["differ"]} == {"nothing"}
    first_positions, second_positions = (
        {(row["seat"], row["position"]) for row in each.load_rows().values()} for each in (best, worse)
    )
    assert answers["in_both"] == len(first_positions & second_positions)
    text = as_text(comparison)
    assert f"{worst['position']}: was {worst['first']}, is nothing" in text
    assert "This is exact if the player always gives the same answer" in text
    same_text = as_text(compare_probes(*[make_report(best)] * 2))
    assert "per position" not in same_text  # the positions depend on the answers
    assert "no change" in same_text
    assert "worse" not in same_text
    assert "have the same answers" in same_text


def test_answers_are_compared_by_frequency(tmp_path: Path) -> None:
    run_probe(ProbeConfig("mine=best", ("lights",)), tmp_path)
    report = make_report(Folder(tmp_path))
    (game,) = report.games
    key, sight = next((key, each) for key, each in game.probe.sights.items() if key in game.probe.answers)
    best = get_oracle(sight.rules).judge(sight)
    row = {"key": "a", "action": sight.rules.format(best.best[0]), "policy": None}

    def answered(rows: list[Row], complete: bool = True) -> GameProbe:
        return replace(
            game,
            probe=replace(game.probe, answers={key: rows}),
            shortfalls={key: 0.0},
            complete=complete,
        )

    def compared(one: GameProbe, two: GameProbe) -> tuple[AnswerChanges, str]:
        comparison = compare_probes(*(replace(report, games=(each,)) for each in (one, two)))
        assert comparison.answers
        return comparison.answers[0], as_text(comparison)

    same, text = compared(answered([row]), answered([row] * 10))
    assert not same.answers  # ten tenths are 1 up to rounding
    assert "Not all" not in text
    changed, text = compared(answered([row]), answered([row, {**row, "action": None}]))
    assert changed.answers[0].change == pytest.approx(best.value.number / 2)
    assert "(50%), 50.0 points worse on average\n" in text
    assert "1 worse on average. Answers are samples, so some differ by chance." in " ".join(text.split())
    _, unfinished = compared(answered([row]), answered([row], complete=False))
    assert "Not all questions are answered yet" in " ".join(unfinished.split())


def test_probes_without_common_numbers_are_compared_by_answers(tmp_path: Path) -> None:
    run_probe(ProbeConfig("mine=best", ("lights",)), tmp_path)
    report = make_report(Folder(tmp_path))
    unfinished = replace(report.games[0], exploitability=None, one_round=None, against={}, complete=False)
    text = as_text(compare_probes(report, replace(report, games=(unfinished,))))
    asked = len(report.games[0].probe.answers)
    data = f"lights: All {asked} positions in both probes have the same answers. Not all"
    assert text == f"{data}\nquestions are answered yet.\n"


def test_drawn_positions_are_compared_one_by_one(tmp_path: Path) -> None:
    for folder, player in {"a": "mine=random", "b": "mine=casual"}.items():
        run_probe(ProbeConfig(player, ("hunt",), positions=4), tmp_path / folder)
    with mock.patch.multiple(confidence, MIN_UNITS=2, _UNITS_PER_SKEWNESS=0):  # for a small sample
        result = duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "b", "--json")
    (change,) = json.loads(result.out)["changes"]
    assert change["what"] == "shortfall per position"
    assert change["verdict"] == "too few positions"
    first, second, gap = change["first"], change["second"], change["difference"]
    assert gap["estimate"] == pytest.approx(second["estimate"] - first["estimate"])
    assert gap["high"] - gap["estimate"] < first["high"] - first["estimate"]  # like one sample, not two


def test_a_run_and_a_probe_are_not_compared(tmp_path: Path) -> None:
    run_probe(ProbeConfig("best", ("lights",)), tmp_path / "a")
    run(Config(("random", "best"), ("lights",), 2), tmp_path / "b")
    result = duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "b")
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
    assert "compare two runs or two probes" in result.err
