"""Nim-values by definition, by period and as published."""

import pytest

from duels.core.errors import DuelsError
from duels.solving.nimbers import Period, TakeAndBreak, compute_nimbers, find_mex, find_period

# Octal codes with the periods that Winning Ways, chapter 4, lists.
PUBLISHED_PERIODS = {
    (7, 7): Period(71, 12),  # Kayles
    (0, 7): Period(53, 34),  # Dawson's Kayles
    (1, 3, 7): Period(52, 34),  # Dawson's chess
    (3, 3): Period(1, 3),  # take one or two
    (1, 5, 6): Period(3479, 349),
}


def compute_by_definition(digits: tuple[int, ...], length: int) -> list[int]:
    """Nim-values with every pair of heaps written out, even where there can be none."""
    nimbers: list[int] = []
    for n in range(length):
        options = set()
        for taken, digit in enumerate(digits, start=1):
            for left in range(n - taken + 1):
                right = n - taken - left
                heaps = (left > 0) + (right > 0)
                if digit >> heaps & 1:
                    options.add(nimbers[left] ^ nimbers[right])
        nimbers.append(find_mex(options))
    return nimbers


@pytest.mark.parametrize("digits", [*PUBLISHED_PERIODS, (5, 2, 6), (7,), (1,), (0, 0, 7)])
def test_nimbers_follow_from_their_definition(digits: tuple[int, ...]) -> None:
    assert compute_nimbers(digits, 140) == compute_by_definition(digits, 140)


@pytest.mark.parametrize("digits", [code for code in PUBLISHED_PERIODS if code != (1, 5, 6)])
def test_the_proven_period_is_the_published_one(digits: tuple[int, ...]) -> None:
    assert TakeAndBreak(digits).period == PUBLISHED_PERIODS[digits]


@pytest.mark.slow
def test_finds_a_long_period() -> None:
    assert TakeAndBreak((1, 5, 6), 8192).period == PUBLISHED_PERIODS[1, 5, 6]


@pytest.mark.parametrize("digits", [(7, 7), (0, 7), (1, 3, 7)])
def test_the_period_holds_far_beyond_its_proof(digits: tuple[int, ...]) -> None:
    game = TakeAndBreak(digits)
    assert [game.nimber(n) for n in range(1501)] == compute_nimbers(digits, 1501)


def test_one_value_too_few_proves_nothing() -> None:
    nimbers = compute_nimbers((7, 7), 168)
    assert find_period(nimbers, 2) == Period(71, 12)
    assert find_period(nimbers[:-1], 2) is None
    with pytest.raises(DuelsError, match=r"first 167 nim-values .* prove no period"):
        TakeAndBreak((7, 7), 167)
