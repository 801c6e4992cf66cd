"""Advice for a seat never depends on information hidden from it."""

from random import Random

import pytest

from duels.analysis.hints import hint
from duels.core.information_sets import InformationSet
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import Action, QuantumHunt, State, View

RULES = QuantumHunt()
ORACLE = make_oracle(RULES)


def collect_advice(match: Match[State, Action, View], seat: Seat) -> tuple[object, ...]:
    """Return all advice for the seat about a match."""
    sight = match.sight(seat)
    always = (ORACLE.value(sight), ORACLE.belief(sight), RULES.format_position(sight))
    if not sight.actions:
        return always
    return *always, ORACLE.judge(sight), ORACLE.reason(sight), hint(sight, ORACLE)


@pytest.mark.parametrize("seed", range(6))
def test_indistinguishable_matches_get_the_same_advice(seed: int) -> None:
    rng = Random(seed)
    match = Match.start(RULES)
    memories = {seat: InformationSet.start(RULES, seat) for seat in Seat}
    compared = 0
    while match.actor is not None and len(match.turns) < 24:
        action = rng.choice(match.actions)
        match = match.play(match.actor, action)
        if match.over:
            break
        for seat in Seat:
            assert match.last
            memories[seat] = memories[seat].add_entry(None if match.last.hidden_from(seat) else action)
            alike = memories[seat].matches
            assert match.state in {other.state for other in alike}
            expected = collect_advice(match, seat)
            for other in rng.sample(alike, min(4, len(alike))):
                assert collect_advice(other, seat) == expected
                compared += other.state != match.state
    assert compared or len(match.turns) <= 2


@pytest.mark.parametrize("seed", range(6))
def test_the_truth_is_never_ruled_out(seed: int) -> None:
    """Whatever the other does, also what the strategy would not do: its true place stays possible."""
    rng = Random(seed)
    match = Match.start(RULES)
    while match.actor is not None:
        seat = Seat(match.actor)  # type: ignore[arg-type]
        belief = ORACLE.belief(match.sight(seat))
        other = match.state.cells[seat.other - 1]
        assert belief[f"position {other}" if other else "off the grid"] > 0.0
        left = belief["tunnel left"]
        assert left > 0.0 if match.state.tunnels[seat.other - 1] else left < 1.0
        match = match.play(seat, rng.choice(match.actions))
