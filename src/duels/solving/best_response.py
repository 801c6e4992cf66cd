"""The exact best response to a fixed policy by search of the whole game: for games that are small enough."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from duels.core.rules import A, Event, Rules, S, Seat, Sight, V

Policy = Callable[[Sight[A, V]], Sequence[float]]
"""The chance of each of `sight.actions`."""


@dataclass(frozen=True, slots=True)
class Line(Generic[S, A]):
    """One way the game may have gone: its chance, and what the seat of the fixed policy has seen."""

    chance: float
    state: S
    events: tuple[Event, ...] = ()
    history: tuple[A | None, ...] = ()


def best_response(rules: Rules[S, A, V], responder: Seat, policy: Policy[A, V]) -> float:
    """The chance to win of the best `responder`, who remembers everything; a game cut off counts one half."""
    return _best(rules, responder, policy, [Line(1.0, rules.initial())])


def _best(rules: Rules[S, A, V], responder: Seat, policy: Policy[A, V], lines: list[Line[S, A]]) -> float:
    """The value of `lines`, which the responder cannot tell apart."""
    outcome = rules.outcome(lines[0].state)
    if outcome:
        return float(outcome.score(responder)) * sum(line.chance for line in lines)

    def after(played: Iterable[tuple[Line[S, A], float, A]]) -> float:
        return sum(_best(rules, responder, policy, part) for part in _parts(rules, responder, played))

    if rules.actor(lines[0].state) is responder:
        actions = rules.actions(lines[0].state)
        return max(after((line, 1.0, action) for line in lines) for action in actions)
    return after(_answers(rules, responder.other, policy, lines))


def _answers(
    rules: Rules[S, A, V], seat: Seat, policy: Policy[A, V], lines: list[Line[S, A]]
) -> Iterable[tuple[Line[S, A], float, A]]:
    for line in lines:
        actions = rules.actions(line.state)
        if rules.actor(line.state) is seat:
            chances = policy(rules.sight(line.state, seat, line.events, line.history))
        else:
            chances = [float(chance) for chance in rules.odds(line.state)]
        yield from ((line, chance, action) for action, chance in zip(actions, chances, strict=True) if chance)


def _parts(
    rules: Rules[S, A, V], responder: Seat, played: Iterable[tuple[Line[S, A], float, A]]
) -> list[list[Line[S, A]]]:
    """Carry the actions out and put together what the responder cannot tell apart."""
    seat = responder.other
    parts: dict[tuple[Event, ...], list[Line[S, A]]] = {}
    for line, chance, action in played:
        step = rules.apply(line.state, action)
        hidden = any(seat not in event.seen_by for event in step.events)
        told = tuple(event for event in step.events if seat in event.seen_by)
        seen = tuple(event for event in step.events if responder in event.seen_by)
        parts.setdefault(seen, []).append(
            Line(
                line.chance * chance,
                step.state,
                line.events + told,
                (*line.history, None if hidden else action),
            )
        )
    return list(parts.values())
