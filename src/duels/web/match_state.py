"""The state of a match, computed from its log: the record, the players and the offers.

Every page is derived from this state for one viewer. A viewer's events are the log entries that the viewer
may see. Their number reveals nothing about hidden entries.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from duels.core.drawing import Drawing
from duels.core.match import AnyMatch, EarlyEnd
from duels.core.record import format_entry
from duels.core.rules import BOTH, AnyRules, Seat
from duels.core.words import Question, strip_ink
from duels.games import load_record
from duels.play.dice import ChanceScript, Dice
from duels.play.live import find_takeback
from duels.play.step import decide_next_entry
from duels.players import HUMAN, read_player_names
from duels.web.store import DamagedLog, Entry, EntryKind

Viewer = Seat | None
"""The seat of a player, or None for a spectator."""
ALL_VIEWERS: tuple[Viewer, ...] = (*Seat, None)
TAKEBACK, REMATCH, STOP = "takeback", "rematch", "stop"
OFFER_KINDS = (TAKEBACK, REMATCH, STOP)
_RECORD_KINDS = (EntryKind.PLAY, EntryKind.BACK)


@dataclass(frozen=True)
class Offer:
    """An offer of one seat that the other may accept."""

    seat: Seat
    kind: str
    turns_kept: int = 0
    """The number of turns that remain after a takeback."""


class MatchState:
    """The state of a match after the log entries that were added."""

    def __init__(self, id: str, header: str) -> None:
        record = load_record(header)
        self.id = id
        self.header = header
        self.rules: AnyRules = record.match.rules
        self.headers: Mapping[str, str] = record.headers
        self._set_match(record.match)
        self.kinds = read_player_names(self.headers)
        """The kind of player at each seat, from the record's header."""
        self.identities: Mapping[Seat, str] = {}
        """The identities of the people at the seats, as far as they have been read."""
        self.people = frozenset(seat for seat in Seat if self.kinds[seat] == HUMAN)
        """The seats that are for people."""
        self.number = 0
        """The number of log entries."""
        self.names: dict[Seat, str] = {}
        """The names of the people at the seats; empty for a person without a name."""
        self.display_names = {seat: seat.label if seat in self.people else self.kinds[seat] for seat in Seat}
        """The name to show for each seat: a person's name, a bot's name, or the seat's label."""
        self.complete = not self.people
        """Whether every seat is taken."""
        self.takebacks = 0
        """The number of takebacks so far."""
        self.inherited_turns = 0
        """The number of turns from the match that this one continues."""
        self.offer: Offer | None = None
        self.refused: Offer | None = None
        """The last offer, if it was declined."""
        self.rematch = ""
        self.earlier_wins: dict[Seat, int] | None = None
        """The wins of each seat in the matches before this one, or None if it is no rematch."""
        self.visible_entries: dict[Viewer, list[Entry]] = {viewer: [] for viewer in ALL_VIEWERS}
        """The log entries that each viewer may see."""
        self.decisions: dict[Seat, list[tuple[int, AnyMatch]]] = {seat: [] for seat in Seat}
        """Each decision of a seat: the number of its event, and the match right after it."""
        self.words = self.rules.game.words(self.rules)
        self.log_lines: dict[Viewer, list[dict[str, Any]]] = {viewer: [] for viewer in ALL_VIEWERS}
        """The cached log lines of each viewer's page. `views` fills them in."""

    def _set_match(self, match: AnyMatch) -> None:
        # The actor and the outcome are cached: they are used many times.
        self.match = match
        self.actor = match.actor
        self.outcome = match.outcome
        self.over = self.outcome is not None

    def add(self, entries: Iterable[Entry]) -> None:
        """Add log entries. Raises DamagedLog if one is not possible here."""
        for entry in entries:
            try:
                self._apply(entry)
            except ValueError:
                message = f"Entry {self.number + 1} of the log is not possible here."
                raise DamagedLog(message) from None
            self.number += 1

    def _apply(self, entry: Entry) -> None:
        viewers = ALL_VIEWERS
        match entry.kind:
            case EntryKind.PLAY:
                viewers = self._apply_play(entry)
            case EntryKind.BACK:
                self._apply_takeback(self._parse_turns_kept(entry.text))
            case EntryKind.SIT if entry.seat:
                self.names[entry.seat] = entry.text
                self.display_names[entry.seat] = entry.text or entry.seat.label
                self.complete = self.people <= set(self.names)
                self._clear_log_lines()  # they contain the old name
            case EntryKind.OFFER if entry.seat:
                self.offer, self.refused = self._parse_offer(entry.seat, entry.text), None
            case EntryKind.REFUSE:
                is_withdrawn = self.offer and self.offer.seat is entry.seat
                self.offer, self.refused = None, None if is_withdrawn else self.offer
            case EntryKind.REMATCH:
                self.rematch, self.offer = entry.text, None
            case EntryKind.SCORE:
                self.earlier_wins = dict(zip(Seat, map(int, entry.text.split()), strict=True))
        for viewer in viewers:
            self.visible_entries[viewer].append(entry)
        if entry.kind is EntryKind.PLAY and entry.seat:
            self.decisions[entry.seat].append((self.count_events(entry.seat), self.match))

    def _apply_play(self, entry: Entry) -> tuple[Viewer, ...]:
        """Apply a turn of the record and return the viewers who may see it."""
        viewers = ALL_VIEWERS
        self._set_match(self.match.play_text(entry.text))
        if not self.names:
            self.inherited_turns += 1
        if self.rules.has_hidden_information:
            assert self.match.last
            viewers = tuple(viewer for viewer in viewers if self.match.last.events_seen_by(viewer))
            if self.over:  # nothing is hidden any more
                self._clear_log_lines()
        if viewers == ALL_VIEWERS or self.over:  # a lapsed offer would reveal a hidden turn
            self.offer = self.refused = None
        return viewers

    def _parse_offer(self, seat: Seat, text: str) -> Offer:
        kind, _, turns_kept = text.partition(" ")
        if kind not in OFFER_KINDS:
            raise ValueError(f"an unknown offer: {kind}")
        return Offer(seat, kind, self._parse_turns_kept(turns_kept or "0"))

    def _parse_turns_kept(self, text: str) -> int:
        if not 0 <= (turns_kept := int(text)) <= self.match.length:
            raise ValueError(f"a takeback to {turns_kept} of {self.match.length} turns")
        return turns_kept

    def _apply_takeback(self, turns_kept: int) -> None:
        self._set_match(self.match.after(turns_kept))
        self.takebacks += 1
        self.inherited_turns = min(self.inherited_turns, turns_kept)
        for lines in self.log_lines.values():
            del lines[turns_kept:]
        self.offer = self.refused = None

    def _clear_log_lines(self) -> None:
        for lines in self.log_lines.values():
            lines.clear()

    @cached_property
    def drawing(self) -> Drawing[Any, Any]:
        """The drawing of the board."""
        return self.rules.game.drawing(self.rules)

    @cached_property
    def has_buttons(self) -> bool:
        """Whether buttons below the board may appear after the first decision."""
        first = self.rules.sight(self.rules.initial(), Seat.ONE).actions
        later = (action for action in self.rules.all_actions() if action not in first)
        return not all(map(self.drawing.is_on_board, later))

    def get_seat(self, identity: str | None) -> Viewer:
        """Return the seat of a visitor, or None for a spectator."""
        return next((seat for seat, owner in self.identities.items() if owner == identity), None)

    @property
    def wins(self) -> dict[Seat, int]:
        """The wins of each seat in this match and those before it."""
        winner = self.outcome.winner if self.outcome else None
        return {seat: (self.earlier_wins or {}).get(seat, 0) + (winner is seat) for seat in Seat}

    # -- turns ----------------------------------------------------------------------------------

    @cached_property
    def dice(self) -> Dice:
        """The match's dice, from the seed and the chance script in the header."""
        script = ChanceScript.parse(self.rules, self.headers.get("chance", ""))
        return Dice(self.headers.get("seed", ""), script)

    def play_automatic(self, match: AnyMatch) -> AnyMatch:
        """Play chance outcomes and forced moves until a player has to decide."""
        while (actor := match.actor) is not None:
            if not isinstance(actor, Seat):
                match = decide_next_entry(match, {}, self.dice).play(match)
                continue
            try:
                next(self.words.ask(match.sight(actor)))
            except StopIteration as forced:  # the book asks nothing here
                match = match.play(actor, forced.value)
            else:
                break
        return match

    def can_take_back(self, seat: Seat) -> bool:
        """Whether the seat may ask for a takeback. Against a bot, the move must have revealed nothing."""
        takeback = find_takeback(self.match, self.words, seat)
        return takeback is not None and (self.people == BOTH or takeback.revocable)

    # -- viewers --------------------------------------------------------------------------------

    def can_watch(self, viewer: Viewer) -> bool:
        """Whether a viewer may see the match. With hidden information, spectators must wait for the end."""
        return viewer is not None or not self.rules.has_hidden_information or self.over

    def count_events(self, viewer: Viewer) -> int:
        """Return the number of the viewer's last event."""
        return len(self.visible_entries[viewer])

    def find_changes_since(self, viewer: Viewer, event: int) -> list[Entry]:
        """Return the entries after an event that changed the record, as far as the viewer may see them."""
        return [entry for entry in self.visible_entries[viewer][event:] if entry.kind in _RECORD_KINDS]

    def find_decision_after(self, seat: Seat, event: int) -> AnyMatch | None:
        """Return the match right after the seat's decision, if that was the first change since an event."""
        changes = self.find_changes_since(seat, event)
        if not changes or changes[0].kind is not EntryKind.PLAY or changes[0].seat is not seat:
            return None
        return next(match for number, match in self.decisions[seat] if number > event)

    def has_acted_on_offer(self, seat: Seat, kind: str, event: int) -> bool:
        """Whether the seat has made or answered an offer of this kind since an event."""
        entries = self.visible_entries[seat][event:]
        return any(entry.seat is seat and _get_offer_kind(entry) == kind for entry in entries)


def _get_offer_kind(entry: Entry) -> str:
    """Return the kind of offer that an entry makes or answers, or an empty string."""
    if entry.kind is EntryKind.BACK:
        return TAKEBACK
    if entry.kind is EntryKind.REMATCH:
        return REMATCH
    if entry.kind is EntryKind.PLAY:
        return STOP if entry.text == EarlyEnd.STOP.value else ""
    return entry.text.partition(" ")[0] if entry.kind in (EntryKind.OFFER, EntryKind.REFUSE) else ""


def make_play_entries(match: AnyMatch, before: AnyMatch | None = None) -> tuple[Entry, ...]:
    """Return the turns since `before`, or since the start, as log entries."""
    entries = []
    for turn in match.turns[before.length if before else 0 :]:
        seat = turn.actor if isinstance(turn.actor, Seat) else None
        entries.append(Entry(EntryKind.PLAY, format_entry(match.rules, turn), seat))
    return tuple(entries)


def format_prompt(question: Question) -> str:
    """Return the book's question without the final `>`: the page has an input field instead."""
    return strip_ink(question.prompt).strip().removesuffix(">").strip()
