"""Information sets: all matches that a seat cannot distinguish.

This module formats and parses the entries that a seat has seen, with the game's rules alone. A hidden entry
is `?`. One entry can have several results, such as hit or miss. A number follows if the result is not the
default one: `liar #2`.
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
"""An entry that is hidden from the seat."""
OutcomeMismatch = Callable[[Outcome | None], int]
"""A function from an outcome (None: not over) to how badly it fits; 0 fits best."""
MAX_REPLAY_WORK = 1_000_000
"""The maximum number of steps to replay what a seat saw: an edited record must not take minutes."""
_STEPS_PER_ENTRY = 25  # plus one per legal action
_NUMBERED = re.compile(r"(.*?)\s*#\s*([0-9]{1,9})\s*", flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class InformationSet(Generic[S, A, V]):
    """The matches that `seat` cannot distinguish, one per state."""

    seat: Seat
    possible: tuple[Match[S, A, V], ...]
    work: int = field(default=0, compare=False)
    """The number of steps used so far."""

    @classmethod
    def start(cls, rules: Rules[S, A, V], seat: Seat) -> "InformationSet[S, A, V]":
        """Return the information set before the first move."""
        return cls(seat, (Match.start(rules),))

    @property
    def match(self) -> Match[S, A, V]:
        """One of the possible matches."""
        return self.possible[0]

    def add_entry(self, action: A | None) -> "InformationSet[S, A, V]":
        """Return the information set after an entry, with None for a hidden action.

        If the entry can have several results, the match continues if it can.
        """
        return min(self.branch(action), key=lambda branch: branch.match.over)

    def branch(self, action: A | None) -> list["InformationSet[S, A, V]"]:
        """Return the information sets after an entry, one for each result that the seat can have seen.

        Raises IllegalMove or GameOver if there is none, and TooLarge if there are too many matches to check.
        """
        work = self.work + self._estimate_work(action)
        if work > MAX_REPLAY_WORK:
            raise TooLarge(
                f"Too many matches fit what {self.seat.label} saw: "
                f"to check them all takes more than {MAX_REPLAY_WORK:,} steps."
            )
        after = self._after_hidden() if action is None else self._after_open(action)
        by_events: dict[tuple[Event, ...], dict[S, Match[S, A, V]]] = {}
        for match in after:
            events = match.last.events_seen_by(self.seat) if match.last else ()
            by_events.setdefault(events, {}).setdefault(match.state, match)
        return [InformationSet(self.seat, tuple(matches.values()), work) for matches in by_events.values()]

    def _estimate_work(self, action: A | None) -> int:
        counts = [len(match.actions) for match in self.possible]
        return sum(estimate_work(count if action is None else 1, count) for count in counts)

    def parse_entry(self, entry: str, rank: OutcomeMismatch) -> "InformationSet[S, A, V]":
        """Return the information set after an entry in the form of `format_seen_entries`.

        Raises the same errors as `branch`, and NotationError.
        """
        parts = _NUMBERED.fullmatch(entry)
        name, number = (parts[1], int(parts[2])) if parts else (entry, 0)
        branches = self.branch(None if name.strip() == HIDDEN else self.match.rules.parse(name))
        if number > len(branches):
            raise IllegalMove(f"'{entry}' has only {len(branches)} possible results.")
        return branches[number - 1] if number else _find_default(branches, rank)

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
        number = len(self.match.turns) + 1
        raise IllegalMove(f"Entry {number}, {entry}, does not fit what {self.seat.label} saw before.")


def format_seen_entries(rules: Rules[S, A, V], sight: Sight[A, V]) -> list[str]:
    """Return the entries that a seat has seen, in a form that `InformationSet.parse_entry` reads back."""
    events, outcome = tuple(sight.events), sight.outcome
    if events and isinstance(events[-1], Conceded):
        events, outcome = events[:-1], None
    current = InformationSet.start(rules, sight.seat)
    entries = []
    for number, action in enumerate(sight.history, start=1):
        branches = current.branch(action)
        default = _find_default(
            branches, partial(ne, outcome) if number == len(sight.history) else prefer_ongoing
        )
        # The events of one branch can begin like those of another: the longest match is the right one.
        current = max(branches, key=lambda branch: _count_matching(branch, events))
        events = events[len(_last_events(current)) :]
        name = HIDDEN if action is None else rules.format(action)
        entries.append(name if current is default else f"{name} #{branches.index(current) + 1}")
    return entries


def format_history(sight: Sight[A, V]) -> list[str]:
    """Return the history that a seat has seen, in notation, with `?` for hidden entries."""
    rules = sight.rules
    if rules.has_secrets:
        return format_seen_entries(rules, sight)
    return [rules.format(action) for action in sight.history if action is not None]


def prefer_ongoing(outcome: Outcome | None) -> bool:
    """Rank outcomes for all entries but the last: the match must not be over."""
    return outcome is not None


def _find_default(branches: list[InformationSet[S, A, V]], rank: OutcomeMismatch) -> InformationSet[S, A, V]:
    return min(branches, key=lambda branch: rank(branch.match.outcome))


def _last_events(branch: InformationSet[S, A, V]) -> tuple[Event, ...]:
    return branch.match.last.events_seen_by(branch.seat) if branch.match.last else ()


def _count_matching(branch: InformationSet[S, A, V], events: Sequence[Event]) -> int:
    """Return how many of `events` belong to the last entry of `branch`, or -1 if they do not fit."""
    expected = _last_events(branch)
    return len(expected) if events[: len(expected)] == expected else -1


def estimate_work(entries: int, actions: int) -> int:
    """Return the number of steps to play `entries` entries with `actions` legal actions each."""
    return entries * (_STEPS_PER_ENTRY + actions)
