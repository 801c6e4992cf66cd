"""Probes: what is asked, what follows exactly, and what is drawn where not all can be asked."""

import asyncio
import json
import math
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest

from duels.analysis.agents import player_odds
from duels.analysis.exploitability import exploitability
from duels.arena import compare_probes, confidence, probe_report, probe_values
from duels.arena.config import Config, ProbeConfig
from duels.arena.exam import card, card_of, exam_rows
from duels.arena.folder import Folder, Row
from duels.arena.positions import STRATA, Pool, draw_positions, draw_weighted, score
from duels.arena.probe import Ask, collect, probe
from duels.arena.probe_report import as_data, as_page, as_text
from duels.arena.probe_values import Answers, against_all
from duels.arena.run import run
from duels.core.errors import BadOption, DuelsError
from duels.core.rules import Seat
from duels.games import find_game
from duels.players.endpoint import Endpoint, Settings
from duels.players.model import ModelPlayer
from duels.players.program import Limits
from duels.solving.game_tables import shared_tables
from duels.solving.oracle import Verdict
from duels.solving.oracles import oracle_for
from duels.solving.table_response import expected_values
from tests.arena.model_server import KEY, serving
from tests.arena.test_confidence import exact_result
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import duels

SHELL = f"cmd:{GOOD['shell']}"


def probed(folder: Path, player: str, *games: str, **settings: Any) -> dict[str, Any]:
    return as_data(probe(ProbeConfig(player, games, **settings), folder))


LEAP = pytest.param("greedy", "leap", marks=pytest.mark.slow)


@pytest.mark.parametrize(("player", "game"), [("club", "lights"), LEAP])
def test_exploitability_and_results_are_those_of_the_whole_policy(
    player: str, game: str, tmp_path: Path
) -> None:
    """By the answers at the positions asked alone, and by the policy everywhere: the same."""
    told = probed(tmp_path / "probe", player, game)["games"][game]
    assert told["complete"]
    assert told["exploitability"]["estimate"] == pytest.approx(exploitability(player, game))
    rules = find_game(game).rules()
    for opponent in ("random", "expert"):
        result = (exact_result(rules, player, opponent) + 1 - exact_result(rules, opponent, player)) / 2
        assert told["against"][opponent]["estimate"] == pytest.approx(result)


def test_a_deterministic_program_is_asked_only_where_it_can_come(tmp_path: Path) -> None:
    told = probed(tmp_path / "probe", SHELL, "lights")["games"]["lights"]
    assert 60 <= told["questions"] <= 220
    assert told["exploitability"]["estimate"] == exploitability(lambda sight: sight.actions[0], "lights")
    assert told["mistakes"][0]["loss"] == 1
    loss = told["loss_per_position"]  # of all positions: nothing was drawn
    assert loss["low"] == loss["estimate"] == loss["high"]
    assert "exact for a player that always answers the same" in as_text(Folder(tmp_path / "probe"))


def test_mirror_images_are_asked_once_if_that_is_wanted(tmp_path: Path) -> None:
    whole = probed(tmp_path / "whole", "club", "lights")["games"]["lights"]
    half = probed(tmp_path / "half", "club", "lights", symmetric=True)["games"]["lights"]
    assert half["questions"] < 0.65 * whole["questions"]
    assert half["positions"] == whole["positions"]
    folders = [Folder(tmp_path / each) for each in ("whole", "half")]
    told = [" ".join(as_text(each).split()) for each in folders]
    assert ["of two mirror images about one" in each for each in told] == [False, True]
    (note,) = compare_probes.differences(*folders).notes
    assert note == "Only the second took one answer for both of two mirror images (--symmetric)."
    assert half["exploitability"]["estimate"] == pytest.approx(whole["exploitability"]["estimate"])
    with pytest.raises(DuelsError, match="leap has no mirror images"):
        probed(tmp_path / "leap", "club", "leap", symmetric=True)
    with pytest.raises(DuelsError, match="hunt is not asked whole"):
        probed(tmp_path / "hunt", "club", "hunt", symmetric=True)
    assert not (tmp_path / "hunt").exists()


