"""SVG helpers for boards."""

import pytest

from duels.core.svg import shorten


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Player 1", "Player 1"),
        ("Bob", "Bob"),
        ("Wilhelmina", "Wilhel…"),
        ("Ada Lovelace", "Ada L…"),
        ("MMMMMMMM", "MMM…"),
        ("量子決闘量子決闘", "量子決…"),
    ],
)
def test_long_names_are_truncated(name: str, expected: str) -> None:
    assert shorten(name, 103) == expected
