"""Information sets: all matches that a seat cannot tell apart.

Reads a list of seen entries back, with the game's own rules as the only authority.
"""

from dataclasses import dataclass
from typing import Generic

from duels.core.errors import GameOver, IllegalMove
from duels.core.match import Match
from duels.core.rules import A, Event, Rules, S, Seat, V


@dataclass(frozen=True, slots=True)
class InformationSet(Generic[S, A, V]):
    """What `seat` has seen so far, as the matches that it cannot tell apart (one for each state)."""

    seat: Seat
    possible: tuple[Match[S, A, V], ...]

    @classmethod
    def start(cls, rules: Rules[S, A, V], seat: Seat) -> "InformationSet[S, A, V]":
        """What `seat` knows before the first move."""
        return cls(seat, (Match.start(rules),))

    @property
    def match(self) -> Match[S, A, V]:
        """One match the seat may be in; by what it sees, none of the others differs."""
        return self.possible[0]

    def then(self, action: A | None) -> "InformationSet[S, A, V]":
        """Add one entry as the seat saw it, None where the action was hidden from it.

        An entry can be answered in several ways (hit or miss): so that the match went on, if it could.
        """
        return min(self.ways(action), key=lambda way: way.match.over)

    def ways(self, action: A | None) -> list["InformationSet[S, A, V]"]:
        """Every way in which the seat can have seen the entry answered; never none."""
        after = self._after_hidden() if action is None else self._after_open(action)
        alike: dict[tuple[Event, ...], dict[S, Match[S, A, V]]] = {}
        for match in after:
            seen = match.last.seen(self.seat) if match.last else ()
            alike.setdefault(seen, {}).setdefault(match.state, match)
        return [InformationSet(self.seat, tuple(way.values())) for way in alike.values()]

    def _after_open(self, action: A) -> list[Match[S, A, V]]:
        after = [m.play(m.actor, action) for m in self.possible if m.actor and action in m.actions]
        after = [m for m in after if m.last and not m.last.hidden_from(self.seat)]
        if not after:
            self._refuse(f"'{self.match.rules.format(action)}'")
        return after

    def _after_hidden(self) -> list[Match[S, A, V]]:
        others = [m for m in self.possible if m.actor is not self.seat]
        after = [m.play(m.actor, action) for m in others if m.actor for action in m.actions]
        after = [m for m in after if m.last and m.last.hidden_from(self.seat)]
        if not after:
            self._refuse("a hidden entry ('?')")
        return after

    def _refuse(self, entry: str) -> None:
        if self.match.over:
            raise GameOver(f"{entry} comes after the end of the match.")
        place = len(self.match.turns) + 1
        raise IllegalMove(f"Entry {place}, {entry}, cannot be what {self.seat.label} saw there.")
