"""Flip's compiled oracle agrees with the plain one."""

from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from duels.core.match import Match, draw
from duels.core.rules import CHANCE
from duels.games.flip import bounds, quick
from duels.games.flip.oracle import FlipOracle, make_oracle
from duels.games.flip.rules import QuantumTiles, State
from duels.solving import oracles

pytest.importorskip("numba")
FORMS = [QuantumTiles(), QuantumTiles(side=2, values=2, copies=2, target=3)]


@pytest.mark.parametrize("rules", FORMS, ids=str)
def test_verdicts_agree_with_the_plain_oracle(rules: QuantumTiles) -> None:
    usual, compiled, rng = make_oracle(rules), quick.make_oracle(rules), Random(6)
    assert compiled
    for _ in range(4):
        match: Any = Match.start(rules)
        while (actor := match.actor) is not None:
            if actor is CHANCE:
                match = match.play(actor, draw(match, rng))
                continue
            assert_same(usual, compiled, match.state)
            match = match.play(actor, rng.choice(match.actions))


def assert_same(usual: FlipOracle, compiled: FlipOracle, state: State) -> None:
    sight = usual.rules.sight(state, state.mover)
    one, two = usual.judge(sight), compiled.judge(sight)
    assert one.best == two.best
    assert (two.value.low, two.value.high) == pytest.approx((one.value.low, one.value.high), abs=1e-12)
    for mine, theirs in zip(one.actions, two.actions, strict=True):
        assert (mine.action, mine.weight) == (theirs.action, theirs.weight)
        assert theirs.value.number == pytest.approx(mine.value.number, abs=1e-12)


LASTING = (
    "..3.2/43.../2.2.4/2..3./1...3 15,14 01 2",
    "..115/.2.43/3.2../.224./3.... 16,16 11 1",
    "..414/.3332/..4../...1./.c2.. 12,15 01 1",
    ".3.../1..3./124.5/1..5./.32.2 15,17 11 1",
)
AHEAD = ("4.3.2/.1.../.2351/..1../..333 15,16 11 1", ".1.5./414../.3.../...3./422.1 17,13 11 2")


def test_slow_verdicts_agree_with_the_plain_oracle() -> None:
    usual, compiled = make_oracle(FORMS[0]), quick.make_oracle(FORMS[0])
    assert compiled
    for positions, function in ((LASTING, "get_value_until"), (AHEAD, "narrow")):
        for position in positions:
            with patch.object(bounds, function, wraps=getattr(bounds, function)) as answers:
                assert_same(usual, compiled, FORMS[0].parse_state(position))
            assert answers.called


def test_large_boards_have_no_quick_oracle() -> None:
    assert quick.make_oracle(QuantumTiles(side=6, values=6, copies=6, target=30)) is None


def test_the_quick_oracle_replaces_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracles, "_cache", {})
    rules = FORMS[1]
    assert type(oracles.get_oracle(rules)) is FlipOracle
    oracle = oracles.get_quick_oracle(rules)
    assert type(oracle) is quick.QuickOracle
    assert oracles.get_oracle(rules) is oracle
    assert oracles.get_quick_oracle(rules) is oracle
