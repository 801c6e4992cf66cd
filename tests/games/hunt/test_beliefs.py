"""Beliefs and estimates of hunt's oracle, computed again through the rules, line by line."""

from collections.abc import Iterator
from random import Random
from unittest import mock

import pytest

from duels.analysis.review import review
from duels.core.match import Match
from duels.core.rules import Seat, Sight
from duels.games.hunt import beliefs
from duels.games.hunt.beliefs import RANDOM_RATE, track_path
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import Action, Observe, QuantumHunt, State, View
from duels.games.hunt.self_play import PairValues, load_table
from duels.games.hunt.strategy import load_strategy

RULES = QuantumHunt()
ORACLE = make_oracle(RULES)
AnyMatch = Match[State, Action, View]


def lines(sight: Sight[Action, View]) -> Iterator[tuple[float, AnyMatch]]:
    """Yield each match that fits the sight, with its chance: the other plays the strategy, or anything."""
    waiting: list[tuple[float, AnyMatch]] = [(1.0, Match.start(RULES))]
    for entry in sight.history:
        further: list[tuple[float, AnyMatch]] = []
        for chance, match in waiting:
            mover = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            meant = ORACLE.weights(mover)
            for action, weight in zip(mover.actions, meant, strict=True):
                if action == entry or (entry is None and not isinstance(action, Observe)):
                    odds = (
                        1.0
                        if mover.seat is sight.seat
                        else (1 - RANDOM_RATE) * weight + RANDOM_RATE / len(meant)
                    )
                    further.append((chance * odds, match.play(mover.seat, action)))
        waiting = [(chance, match) for chance, match in further if not match.over]
    yield from waiting


def some_sights() -> list[Sight[Action, View]]:
    """Return both seats' sights of some matches of two or three turns."""
    sights = []
    for seed in range(6):
        rng = Random(seed)
        match: AnyMatch = Match.start(RULES)
        for _ in range(9 + seed % 2):
            if match.actor is not None:
                match = match.play(match.actor, rng.choice(match.actions))
        sights += [step.sight(seat) for step in match.steps() if not step.over for seat in Seat]
    return sights


SIGHTS = some_sights()


def test_beliefs_are_the_same_in_any_order() -> None:
    shuffled = Random(7).sample(SIGHTS, len(SIGHTS))
    continued = {sight: ORACLE.belief(sight) for sight in shuffled}
    assert continued == {sight: make_oracle(RULES).belief(sight) for sight in SIGHTS}


def test_a_long_match_is_reviewed_without_starting_over_for_each_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    match: AnyMatch = Match.start(RULES)
    rng = Random(3)
    while match.length < 80:
        assert match.actor
        after = match.play(match.actor, rng.choice(match.actions))
        match = after if not after.over else match.after(max(0, match.length - 6))
    update_by_move = mock.Mock(wraps=beliefs._update_by_move)
    monkeypatch.setattr(beliefs, "_update_by_move", update_by_move)
    review(match.resign(Seat.ONE), make_oracle(RULES))
    assert update_by_move.call_count <= 2 * match.length


def test_beliefs_agree_with_a_walk_through_the_rules() -> None:
    assert max(len(sight.history) for sight in SIGHTS) >= 9
    for sight in SIGHTS:
        places, tunnel, whole = [0.0] * 8, 0.0, 0.0
        for chance, match in lines(sight):
            other = match.sight(sight.seat.other).view
            places[other.cell - 1] += chance
            tunnel += chance * other.tunnel
            whole += chance
        expected = [chance / whole for chance in (*places, tunnel)]
        assert list(ORACLE.belief(sight).values()) == pytest.approx(expected)


PAIR = PairValues(load_strategy(), load_table())


def stored(seat: Seat, match: AnyMatch) -> float:
    """Return the table's value for a waiting seat, without the oracle."""
    public, own_path = track_path(seat, match.sight(seat).history)
    _, other_path = track_path(seat.other, match.sight(seat.other).history)
    return 1 - PAIR.before_turn(public, other_path, own_path)


def worth(seat: Seat, match: AnyMatch) -> float:
    """Return the value for a seat with full information that plays the strategy until the other's turn."""
    if match.outcome:
        return float(match.outcome.winner is seat)
    if match.actor is not seat:
        return stored(seat, match)
    sight = match.sight(seat)
    return sum(
        weight * worth(seat, match.play(seat, action))
        for action, weight in zip(sight.actions, ORACLE.weights(sight), strict=True)
        if weight
    )


def test_estimates_agree_with_stored_values_and_the_rules() -> None:
    judged = 0
    for sight in SIGHTS:
        if len(sight.history) % 2 and not sight.actions:
            continue  # between the opponent's two entries the value is that before both
        matches = list(lines(sight))
        whole = sum(chance for chance, _ in matches)
        expected = sum(chance * worth(sight.seat, match) for chance, match in matches) / whole
        assert ORACLE.value(sight).number == pytest.approx(expected)
        if sight.actions and len(sight.history) < 7:
            for option in ORACLE.judge(sight).actions:
                after = sum(
                    c * worth(sight.seat, match.play(sight.seat, option.action)) for c, match in matches
                )
                assert option.value.number == pytest.approx(after / whole)
                judged += 1
    assert judged > 50
