"""Information sets contain exactly the matches that fit a seat's observations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.errors import GameOver, IllegalMove
from duels.core.information_sets import InformationSet
from duels.core.match import AnyMatch, EarlyEnd, Match
from duels.core.rules import Seat
from duels.games.hunt.rules import Move, Observe, QuantumHunt, Tunnel
from tests.support import all_matches, matches

AnySet = InformationSet[object, object, object]


def recall(match: AnyMatch, seat: Seat) -> AnySet:
    information_set: AnySet = InformationSet.start(match.rules, seat)
    for after in match.steps():
        turn = after.last
        assert turn
        if isinstance(turn.action, EarlyEnd):
            break
        branches = information_set.branch(None if turn.hidden_from(seat) else turn.action)
        (information_set,) = (
            branch for branch in branches if branch.match.events_seen_by(seat) == after.events_seen_by(seat)
        )
    return information_set


@settings(deadline=None)
@given(matches(resign=False), st.sampled_from(Seat))
def test_information_sets_contain_the_match_and_only_its_lookalikes(match: AnyMatch, seat: Seat) -> None:
    information_set = recall(match, seat)
    states = [possible.state for possible in information_set.matches]
    assert match.state in states
    assert len(set(states)) == len(states), "one match for each state"
    for possible in information_set.matches:
        assert possible.sight(seat) == match.sight(seat)


@pytest.mark.parametrize("seat", Seat)
def test_information_sets_are_complete(seat: Seat) -> None:
    """All matches of five turns of a small hunt, sorted by what the seat saw of them."""
    groups: dict[object, list[AnyMatch]] = {}
    for match in all_matches(Match.start(QuantumHunt(cells=2)), 5):
        groups.setdefault(match.sight(seat), []).append(match)
    assert len(groups) > 20
    for alike in groups.values():
        information_set = recall(alike[0], seat)
        assert {match.state for match in alike} == {match.state for match in information_set.matches}


def test_a_miss_rules_out_a_cell() -> None:
    rules = QuantumHunt(cells=3)
    information_set = InformationSet.start(rules, Seat.ONE)
    for action in (Move(1), Observe(3), None):
        information_set = information_set.add_entry(action)
    # The other entered anywhere, by step or by tunnel.
    assert len(information_set.matches) == 6
    information_set = information_set.add_entry(Observe(3)).add_entry(Move(1)).add_entry(Observe(2))
    # Had it come onto cell 1 it would have lost; on cell 2 it would have been caught.
    assert {match.state.cells for match in information_set.matches} == {(1, 3)}


@pytest.mark.parametrize(
    "entries",
    [
        (None,),  # its own move is not hidden from the seat
        (Observe(3),),  # first the move
        (Move(3), Tunnel(2)),
        (Move(3), Observe(5), Move(4)),  # the other's move would not be seen
        (Move(3), Observe(5), None, None),
        (Move(3), Observe(5), None, Observe(5), Move(4), Observe(5)),  # not the same cell twice
        (Move(9),),
    ],
)
def test_rejects_impossible_observations(entries: tuple[object, ...]) -> None:
    information_set: AnySet = InformationSet.start(QuantumHunt(), Seat.ONE)  # type: ignore[arg-type]
    for entry in entries[:-1]:
        information_set = information_set.add_entry(entry)
    with pytest.raises(IllegalMove, match="does not fit what Player 1 saw"):
        information_set.add_entry(entries[-1])


def test_rejects_events_after_the_end() -> None:
    match = Match.start(QuantumHunt()).play_text("tunnel 7", "observe 5", "move 7", "observe 4")
    with pytest.raises(GameOver):
        recall(match, Seat.ONE).add_entry(Move(6))
