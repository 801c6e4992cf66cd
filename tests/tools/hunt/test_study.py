"""The study in docs/solved.md adds up, uses the shipped strategy, and is reproducible."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba")

from duels.core.rules import Seat
from duels.games.hunt.certify.policies import make_policy_from_function, make_policy_from_tables
from duels.games.hunt.certify.pomdp import Effort
from duels.games.hunt.certify.responder_problem import make_problem
from duels.games.hunt.memory import Window
from duels.games.hunt.rules import Action, QuantumHunt, State, Tunnel
from duels.games.hunt.strategy import load_certificate, load_strategy
from tests.games.hunt.certify.test_pomdp import Search, some_tables, tightest
from tools.hunt.evaluation import evaluate
from tools.hunt.naive import NAIVE
from tools.hunt.report import report, sections
from tools.hunt.simulation import SampleMean
from tools.hunt.study import LONG, describe_self_play, fingerprint, without_tunnel

STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "docs/solved/hunt.json").read_text(encoding="utf-8")
)


def test_the_study_uses_the_shipped_strategy_and_certificate() -> None:
    assert STORED["strategy"] == fingerprint()
    for seat, bounds in load_certificate().against.items():
        assert STORED["certificate"][str(seat.value)] == [bounds.low, bounds.high]
        # The strategy's own other half is a responder too, and so is one without a tunnel.
        won = STORED["pair"]["won"] if seat is Seat.TWO else 1 - STORED["pair"]["won"]
        assert won <= bounds.high
        assert STORED["tunnel"][str(seat.value)][0] <= bounds.high


def test_exact_values_agree_with_simulation() -> None:
    pair, simulated = STORED["pair"], STORED["simulated"]
    assert SampleMean(*simulated["won"]).agrees(pair["won"])
    assert SampleMean(*simulated["turns"]).agrees(pair["turns"])


def test_shares_add_up() -> None:
    pair = STORED["pair"]
    assert sum(pair["lengths"][:LONG]) + pair["long"] == pytest.approx(1.0)
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


class SearchWithoutTunnel(Search):
    """Plain search without tunnels."""

    class Rules(QuantumHunt):
        def actions(self, state: State) -> tuple[Action, ...]:
            return tuple(a for a in super().actions(state) if not isinstance(a, Tunnel))

    def value(self, turns: int) -> float:
        self.rules = self.Rules(self.rules.cells)
        return super().value(turns)


def test_a_responder_without_a_tunnel_against_plain_search() -> None:
    memory, seat = Window(3, 1), Seat.ONE
    tables = some_tables(1, memory)
    problem = make_problem(make_policy_from_tables(tables, memory, memory), seat)
    effort = Effort(sweeps=12, trials=400, depth=6)
    bounds, free = tightest(without_tunnel(problem, memory.cells), effort), tightest(problem, effort)
    least, most = (SearchWithoutTunnel(tables, seat, end, memory).value(3) for end in (0.0, 1.0))
    assert least <= bounds.high <= free.high
    assert bounds.low <= most
    assert bounds.high < free.low  # against these tables the tunnel is worth something


def test_reproduces_the_losses_of_habits() -> None:
    evaluation = evaluate(
        make_policy_from_tables(load_strategy()[Seat.ONE]),
        make_policy_from_function(NAIVE["sweeps"], Seat.TWO),
    )
    assert evaluation.won == pytest.approx(STORED["habits"]["sweeps"]["won"][0], abs=1e-6)


@pytest.mark.slow
def test_reproduces_the_study() -> None:
    """The parts by exact sums; the bounds have tests of their own, and take longer."""
    self_play = describe_self_play(
        {seat: make_policy_from_tables(tables) for seat, tables in load_strategy().items()}
    )
    assert _flat(self_play) == pytest.approx(_flat({name: STORED[name] for name in self_play}), abs=1e-6)


def _flat(data: Any, path: str = "") -> dict[str, Any]:
    """Return nested data as numbers and words by their paths."""
    if isinstance(data, list):
        data = dict(enumerate(data))
    if not isinstance(data, dict):
        return {path: data}
    return {name: leaf for key, part in data.items() for name, leaf in _flat(part, f"{path}/{key}").items()}
