"""Probes: their questions, exact results, and samples of large games."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest

from duels.analysis.agents import get_player_odds
from duels.analysis.exploitability import exploitability
from duels.arena import compare, probe_report, probe_values
from duels.arena.commands import report_unfinished
from duels.arena.config import ProbeConfig
from duels.arena.folder import Folder
from duels.arena.probe import ProbeQuestion, collect_answers, run_probe
from duels.arena.probe_report import as_data, make_document, make_report
from duels.arena.probe_values import AnswerTables, compute_results
from duels.arena.schemas import DIGEST, encode_row
from duels.core.errors import BadOption, DuelsError
from duels.core.rules import Seat
from duels.games import find_game
from duels.players.endpoint import Endpoint, EndpointSettings
from duels.players.model import ModelPlayer
from duels.solving.table_response import expected_values
from duels.solving.tables import get_tables
from tests.arena.model_server import KEY, serving
from tests.arena.test_confidence import exact_result
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import duels

SHELL = f"cmd:{GOOD['shell']}"


def probed(folder: Path, player: str, *games: str, **settings: Any) -> dict[str, Any]:
    return as_data(make_report(run_probe(ProbeConfig(player, games, **settings), folder)))


LEAP = pytest.param("greedy", "leap", marks=pytest.mark.slow)


@pytest.mark.parametrize(("player", "game"), [("club", "lights"), LEAP])
def test_exploitability_and_results_agree_with_the_whole_policy(
    player: str, game: str, tmp_path: Path
) -> None:
    """The answers alone give the same results as the full policy."""
    data = probed(tmp_path / "probe", player, game)["games"][game]
    assert data["complete"]
    assert data["exploitability"]["estimate"] == pytest.approx(exploitability(player, game))
    rules = find_game(game).rules()
    for opponent in ("random", "expert"):
        result = (exact_result(rules, player, opponent) + 1 - exact_result(rules, opponent, player)) / 2
        assert data["against"][opponent]["estimate"] == pytest.approx(result)


def test_a_deterministic_program_is_asked_only_in_reachable_positions(tmp_path: Path) -> None:
    data = probed(tmp_path / "probe", SHELL, "lights")["games"]["lights"]
    assert 60 <= data["questions"] <= 220
    assert data["exploitability"]["estimate"] == exploitability(lambda sight: sight.actions[0], "lights")
    assert data["mistakes"][0]["loss"] == 1
    loss = data["loss_per_position"]  # over all positions, without sampling
    assert loss["low"] == loss["estimate"] == loss["high"]
    text = " ".join(make_document(make_report(Folder(tmp_path / "probe"))).render_text().split())
    assert "This is exact if the player always gives the same answer." in text


def test_mirror_images_are_asked_once_on_request(tmp_path: Path) -> None:
    whole = probed(tmp_path / "whole", "club", "lights")["games"]["lights"]
    half = probed(tmp_path / "half", "club", "lights", symmetric=True)["games"]["lights"]
    assert half["questions"] < 0.65 * whole["questions"]
    assert half["positions"] == whole["positions"]
    folders = [Folder(tmp_path / each) for each in ("whole", "half")]
    data = [" ".join(make_document(make_report(each)).render_text().split()) for each in folders]
    assert ["only one of two mirror images was asked" in each for each in data] == [False, True]
    (note,) = compare.compare_probes(*map(make_report, folders)).notes
    assert note == "Only the second probe used one answer for both mirror images (--symmetric)."
    assert half["exploitability"]["estimate"] == pytest.approx(whole["exploitability"]["estimate"])
    with pytest.raises(DuelsError, match="leap has no mirror symmetry"):
        probed(tmp_path / "leap", "club", "leap", symmetric=True)
    with pytest.raises(DuelsError, match="hunt is too large"):
        probed(tmp_path / "hunt", "club", "hunt", symmetric=True)
    assert not (tmp_path / "hunt").exists()


def test_a_random_player_gets_intervals(tmp_path: Path) -> None:
    data = probed(tmp_path / "probe", f"cmd:{GOOD['python']}", "lights", samples=2)["games"]["lights"]
    answers_so_far = data["exploitability"]
    assert 0 <= answers_so_far["low"] <= answers_so_far["estimate"] <= answers_so_far["high"] <= 0.5
    assert all(each["low"] < each["high"] for each in data["against"].values())
    assert data["questions"] == 2 * data["positions"]
    loss = data["loss_per_position"]
    assert 0 < loss["low"] < loss["estimate"] < loss["high"]
    probed(tmp_path / "once", SHELL, "lights")
    answers_so_far = compare.compare_probes(
        *(make_report(Folder(tmp_path / name)) for name in ("probe", "once"))
    )
    for change in compare.as_data(answers_so_far)["changes"]:
        if change["what"] != "questions with a failure":
            assert change["verdict"] == "asked once"
            assert change["first"]["low"] is not None
            assert change["second"]["low"] is change["difference"]["low"] is None
    assert "So there are no intervals; use --samples 4" in " ".join(compare.as_text(answers_so_far).split())


def test_worst_positions_of_a_mixing_player_give_shares_and_means(tmp_path: Path) -> None:
    worst = probed(tmp_path, "random", "lights")["games"]["lights"]["mistakes"][0]
    assert 0 < worst["often"] < 1
    points = f"{100 * worst['loss']:.1f} points given away on average"
    did = f"random played {worst['played']} ({worst['often']:.0%}) at {worst['position']}"
    assert f"{did}: {points}" in " ".join(make_document(make_report(Folder(tmp_path))).render_text().split())


def test_equal_answers_do_not_prove_a_deterministic_player() -> None:
    rules = find_game("lights").rules()

    def answer(questions: list[ProbeQuestion]) -> dict[str, Any]:
        action = {each.key: rules.format(each.sight.actions[0]) for each in questions}
        return {key: {"key": key, "action": data, "policy": None} for key, data in action.items()}

    def margin() -> float:
        short = {key: probe_report._mean_shortfall(answers_so_far, key) for key in answers_so_far.answers}
        return probe_report._mean_over_all(answers_so_far, short).margin

    config = ProbeConfig("random", ("lights",), samples=2, symmetric=True)
    answers_so_far = collect_answers(config, rules, answer)
    as_asked = margin()
    for place, rows in answers_so_far.answers.items():
        answers_so_far.answers[place] = [
            {**row, "key": str(place)} for row in rows
        ]  # as if each was a question of its own
    assert 0 < margin() < 0.8 * as_asked


@cache
def policy_known(player: str) -> Any:
    rules = find_game("lights").rules()
    odds = get_player_odds(player, rules)
    return cache(lambda state: odds(rules.sight(state, Seat(rules.actor(state)))))  # type: ignore[arg-type]


def drawn(player: str, samples: int, seed: int) -> AnswerTables:
    """Return the answers in lights of a player that draws them from a known policy."""
    rules = find_game("lights").rules()
    odds, rng = policy_known(player), Random(f"{player} {seed}")

    def answer(questions: list[ProbeQuestion]) -> dict[str, Any]:
        data = {}
        for each in questions:
            chances = odds(each.sight.view)
            (action,) = rng.choices(list(chances), weights=list(chances.values()))
            data[each.key] = {"key": each.key, "action": rules.format(action), "policy": None}
        return data

    return AnswerTables(collect_answers(ProbeConfig("random", ("lights",), samples=samples), rules, answer))


@pytest.mark.parametrize(
    ("samples", "runs"),
    [(4, 8), *(pytest.param(samples, 25, marks=pytest.mark.slow) for samples in (4, 10))],
)
def test_intervals_of_a_random_player_cover(samples: int, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_values, "OPPONENTS", ("expert",))
    rules = find_game("lights").rules()
    true = exploitability("club", "lights")
    result = (exact_result(rules, "club", "expert") + 1 - exact_result(rules, "expert", "club")) / 2
    gains = results = 0
    for seed in range(runs):
        answers = drawn("club", samples, seed)
        gain, against = probe_values.compute_exploitability(answers, None), compute_results(answers)["expert"]
        gains += gain.low <= true <= gain.high
        results += against.low <= result <= against.high
    assert min(gains, results) >= runs - max(1, runs // 8)


@pytest.mark.slow
@pytest.mark.parametrize("player", ["random", "novice", "casual", "club", "expert"])
def test_intervals_from_4_samples_cover_90_percent(player: str) -> None:
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
        answers_so_far = {
            **compute_results(answers),
            "exploitability": probe_values.compute_exploitability(answers, None),
        }
        held.update(name for name, each in answers_so_far.items() if each.low <= true[name] <= each.high)
    assert min(held[name] for name in true) >= 90, held


def test_bounds_allow_any_action_in_unasked_positions() -> None:
    """An action without a sample may lead to better or worse positions than the uniform guess."""
    answers = drawn("random", 2, 1)
    theirs = answers.make_opponent("expert")
    policy = np.where((answers.tables.actor == 0)[:, None], answers.make_policy(slice(None)), theirs)
    values = np.array(expected_values(answers.tables, policy))
    free = answers.tables.actor == 0
    free[answers._asked_states] = False
    worst, best = probe_values.MoveTable(answers.tables, None).value_bounds(policy, values, free)
    questions = answers._asked_states[answers.tables.actor[answers._asked_states] == 0]
    assert worst[questions] == pytest.approx(values[questions])
    assert best[questions] == pytest.approx(values[questions])
    assert (best - worst)[free].max() > 0.5
    result, error, same = answers.result(theirs, 0)
    again, down, up = answers.result(theirs, 0, vary_unasked=True)
    assert again == result
    assert same == error
    assert up > 1.1 * error > 0  # the player nearly always loses
    assert down > 0


def test_finds_bounds_in_games_with_cycles() -> None:
    """Without free states the bounds are the values, from any start of the search."""
    rules = find_game("chain").rules(cells=5, run=3)
    plain = get_tables(rules).tables
    policy = plain.legal / np.maximum(1, plain.legal.sum(axis=1, keepdims=True))
    nowhere = np.zeros(plain.states, bool)
    values = np.array(expected_values(plain, policy))
    for bound in probe_values.MoveTable(plain, None).value_bounds(policy, np.zeros(plain.states), nowhere):
        assert bound[plain.starts] == pytest.approx(values[plain.starts], abs=1e-5)


def test_more_answers_tighten_bounds() -> None:
    few, many = (
        probe_values.compute_exploitability(drawn("random", samples, 1), None) for samples in (4, 60)
    )
    assert many.high - many.low < few.high - few.low
    assert 0 < many.low < exploitability("random", "lights") < many.high


def test_exploitability_does_not_count_coincidences() -> None:
    """Against the same four answers of club, the best opponent gains 13 points too much."""
    true = exploitability("club", "lights")
    answers_so_far = [probe_values.compute_exploitability(drawn("club", 4, seed), None) for seed in range(8)]
    assert sum(each.estimate for each in answers_so_far) / len(answers_so_far) < true + 0.05
    assert sum(each.high for each in answers_so_far) / len(answers_so_far) < 0.45
    assert sum(each.low <= true <= each.high for each in answers_so_far) >= 7


def test_a_probe_says_when_matches_are_cheaper(tmp_path: Path) -> None:
    """Four questions about each position cost more than matches that are as precise against one opponent."""
    data = probed(tmp_path / "probe", f"cmd:{GOOD['python']}", "lights", samples=4)["games"]["lights"]
    cheaper = data["cheaper_matches"]
    assert 0 < cheaper["matches"] < cheaper["requests"] < data["questions"]
    text = " ".join(make_document(make_report(Folder(tmp_path / "probe"))).render_text().split())
    assert f"Matches would have been cheaper: {cheaper['matches']} matches against club" in text
    assert probed(tmp_path / "once", "best", "lights")["games"]["lights"]["cheaper_matches"] is None


def test_a_missing_answer_is_a_forfeit_and_not_a_loss(tmp_path: Path) -> None:
    data = probed(tmp_path / "probe", f"bad=cmd:{PYTHON} {BAD} unknown", "lights")["games"]["lights"]
    assert data["failures"] == {"unreadable": 3 * data["questions"]}
    assert data["unanswered"] == data["questions"]
    assert data["exploitability"]["estimate"] == 0.5
    assert {result["estimate"] for result in data["against"].values()} == {0.0}
    text = make_document(make_report(Folder(tmp_path / "probe"))).render_text()
    assert "it answered no question" in text
    assert "points per position" not in text


def test_occasional_forfeits_cost_the_matches_that_reach_them(tmp_path: Path) -> None:
    """Best at seat 1 of lights wins every match; without an answer to the first question it wins none."""
    probed(tmp_path / "probe", "best", "lights")
    log = tmp_path / "probe" / "answers-1.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        if row["seat"] == 1 and row["position"] == "OOOOOOO 1":
            row |= {"action": None, "policy": None, "failures": [["illegal", "9"]]}
        del row[DIGEST]
    log.write_text("".join(map(encode_row, rows)))
    data = as_data(make_report(Folder(tmp_path / "probe")))["games"]["lights"]
    assert data["unanswered"] == 1
    assert data["loss_per_position"]["estimate"] == 0
    assert data["against"]["best"]["estimate"] == 0
    assert 0.3 < data["against"]["random"]["estimate"] <= 0.5


def test_names_the_extra_if_numpy_is_missing(tmp_path: Path) -> None:
    words = ["duels", "arena", "probe", "--player", "club", "--games", "lights", "--out", str(tmp_path / "p")]
    code = "import sys; sys.modules['numpy'] = None; from duels.terminal.commands import main; "
    code += f"sys.argv = {words}; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "This needs numpy: pip install 'duels[arena]'" in result.stderr
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "duels[vector]" in extras["llm"]  # the llm extra includes what probes need
    assert "vector" in extras["arena"][0]


def test_a_resumed_probe_asks_nothing_twice(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    whole = probed(folder, "club", "lights")
    log = folder / "answers-1.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:50]) + lines[50][:20])
    assert not as_data(make_report(Folder(folder)))["games"]["lights"]["complete"]
    assert "Not all questions are answered yet" in " ".join(
        make_document(make_report(Folder(folder))).render_text().split()
    )
    assert probed(folder, "club", "lights") == whole
    assert sorted(log.read_text().splitlines(keepends=True)) == sorted(lines)


@pytest.mark.parametrize("game", ["hunt", pytest.param("flip", marks=pytest.mark.slow)])
def test_larger_games_sample_positions_from_good_play(game: str, tmp_path: Path) -> None:
    data = probed(tmp_path / "probe", "random", game, positions=20)["games"][game]
    assert (data["whole"], data["exploitability"], data["against"]) == (False, None, {})
    assert data["questions"] == data["positions"] == 20
    name = "below_mixture_per_position" if game == "hunt" else "loss_per_position"
    assert 0 < data[name]["estimate"] < 1
    best = probed(tmp_path / "best", "best", game, positions=20)["games"][game]
    assert best[name]["estimate"] == pytest.approx(0, abs=1e-9)


def test_a_probe_has_no_memory() -> None:
    settings = EndpointSettings("http://127.0.0.1:9/v1", memory="conversation")
    with pytest.raises(BadOption, match="leave out --memory"):
        ProbeConfig("model:x", ("lights",), model=settings)


def test_a_probe_ends_if_the_endpoint_stays_down(tmp_path: Path) -> None:
    with serving() as server:
        settings = EndpointSettings(server.url, total_seconds=0.001, concurrency=1)
        folder = run_probe(ProbeConfig("model:down", ("lights", "leap"), model=settings), tmp_path / "p")
        assert server.requests_by_model["down"] == 1 + 3  # the first move, and replies to it
    assert folder.unfinished


def test_a_model_is_probed_over_http(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as server:
        settings = EndpointSettings(
            server.url, max_tokens=4096, input_price=10_000.0, output_price=0.0, concurrency=2
        )
        first = run_probe(
            ProbeConfig("model:well", ("lights",), budget="20usd", model=settings), tmp_path / "p"
        )
        assert first.unfinished == ("The budget of 20 usd is spent.",)
        report_unfinished(first, "Left")
        assert capsys.readouterr().err.endswith(
            "To continue, run the command again with a larger --budget.\n"
        )
        assert as_data(make_report(first))["games"]["lights"]["exploitability"] is None
        last = run_probe(
            ProbeConfig("model:well", ("lights",), budget="900usd", model=settings), tmp_path / "p"
        )
    assert not last.is_spent
    data = as_data(make_report(last))
    assert data["games"]["lights"]["exploitability"]["estimate"] == 0
    assert data["usage"]["cost"] == data["usage"]["requests"] == data["games"]["lights"]["questions"]
    assert max(map(len, make_document(make_report(last)).render_text().splitlines())) <= 80
    text = " ".join(make_document(make_report(last)).render_text().split())
    assert f"It took {data['usage']['requests']} requests and cost {data['usage']['cost']:.2f} usd." in text
    assert "So there are no intervals; use --samples 4 to get them." in text
    assert "With these answers it beats random" in text
    count = data["usage"]["requests"]
    assert f"It took {count} requests and cost {count}.00 usd." in text
    with closing(last.open_request_log("cut")) as log:
        log.add({"id": "1", "question": "", "status": 0})
    text = " ".join(make_document(make_report(last)).render_text().split())
    took = f"It took {count + 1} requests and cost {count}.00 usd."
    assert f"{took} 1 of them had no usable reply (429" in text
    assert re.search(rf"model well {count} \d+\.\d {count}00 ", text)
    again = compare.as_data(compare.compare_probes(*[make_report(last)] * 2))
    assert {each["verdict"] for each in again["changes"]} == {"asked once"}  # at any temperature


def test_every_form_of_a_report_mentions_damaged_lines(tmp_path: Path) -> None:
    data = probed(tmp_path / "p", "club", "lights")
    assert data["notes"] == []
    (tmp_path / "p" / "requests-probe.jsonl").write_text("torn\n")
    warning = "Skipped 1 damaged line of logs, the first in requests-probe.jsonl, line 1."
    assert as_data(make_report(Folder(tmp_path / "p")))["notes"] == [warning]
    assert warning in " ".join(make_document(make_report(Folder(tmp_path / "p"))).render_text().split())
    answers_so_far = compare.compare_probes(*[make_report(Folder(tmp_path / "p"))] * 2)
    assert answers_so_far.notes == (f"First: {warning}", f"Second: {warning}")
    log = tmp_path / "p" / "answers-1.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 1))
    assert as_data(make_report(Folder(tmp_path / "p")))["notes"] == [
        "Skipped 2 damaged lines of logs, the first in answers-1.jsonl, line 1."
    ]
    assert probed(tmp_path / "p", "club", "lights")["notes"][0].endswith("Lost questions were asked again.")


def test_a_problem_with_one_question_ends_the_others_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No question is open when the connections close."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    questions, closed, closed_at_exit = [], [], []

    async def decide(self: ModelPlayer, *_: Any) -> Any:
        questions.append(self)
        if len(questions) == 3:
            raise DuelsError("this cannot go on.")
        try:
            await asyncio.sleep(60)
        finally:
            closed.append(self)

    real_exit = Endpoint.__aexit__

    async def exit_and_count(self: Endpoint, *problem: Any) -> None:
        closed_at_exit.append(len(closed))
        await real_exit(self, *problem)

    monkeypatch.setattr(ModelPlayer, "decide", decide)
    monkeypatch.setattr(Endpoint, "__aexit__", exit_and_count)
    settings = EndpointSettings("http://127.0.0.1:9/v1", concurrency=3)
    with pytest.raises(DuelsError, match="this cannot go on"):
        run_probe(ProbeConfig("model:well", ("lights",), samples=3, model=settings), tmp_path)
    assert closed_at_exit == [2]


def test_the_command_and_its_reports(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    result = duels(tmp_path, "arena", "probe", "--player", "best", "--games", "lights", "--out", folder)
    assert result.code == 0
    assert "Exploitability: the best opponent wins 0.00 points" in " ".join(result.out.split())
    assert "asked about positions without history" in result.out
    assert json.loads(duels(tmp_path, "arena", "report", folder, "--json").out) == as_data(
        make_report(Folder(folder))
    )
    page = tmp_path / "page.html"
    assert duels(tmp_path, "arena", "report", folder, "--html", page).code == 0
    assert page.read_text() == make_document(make_report(Folder(folder))).render_html()


def test_limits_and_retries_apply_to_the_player(tmp_path: Path) -> None:
    bad = f"bad=cmd:{PYTHON} {BAD} unknown"
    words = ("arena", "probe", "--player", bad, "--games", "lights", "--retries", "0", "--move-seconds", "9")
    assert duels(tmp_path, *words, "--memory-mb", "4096", "--out", tmp_path / "p").code == 0
    data = as_data(make_report(Folder(tmp_path / "p")))["games"]["lights"]
    assert data["failures"] == {"unreadable": data["questions"]}
    limits = Folder(tmp_path / "p").config["limits"]
    assert (limits["move_seconds"], limits["memory_mb"], limits["retries"]) == (9, 4096, 0)
    questions = ("--player", "model:NAME", "--base-url", "http://127.0.0.1:9/v1", "--games", "lights")
    for command, name, more in (
        ("probe", "probe.run_probe", ()),
        ("run", "run.run", ("--players", "random")),
    ):
        with mock.patch(f"duels.arena.{name}", side_effect=DuelsError("enough")) as called:
            duels(tmp_path, "arena", command, *questions, *more, "--retries", "1", "--out", tmp_path / "m")
        assert called.call_args[0][0].model.retries == 1


def test_rejects_invalid_arguments() -> None:
    with pytest.raises(BadOption, match="needs a game"):
        ProbeConfig("club", ())
    with pytest.raises(BadOption, match="positions must be a whole number of 2 or more, not 1"):
        ProbeConfig("club", ("lights",), positions=1)
    with pytest.raises(BadOption, match="samples"):
        ProbeConfig("club", ("lights",), samples=0)
    with pytest.raises(DuelsError, match="There is no player 'clubb'"):
        ProbeConfig("clubb", ("lights",))


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
    result = duels(tmp_path, "arena", "merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "all")
    assert f"all: {count} answers." in result.err
    assert as_data(make_report(Folder(tmp_path / "all"))) == as_data(make_report(Folder(tmp_path / "whole")))


def test_an_interrupted_probe_has_its_own_exit_code(tmp_path: Path) -> None:
    words = ("arena", "probe", "--player", "model:NAME", "--base-url", "http://127.0.0.1:1/v1")
    with mock.patch("duels.players.endpoint._CONNECT_TIMEOUT", 0.05):
        result = duels(tmp_path, *words, "--games", "lights", "--out", tmp_path / "p")
    assert result.code == 75
    assert "0 questions, not finished" in result.out
    assert "0.00" not in result.out
    assert "All connection attempts failed. To continue, run the command again.\n" in result.err
