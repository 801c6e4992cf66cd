"""What is written when somebody asks for something: pure decisions, from a match as it stands.

The service writes them down, and decides again if somebody else was quicker.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from duels.core.errors import IllegalMove, NotationError
from duels.core.match import Concession
from duels.core.record import SECRET_HEADERS, dump_record, format_header
from duels.core.rules import BOTH, AnyRules, AnySight, Seat
from duels.core.words import Words, strip_ink
from duels.play import new_match
from duels.play.step import decide_next_entry
from duels.players import Player
from duels.web.match_state import REMATCH, TAKEBACK, MatchState, Offer, Viewer, lines, shown_prompt
from duels.web.refusals import NoMatch, Refusal, Stale
from duels.web.store import Change, Entry, EntryKind, Invite, NewMatch
from duels.web.visitors import new_token

log = logging.getLogger("duels.web")

SeatPlayer = Callable[[str, AnyRules, str], Player]
"""Gives the player of a name for rules and a match."""
_WEEK = 7 * 24 * 3600.0
_LONGEST_NAME = 30
_LONGEST_LOG = 5_000  # entries; whoever opens the match reads them all


class Unfinished(Refusal):
    """What was entered is right so far, and the book has another question."""

    status = 200


@dataclass(frozen=True)
class MoveRequest:
    """What a page asks to be played: an action in notation, or what is entered at the book's questions."""

    event: int
    """What the page showed when it was asked."""
    action: str | None = None
    entries: tuple[str, ...] = ()

    def chosen(self, rules: AnyRules) -> Any:
        """The action, or that the seat resigns; None if that is to be entered at the book's questions."""
        if self.action is None:
            return None
        if self.action.strip().lower() == Concession.RESIGN.value:
            return Concession.RESIGN
        try:
            return rules.parse(self.action)
        except NotationError as error:
            raise Refusal(str(error)) from None


def decide_act(standing: MatchState, seat: Seat, asked: MoveRequest) -> Change | None:
    """What is to be written if a seat asks for this; None if it is there already."""
    chosen = asked.chosen(standing.rules)
    if asked.event < 0:
        raise Refusal("An event has a number from 0 on.")
    if _is_repeated(standing, seat, asked, chosen):
        return None
    _check_fresh(standing, seat, asked.event, at_any_time=chosen is Concession.RESIGN)
    match = standing.match
    try:
        if chosen is None:
            chosen = _read_entries(standing.words, match.sight(seat), asked.entries)
        after = match.resign(seat) if chosen is Concession.RESIGN else match.play(seat, chosen)
    except IllegalMove as refused:
        raise Refusal(str(refused)) from None
    after = standing.go_on(after)
    if after.length > standing.max_entries:
        raise Refusal("The match is too long to be recorded any further.")
    return _entries(standing, *lines(after, match), ends=after.over)


def _read_entries(words: Words[Any, Any], sight: AnySight, entries: Sequence[str]) -> Any:
    """The action that is entered; Refusal in the book's words, or Unfinished with its next question."""
    dialogue = words.ask(sight)
    question = next(dialogue)
    try:
        for entry in entries:
            question = dialogue.send(entry)
            if question.notice:
                raise Refusal(strip_ink(question.notice))
    except StopIteration as done:
        return done.value
    raise Unfinished(shown_prompt(question))


def _is_repeated(standing: MatchState, seat: Seat, asked: MoveRequest, chosen: Any) -> bool:
    """Whether this is what the seat played right after the event that the page showed: it came twice."""
    if chosen is Concession.RESIGN:  # which may come after whatever the page did not show yet
        last = standing.match.last
        return bool(last and last.actor is seat and last.action is chosen)
    match = standing.decided_after(seat, asked.event)
    if match is None:
        return False
    if chosen is None:
        before = match.after(len(match.turns) - 1)
        with suppress(Refusal):
            chosen = _read_entries(standing.words, before.sight(seat), asked.entries)
    assert match.last
    return bool(chosen == match.last.action)


def decide_offer(standing: MatchState, seat: Seat, what: str, answer: str, event: int) -> Change | None:
    """What is to be written if a seat offers something, or answers; None if it is there already."""
    if what not in (TAKEBACK, REMATCH):
        raise Refusal(f"One can offer a {TAKEBACK} or a {REMATCH}.")
    if answer not in ("", "yes", "no"):
        raise Refusal("An offer is answered with yes or no.")
    if not 0 <= event <= standing.event(seat):
        raise Stale("The match has gone on since.")
    if standing.has_asked(seat, what, event) or (what == REMATCH and standing.rematch):
        return None
    offer = standing.offer if standing.offer and standing.offer.what == what else None
    if not answer:
        return _decide_new_offer(standing, seat, what, offer)
    if standing.seen[seat][event:]:  # the page may have shown another offer
        raise Stale("That is no longer offered.")
    if answer == "no" and offer:  # of one's own it is withdrawn
        return _entries(standing, Entry(EntryKind.REFUSE, what, seat))
    if not offer or offer.seat is seat:
        raise Stale("That is no longer offered.")
    return _take_up(standing, what, offer.kept, seat)


