"""A match as its log tells it: the record that remains, who sits where, what is offered.

Everything that a page shows is derived from this, for one seat. What a seat has seen is counted here: the
number of entries of which it may know anything, which tells nothing about what is hidden from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from duels.core.drawing import Drawing
from duels.core.match import AnyMatch
from duels.core.record import format_entry, max_entries
from duels.core.rules import BOTH, AnyRules, Seat
from duels.core.words import Question, strip_ink
from duels.games import load_record
from duels.play.dice import ChanceScript, Dice
from duels.play.live import Takeback, find_takeback
from duels.play.step import decide_next_entry
from duels.players import HUMAN, read_player_names
from duels.web.store import Entry, EntryKind

Viewer = Seat | None
"""Who looks: somebody at a seat, or a bystander."""
EVERYBODY: tuple[Viewer, ...] = (*Seat, None)
TAKEBACK, REMATCH = "takeback", "rematch"
_CHANGES_RECORD = (EntryKind.PLAY, EntryKind.BACK)


@dataclass(frozen=True)
class Offer:
    """Something that one seat offers and the other may take up."""

    seat: Seat
    what: str
    kept: int = 0
    """Of a takeback: how many lines of the record would remain."""


class MatchState:
    """A match as it stands after the entries that were added."""

    def __init__(self, id: str, header: str) -> None:
        record = load_record(header)
        self.id = id
        self.header = header
        self.rules: AnyRules = record.match.rules
        self.headers: Mapping[str, str] = record.headers
        self._go_to(record.match)
        self.kinds = read_player_names(self.headers)
        """The kind of player at each seat, as the header names it."""
        self.identities: Mapping[Seat, str] = {}
        """Of the people who have sat down, as far as that was read."""
        self.people = frozenset(seat for seat in Seat if self.kinds[seat] == HUMAN)
        """The seats that are for people."""
        self.number = 0
        """How many entries the log has."""
        self.names: dict[Seat, str] = {}
        """Of the people who have sat down; empty where one gave none."""
        self.called = {seat: seat.label if seat in self.people else self.kinds[seat] for seat in Seat}
        """What everybody is called: by a name of their own, by the player's, or by the seat."""
        self.complete = not self.people
        """Whether everybody has sat down."""
        self.taken_over = 0
        """How many lines of the record come from another match: those before anybody sat down here."""
        self.offer: Offer | None = None
        self.refused: Offer | None = None
        """The last offer, if it was not taken up."""
        self.rematch = ""
        self.seen: dict[Viewer, list[Entry]] = {viewer: [] for viewer in EVERYBODY}
        """The entries of which each viewer may know anything, in order."""
        self.decided: dict[Seat, list[tuple[int, AnyMatch]]] = {seat: [] for seat in Seat}
        """Each decision of a seat: its entry as the seat counts, and the match right after it."""
        self.words = self.rules.game.words(self.rules)
        self._answered: set[Seat] = set()  # seats known to have a decision to take back
        self.told: dict[Viewer, list[dict[str, Any]]] = {viewer: [] for viewer in EVERYBODY}
        """What each viewer has been told of the record, line by line; whoever tells it notes it here."""

    def _go_to(self, match: AnyMatch) -> None:
        """The record is this from now on; whose turn it is and how it ended are asked for again and again."""
        self.match = match
        self.actor = match.actor
        self.outcome = match.outcome
        self.over = self.outcome is not None

    def add(self, entries: Iterable[Entry]) -> None:
        """Follow entries of the log."""
        for entry in entries:
            self._follow(entry)
            self.number += 1

    def _follow(self, entry: Entry) -> None:
        viewers = EVERYBODY
        match entry.kind:
            case EntryKind.PLAY:
                viewers = self._follow_play(entry)
            case EntryKind.BACK:
                self._follow_takeback(int(entry.text))
            case EntryKind.SIT if entry.seat:
                self.names[entry.seat] = entry.text
                self.called[entry.seat] = entry.text or entry.seat.label
                self.complete = self.people <= set(self.names)
                self._tell_again()  # with the new name
            case EntryKind.OFFER if entry.seat:
                what, _, kept = entry.text.partition(" ")
                self.offer, self.refused = Offer(entry.seat, what, int(kept or 0)), None
            case EntryKind.REFUSE:
                withdrawn = self.offer and self.offer.seat is entry.seat
                self.offer, self.refused = None, None if withdrawn else self.offer
            case EntryKind.REMATCH:
                self.rematch, self.offer = entry.text, None
        for viewer in viewers:
            self.seen[viewer].append(entry)
        if entry.kind is EntryKind.PLAY and entry.seat:
            self.decided[entry.seat].append((self.event(entry.seat), self.match))

    def _follow_play(self, entry: Entry) -> tuple[Viewer, ...]:
        """Follow a line of the record; whoever may know anything of it."""
        viewers = EVERYBODY
        self._go_to(self.match.play_text(entry.text))
        if not self.names:
            self.taken_over += 1
        if self.rules.has_secrets:
            assert self.match.last
            viewers = tuple(viewer for viewer in viewers if self.match.last.events_seen_by(viewer))
            if self.over:  # what was hidden can be told now
                self._tell_again()
        if viewers == EVERYBODY or self.over:  # else nobody may notice that an offer has lapsed
            self.offer = self.refused = None
        return viewers

    def _follow_takeback(self, kept: int) -> None:
        self._go_to(self.match.after(kept))
        self._answered.clear()
        self.taken_over = min(self.taken_over, kept)
        for told in self.told.values():
            del told[kept:]
        self.offer = self.refused = None

    def _tell_again(self) -> None:
        for told in self.told.values():
            told.clear()

    @cached_property
    def drawing(self) -> Drawing[Any, Any]:
        """How the board is drawn."""
        return self.rules.game.drawing(self.rules)

    @cached_property
    def max_entries(self) -> int:
        """How many entries the record may have."""
        return max_entries(self.rules)

    @property
    def all_seated(self) -> bool:
        """Whether nobody can sit down any more."""
        return self.people <= set(self.identities)

    def seat_of(self, identity: str | None) -> Viewer:
        """The seat of a visitor; None for a bystander."""
        return next((seat for seat, whose in self.identities.items() if whose == identity), None)

    # -- who plays ------------------------------------------------------------------------------

    @cached_property
    def dice(self) -> Dice:
        """The match's chance, which is a function of its seed and its record."""
        script = ChanceScript.parse(self.rules, self.headers.get("chance", ""))
        return Dice(self.headers.get("seed", ""), script)

    def go_on(self, match: AnyMatch) -> AnyMatch:
        """Play what nobody decides: what chance brings, and what the book enters without asking."""
        while (actor := match.actor) is not None:
            if not isinstance(actor, Seat):
                match = decide_next_entry(match, {}, self.dice).play(match)
                continue
            try:
                next(self.words.ask(match.sight(actor)))
            except StopIteration as unasked:
                match = match.play(actor, unasked.value)
            else:
                break
        return match

    def find_takeback(self, seat: Seat) -> Takeback | None:
        """The way back to a seat's last decision, if there was one."""
        return find_takeback(self.match, self.words, seat)

    def may_take_back(self, seat: Seat) -> bool:
        """Whether the seat may take back an answer: against a machine only if that revealed nothing."""
        agreed = self.people == BOTH
        if agreed and seat in self._answered:  # to look for it takes as long as all the rest of a page
            return True
        back = self.find_takeback(seat)
        if back:
            self._answered.add(seat)
        return back is not None and (agreed or back.revocable)

    # -- what a viewer has seen -----------------------------------------------------------------

    def may_watch(self, viewer: Viewer) -> bool:
        """Whether a viewer may look at the match now: of secrets, bystanders are told after the end."""
        return viewer is not None or not self.rules.has_secrets or self.over

    def event(self, viewer: Viewer) -> int:
        """How much the viewer has seen: the number of the last event that it is sent."""
        return len(self.seen[viewer])

    def since(self, viewer: Viewer, event: int) -> list[Entry]:
        """The entries of which the viewer knows since that event that changed the record."""
        return [entry for entry in self.seen[viewer][event:] if entry.kind in _CHANGES_RECORD]

    def decided_after(self, seat: Seat, event: int) -> AnyMatch | None:
        """The match right after what the seat decided, if that came first since that event."""
        after = self.since(seat, event)
        if not after or after[0].kind is not EntryKind.PLAY or after[0].seat is not seat:
            return None
        return next(match for number, match in self.decided[seat] if number > event)

    def has_asked(self, seat: Seat, what: str, event: int) -> bool:
        """Whether the seat has offered this, or answered such an offer, since that event."""
        return any(entry.seat is seat and _about(entry) == what for entry in self.seen[seat][event:])


def _about(entry: Entry) -> str:
    """Which offer an entry makes, takes up or refuses; nothing if it is of another kind."""
    if entry.kind is EntryKind.BACK:
        return TAKEBACK
    if entry.kind is EntryKind.REMATCH:
        return REMATCH
    return entry.text.partition(" ")[0] if entry.kind in (EntryKind.OFFER, EntryKind.REFUSE) else ""


def lines(match: AnyMatch, before: AnyMatch | None = None) -> tuple[Entry, ...]:
    """What was played, since `before` or since the start, as entries of the log."""
    new = match.turns[before.length if before else 0 :]
    return tuple(
        [
            Entry(
                EntryKind.PLAY,
                format_entry(match.rules, turn),
                turn.actor if isinstance(turn.actor, Seat) else None,
            )
            for turn in new
        ]
    )


def shown_prompt(question: Question) -> str:
    """The book's question without the sign before the cursor: the page has a field instead."""
    return strip_ink(question.prompt).strip().removesuffix(">").strip()
