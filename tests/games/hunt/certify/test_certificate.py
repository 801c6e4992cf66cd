"""The shipped certificate follows from its parts and from the strategy."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games.hunt import strategy
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import Certificate, load_certificate, load_strategy
from duels.solving.oracle import Bounds
from tools.hunt.shipping import write_certificate

pytest.importorskip("numba")

from duels.games.hunt.certify import certificate, verify
from duels.games.hunt.certify.pomdp import BoundsStep


def test_gains_and_value_follow_from_the_two_best_responses() -> None:
    pair = Certificate({Seat.ONE: Bounds(0.5, 0.55), Seat.TWO: Bounds(0.56, 0.6)})
    assert pair.nash_conv.low == pytest.approx(0.06)
    assert pair.nash_conv.high == pytest.approx(0.15)
    assert pair.value.low == pytest.approx(0.45)
    assert pair.value.high == pytest.approx(0.6)


def test_the_claim_is_not_trivial() -> None:
    claim = load_certificate()
    assert 0.0 <= claim.nash_conv.low <= claim.nash_conv.high < 1.0
    assert claim.value.low < 0.5 < claim.value.high


def test_the_claim_covers_only_the_game_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = load_certificate().against
    monkeypatch.setattr(
        certificate, "certify", lambda strategy: ((s, BoundsStep("done", 1.0, b)) for s, b in claims.items())
    )
    monkeypatch.setattr(verify, "check_self_play", lambda oracle, progress: iter(()))
    for limit in (None, 2):
        oracle = make_oracle(QuantumHunt(max_turns=limit))
        texts = [oracle.guarantee(), *(check.name for check in oracle.verify())]
        assert len(texts) == 3
        assert all(("without a turn limit" in text) == (limit is not None) for text in texts)


@pytest.mark.slow
def test_the_strategy_reproduces_the_claim() -> None:
    messages: list[str] = []
    checks = list(make_oracle(QuantumHunt()).verify(messages.append))
    assert all(check.passed for check in checks), checks
    assert sum("best response" in check.name for check in checks) == len(Seat)
    assert any("against Player 2" in text for text in messages)


def test_rejects_a_false_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each computed bound is compared with the claimed one."""
    claims = load_certificate().against
    bold = {Seat.ONE: Bounds(claims[Seat.ONE].low, claims[Seat.ONE].high - 0.001), Seat.TWO: claims[Seat.TWO]}
    monkeypatch.setattr(strategy, "load_certificate", lambda: Certificate(bold))
    monkeypatch.setattr(
        certificate, "certify", lambda strategy: ((s, BoundsStep("done", 1.0, b)) for s, b in claims.items())
    )
    monkeypatch.setattr(verify, "check_self_play", lambda oracle, progress: iter(()))
    assert [check.passed for check in make_oracle(QuantumHunt()).verify()] == [False, True]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shipped files, to damage."""
    for name in ("CERTIFICATE_FILE", "STRATEGY_FILE"):
        shipped_file: Path = getattr(strategy, name)
        monkeypatch.setattr(strategy, name, tmp_path / shipped_file.name)
        (tmp_path / shipped_file.name).write_bytes(shipped_file.read_bytes())
    load_strategy.cache_clear()
    yield tmp_path
    load_strategy.cache_clear()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "{",
        lambda text: "",
        lambda text: "[]",
        lambda text: '{"checksum": 1}',
        lambda text: text.replace("0.", "0.0", 1),
        lambda text: text.replace('"strategy": "', '"strategy": "0'),
    ],
)
def test_rejects_a_damaged_certificate(installed: Path, damage: Callable[[str], str]) -> None:
    stored = installed / "certificate.json"
    whole = stored.read_text(encoding="utf-8")
    assert load_certificate().against
    assert load_strategy()
    load_strategy.cache_clear()
    assert damage(whole) != whole
    stored.write_text(damage(whole), encoding="utf-8")
    for ask in (load_certificate, load_strategy):
        with pytest.raises(DuelsError, match="certificate is missing or damaged: reinstall duels"):
            ask()


def test_names_missing_files(installed: Path) -> None:
    (installed / "strategy.bin").unlink()
    with pytest.raises(DuelsError, match="strategy is missing: reinstall duels"):
        load_strategy()
    (installed / "certificate.json").unlink()
    with pytest.raises(DuelsError, match="certificate is missing or damaged: reinstall duels"):
        load_certificate()


def test_rejects_another_strategy(installed: Path) -> None:
    (installed / "strategy.bin").write_bytes(b"?")
    with pytest.raises(DuelsError, match="not the certified one"):
        load_strategy()


def test_rejects_altered_files_with_valid_checksums(installed: Path) -> None:
    """An attacker who alters the strategy or the claim can also recompute the checksums."""
    everything = {seat: Bounds(0.4, 0.41) for seat in Seat}
    data = (installed / "strategy.bin").read_bytes()
    (installed / "certificate.json").write_bytes(write_certificate(Certificate(everything), data))
    for ask in (load_certificate, load_strategy):
        with pytest.raises(DuelsError, match="certificate is missing or damaged: reinstall duels"):
            ask()


def test_stored_bounds_are_rounded_outwards(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Certificate({Seat.ONE: Bounds(0.50009, 0.55001), Seat.TWO: Bounds(0.56, 0.6)})
    stored = write_certificate(claim, (installed / "strategy.bin").read_bytes())
    (installed / "certificate.json").write_bytes(stored)
    monkeypatch.setattr(strategy, "CERTIFICATE_DIGEST", json.loads(stored)["checksum"])
    assert load_certificate().against == {Seat.ONE: Bounds(0.5, 0.5501), Seat.TWO: Bounds(0.56, 0.6)}
    assert load_strategy()