def _decide_new_offer(standing: MatchState, seat: Seat, what: str, offer: Offer | None) -> Change | None:
    """The same for an offer, where such an `offer` may stand already."""
    if offer and offer.seat is seat:
        return None
    if offer and what == REMATCH:  # both want the same
        return _take_up(standing, what, offer.kept, seat)
    if offer:  # whoever asks to take back a move has not agreed to take back another's
        raise Stale("The other player asks to take back a move. Answer that first.")
    if standing.number >= _LONGEST_LOG:
        raise Refusal("So much has been offered in this match that nothing more can be.")
    alone = standing.people != BOTH
    if what == REMATCH and not standing.over:
        raise Refusal("A rematch comes after the end.")
    kept = 0 if what == REMATCH else _way_back(standing, seat, alone)
    if alone:
        return _take_up(standing, what, kept, seat)
    return _entries(standing, Entry(EntryKind.OFFER, what if what == REMATCH else f"{what} {kept}", seat))


def _take_up(standing: MatchState, what: str, kept: int, seat: Seat) -> Change:
    """Carry out what both agree on."""
    if what == TAKEBACK:
        return _entries(standing, Entry(EntryKind.BACK, str(kept), seat))
    new = new_match.MatchSetup(standing.rules, standing.kinds[Seat.TWO], standing.kinds[Seat.ONE])
    people = {
        seat.other: (identity, standing.names.get(seat, "")) for seat, identity in standing.identities.items()
    }
    made = make_match(new.rules, new.make_headers(), people)
    return Change(standing.id, standing.number, (Entry(EntryKind.REMATCH, made.id, seat),), creates=made)


def _check_fresh(standing: MatchState, seat: Seat, event: int, at_any_time: bool) -> None:
    if not 0 <= event <= standing.event(seat) or (standing.since(seat, event) and not at_any_time):
        # Whoever presses two things while the server does not answer has to know which of them counts.
        own = "Another move of yours was played first. " if standing.decided_after(seat, event) else ""
        raise Stale(f"{own}The match has gone on since.")
    if standing.over:
        raise Stale("The match is over.")
    if not standing.complete:
        raise Stale("Somebody still has to sit down.")
    if standing.actor is not seat and not at_any_time:
        raise Stale("It is not your turn.")


def _way_back(standing: MatchState, seat: Seat, alone: bool) -> int:
    """How many lines remain if the seat takes back its last decision."""
    if standing.over:
        raise Refusal("The match is over.")
    back = standing.find_takeback(seat)
    if not back:
        raise Refusal("There is no decision of yours to take back.")
    if alone and not back.revocable:
        raise Refusal("That cannot be taken back: it has shown something that was hidden or left to chance.")
    return len(back.match.turns)


def _entries(standing: MatchState, *entries: Entry, ends: bool = False) -> Change:
    return Change(standing.id, standing.number, entries, ends=ends)


def decide_for_machine(
    id: str, number: int, header: str, played: list[str], seat_player: SeatPlayer
) -> Change:
    """What the machine plays, and what follows by itself. In a thread, so on a match of its own."""
    standing = MatchState(id, header)
    standing.add(Entry(EntryKind.PLAY, line) for line in played)
    players = {
        seat: None if seat in standing.people else seat_player(standing.kinds[seat], standing.rules, id)
        for seat in Seat
    }
    entry = decide_next_entry(standing.match, players, standing.dice)
    if entry.no_move:
        log.warning("A player forfeits: %s", entry.no_move)
    after = standing.go_on(entry.play(standing.match))
    return Change(id, number, lines(after, standing.match), ends=after.over)


def make_match(
    rules: AnyRules,
    headers: dict[str, str],
    people: dict[Seat, tuple[str, str]],
    begun: tuple[Entry, ...] = (),
) -> NewMatch:
    """A new match with these people at its seats: their identities and their names.

    What was `begun` was played by others, so it comes before they sit down.
    """
    id = new_token()
    header = format_header(rules, headers)
    sits = tuple(Entry(EntryKind.SIT, clean_name(name), seat) for seat, (_, name) in people.items())
    standing = MatchState(id, header)
    standing.add((*begun, *sits))
    after = standing.go_on(standing.match) if standing.complete else standing.match
    free = standing.people - set(people)
    invite = next((Invite(new_token(), id, seat, time.time() + _WEEK) for seat in free), None)
    return NewMatch(
        id,
        header,
        (*begun, *sits, *lines(after, standing.match)),
        {seat: identity for seat, (identity, _) in people.items()},
        invite,
        after.over,
    )


def clean_name(name: str) -> str:
    """A name as it is shown: one line of letters, not too long."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return shown[:_LONGEST_NAME].strip()


def record_for(standing: MatchState, viewer: Viewer) -> str:
    """The record, as the viewer may have it: all of it after the end, before that what the seat knows.

    Where nothing is hidden, that is a record that can be resumed: it lacks only what is to come.
    """
    headers = dict(standing.headers)
    if standing.over:
        return dump_record(standing.match, headers)
    if viewer is None:
        raise NoMatch()
    if standing.rules.has_secrets:
        return dump_record(standing.match, headers, viewer)
    return dump_record(standing.match, {key: headers[key] for key in headers if key not in SECRET_HEADERS})
