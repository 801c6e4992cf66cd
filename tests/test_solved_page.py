"""The printed digits in docs/solved.md hold for flip's proven bounds."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from duels.games.flip.oracle import make_oracle
from duels.games.flip.rules import QuantumTiles
from duels.solving.oracle import Value

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "solved.md").read_text(encoding="utf-8")
CHAPTER = " ".join(PAGE[PAGE.index("## flip") : PAGE.index("## hunt")].split())
RULES = QuantumTiles()
ORACLE = make_oracle(RULES)
START = "...../...../...../...../..... 0,0"
CODES = ("11", "10", "01", "00")
SHOWN = r"(\d+\.\d+)%? ± (\d+(?:\.\d+)?)"


@pytest.fixture(scope="module")
def values() -> dict[str, Value]:
    return {code: ORACLE.value(RULES.parse_position(f"{START} {code} 1")) for code in CODES}


def covers(printed: tuple[str, str], low: float, high: float) -> bool:
    """Return whether a number and its bound, in points, cover the whole interval."""
    number, bound = map(float, printed)
    return number - bound <= 100 * low + 1e-9 and number + bound >= 100 * high - 1e-9


def test_every_value_on_the_page_covers_the_proven_bounds(values: dict[str, Value]) -> None:
    rows = {
        code: (number, bound)
        for number, bound, code in re.findall(rf"\| {SHOWN} points \| `(\d\d)` \|", CHAPTER)
    }
    assert set(rows) == set(CODES)
    assert all(covers(rows[code], values[code].low, values[code].high) for code in CODES)


def test_every_action_on_the_page_covers_the_proven_bounds() -> None:
    judged = ORACLE.judge(RULES.parse_position(f"{START} 11 1")).actions
    proven = {RULES.format(each.action): each.value for each in judged}
    rows = re.findall(rf"\| `([A-E]\d\S*)` \| {SHOWN} points \|", CHAPTER)
    assert [name for name, *_ in rows] == ["A1", "A1+A2"]
    assert all(covers((n, bound), proven[name].low, proven[name].high) for name, n, bound in rows)


def test_every_difference_on_the_page_covers_the_proven_bounds(values: dict[str, Value]) -> None:
    sentence = re.search(
        rf"own Quantum Flip is worth {SHOWN} points if Player 2 has none, and {SHOWN} points otherwise\. "
        rf"Player 2's costs Player 1 {SHOWN} points if Player 1 has none, and {SHOWN} points otherwise\..* "
        rf"wins {SHOWN} points, {SHOWN} points below even\..* add {SHOWN} points for Player 1\.",
        CHAPTER,
    )
    assert sentence
    both, one, two, none = (values[code] for code in CODES)
    even, lost = Value(0.5), Value(0.0)
    pairs = [(one, none), (both, two), (none, two), (one, both), (none, lost), (even, none), (both, none)]
    differences = list(zip(sentence.groups()[::2], sentence.groups()[1::2], strict=True))
    for each, (more, less) in zip(differences, pairs, strict=True):
        assert covers(each, more.low - less.high, more.high - less.low), each


def test_every_number_with_many_digits_has_a_bound() -> None:
    values = re.sub(SHOWN, "", CHAPTER.split("### How certain")[0])
    assert not re.findall(r"\d+\.\d\d+", values)


def test_stored_matches_of_flip_expire_when_their_inputs_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "solved"))
    sample = importlib.import_module("sample")
    monkeypatch.setattr(sys, "argv", ["sample.py", "--check"])
    assert len(sample.sample()["expert"]) == sample.MATCHES
    table = tmp_path / "table.bin"
    table.write_bytes(sample.table.SHIPPED.read_bytes() + b"x")
    monkeypatch.setattr(sample.table, "SHIPPED", table)
    with pytest.raises(SystemExit, match="other matches"):
        sample.sample()