def test_a_player_that_draws_gets_intervals(tmp_path: Path) -> None:
    told = probed(tmp_path / "probe", f"cmd:{GOOD['python']}", "lights", samples=2)["games"]["lights"]
    found = told["exploitability"]
    assert 0 <= found["low"] < found["estimate"] <= found["high"] <= 0.5
    assert all(each["low"] < each["high"] for each in told["against"].values())
    assert told["questions"] == 2 * told["positions"]
    loss = told["loss_per_position"]
    assert 0 < loss["low"] < loss["estimate"] < loss["high"]
    probed(tmp_path / "once", SHELL, "lights")
    found = compare_probes.differences(Folder(tmp_path / "probe"), Folder(tmp_path / "once"))
    for change in compare_probes.as_data(found)["changes"]:
        if change["what"] != "questions with a failure":
            assert change["verdict"] == "asked once"
            assert change["first"]["low"] is not None
            assert change["second"]["low"] is change["difference"]["low"] is None
    assert "so there is no interval and no verdict" in " ".join(compare_probes.as_text(found).split())


def test_the_worst_positions_of_a_player_that_mixes_tell_its_share_and_its_mean(tmp_path: Path) -> None:
    worst = probed(tmp_path, "random", "lights")["games"]["lights"]["mistakes"][0]
    assert 0 < worst["often"] < 1
    points = f"{100 * worst['loss']:.1f} points given away on average"
    did = f"random played {worst['played']} ({worst['often']:.0%}) at {worst['position']}"
    assert f"{did}: {points}" in " ".join(as_text(Folder(tmp_path)).split())


def test_answers_that_are_alike_by_chance_or_reflected_leave_the_loss_open() -> None:
    rules = find_game("lights").rules()

    def answer(asked: list[Ask]) -> dict[str, Any]:
        action = {each.key: rules.format(each.sight.actions[0]) for each in asked}
        return {key: {"key": key, "action": told, "policy": None} for key, told in action.items()}

    def margin() -> float:
        short = {key: probe_report._shortfall(found, key) for key in found.answers}
        return probe_report._mean_of_all(found, short).margin

    config = ProbeConfig("random", ("lights",), samples=2, symmetric=True)
    found = collect(config, rules, answer)
    as_asked = margin()
    for place, rows in found.answers.items():
        found.answers[place] = [{**row, "key": str(place)} for row in rows]  # as if each had been asked
    assert 0 < margin() < 0.8 * as_asked


@cache
def policy_known(player: str) -> Any:
    rules = find_game("lights").rules()
    odds = player_odds(player, rules)
    return cache(lambda state: odds(rules.sight(state, Seat(rules.actor(state)))))  # type: ignore[arg-type]


def drawn(player: str, samples: int, seed: int) -> Answers:
    """Answers about lights of a player that draws them from a policy we know."""
    rules = find_game("lights").rules()
    odds, rng = policy_known(player), Random(f"{player} {seed}")

    def answer(asked: list[Ask]) -> dict[str, Any]:
        told = {}
        for each in asked:
            chances = odds(each.sight.view)
            (action,) = rng.choices(list(chances), weights=list(chances.values()))
            told[each.key] = {"key": each.key, "action": rules.format(action), "policy": None}
        return told

    return Answers(collect(ProbeConfig("random", ("lights",), samples=samples), rules, answer))


