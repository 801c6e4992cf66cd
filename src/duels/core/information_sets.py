"""Information sets: all matches that a seat cannot tell apart.

Writes what a seat has seen as a list of entries and reads it back, with the game's own rules as the only
authority. A hidden entry is `?`. Where the rules could have answered an entry in several ways (hit or miss,
dice that are shown), and it was not the one that is taken for granted, a number says which: `liar #2`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import ne
from typing import Generic

from duels.core.errors import GameOver, IllegalMove, TooLarge
from duels.core.match import Conceded, Match
from duels.core.rules import A, Event, Outcome, Rules, S, Seat, Sight, V

HIDDEN = "?"
"""What stands for an entry that was hidden from the seat."""
OutcomeMismatch = Callable[[Outcome | None], int]
"""The less, the better it fits that a match ended so, or goes on (None), after an entry."""
MAX_REPLAY_WORK = 1_000_000
"""Steps of working out what a seat has seen: a few edited letters must not cost minutes."""
_STEPS_OF_ENTRY = 25  # besides listing the legal actions, each of which is one more
_NUMBERED = re.compile(r"(.*?)\s*#\s*([0-9]{1,9})\s*", flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class InformationSet(Generic[S, A, V]):
    """What `seat` has seen so far, as the matches that it cannot tell apart (one for each state)."""

    seat: Seat
    possible: tuple[Match[S, A, V], ...]
    work: int = field(default=0, compare=False)
    """The steps that it took to come here."""

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
        """Every way in which the seat can have seen the entry answered; never none.

        TooLarge, if that takes too long to find out.
        """
        work = self.work + self._work_of(action)
        if work > MAX_REPLAY_WORK:
            limit = f"to look at all takes more than {MAX_REPLAY_WORK:,} steps"
            raise TooLarge(f"What {self.seat.label} saw can have come about in too many ways: {limit}.")
        after = self._after_hidden() if action is None else self._after_open(action)
        alike: dict[tuple[Event, ...], dict[S, Match[S, A, V]]] = {}
        for match in after:
            seen = match.last.events_seen_by(self.seat) if match.last else ()
            alike.setdefault(seen, {}).setdefault(match.state, match)
        return [InformationSet(self.seat, tuple(way.values()), work) for way in alike.values()]

    def _work_of(self, action: A | None) -> int:
        """The steps of adding an entry to every match that is possible."""
        choices = [len(match.actions) for match in self.possible]
        return sum(estimate_work(listed if action is None else 1, listed) for listed in choices)

    def read(self, entry: str, doubt: OutcomeMismatch) -> "InformationSet[S, A, V]":
        """Add one entry as `format_seen_entries` writes it."""
        numbered = _NUMBERED.fullmatch(entry)
        name, number = (numbered[1], int(numbered[2])) if numbered else (entry, 0)
        ways = self.ways(None if name.strip() == HIDDEN else self.match.rules.parse(name))
        if number > len(ways):
            raise IllegalMove(f"'{entry}' can be answered in {len(ways)} ways only.")
        return ways[number - 1] if number else _usual(ways, doubt)

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


def format_seen_entries(rules: Rules[S, A, V], sight: Sight[A, V]) -> list[str]:
    """The entries that a seat has seen, so that they are read back to what it knows."""
    told, outcome = tuple(sight.events), sight.outcome
    if told and isinstance(told[-1], Conceded):
        told, outcome = told[:-1], None
    seen = InformationSet.start(rules, sight.seat)
    entries = []
    for place, action in enumerate(sight.history, start=1):
        ways = seen.ways(action)
        usual = _usual(ways, partial(ne, outcome) if place == len(sight.history) else prefer_ongoing)
        # What begins alike is told apart by what follows, so the longest that fits is meant.
        seen = max(ways, key=lambda way: _fits(way, told))
        told = told[len(_last_seen(seen)) :]
        name = HIDDEN if action is None else rules.format(action)
        entries.append(name if seen is usual else f"{name} #{ways.index(seen) + 1}")
    return entries


def format_history(sight: Sight[A, V]) -> list[str]:
    """Return the history that a seat has seen, in notation, with `?` for hidden entries."""
    rules = sight.rules
    if rules.has_secrets:
        return format_seen_entries(rules, sight)
    return [rules.format(action) for action in sight.history if action is not None]


def prefer_ongoing(outcome: Outcome | None) -> bool:
    """The doubt after any entry but the last: the match must go on."""
    return outcome is not None


def _usual(ways: list[InformationSet[S, A, V]], doubt: OutcomeMismatch) -> InformationSet[S, A, V]:
    """The way that is taken for granted: the first of those that fit best."""
    return min(ways, key=lambda way: doubt(way.match.outcome))


def _last_seen(way: InformationSet[S, A, V]) -> tuple[Event, ...]:
    return way.match.last.events_seen_by(way.seat) if way.match.last else ()


def _fits(way: InformationSet[S, A, V], told: Sequence[Event]) -> int:
    """How much of what was told this way accounts for; -1 if it was not this way."""
    seen = _last_seen(way)
    return len(seen) if told[: len(seen)] == seen else -1


def estimate_work(entries: int, actions: int) -> int:
    """The steps of playing so many entries with so many legal actions each."""
    return entries * (_STEPS_OF_ENTRY + actions)
