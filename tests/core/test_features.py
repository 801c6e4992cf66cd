"""Features: views encoded as numbers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.core.features import Encoding, Feature, discover_features
from duels.core.rules import Seat
from duels.games import GAMES
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim


def test_one_hot_and_two_valued_slots() -> None:
    encoding = Encoding(
        [
            Feature("row", ("a", "b", "c"), lambda view, seat: view, 2),
            Feature("mine", (False, True), lambda view, seat: (seat is Seat.ONE,)),
        ]
    )
    assert encoding.size == 7
    assert list(encoding.encode("ca", Seat.ONE)) == [0, 0, 1, 1, 0, 0, 1]
    assert list(encoding.encode("bb", Seat.TWO)) == [0, 1, 0, 0, 1, 0, 0]
    assert encoding.find_slice("mine") == slice(6, 7)
    with pytest.raises(KeyError):
        encoding.find_slice("yours")


def test_large_slots_are_built_lazily() -> None:
    """A table of all values would have a million times a million numbers."""
    encoding = Encoding([Feature("cell", tuple(range(10**6)), lambda view, seat: (view,))])
    for index in (0, 65, 10**6 - 1):
        encoded = encoding.encode(index, Seat.ONE)
        assert (len(encoded), encoded.index(1), sum(encoded)) == (10**6, index, 1)


@pytest.mark.parametrize("width", [3, 64, 65])
def test_values_are_one_hot_encoded(width: int) -> None:
    encoding = Encoding([Feature("cell", tuple(range(width)), lambda view, seat: (view,))])
    for index in range(width):
        assert list(encoding.encode(index, Seat.ONE)) == [int(i == index) for i in range(width)]
    with pytest.raises(KeyError):
        encoding.encode(width, Seat.ONE)


@pytest.mark.parametrize("game", GAMES)
def test_both_seats_see_the_start_from_their_own_side(game: str) -> None:
    rules = GAMES[game].rules()
    encoding = GAMES[game].encoding(rules)
    encoded = [encoding.encode(rules.view(rules.initial(), seat), seat) for seat in Seat]
    assert [len(numbers) for numbers in encoded] == [encoding.size] * 2
    assert encoded[0] != encoded[1]  # whose turn it is


def test_games_without_features_get_default_features() -> None:
    """A board that is a word is shown cell by cell; a tuple that grows is filled up; no clock is shown."""
    rules = GAMES["chain"].rules(cells=4)
    board = discover_features(rules)[0]
    assert (board.name, board.values, board.count) == ("cells", ("O", "X", "_"), 4)
    assert Encoding([board]).encode(rules.parse_position("XO__ 1").view, Seat.ONE)[:6] == bytes(
        [0, 1, 0, 1, 0, 0]
    )
    limits = [discover_features(HighCard(max_passes=limit)) for limit in (None, 2)]
    for features in limits:
        assert [feature.name for feature in features] == ["seat", "dealt", "cards", "mover", "end", "winner"]
        assert {feature.name: feature.values for feature in features}["cards"] == (1, 2, None)
    assert [f.values for f in limits[0]] == [f.values for f in limits[1]]
    heaps, mover, _ = discover_features(Nim())
    assert (heaps.values, heaps.count) == ((0, 1, 2), 2)
    assert set(mover.values) == {"mine", "other's"}


class InAnyOrder(Nim):
    """Prints as a set of words, whose order differs in every process."""

    def view(self, state: Any, seat: Seat) -> Any:
        return frozenset({*(f"heap {index} has {heap}" for index, heap in enumerate(state.heaps)), "a", "b"})


def test_features_are_the_same_in_every_process() -> None:
    script = (
        "from tests.core.test_features import InAnyOrder, discover_features\n"
        "for feature in discover_features(InAnyOrder()): print([sorted(v) for v in feature.values])"
    )
    root = Path(__file__).parents[2]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert "heap" in outputs[0]
