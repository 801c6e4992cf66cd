"""Positions drawn from good play, and exams made of them."""

import hashlib
import json
import math
import re
import shlex
import statistics
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from duels.arena.exam import (
    STRATA,
    DecisionPool,
    draw_positions,
    draw_weighted,
    estimate_score,
    get_card_path,
    grade_answer,
    make_exam_rows,
    render_card,
)
from duels.games import GAMES, find_game
from duels.solving.oracle import Verdict
from duels.solving.oracles import get_oracle
from tests.support import duels


@pytest.mark.parametrize("game", ["lights", pytest.param("hunt", marks=pytest.mark.slow)])
def test_positions_are_drawn_evenly_and_weighted(game: str) -> None:
    rules = find_game(game).rules()
    drawn = draw_positions(rules, 40, "1")
    assert draw_positions(rules, 40, "1") == drawn
    assert draw_positions(rules, 40, "2") != drawn
    assert len({(each.sight.seat, each.notation) for each in drawn}) == len(drawn) <= 40
    for each in drawn:
        low, high = STRATA[each.stratum], STRATA[each.stratum + 1]
        assert low <= max(each.shortfalls) <= high


@pytest.mark.parametrize("count", [2, 10, 30])
def test_weighted_means_are_unbiased_and_weights_sum_to_1(count: int) -> None:
    """The weighted sum, averaged over many draws, is the mean over the pool."""
    rng = Random(5)
    met = Counter({key: rng.randint(1, 9) for key in range(40)})
    strata = {key: min(3, key // 4) for key in met}
    worth = {key: rng.random() for key in met}
    true = sum(met[key] * worth[key] for key in met) / met.total()
    means = []
    for _ in range(3000):
        shares = draw_weighted(met, strata, count, rng)
        assert len(shares) == count
        assert math.isclose(sum(share.weight for share in shares.values()), 1)
        means.append(sum(share.weight * worth[key] for key, share in shares.items()))
    assert abs(sum(means) / len(means) - true) < 0.01


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_an_exam_is_complete_and_reproducible(kind: str, tmp_path: Path) -> None:
    path, again = tmp_path / f"exam.{kind}", tmp_path / f"again.{kind}"
    words = ("exam", "chain", "--option", "cells=5", "--option", "run=3", "--positions", "15", "--seed", "3")
    assert duels(tmp_path, *words, "--out", path).code == 0
    assert duels(tmp_path, *words, "--out", again).code == 0
    card = (tmp_path / f"exam.{kind}.card.md").read_text()
    assert "cells 5" in card
    assert "seed 3" in card
    if kind == "parquet":
        from pyarrow import parquet

        rows = parquet.read_table(path).to_pylist()
        assert rows == parquet.read_table(again).to_pylist()
        for row in rows:
            row["options"] = json.loads(row["options"])
    else:
        assert path.read_bytes() == again.read_bytes()
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert 0 < len(rows) <= 15
    for row in rows:
        rules = find_game(row["game"]).rules(**row["options"])
        sight = rules.parse_position(row["position"])
        verdict = get_oracle(rules).judge(sight)
        assert sight.seat.value == row["seat"]
        assert [each["action"] for each in row["actions"]] == [rules.format(each) for each in sight.actions]
        assert [each["loss"] for each in row["actions"]] == list(verdict.losses)
        assert any(each["best"] for each in row["actions"])


def test_an_exam_overwrites_a_file_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    path.write_text("mine")
    command = ("exam", "lights", "--positions", "4", "--out")
    result = duels(tmp_path, *command, path)
    assert (result.code, "exists; pass --force to overwrite it" in result.err) == (2, True)
    assert path.read_text() == "mine"
    written = tmp_path / "other.jsonl.card.md"
    written.write_text("my notes")
    result = duels(tmp_path, *command, tmp_path / "other.jsonl")
    assert (result.code, f"{written} exists;" in result.err, written.read_text()) == (2, True, "my notes")
    assert not (tmp_path / "other.jsonl").exists()
    assert duels(tmp_path, *command, tmp_path / "new.jsonl").code == 0
    assert duels(tmp_path, *command, tmp_path / "new.parquet", "--seed", "2").code == 0
    cards = [tmp_path / f"new.{kind}.card.md" for kind in ("jsonl", "parquet")]
    assert ["seed 1," in each.read_text() for each in cards] == [True, False]
    assert duels(tmp_path, *command, path, "--force").code == 0
    assert len(path.read_text().splitlines()) == 4
    result = duels(tmp_path, "exam", "lights", "--positions", "4", "--out", tmp_path / "exam.csv")
    assert "must be a .jsonl or .parquet" in result.err
    result = duels(tmp_path, "exam", "lights", "--option", "lamps=3", "--out", tmp_path / "x.jsonl")
    assert (result.code, "lights has no option 'lamps'" in result.err) == (2, True)


def test_an_exam_with_too_few_positions_says_so(tmp_path: Path) -> None:
    command = (
        "exam",
        "lights",
        "--option",
        "lights=4",
        "--positions",
        "30",
        "--out",
        tmp_path / "exam.jsonl",
    )
    content, fewer = duels(tmp_path, *command).err.splitlines()[-2:]
    count = len((tmp_path / "exam.jsonl").read_text().splitlines())
    assert count < 30
    assert f": {count} positions;" in content
    contain = f"300 decisions of good play contain only {count} different ones."
    assert fewer == f"30 positions were requested, but {contain}"
    card = get_card_path(tmp_path / "exam.jsonl").read_text()
    assert f"{count} positions, options lights 4" in card
    assert fewer in card
    assert "were requested" not in duels(tmp_path, *command[:5], "2", *command[6:], "--force").err


def test_games_of_mixing_are_graded_relative_to_the_mixture() -> None:
    rules = find_game("hunt").rules()
    drawn = draw_positions(rules, 4, "1")
    for row in make_exam_rows(rules, drawn):
        mean = sum(each["weight"] * each["below_mixture"] for each in row["actions"])
        assert mean == pytest.approx(0, abs=1e-9)
        assert "loss" not in row["actions"][0]
    assert "the `below_mixture` of the answer" in render_card(rules, 4, drawn, "1", "0")
    assert "perfect" not in render_card(rules, 4, drawn, "1", "0")


def first_action(verdict: Verdict[Any]) -> list[float]:
    return [1.0, *[0.0] * (len(verdict.actions) - 1)]


def any_action(verdict: Verdict[Any]) -> list[float]:
    return [1 / len(verdict.actions)] * len(verdict.actions)


@pytest.mark.parametrize(("game", "count"), [("chain", 20), ("leap", 20), ("lights", 60)])
def test_standard_errors_agree_with_the_spread_of_many_exams(game: str, count: int) -> None:
    rng = Random(f"exams of {game}")
    pool = DecisionPool.collect(find_game(game).rules(), 10 * count, rng)
    scores, variances = [], []
    for _ in range(300):
        estimate, error = estimate_score(pool.draw(count, rng), first_action)
        assert error is not None
        scores.append(estimate)
        variances.append(error**2)
    assert math.sqrt(statistics.mean(variances)) == pytest.approx(statistics.stdev(scores), rel=0.2)


def test_standard_errors_follow_from_the_file() -> None:
    rules = find_game("leap").rules()
    drawn = draw_positions(rules, 60, "1")
    rows = make_exam_rows(rules, drawn)
    groups: dict[int, list[tuple[float, float]]] = {}
    for row in rows:
        if row["chance"] < 1:
            x = row["weight"] * row["actions"][0]["loss"]
            groups.setdefault(row["group"], []).append((1 - row["chance"], x))
    variance = 0.0
    for parts in groups.values():
        n, (left, x) = len(parts), np.array(parts).T
        variance += n / (n - 1) * (left * (x - np.average(x, weights=left)) ** 2).sum()
    total = sum(row["weight"] * row["actions"][0]["loss"] for row in rows)
    assert estimate_score(drawn, first_action) == pytest.approx((total, math.sqrt(variance)))
    text = render_card(rules, 60, drawn, "1", "0")
    estimate, error = estimate_score(drawn, any_action)
    assert error
    assert f"| random | {100 * estimate:.2f} | {100 * error:.2f} |" in text
    assert "| best | 0.00 | 0.00 |" in text


def test_a_group_with_one_sampled_position_has_no_standard_error() -> None:
    rules, rng = find_game("chain").rules(), Random(1)
    pool = DecisionPool.collect(rules, 50, rng)
    few = pool.draw(5, rng)
    assert 1 in Counter(each.share.group for each in few if each.share.chance < 1).values()
    assert estimate_score(few, first_action)[1] is None
    assert re.search(r"\| random \| [\d.]+ \| – \|", render_card(rules, 5, few, "1", "0"))
    together = pool.draw(2, rng)  # fewer than there are strata
    assert {each.share.group for each in together} == {0}
    everything = pool.draw(len(pool.counts), rng)
    assert {each.share.chance for each in everything} == {1.0}
    assert estimate_score(everything, first_action)[1] == 0


def test_the_command_on_the_card_draws_the_same_exam(tmp_path: Path) -> None:
    """This also holds for a game with options and fewer positions than requested."""
    first = tmp_path / "first.jsonl"
    words = (
        "exam",
        "chain",
        "--option",
        "cells=3",
        "--option",
        "run=2",
        "--positions",
        "60",
        "--seed",
        "a b",
    )
    assert duels(tmp_path, *words, "--out", first).code == 0
    assert len(first.read_text().splitlines()) < 60
    (command,) = re.findall("^`(duels exam .*)` draws the same positions", card_text(first), re.MULTILINE)
    again = tmp_path / "again.jsonl"
    assert duels(tmp_path, *shlex.split(command)[1:-1], again).code == 0
    assert again.read_bytes() == first.read_bytes()
    assert card_text(again) == card_text(first)


def card_text(exam: Path) -> str:
    return get_card_path(exam).read_text(encoding="utf-8")


def test_a_set_has_an_exam_of_each_game_with_its_checksum(tmp_path: Path) -> None:
    """The README names every file as `datasets` expects it."""
    result = duels(tmp_path, "exam", "all", "--positions", "2", "--out", tmp_path / "exams")
    assert "2 positions of lights, 2 positions of leap" in result.err
    readme = (tmp_path / "exams" / "README.md").read_text()
    for game in GAMES:
        path = tmp_path / "exams" / f"{game}.jsonl"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"checksum of the exam is `{digest}`" in get_card_path(path).read_text()
        assert f"path: {game}.jsonl" in readme
    again = duels(tmp_path, "exam", "all", "--positions", "2", "--out", tmp_path / "exams")
    assert (again.code, "pass --force" in again.err) == (2, True)
    one = duels(tmp_path, "exam", "lights", "--out", tmp_path / "exams")
    assert (one.code, "is a folder" in one.err) == (2, True)
    wrong = duels(tmp_path, "exam", "all", "--option", "lights=9", "--out", tmp_path / "more")
    assert (wrong.code, "--option needs one game" in wrong.err) == (2, True)


@pytest.mark.parametrize("game", GAMES)
def test_an_answer_is_graded_as_its_action(game: str) -> None:
    rules = find_game(game).rules()
    for row in make_exam_rows(rules, draw_positions(rules, 4, "2")):
        for each in row["actions"]:
            grade = each.get("loss", each.get("below_mixture"))
            assert grade_answer(row, f'I think.\n{{"action": "{each["action"]}"}}') == grade
        assert grade_answer(row, "I would rather not say.") == row["value"]
    mixed = {each["action"]: 1 / len(row["actions"]) for each in row["actions"]}
    mean = statistics.fmean(each.get("loss", each.get("below_mixture")) for each in row["actions"])
    assert grade_answer(row, json.dumps({"policy": mixed})) == pytest.approx(mean)
