"""The book's rules of hunt, statement by statement (docs/books.md)."""

import pytest

from duels.core.errors import IllegalMove
from duels.core.match import AnyMatch, Match
from duels.core.rules import Ending, Seat
from duels.games.hunt.rules import Moved, Phase, QuantumHunt

RULES = QuantumHunt()


def after(*entries: str) -> AnyMatch:
    return Match.start(RULES).play_text(*entries)


def allowed(*entries: str) -> list[str]:
    return [RULES.format(action) for action in after(*entries).actions]


def test_both_tokens_start_off_a_line_of_seven_positions() -> None:
    start = RULES.initial()
    assert RULES.cells == 7
    assert start.cells == (0, 0)
    assert start.tunnels == (True, True)


def test_a_token_off_the_grid_enters_at_any_position_and_cannot_stay_off() -> None:
    assert allowed() == [f"{verb} {n}" for verb in ("move", "tunnel") for n in range(1, 8)]


def test_a_turn_is_a_movement_and_then_an_observation() -> None:
    steps = after("move 3", "observe 5", "move 6", "observe 1").steps()
    assert [(step.actor, step.state.phase) for step in steps] == [
        (Seat.ONE, Phase.OBSERVE),
        (Seat.TWO, Phase.MOVE),
        (Seat.TWO, Phase.OBSERVE),
        (Seat.ONE, Phase.MOVE),
    ]
    with pytest.raises(IllegalMove):
        after("observe 3")
    with pytest.raises(IllegalMove):
        after("move 3", "move 4")


@pytest.mark.parametrize(("start", "targets"), [(1, (1, 2)), (4, (3, 4, 5)), (7, (6, 7))])
def test_a_movement_stays_or_goes_to_a_neighbour_on_the_grid(start: int, targets: tuple[int, ...]) -> None:
    away = "1" if start > 2 else "7"
    moves = allowed("tunnel " + str(start), "observe 2", f"move {away}", "observe 3")
    assert moves == [f"move {cell}" for cell in targets]


def test_only_the_mover_sees_a_movement_or_a_tunnel() -> None:
    for entry in ("move 3", "tunnel 3"):
        moved = after(entry)
        assert moved.last
        (event,) = moved.last.events
        assert isinstance(event, Moved)
        assert event.seen_by == {Seat.ONE}
    views = [after(entry, "observe 5").sight(Seat.TWO).view for entry in ("move 3", "move 6", "tunnel 3")]
    assert len(set(views)) == 1


def test_any_position_can_be_observed_also_ones_own() -> None:
    assert allowed("move 3") == [f"observe {n}" for n in range(1, 8)]


def test_a_hit_captures_the_token_and_wins() -> None:
    captured = after("move 3", "observe 5", "move 5", "observe 3")
    assert captured.outcome
    assert captured.outcome.winner is Seat.TWO
    assert captured.outcome.ending is Ending.WON


def test_a_miss_is_announced_to_both_and_the_game_continues() -> None:
    missed = after("move 3", "observe 5")
    assert not missed.over
    assert missed.actor is Seat.TWO
    assert missed.last
    assert all(missed.last.events_seen_by(seat) == missed.last.events for seat in Seat)


def test_no_position_is_observed_on_consecutive_turns() -> None:
    again = ("move 3", "observe 5", "move 7", "observe 1", "move 3")
    assert "observe 5" not in allowed(*again)
    assert "observe 1" in allowed(*again), "what the other observed does not count"
    later = (*again, "observe 6", "move 7", "observe 2", "move 3")
    assert "observe 5" in allowed(*later)


def test_the_tunnel_goes_anywhere_once_for_each_player() -> None:
    far = ("move 1", "observe 2", "move 3", "observe 7")
    assert {f"tunnel {n}" for n in range(1, 8)} <= set(allowed(*far))
    spent = (*far, "tunnel 7", "observe 5")
    assert "tunnel 1" in allowed(*spent), "Player 2 has a tunnel of their own"
    assert not [entry for entry in allowed(*spent, "move 3", "observe 1") if "tunnel" in entry]


@pytest.mark.parametrize("entry", ["move 4", "tunnel 4"])
@pytest.mark.parametrize("named", [4, 6])
def test_moving_onto_the_other_token_loses(entry: str, named: int) -> None:
    moved = after("move 4", "observe 1", entry)
    assert not moved.over, "the observation comes first"
    collided = moved.play_text(f"observe {named}")
    assert collided.outcome
    assert collided.outcome.winner is Seat.ONE
    assert collided.outcome.ending is Ending.WON
