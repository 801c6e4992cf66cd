"""What a seat can work out: every state that fits what it has seen.

Reads a list of seen entries back into a sight, with the game's own rules as the only authority.
"""

from dataclasses import dataclass
from typing import Generic

from duels.core.errors import GameOver, IllegalMove
from duels.core.rules import A, Event, Rules, S, Seat, Sight, Step, V


@dataclass(frozen=True, slots=True)
class Recollection(Generic[S, A, V]):
    """What `seat` has seen, entry by entry, and the states that are possible after it."""

    rules: Rules[S, A, V]
    seat: Seat
    states: tuple[S, ...]
    events: tuple[Event, ...] = ()
    history: tuple[A | None, ...] = ()

    @classmethod
    def start(cls, rules: Rules[S, A, V], seat: Seat) -> "Recollection[S, A, V]":
        return cls(rules, seat, (rules.initial(),))

    def then(self, action: A | None) -> "Recollection[S, A, V]":
        """Add one entry as the seat saw it, None where it saw nothing of it.

        Where an entry can be answered in several ways (hit or miss), the match went on if it could.
        """
        steps = self._hidden_steps() if action is None else self._open_steps(action)
        # Steps that the seat sees alike belong together; more than one way that goes on is a gap in the list.
        ways: dict[tuple[Event, ...], list[S]] = {}
        for step in steps:
            ways.setdefault(self._seen(step), []).append(step.state)
        going_on = {seen: after for seen, after in ways.items() if self.rules.actor(after[0]) is not None}
        seen, after = next(iter((going_on or ways).items()))
        return Recollection(
            self.rules,
            self.seat,
            tuple(dict.fromkeys(after)),
            self.events + seen,
            (*self.history, action),
        )

    def sight(self) -> Sight[A, V]:
        """What the seat knows now."""
        return self.rules.sight(self.states[0], self.seat, self.events, self.history)

    def _open_steps(self, action: A) -> list[Step[S]]:
        legal = [state for state in self.states if action in self.rules.actions(state)]
        steps = [self.rules.apply(state, action) for state in legal]
        steps = [step for step in steps if all(self.seat in event.seen_by for event in step.events)]
        if not steps:
            self._refuse(f"'{self.rules.format(action)}'")
        return steps

    def _hidden_steps(self) -> list[Step[S]]:
        steps = [
            self.rules.apply(state, action)
            for state in self.states
            if self.rules.actor(state) is not self.seat
            for action in self.rules.actions(state)
        ]
        steps = [step for step in steps if not self._seen(step)]
        if not steps:
            self._refuse("a hidden entry ('?')")
        return steps

    def _seen(self, step: Step[S]) -> tuple[Event, ...]:
        return tuple(event for event in step.events if self.seat in event.seen_by)

    def _refuse(self, entry: str) -> None:
        place = len(self.history) + 1
        if self.rules.actor(self.states[0]) is None:
            raise GameOver(f"Entry {place}, {entry}, comes after the end of the match.")
        raise IllegalMove(f"Entry {place}, {entry}, cannot be what {self.seat.label} saw there.")
