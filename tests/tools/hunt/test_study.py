"""The study in docs/solved.md adds up, uses the shipped strategy, and is reproducible."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba")

from duels.core.rules import Seat
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import PublicState, load_certificate, load_strategy
from tools.hunt.naive import NAIVE
from tools.hunt.report import report, sections
from tools.hunt.simulation import SampleMean, mean_score, simulate
from tools.hunt.study import LONG, describe_self_play, fingerprint, list_turns, make_policy

ORACLE = HuntOracle(QuantumHunt(), load_strategy())
STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "docs/solved/hunt.json").read_text(encoding="utf-8")
)


def test_the_study_uses_the_shipped_strategy_and_certificate() -> None:
    assert STORED["strategy"] == fingerprint()
    for seat, bounds in load_certificate().against.items():
        assert STORED["certificate"][str(seat.value)] == [bounds.low, bounds.high]
        # The strategy's own other half is a responder too, and so is one without a tunnel.
        won = STORED["won"] if seat is Seat.TWO else 1 - STORED["won"]
        assert won <= bounds.high
        assert STORED["tunnel"][str(seat.value)][0] <= bounds.high


def test_the_value_of_the_opening_agrees_with_simulation() -> None:
    assert STORED["won"] == ORACLE.pair.before_turn(PublicState(), (), ())
    assert SampleMean(*STORED["simulated"]["won"]).agrees(STORED["won"])


def test_shares_add_up() -> None:
    simulated = STORED["simulated"]
    assert sum(simulated["lengths"][:LONG]) + simulated["long"] == pytest.approx(1.0)
    for conduct in STORED["seats"].values():
        for name in ("enters", "names", "names_far"):
            assert sum(conduct[name]) == pytest.approx(1.0)


def test_no_policy_beats_a_habit_by_more_than_its_best_response() -> None:
    for habit in STORED["habits"].values():
        assert sum(habit["won"]) / 2 == pytest.approx(habit["mean"])
        low, high = habit["responder"]
        assert max(low, habit["mean"]) <= high


def test_the_report_claims_only_proven_bounds() -> None:
    text = report(STORED)
    assert all(f"### {heading}\n" in text for heading in sections(STORED))
    assert f"provably lose at most {100 * load_certificate().nash_conv.high:.2f} points" in text
    assert "optimal" not in text
    assert max(len(line) for line in text.splitlines()) <= 110


def test_every_bound_in_the_report_holds() -> None:
    text = report(STORED).replace("\n", " ")
    against, without = STORED["certificate"], STORED["tunnel"]
    certified = list(against.values())
    tunnels = [pair for seat in against for pair in (against[seat], without[seat])]
    worths = [[max(0.0, a[0] - b[1]), a[1] - b[0]] for a, b in zip(certified, without.values(), strict=True)]
    habits = [habit["responder"] for habit in STORED["habits"].values() if habit["responder"]]
    table = re.findall(r"strategy \| (\S+)% \| (\S+)% \|", text)
    spans = re.findall(r"(\d+\.\d)%? (?:to|and) (\d+\.\d)(?:%| points)", text)
    sums = re.findall(r"at most (\S+) points to best responders, and at least (\d+\.\d+)", text)
    printed = [*table, *spans, *((least, most) for most, least in sums)]
    exact = [*certified, STORED["value"], *tunnels, *worths, *habits, STORED["gives_away"]]
    assert len(printed) == len(exact)
    for (low, high), (least, most) in zip(printed, exact, strict=True):
        assert 100 * least - 0.1 < float(low) <= 100 * least + 1e-9
        assert 100 * most - 1e-9 <= float(high) < 100 * most + 0.1


def test_the_report_names_the_habits_that_win() -> None:
    habits = STORED["habits"]
    lost = {**STORED, "habits": {name: {**habit, "mean": 0.4} for name, habit in habits.items()}}
    won = {**STORED, "habits": {name: {**habit, "mean": 0.6} for name, habit in habits.items()}}
    every = ", ".join(habits)
    assert f"loses to: {every}." in report(lost).replace("\n", " ")
    assert "wins more than half against every one of them." in report(won).replace("\n", " ")


def test_conduct_counts_turns() -> None:
    stayer, sweeper = (make_policy(NAIVE[name]) for name in ("always stays", "stays and sweeps"))
    matches = simulate(QuantumHunt(), {Seat.ONE: stayer, Seat.TWO: sweeper}, 50, seed=1)
    described = describe_self_play(matches)
    two = described["seats"]["2"]
    assert two["stays"] == 1.0
    assert two["names_far"][0] == pytest.approx(1 - two["names_far"][5])  # 1, 2, … 7, and 1 again
    first_turns = [list_turns(match)[0] for match in matches]
    assert described["seats"]["1"]["enters"][0] == sum(turn.cell == 0 for turn in first_turns) / len(matches)
    assert described["simulated"]["games"] == len(matches)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAIVE)
def test_reproduces_the_results_of_habits(name: str) -> None:
    stored = STORED["habits"][name]
    for seat, won in zip(Seat, stored["won"], strict=True):
        policies = {seat: ORACLE.weights, seat.other: make_policy(NAIVE[name])}
        assert mean_score(simulate(ORACLE.rules, policies, 1000, f"test {name}"), seat).agrees(won)


@pytest.mark.slow
def test_reproduces_the_study_of_self_play() -> None:
    games = STORED["simulated"]["games"]
    matches = simulate(ORACLE.rules, dict.fromkeys(Seat, ORACLE.weights), games, "hunt")
    described = describe_self_play(matches)
    assert _flat(described) == pytest.approx(_flat({name: STORED[name] for name in described}))


def _flat(data: Any, path: str = "") -> dict[str, Any]:
    """Return nested data as numbers and words by their paths."""
    if isinstance(data, list):
        data = dict(enumerate(data))
    if not isinstance(data, dict):
        return {path: data}
    return {name: leaf for key, part in data.items() for name, leaf in _flat(part, f"{path}/{key}").items()}
