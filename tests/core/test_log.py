"""The log that matches share: quick sights, independent branches, and working copies."""

import copy
import pickle
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch, Match, Prefix
from duels.core.rules import Event, Seat
from duels.games import find_game
from tests.support import lines_of, matches, play_randomly


@given(st.lists(st.integers()), st.data())
def test_a_prefix_behaves_like_a_tuple(items: list[int], data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(items)))
    prefix, plain = Prefix(items, length), tuple(items[:length])
    items.append(7)  # the list still grows
    assert prefix == plain
    assert plain == prefix
    assert (len(prefix), list(prefix), hash(prefix), repr(prefix)) == (
        len(plain),
        list(plain),
        hash(plain),
        repr(plain),
    )
    assert list(reversed(prefix)) == list(reversed(plain))
    part = data.draw(st.slices(10))
    assert prefix[part] == plain[part]
    assert prefix.first(2) == plain[:2]
    for index in range(-length, length):
        assert prefix[index] == plain[index]
    for outside in (length, -length - 1):
        with pytest.raises(IndexError):
            prefix[outside]
    assert prefix != list(plain)
    assert pickle.loads(pickle.dumps(prefix)) == plain
    assert isinstance(prefix, Sequence)


@settings(deadline=None, max_examples=50)
@given(matches(resign=False), st.data())
def test_branches_are_independent(match: AnyMatch, data: st.DataObject) -> None:
    before = match.after(data.draw(st.integers(0, len(match.turns))))
    entries, sights = lines_of(before), [before.sight(seat) for seat in Seat]
    branches = [play_randomly(before, Random(seed), 10, resign=True) for seed in range(4)]
    played = [lines_of(branch) for branch in branches]
    for branch, lines in zip(branches, played, strict=True):
        play_randomly(branch, Random(9), 3)
        assert lines_of(branch) == lines
        assert lines[: len(entries)] == entries
        for seat in Seat:
            again = Match.start(match.rules).play_text(*lines)
            assert again.sight(seat) == branch.sight(seat)
    assert lines_of(before) == entries
    assert [before.sight(seat) for seat in Seat] == sights


def long_match(entries: int) -> AnyMatch:
    match: AnyMatch = Match.start(find_game("chain").rules())
    rng = Random(1)
    while len(match.turns) < entries:
        match = long_on(match, rng)
    return match


def long_on(match: AnyMatch, rng: Random) -> AnyMatch:
    """The match with one more entry that does not end it."""
    while (longer := play_randomly(match, rng, 1)).over:
        pass
    return longer


def test_long_matches_are_copied_and_pickled() -> None:
    match = long_match(5000)
    for copied in (copy.copy(match), copy.deepcopy(match), pickle.loads(pickle.dumps(match))):
        assert lines_of(copied) == lines_of(match)
        assert copied.sight(Seat.ONE) == match.sight(Seat.ONE)
        after = play_randomly(copied, Random(2), 3)
        assert lines_of(after)[: len(match.turns)] == lines_of(match)
        assert len(match.turns) == 5000


def test_a_sight_does_not_read_the_history() -> None:
    """Each event is asked only once who may see it."""
    calls = 0

    class Counted(Event):
        def visible_to(self, watching: frozenset[Seat]) -> bool:
            nonlocal calls
            calls += 1
            return True

    match, rng = long_match(300), Random(3)
    match.sight(Seat.ONE)
    for turn in match.turns:
        object.__setattr__(turn, "events", (Counted(seen_by=frozenset({Seat.ONE})),))
    for number in range(301, 311):
        match = long_on(match, rng)
        assert len(match.sight(Seat.ONE).events) >= number
    assert calls == 0
    copy.deepcopy(match).sight(Seat.ONE)
    assert calls == 300, "a log of its own looks at every event once"


def test_threads_can_share_a_match() -> None:
    """With so short a turn for every thread, a log that is read while it grows goes wrong in seconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as threads:
            for _ in range(40):
                match = pickle.loads(pickle.dumps(long_match(60)))  # no sight was made yet
                sights = list(threads.map(lambda _, match=match: match.sight(Seat.ONE), range(6)))
                assert all(sight == match.sight(Seat.ONE) for sight in sights)
                assert len(match.sight(Seat.ONE).history) == 60
                # All continue the same match, while others may be extending its log.
                ends = list(threads.map(lambda _, match=match: play_randomly(match, Random(5), 20), range(6)))
                assert all(end.state == ends[0].state for end in ends)
                assert all(end.turns == ends[0].turns for end in ends)
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("wrong", [0, 3, -1, None, "1", 1.0, True, "Player 1"])
def test_rejects_invalid_seats(wrong: object) -> None:
    match = Match.start(find_game("hunt").rules()).play_text("move 3", "observe 5", "move 6")
    for ask in (match.sight, match.resign, match.forfeit, lambda seat: match.rules.sight(match.state, seat)):
        with pytest.raises(DuelsError, match="A seat must be"):
            ask(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seat", Seat)
def test_accepts_seat_numbers(seat: Seat) -> None:
    match = Match.start(find_game("hunt").rules()).play_text("move 3", "observe 5", "move 6")
    assert match.sight(seat.value) == match.sight(seat)  # type: ignore[arg-type]
    assert match.sight(seat.value).seat is seat  # type: ignore[arg-type]