@pytest.mark.parametrize("samples", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_intervals_of_a_player_that_draws_hold(samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_values, "OPPONENTS", ("expert",))
    rules = find_game("lights").rules()
    true = exploitability("club", "lights")
    result = (exact_result(rules, "club", "expert") + 1 - exact_result(rules, "expert", "club")) / 2
    runs, gains, results = 25, 0, 0
    for seed in range(runs):
        answers = drawn("club", samples, seed)
        gain, against = probe_values.exploitability(answers, None), against_all(answers)["expert"]
        gains += gain.low <= true <= gain.high
        results += against.low <= result <= against.high
    assert min(gains, results) >= runs - 3


@pytest.mark.slow
@pytest.mark.parametrize("player", ["random", "novice", "casual", "club", "expert"])
def test_of_100_intervals_from_4_samples_90_hold_at_least(player: str) -> None:
    """As docs/arena.md says, for each number of a probe."""
    rules = find_game("lights").rules()
    true = {
        other: (exact_result(rules, player, other) + 1 - exact_result(rules, other, player)) / 2
        for other in probe_values.OPPONENTS
    }
    true["exploitability"] = exploitability(player, "lights")
    held: Counter[str] = Counter()
    for seed in range(100):
        answers = drawn(player, 4, seed)
        found = {**against_all(answers), "exploitability": probe_values.exploitability(answers, None)}
        held.update(name for name, each in found.items() if each.low <= true[name] <= each.high)
    assert min(held[name] for name in true) >= 90, held


def test_where_a_player_was_not_asked_it_may_do_anything() -> None:
    """An action that came in no sample may lead to better or worse than guesses about it say."""
    answers = drawn("random", 2, 1)
    theirs = answers.opponent("expert")
    policy = answers._against(theirs, 0, slice(None))
    values = np.array(expected_values(answers.tables, policy))
    free = answers.tables.actor == 0
    free[answers._places] = False
    worst, best = probe_values.Moves(answers.tables, None).extremes(policy, values, free)
    asked = answers._places[answers.tables.actor[answers._places] == 0]
    assert worst[asked] == pytest.approx(values[asked])
    assert best[asked] == pytest.approx(values[asked])
    assert (best - worst)[free].max() > 0.5
    result, error = answers.result(theirs, 0, slice(None))
    again, down, up = answers.result_between(theirs, 0)
    assert again == result
    assert up > 1.1 * error > 0  # of a player that loses nearly always
    assert down > 0


def test_bounds_are_found_where_play_goes_round_in_circles() -> None:
    """Of play that never departs they are its values, from wherever the search begins."""
    rules = find_game("chain").rules(cells=5, run=3)
    plain = shared_tables(rules).tables
    policy = plain.legal / np.maximum(1, plain.legal.sum(axis=1, keepdims=True))
    nowhere = np.zeros(plain.states, bool)
    values = np.array(expected_values(plain, policy))
    for bound in probe_values.Moves(plain, None).extremes(policy, np.zeros(plain.states), nowhere):
        assert bound[plain.starts] == pytest.approx(values[plain.starts], abs=1e-5)


def test_more_answers_leave_less_open() -> None:
    few, many = (probe_values.exploitability(drawn("random", samples, 1), None) for samples in (4, 60))
    assert many.high - many.low < few.high - few.low
    assert 0 < many.low < exploitability("random", "lights") < many.high


def test_no_answer_forfeits_the_match_as_in_a_run_and_is_no_loss_of_skill(tmp_path: Path) -> None:
    told = probed(tmp_path / "probe", f"bad=cmd:{PYTHON} {BAD} unknown", "lights")["games"]["lights"]
    assert told["failures"] == {"unreadable": 3 * told["questions"]}
    assert told["unanswered"] == told["questions"]
    assert told["exploitability"]["estimate"] == 0.5
    assert {result["estimate"] for result in told["against"].values()} == {0.0}
    text = as_text(Folder(tmp_path / "probe"))
    assert "it answered no question" in text
    assert "Loss per position: –" in text


def test_a_forfeit_now_and_then_costs_the_matches_that_come_to_it(tmp_path: Path) -> None:
    """Best at seat 1 of lights wins every match; without an answer to the first question it wins none."""
    probed(tmp_path / "probe", "best", "lights")
    log = tmp_path / "probe" / "answers-1.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        if row["seat"] == 1 and row["position"] == "OOOOOOO 1":
            row |= {"action": None, "policy": None, "failures": [["illegal", "9"]]}
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = as_data(Folder(tmp_path / "probe"))["games"]["lights"]
    assert told["unanswered"] == 1
    assert told["loss_per_position"]["estimate"] == 0
    assert told["against"]["best"]["estimate"] == 0
    assert 0.3 < told["against"]["random"]["estimate"] <= 0.5


def test_without_numpy_the_arenas_extra_is_named(tmp_path: Path) -> None:
    words = ["duels", "arena", "probe", "--player", "club", "--games", "lights", "--out", str(tmp_path / "p")]
    code = "import sys; sys.modules['numpy'] = None; from duels.terminal.commands import main; "
    code += f"sys.argv = {words}; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "This needs numpy: pip install 'duels[arena]'" in done.stderr
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "duels[vector]" in extras["llm"]  # whoever asks a model can probe it
    assert "vector" in extras["arena"][0]


def test_a_probe_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    whole = probed(folder, "club", "lights")
    log = folder / "answers-1.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:50]) + lines[50][:20])
    assert not as_data(Folder(folder))["games"]["lights"]["complete"]
    assert "Not all is answered yet" in as_text(Folder(folder))
    assert probed(folder, "club", "lights") == whole
    assert sorted(log.read_text().splitlines(keepends=True)) == sorted(lines)


@pytest.mark.parametrize("game", ["hunt", pytest.param("flip", marks=pytest.mark.slow)])
def test_larger_games_are_asked_by_positions_from_good_play(game: str, tmp_path: Path) -> None:
    told = probed(tmp_path / "probe", "random", game, positions=20)["games"][game]
    assert (told["whole"], told["exploitability"], told["against"]) == (False, None, {})
    assert told["questions"] == told["positions"] == 20
    name = "below_mixture_per_position" if game == "hunt" else "loss_per_position"
    assert 0 < told[name]["estimate"] < 1
    best = probed(tmp_path / "best", "best", game, positions=20)["games"][game]
    assert best[name]["estimate"] == pytest.approx(0, abs=1e-9)


def test_a_probe_ends_if_the_endpoint_stays_down(tmp_path: Path) -> None:
    with serving() as server:
        settings = Settings(server.url, total_seconds=0.001, concurrency=1)
        folder = probe(ProbeConfig("model:down", ("lights", "leap"), model=settings), tmp_path / "p")
        assert server.asked["down"] == 1 + 3  # the first move, and replies to it
    assert folder.unfinished


def test_a_model_is_probed_over_the_wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as server:
        settings = Settings(server.url, input_price=10_000.0, output_price=0.0, concurrency=2)
        first = probe(ProbeConfig("model:well", ("lights",), budget="20usd", model=settings), tmp_path / "p")
        assert first.unfinished == ("The budget of 20 usd is spent; a larger one goes on.",)
        assert as_data(first)["games"]["lights"]["exploitability"] is None
        last = probe(ProbeConfig("model:well", ("lights",), budget="900usd", model=settings), tmp_path / "p")
    told = as_data(last)
    assert told["games"]["lights"]["exploitability"]["estimate"] == 0
    assert told["usage"]["cost"] == told["usage"]["requests"] == told["games"]["lights"]["questions"]
    assert max(map(len, as_text(last).splitlines())) <= 80
    text = " ".join(as_text(last).split())
    assert f"It took {told['usage']['requests']} requests and cost {told['usage']['cost']:.2f} usd." in text
    assert "Asked once each: what it answers another time is not known (use --samples 4)." in text
    assert "With them it beats random" in text
    again = compare_probes.as_data(compare_probes.differences(last, last))
    assert {each["verdict"] for each in again["changes"]} == {"asked once"}  # at any temperature


def test_a_problem_with_one_question_ends_the_others_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks any more when the connections are closed."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    asked, ended, at_the_end = [], [], []

    async def decide(self: ModelPlayer, *_: Any) -> Any:
        asked.append(self)
        if len(asked) == 3:
            raise DuelsError("this cannot go on.")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(self)

    leave = Endpoint.__aexit__

    async def left(self: Endpoint, *problem: Any) -> None:
        at_the_end.append(len(ended))
        await leave(self, *problem)

    monkeypatch.setattr(ModelPlayer, "decide", decide)
    monkeypatch.setattr(Endpoint, "__aexit__", left)
    settings = Settings("http://127.0.0.1:9/v1", concurrency=3)
    with pytest.raises(DuelsError, match="this cannot go on"):
        probe(ProbeConfig("model:well", ("lights",), samples=3, model=settings), tmp_path)
    assert at_the_end == [2]


def test_the_command_and_its_reports(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    done = duels(tmp_path, "arena", "probe", "--player", "best", "--games", "lights", "--out", folder)
    assert done.code == 0
    assert "Exploitability: 0.00" in done.out
    assert "asked about positions without history" in done.out
    assert json.loads(duels(tmp_path, "arena", "report", folder, "--json").out) == as_data(Folder(folder))
    page = tmp_path / "page.html"
    assert duels(tmp_path, "arena", "report", folder, "--html", page).code == 0
    assert page.read_text() == as_page(Folder(folder))


def test_limits_and_retries_reach_who_is_probed(tmp_path: Path) -> None:
    bad = f"bad=cmd:{PYTHON} {BAD} unknown"
    words = ("arena", "probe", "--player", bad, "--games", "lights", "--retries", "0", "--move-seconds", "9")
    assert duels(tmp_path, *words, "--memory-mb", "4096", "--out", tmp_path / "p").code == 0
    told = as_data(Folder(tmp_path / "p"))["games"]["lights"]
    assert told["failures"] == {"unreadable": told["questions"]}
    limits = Folder(tmp_path / "p").config["limits"]
    assert (limits["move_seconds"], limits["memory_mb"], limits["retries"]) == (9, 4096, 0)
    asked = ("--player", "model:NAME", "--base-url", "http://127.0.0.1:9/v1", "--games", "lights")
    for command, more in (("probe", ()), ("run", ("--players", "random"))):
        with mock.patch(f"duels.arena.{command}.{command}", side_effect=DuelsError("enough")) as called:
            duels(tmp_path, "arena", command, *asked, *more, "--retries", "1", "--out", tmp_path / "m")
        assert called.call_args[0][0].model.retries == 1


def test_what_is_refused() -> None:
    with pytest.raises(BadOption, match="needs a game"):
        ProbeConfig("club", ())
    with pytest.raises(BadOption, match="positions is a whole number of 2 or more, not 1"):
        ProbeConfig("club", ("lights",), positions=1)
    with pytest.raises(BadOption, match="samples"):
        ProbeConfig("club", ("lights",), samples=0)
    with pytest.raises(DuelsError, match="There is no player 'clubb'"):
        ProbeConfig("clubb", ("lights",))


@pytest.mark.parametrize("game", ["lights", pytest.param("hunt", marks=pytest.mark.slow)])
def test_positions_are_drawn_evenly_and_weigh_what_they_stand_for(game: str) -> None:
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
    """Averaged over many draws, the weighted sum is the mean over all that was met."""
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
    card = (tmp_path / "exam.card.md").read_text()
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
        verdict = oracle_for(rules).judge(sight)
        assert sight.seat.value == row["seat"]
        assert [each["action"] for each in row["actions"]] == [rules.format(each) for each in sight.actions]
        assert [each["loss"] for each in row["actions"]] == list(verdict.losses)
        assert any(each["best"] for each in row["actions"])


def test_an_exam_is_written_over_another_file_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    path.write_text("mine")
    asked = ("exam", "lights", "--positions", "4", "--out")
    done = duels(tmp_path, *asked, path)
    assert (done.code, "exists already; --force writes over it" in done.err) == (2, True)
    assert path.read_text() == "mine"
    written = tmp_path / "other.card.md"
    written.write_text("my notes")
    done = duels(tmp_path, *asked, tmp_path / "other.jsonl")
    assert (done.code, f"{written} exists already" in done.err, written.read_text()) == (2, True, "my notes")
    assert not (tmp_path / "other.jsonl").exists()
    assert duels(tmp_path, *asked, tmp_path / "new.jsonl").code == 0
    assert duels(tmp_path, *asked, tmp_path / "new.parquet").code == 0  # the card of both
    assert duels(tmp_path, *asked, path, "--force").code == 0
    assert len(path.read_text().splitlines()) == 4
    done = duels(tmp_path, "exam", "lights", "--positions", "4", "--out", tmp_path / "exam.csv")
    assert "written as .jsonl or .parquet" in done.err
    done = duels(tmp_path, "exam", "lights", "--option", "lamps=3", "--out", tmp_path / "x.jsonl")
    assert (done.code, "lights has no option 'lamps'" in done.err) == (2, True)


def test_an_exam_in_a_game_of_mixing_grades_by_how_far_below_the_mixture() -> None:
    rules = find_game("hunt").rules()
    drawn = draw_positions(rules, 4, "1")
    for row in exam_rows(rules, drawn):
        mean = sum(each["weight"] * each["below_mixture"] for each in row["actions"])
        assert mean == pytest.approx(0, abs=1e-9)
        assert "loss" not in row["actions"][0]
    assert "the `below_mixture` of what it answers" in card(rules, 4, drawn, "1")
    assert "perfect" not in card(rules, 4, drawn, "1")


def first_action(verdict: Verdict[Any]) -> list[float]:
    return [1.0, *[0.0] * (len(verdict.actions) - 1)]


def any_action(verdict: Verdict[Any]) -> list[float]:
    return [1 / len(verdict.actions)] * len(verdict.actions)


@pytest.mark.parametrize(("game", "count"), [("chain", 20), ("leap", 20), ("lights", 60)])
def test_how_precise_a_score_is_agrees_with_how_scores_of_many_exams_spread(game: str, count: int) -> None:
    rng = Random(f"exams of {game}")
    pool = Pool.of(find_game(game).rules(), 10 * count, rng)
    scores, variances = [], []
    for _ in range(300):
        found, error = score(pool.draw(count, rng), first_action)
        assert error is not None
        scores.append(found)
        variances.append(error**2)
    assert math.sqrt(statistics.mean(variances)) == pytest.approx(statistics.stdev(scores), rel=0.2)


def test_how_precise_a_score_is_follows_from_the_file_as_the_card_says() -> None:
    rules = find_game("leap").rules()
    drawn = draw_positions(rules, 60, "1")
    rows = exam_rows(rules, drawn)
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
    assert score(drawn, first_action) == pytest.approx((total, math.sqrt(variance)))
    text = card(rules, 60, drawn, "1")
    found, error = score(drawn, any_action)
    assert error
    assert f"| random | {100 * found:.2f} | {100 * error:.2f} |" in text
    assert "| best | 0.00 | 0.00 |" in text


def test_what_one_position_drawn_by_chance_leaves_open_is_not_told_as_nothing() -> None:
    rules, rng = find_game("chain").rules(), Random(1)
    pool = Pool.of(rules, 50, rng)
    few = pool.draw(5, rng)
    assert 1 in Counter(each.share.group for each in few if each.share.chance < 1).values()
    assert score(few, first_action)[1] is None
    assert re.search(r"\| random \| [\d.]+ \| – \|", card(rules, 5, few, "1"))
    together = pool.draw(2, rng)  # fewer than there are strata
    assert {each.share.group for each in together} == {0}
    everything = pool.draw(len(pool.met), rng)
    assert {each.share.chance for each in everything} == {1.0}
    assert score(everything, first_action)[1] == 0


def test_the_command_on_the_card_draws_the_same_exam(tmp_path: Path) -> None:
    """Where there are fewer positions than were asked for, and the game has options."""
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
    (command,) = re.findall("^`(duels exam .*)` draws the same ones", card_text(first), re.MULTILINE)
    again = tmp_path / "again.jsonl"
    assert duels(tmp_path, *shlex.split(command)[1:-1], again).code == 0
    assert again.read_bytes() == first.read_bytes()
    assert card_text(again) == card_text(first)


def card_text(exam: Path) -> str:
    return card_of(exam).read_text(encoding="utf-8")


def test_parts_of_a_probe_are_joined(tmp_path: Path) -> None:
    from pyarrow import parquet

    words = ("arena", "probe", "--player", "club", "--games", "lights", "--out")
    assert duels(tmp_path, *words, tmp_path / "whole").code == 0
    count = len(parquet.read_table(tmp_path / "whole" / "answers.parquet"))
    log = (tmp_path / "whole" / "answers-1.jsonl").read_text().splitlines(keepends=True)
    assert count == len(log)
    for name, part in (("a", log[:50]), ("b", log[40:])):
        shutil.copytree(tmp_path / "whole", tmp_path / name)
        (tmp_path / name / "answers-1.jsonl").write_text("".join(part))
    done = duels(tmp_path, "arena", "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "all")
    assert f"all: {count} answers." in done.err
    assert as_data(Folder(tmp_path / "all")) == as_data(Folder(tmp_path / "whole"))


# -- two probes ------------------------------------------------------------------------------------------


def test_two_probes_are_compared_number_by_number_and_answer_by_answer(tmp_path: Path) -> None:
    bad = f"mine=cmd:{PYTHON} {BAD} unknown"
    probe(ProbeConfig("mine=best", ("lights",)), tmp_path / "a")
    probe(ProbeConfig(bad, ("lights",), limits=Limits(retries=0)), tmp_path / "b")
    (best, worse) = (Folder(tmp_path / each) for each in "ab")
    found = compare_probes.differences(best, worse)
    told = compare_probes.as_data(found)
    verdicts = {each["what"]: each["verdict"] for each in told["changes"]}
    assert {"exploitability", "against best", "questions with a failure"} < set(verdicts)
    assert set(verdicts.values()) == {"worse"}
    answers = told["answers"]["lights"]
    assert answers["failures"] == {"first": {}, "second": {"unreadable": len(worse.answers())}}
    worst = answers["differ"][0]
    assert worst["loss_change"] == max(each["loss_change"] for each in answers["differ"]) > 0
    assert {each["second"] for each in answers["differ"]} == {"nothing"}
    asked, again = (
        {(row["seat"], row["position"]) for row in each.answers().values()} for each in (best, worse)
    )
    assert answers["in_both"] == len(asked & again)
    text = compare_probes.as_text(found)
    assert f"{worst['position']}: was {worst['first']}, is nothing" in text
    assert "Exact for players that always answer the same" in text
    alike = compare_probes.as_text(compare_probes.differences(best, best))
    assert "per position" not in alike  # a player's own answers decide which positions it is asked about
    assert "no change" in alike
    assert "worse" not in alike
    assert "are answered alike" in alike


def test_answers_are_compared_by_how_often_they_came(tmp_path: Path) -> None:
    probe(ProbeConfig("mine=best", ("lights",)), tmp_path)
    (game,) = probe_report.report_on(Folder(tmp_path))
    key, sight = next((key, each) for key, each in game.probe.sights.items() if key in game.probe.answers)
    best = oracle_for(sight.rules).judge(sight)
    row = {"key": "a", "action": sight.rules.format(best.best[0]), "policy": None}

    def answered(rows: list[Row], complete: bool = True) -> probe_report.GameProbe:
        return replace(
            game,
            probe=replace(game.probe, answers={key: rows}),
            shortfalls={key: 0.0},
            complete=complete,
        )

    def compared(one: probe_report.GameProbe, two: probe_report.GameProbe) -> compare_probes.Difference:
        return compare_probes._difference("mine", one, two)

    assert not compared(answered([row]), answered([row] * 10)).answers  # ten tenths are 1, but for rounding
    (half,) = compared(answered([row]), answered([row, {**row, "action": None}])).answers
    assert half.change > 0
    assert half.change == pytest.approx(best.value.number / 2)
    assert compare_probes._line(half).endswith("(50%), 50.0 points worse on average")
    told = compared(answered([row]), answered([row, {**row, "action": None}])).told
    assert "1 worse on average, some of them by chance" in told
    assert "Not all is answered yet" in compared(answered([row]), answered([row], complete=False)).told
    assert "Not all" not in compared(answered([row]), answered([row])).told


def test_drawn_positions_are_compared_one_by_one(tmp_path: Path) -> None:
    for folder, player in {"a": "mine=random", "b": "mine=casual"}.items():
        probe(ProbeConfig(player, ("hunt",), positions=4), tmp_path / folder)
    with mock.patch.object(confidence, "_students_holds", return_value=True):  # so few as they are
        done = duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "b", "--json")
    (change,) = json.loads(done.out)["changes"]
    assert change["what"] == "below the mixture per position"
    assert change["verdict"] == "too few positions"
    first, second, gap = change["first"], change["second"], change["difference"]
    assert gap["estimate"] == pytest.approx(second["estimate"] - first["estimate"])
    assert gap["high"] - gap["estimate"] < first["high"] - first["estimate"]  # as of one sample, not of two


def test_a_run_and_a_probe_are_not_compared(tmp_path: Path) -> None:
    probe(ProbeConfig("best", ("lights",)), tmp_path / "a")
    run(Config(("random", "best"), ("lights",), 2), tmp_path / "b")
    done = duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "b")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert "two runs can be compared, or two probes" in done.err


def test_a_probe_that_is_broken_off_says_so_and_exits_with_a_code_of_its_own(tmp_path: Path) -> None:
    words = ("arena", "probe", "--player", "model:NAME", "--base-url", "http://127.0.0.1:1/v1")
    with mock.patch("duels.players.endpoint._TO_CONNECT", 0.05):
        done = duels(tmp_path, *words, "--games", "lights", "--out", tmp_path / "p")
    assert done.code == 75
    assert "0 questions, not finished" in done.out
    assert "0.00" not in done.out
    assert "All connection attempts failed. To go on" in done.err
