"""Information sets: all matches that a seat cannot distinguish.

This module formats and parses the entries that a seat has seen. It needs only the game's rules. A hidden
entry is `?`. One entry can have several results, such as hit or miss. A number marks a result other than the
default: `liar #2`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import ne
from typing import Generic

from duels.core.errors import GameOver, IllegalMove, TooLarge
from duels.core.match import EndedEarly, Match, parse_early_end
from duels.core.rules import A, Actor, Event, Outcome, Rules, S, Seat, Sight, V

HIDDEN = "?"
"""An entry that is hidden from the seat."""
OutcomeMismatch = Callable[[Outcome | None], int]
"""A function that rates how badly an outcome (None during a match) fits a record; 0 is the best fit."""
MAX_REPLAY_WORK = 1_000_000
"""The maximum number of steps of a replay: an edited record must not take minutes."""
_STEPS_PER_ENTRY = 25  # plus one per legal action
_NUMBERED = re.compile(r"(.*?)\s*#\s*([0-9]{1,9})\s*", flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class InformationSet(Generic[S, A, V]):
    """The matches that `seat` cannot distinguish, one per state."""

    seat: Seat
    matches: tuple[Match[S, A, V], ...]
    work: int = field(default=0, compare=False)
    """The number of replay steps so far."""

    @classmethod
    def start(cls, rules: Rules[S, A, V], seat: Seat) -> "InformationSet[S, A, V]":
        """Return the information set before the first move."""
        return cls(seat, (Match.start(rules),))

    @property
    def match(self) -> Match[S, A, V]:
        """One of the possible matches."""
        return self.matches[0]

    def add_entry(self, action: A | None) -> "InformationSet[S, A, V]":
        """Return the information set after an entry. `action` is None if the entry is hidden.

        If the entry can have several results, prefer one after which the match continues.
        """
        return min(self.branch(action), key=lambda branch: branch.match.over)

    def branch(self, action: A | None) -> list["InformationSet[S, A, V]"]:
        """Return the information sets after an entry, one for each result that the seat may have seen.

        Raises IllegalMove or GameOver if the entry is impossible, and TooLarge if a replay takes too long.
        """
        work = self.work + self._estimate_work(action)
        if work > MAX_REPLAY_WORK:
            raise TooLarge(
                f"Too many matches fit what {self.seat.label} saw: "
                f"checking them takes more than {MAX_REPLAY_WORK:,} steps."
            )
        next_matches = self._play_hidden() if action is None else self._play_visible(action)
        by_events: dict[tuple[Event, ...], dict[S, Match[S, A, V]]] = {}
        for match in next_matches:
            by_events.setdefault(_last_events(match, self.seat), {}).setdefault(match.state, match)
        return [InformationSet(self.seat, tuple(matches.values()), work) for matches in by_events.values()]

    def _estimate_work(self, action: A | None) -> int:
        counts = [len(match.actions) for match in self.matches]
        return sum(estimate_work(count if action is None else 1, count) for count in counts)

    def parse_entry(self, entry: str, mismatch: OutcomeMismatch) -> "InformationSet[S, A, V]":
        """Return the information set after `entry`: an early end, or text from `format_seen_entries`.

        If the entry can have several results, `mismatch` decides which one it means. Raises the same
        errors as `branch`, and NotationError.
        """
        if parse_early_end(entry):
            return InformationSet(self.seat, tuple(match.play_text(entry) for match in self.matches))
        parts = _NUMBERED.fullmatch(entry)
        name, number = (parts[1], int(parts[2])) if parts else (entry, 0)
        branches = self.branch(None if name.strip() == HIDDEN else self.match.rules.parse(name))
        if number > len(branches):
            raise IllegalMove(f"'{entry}' has only {len(branches)} possible results.")
        return branches[number - 1] if number else _find_default(branches, mismatch)

    def _play_visible(self, action: A) -> list[Match[S, A, V]]:
        next_matches = [m.play(m.actor, action) for m in self.matches if m.actor and action in m.actions]
        next_matches = [m for m in next_matches if m.last and not m.last.hidden_from(self.seat)]
        if not next_matches:
            self._refuse(f"'{self.match.rules.format(action)}'")
        return next_matches

    def _play_hidden(self) -> list[Match[S, A, V]]:
        others_turn = [m for m in self.matches if m.actor is not self.seat]
        next_matches = [m.play(m.actor, action) for m in others_turn if m.actor for action in m.actions]
        next_matches = [m for m in next_matches if m.last and m.last.hidden_from(self.seat)]
        if not next_matches:
            self._refuse("a hidden entry ('?')")
        return next_matches

    def _refuse(self, entry: str) -> None:
        if self.match.over:
            raise GameOver(f"{entry} comes after the end of the match.")
        number = len(self.match.turns) + 1
        raise IllegalMove(f"Entry {number}, {entry}, does not fit what {self.seat.label} saw before.")


def format_seen_entries(rules: Rules[S, A, V], sight: Sight[A, V]) -> list[str]:
    """Return the entries that a seat has seen, in a form that `InformationSet.parse_entry` reads back."""
    return [entry for _, entry in _replay_seen_entries(rules, sight)]


def _replay_seen_entries(rules: Rules[S, A, V], sight: Sight[A, V]) -> Iterator[tuple[Actor | None, str]]:
    """Iterate over the entries that a seat has seen, with their actors."""
    events, outcome = tuple(sight.events), sight.outcome
    if events and isinstance(events[-1], EndedEarly):
        events, outcome = events[:-1], None
    current = InformationSet.start(rules, sight.seat)
    for number, action in enumerate(sight.history, start=1):
        branches = current.branch(action)
        default = _find_default(
            branches, partial(ne, outcome) if number == len(sight.history) else prefer_ongoing
        )
        actor = current.match.actor
        # The events of one branch can be a prefix of another's. The branch with the longest match is right.
        current = max(branches, key=lambda branch: _count_matching(branch, events))
        events = events[len(_last_events(current.match, sight.seat)) :]
        name = HIDDEN if action is None else rules.format(action)
        yield actor, name if current is default else f"{name} #{branches.index(current) + 1}"


def format_history(sight: Sight[A, V]) -> list[str]:
    """Return the history that a seat has seen, in notation, with `?` for hidden entries."""
    return [entry for _, entry in list_seen_entries(sight)]


def list_seen_entries(sight: Sight[A, V]) -> list[tuple[Actor | None, str]]:
    """Return the history that a seat has seen as pairs of actor and entry, with `?` for hidden entries."""
    rules = sight.rules
    if rules.has_hidden_information:
        return list(_replay_seen_entries(rules, sight))
    entries, state = [], rules.initial()
    for action in sight.history:
        assert action is not None
        entries.append((rules.actor(state), rules.format(action)))
        state = rules.apply(state, action).state
    return entries


def prefer_ongoing(outcome: Outcome | None) -> bool:
    """Rank outcomes for all entries but the last: the match must not be over."""
    return outcome is not None


def _find_default(
    branches: list[InformationSet[S, A, V]], mismatch: OutcomeMismatch
) -> InformationSet[S, A, V]:
    return min(branches, key=lambda branch: mismatch(branch.match.outcome))


def _last_events(match: Match[S, A, V], seat: Seat) -> tuple[Event, ...]:
    return match.last.events_seen_by(seat) if match.last else ()


def _count_matching(branch: InformationSet[S, A, V], events: Sequence[Event]) -> int:
    """Return how many of `events` belong to the last entry of `branch`, or -1 if they do not fit."""
    expected = _last_events(branch.match, branch.seat)
    return len(expected) if events[: len(expected)] == expected else -1


def estimate_work(entries: int, actions: int) -> int:
    """Return the number of steps to play `entries` entries with `actions` legal actions each."""
    return entries * (_STEPS_PER_ENTRY + actions)
