"""Pairs of matches of hunt that a seat cannot tell apart."""

from random import Random
from typing import Any

from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.games import GAMES

OPTIONS: dict[str, Any] = {"max_turns": 8}
HUNT = GAMES["hunt"].rules(**OPTIONS)
NUMBER = {action: number for number, action in enumerate(HUNT.all_actions())}


def random_match(rng: Random) -> AnyMatch:
    match: AnyMatch = Match.start(HUNT)
    while match.actor is not None:
        match = match.play(match.actor, rng.choice(match.actions))
    return match


def look_alike(match: AnyMatch, seat: Seat, rng: Random) -> AnyMatch | None:
    """Return another match that `seat` cannot tell apart, or None if this try finds none."""
    other: AnyMatch = Match.start(HUNT)
    for turn in match.turns:
        assert isinstance(turn.actor, Seat)
        action = rng.choice(other.actions) if turn.hidden_from(seat) else turn.action
        if action not in other.actions:
            return None
        other = other.play(turn.actor, action)
        assert other.last
        if other.last.events_seen_by(seat) != turn.events_seen_by(seat):
            return None
    return other


def pair_of(seed: int, seat: Seat) -> tuple[AnyMatch, AnyMatch]:
    """Return two different matches that `seat` cannot tell apart."""
    rng = Random(seed)
    while True:
        match = random_match(rng)
        for _ in range(200):
            other = look_alike(match, seat, rng)
            if other and other.turns != match.turns:
                return match, other


def actions_of(match: AnyMatch) -> list[int]:
    return [NUMBER[turn.action] for turn in match.turns]
