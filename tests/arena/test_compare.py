"""Comparison of runs: the identity of players, comparable numbers, and intervals of changes."""

import json
from dataclasses import replace
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

from duels.arena.compare import compare_runs
from duels.arena.confidence import mean_interval, ratio_change, ratio_interval
from duels.arena.config import Config, describe_difference, read_identities
from duels.arena.folder import Folder
from duels.arena.report import make_report
from duels.arena.run import run
from duels.players.endpoint import EndpointSettings
from duels.players.program import ProgramLimits
from tests.support import duels


def compared(folder: Path) -> Any:
    return json.loads(duels(folder, "arena", "compare", folder / "a", folder / "b", "--json").out)


def test_compare_lists_changes(tmp_path: Path) -> None:
    weak = Config(("random", "mine=novice"), ("lights",), 100)
    strong = Config(("random", "mine=expert"), ("lights",), 100)
    run(weak, tmp_path / "a")
    run(strong, tmp_path / "b")
    text = compared(tmp_path)
    data = text["changes"]
    numbers = ("won", "loss per decision", "against random, luck-adjusted")
    assert {each["what"]: each["verdict"] for each in data} == dict.fromkeys(numbers, "better")
    assert {each["player"] for each in data} == {"mine"}  # random met another opponent
    assert text["notes"][0] == "mine is not the same in both: its command or address differs."
    assert text["notes"][1].startswith("Not all opponents of random are the same in both")
    same = duels(tmp_path, "arena", "compare", tmp_path / "a", tmp_path / "a").out
    assert "no clear change" in same
    assert "All results are the same in both" in same
    assert not any("All results" in note for note in text["notes"])
    assert "better" not in same


def test_shares_of_the_points_are_compared_only_against_the_same_field(tmp_path: Path) -> None:
    run(Config(("random", "club"), ("lights",), 40), tmp_path / "a")
    run(Config(("random", "club", "novice"), ("lights",), 40), tmp_path / "b")
    data = compared(tmp_path)["changes"]
    ((what, verdict),) = {(each["what"], each["verdict"]) for each in data}
    assert (what, verdict) == ("against club, luck-adjusted", "no clear change")


def test_compare_repeats_the_warnings_of_both_runs(tmp_path: Path) -> None:
    config = Config(("random", "club"), ("lights",), 40)
    for name in "ab":
        run(config, tmp_path / name)
    log = tmp_path / "b" / "log-1.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"v"', b"v", 20))
    with mock.patch("duels.arena.folder.version", return_value="0.0"):
        run(config, tmp_path / "a")
    assert compared(tmp_path)["notes"] == [
        f"First: Played by several versions of duels: {version('duels')}, 0.0.",
        "Second: Skipped 20 damaged lines of logs, the first in log-1.jsonl, line 1.",
    ]


def test_too_few_pairs_give_no_verdict_on_mistakes(tmp_path: Path) -> None:
    run(Config(("random", "novice"), ("lights",), 40), tmp_path)
    comparison = compare_runs(*[make_report(Folder(tmp_path))] * 2)
    assert {each.verdict for each in comparison.changes if each.label == "loss per decision"} == {
        "too few pairs"
    }


def test_equal_names_do_not_identify_players(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1/v1"
    endpoint = EndpointSettings(url, show_actions=True)
    model = Config(("random", "model:M"), ("lights",), 2, model=EndpointSettings(url))
    program = Config(("random", "m=cmd:x"), ("lights",), 2)
    for one, two, why in (
        (model, replace(model, model=endpoint), "show_actions was False and is True"),
        (
            model,
            replace(model, model=EndpointSettings(url, memory="conversation", form="tool")),
            "memory was none and is conversation, form was text and is tool",
        ),
        (model, replace(model, model=EndpointSettings(f"{url}/2")), "its command or address differs"),
        (
            program,
            replace(program, limits=ProgramLimits(move_seconds=1.0)),
            "move_seconds was 10.0 and is 1.0",
        ),
        (program, replace(program, players=("random", "m=cmd:y")), "its command or address differs"),
        (program, replace(program, players=("random", "m= cmd:x")), ""),
    ):
        first, second = (read_identities(each.as_data()["players"], each.as_data()) for each in (one, two))
        (name,) = first.keys() - {"random"}
        assert describe_difference(first[name], second[name]) == why
        assert not describe_difference(first["random"], second["random"])  # other players do not matter


def test_compare_reports_a_setting_that_only_one_run_has() -> None:
    old = {"sort": "model", "called": "a", "retries": 2}
    new = {**old, "mirror": True}
    assert describe_difference(old, new) == "mirror was not stated and is True"
    assert describe_difference(new, old) == "mirror was True and is not stated"


def test_results_between_two_changed_players_are_not_compared(tmp_path: Path) -> None:
    run(Config(("random", "a=novice", "b=club"), ("lights",), 40), tmp_path / "a")
    run(Config(("a=casual", "b=expert", "random"), ("lights",), 40), tmp_path / "b")
    comparison = compare_runs(*(make_report(Folder(tmp_path / each)) for each in "ab"))
    assert [(each.player, each.label) for each in comparison.changes] == [
        ("a", "against random, luck-adjusted"),
        ("b", "against random, luck-adjusted"),
    ]
    assert "Both a and b changed: their results are not comparable." in comparison.notes


def test_the_same_pairs_of_matches_are_compared_pair_by_pair(tmp_path: Path) -> None:
    for name, player, seed in (("a", "club", "1"), ("b", "expert", "1"), ("c", "expert", "2")):
        run(Config(("best", f"mine={player}"), ("lights",), 100, seed), tmp_path / name)
    first, again, other = (make_report(Folder(tmp_path / each)) for each in "abc")
    paired = {each.label: each for each in compare_runs(first, again).changes}
    apart = {each.label: each for each in compare_runs(first, other).changes}
    for what, change in paired.items():
        assert change.paired == change.difference
        assert not apart[what].paired
        assert change.difference.estimate == pytest.approx(change.second.estimate - change.first.estimate)
    assert paired.keys() == apart.keys() == {"won", "loss per decision", "against best, luck-adjusted"}


def test_paired_intervals_exclude_common_variation() -> None:
    rng = Random("pairs")
    wholes = [rng.randint(3, 9) for _ in range(200)]
    parts = [whole * rng.random() for whole in wholes]
    more = [part + whole * rng.uniform(0.09, 0.11) for part, whole in zip(parts, wholes, strict=True)]
    change = ratio_change(parts, wholes, more, wholes)
    assert change.low < 0.1 < change.high
    assert change.margin < 0.05 * ratio_interval(parts, wholes).margin
    ones = [1.0] * 200
    alone = mean_interval([new - old for old, new in zip(parts, more, strict=True)])
    together = ratio_change(parts, ones, more, ones)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))
    assert not isfinite(ratio_change(parts, wholes, parts, wholes).margin)  # the changes have no spread
