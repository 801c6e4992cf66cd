"""Changes that requests cause: pure functions from the state of a match to the change to be written.

The service writes the change. It decides again if another process has written first.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from duels.core.errors import IllegalMove, NotationError
from duels.core.match import AnyMatch, EarlyEnd
from duels.core.record import SECRET_HEADERS, dump_record, format_header
from duels.core.rules import BOTH, AnyRules, AnySight, Seat
from duels.core.words import Words, join_or, strip_ink
from duels.play import new_match
from duels.play.live import find_takeback
from duels.play.step import decide_next_entry
from duels.players import Player
from duels.web.match_state import (
    OFFER_KINDS,
    REMATCH,
    STOP,
    TAKEBACK,
    MatchState,
    Offer,
    Viewer,
    format_prompt,
    make_play_entries,
)
from duels.web.request_errors import MatchNotFound, RequestError, StaleRequest
from duels.web.store import Change, Entry, EntryKind, Invite, NewMatch
from duels.web.visitor_names import clean_name
from duels.web.visitors import make_token

log = logging.getLogger("duels.web")

PlayerFactory = Callable[[str, AnyRules, str], Player]
"""Makes a player from its name, the rules and the match's id."""
_WEEK = 7 * 24 * 3600.0
_MAX_ENTRIES = 1_900  # a page shows all of them, and reviews can have 2,000
_MAX_LOG_ENTRIES = 5_000  # opening a match reads all of them
_CHANGED = "The match has changed in the meantime. Check the board and try again."
_PLAYED_ANOTHER = "Another of your moves was played first. Check the board before your next move."


class IncompleteEntry(RequestError):
    """The answers are valid, but the game has another question: the message of this error."""

    status = 200


@dataclass(frozen=True)
class MoveRequest:
    """A request to play: an action in notation, or answers to the book's questions."""

    event: int
    """The last event that the page showed."""
    action: str | None = None
    entries: tuple[str, ...] = ()

    def parse_action(self, rules: AnyRules) -> Any:
        """Return the action or a resignation, or None if the request has answers instead.

        Raises RequestError if the notation is invalid.
        """
        if self.action is None:
            return None
        if self.action.strip().lower() == EarlyEnd.RESIGN.value:
            return EarlyEnd.RESIGN
        try:
            return rules.parse(self.action)
        except NotationError as error:
            raise RequestError(str(error)) from None


def decide_move(state: MatchState, seat: Seat, request: MoveRequest) -> Change | None:
    """Return the change for a move, or None if the move was played already.

    Raises StaleRequest if the page is out of date, IncompleteEntry if there is another question, and
    RequestError if the move is not allowed.
    """
    action = request.parse_action(state.rules)
    if request.event < 0:
        raise RequestError("'event' must be 0 or greater.")
    if _is_repeated(state, seat, request, action):
        return None
    _check_not_stale(state, seat, request.event, at_any_time=action is EarlyEnd.RESIGN)
    match = state.match
    try:
        if action is None:
            action = _read_entries(state.words, match.sight(seat), request.entries)
        match_after = match.resign(seat) if action is EarlyEnd.RESIGN else match.play(seat, action)
    except IllegalMove as error:
        raise RequestError(str(error)) from None
    if action is not EarlyEnd.RESIGN and match.length >= _MAX_ENTRIES:
        raise RequestError(f"This match is full ({_MAX_ENTRIES:,} entries). Resign, or start a new one.")
    match_after = state.play_automatic(match_after)
    return _make_change(state, *make_play_entries(match_after, match), ends_match=match_after.over)


def _read_entries(words: Words[Any, Any], sight: AnySight, entries: Sequence[str]) -> Any:
    """Return the action that the answers specify. Raises RequestError or IncompleteEntry."""
    dialogue = words.ask(sight)
    question = next(dialogue)
    try:
        for entry in entries:
            question = dialogue.send(entry)
            if question.notice:
                raise RequestError(strip_ink(question.notice))
    except StopIteration as done:
        return done.value
    raise IncompleteEntry(format_prompt(question))


def _is_repeated(state: MatchState, seat: Seat, request: MoveRequest, action: Any) -> bool:
    """Whether the seat has already played this action after the event that the page showed."""
    if action is EarlyEnd.RESIGN:  # a resignation may follow events that the page did not show
        last = state.match.last
        return bool(last and last.actor is seat and last.action is action)
    match = state.find_decision_after(seat, request.event)
    if match is None:
        return False
    if action is None:
        before = match.after(len(match.turns) - 1)
        with suppress(RequestError):
            action = _read_entries(state.words, before.sight(seat), request.entries)
    assert match.last
    return bool(action == match.last.action)


def decide_offer(state: MatchState, seat: Seat, kind: str, answer: str, event: int) -> Change | None:
    """Return the change for an offer or an answer to an offer, or None if the request is a repetition.

    Raises StaleRequest if the page is out of date, and RequestError if the offer is not allowed.
    """
    if kind not in OFFER_KINDS:
        raise RequestError(f"'offer' must be {join_or([repr(known) for known in OFFER_KINDS])}.")
    if answer not in ("", "yes", "no"):
        raise RequestError("'answer' must be 'yes', 'no' or empty.")
    if not 0 <= event <= state.count_events(seat):
        raise StaleRequest(_CHANGED)
    if state.has_acted_on_offer(seat, kind, event) or (kind == REMATCH and state.rematch):
        return None
    offer = state.offer if state.offer and state.offer.kind == kind else None
    if not answer:
        return _decide_new_offer(state, seat, kind, offer)
    if state.visible_entries[seat][event:]:  # the page may have shown another offer
        raise StaleRequest("This offer is no longer open.")
    if answer == "no" and offer:  # also withdraws the seat's own offer
        return _make_change(state, Entry(EntryKind.REFUSE, kind, seat))
    if not offer or offer.seat is seat:
        raise StaleRequest("This offer is no longer open.")
    return _accept_offer(state, kind, offer.turns_kept, seat)


def _decide_new_offer(state: MatchState, seat: Seat, kind: str, offer: Offer | None) -> Change | None:
    """Return the change for a new offer. `offer` is the open offer of the same kind, if any."""
    if offer and offer.seat is seat:
        return None
    if offer and kind != TAKEBACK:  # both players want it
        return _accept_offer(state, kind, offer.turns_kept, seat)
    if offer:  # asking for a takeback is not agreeing to the opponent's
        raise StaleRequest("The other player asks to take back a move. Answer this offer first.")
    if state.number >= _MAX_LOG_ENTRIES:
        raise RequestError("No more offers are possible in this match: its log is full. Start a new match.")
    against_bot = state.people != BOTH
    if kind == REMATCH and not state.over:
        raise RequestError("The match is not over yet. Offer a rematch after the end.")
    if kind == STOP:
        _stop_match(state)  # raises RequestError if it is not possible
    turns_kept = _count_turns_kept(state, seat, against_bot) if kind == TAKEBACK else 0
    if against_bot:
        return _accept_offer(state, kind, turns_kept, seat)
    text = f"{kind} {turns_kept}" if kind == TAKEBACK else kind
    return _make_change(state, Entry(EntryKind.OFFER, text, seat))


def _accept_offer(state: MatchState, kind: str, turns_kept: int, seat: Seat) -> Change:
    if kind == TAKEBACK:
        return _make_change(state, Entry(EntryKind.BACK, str(turns_kept), seat))
    if kind == STOP:
        (entry,) = make_play_entries(_stop_match(state), state.match)
        return _make_change(state, replace(entry, seat=seat), ends_match=True)
    setup = new_match.MatchSetup(state.rules, state.kinds[Seat.TWO], state.kinds[Seat.ONE])
    people = {
        seat.other: (identity, state.names.get(seat, "")) for seat, identity in state.identities.items()
    }
    score = Entry(EntryKind.SCORE, f"{state.wins[Seat.TWO]} {state.wins[Seat.ONE]}")
    rematch = make_match(setup.rules, setup.make_headers(), people, score=score)
    return Change(state.id, state.number, (Entry(EntryKind.REMATCH, rematch.id, seat),), creates=rematch)


def decide_withdrawal(state: MatchState, seat: Seat) -> Change:
    """Return the change that withdraws the invitation to a match. Raises StaleRequest if somebody joined."""
    if state.complete:
        raise StaleRequest("The other player has joined. Reload the page.")
    return replace(_make_change(state, ends_match=True), closes_invite=True)


def _stop_match(state: MatchState) -> AnyMatch:
    """Return the match after an agreement to stop. Raises RequestError if it is not possible now."""
    if state.over:
        raise RequestError("The match is already over.")
    if not state.complete:
        raise RequestError("The other player has not joined yet.")
    try:
        return state.match.stop()
    except IllegalMove as error:
        raise RequestError(str(error)) from None


def _check_not_stale(state: MatchState, seat: Seat, event: int, at_any_time: bool) -> None:
    is_outdated = not at_any_time and bool(state.find_changes_since(seat, event))
    if is_outdated or not 0 <= event <= state.count_events(seat):
        # A player who pressed two moves while the server was slow must know which one counts.
        raise StaleRequest(_PLAYED_ANOTHER if state.find_decision_after(seat, event) else _CHANGED)
    if state.over:
        raise StaleRequest("The match is over. No more moves are possible.")
    if not state.complete:
        raise StaleRequest("The other player has not joined yet. Wait before you move.")
    if state.actor is not seat and not at_any_time:
        raise StaleRequest("It is not your turn. Wait for the other player.")


def _count_turns_kept(state: MatchState, seat: Seat, against_bot: bool) -> int:
    """Return the number of turns that remain if the seat takes back its last decision."""
    if state.over:
        raise RequestError("The match is over. Moves can no longer be taken back.")
    takeback = find_takeback(state.match, state.words, seat)
    if not takeback:
        raise RequestError("You have no decision to take back.")
    if against_bot and not takeback.revocable:
        raise RequestError("This move cannot be taken back: it revealed a secret or a chance outcome.")
    return len(takeback.match.turns)


def _make_change(state: MatchState, *entries: Entry, ends_match: bool = False) -> Change:
    return Change(state.id, state.number, entries, ends_match=ends_match)


def decide_bot_move(
    id: str, number: int, header: str, lines: list[str], make_player: PlayerFactory
) -> Change:
    """Return the change for a bot's move and the automatic turns after it.

    This runs in a thread, so it works on its own copy of the match.
    """
    state = MatchState(id, header)
    state.add(Entry(EntryKind.PLAY, line) for line in lines)
    players = {
        seat: None if seat in state.people else make_player(state.kinds[seat], state.rules, id)
        for seat in Seat
    }
    entry = decide_next_entry(state.match, players, state.dice)
    if entry.no_move:
        log.warning("A bot forfeited the match: %s", entry.no_move)
    match = state.play_automatic(entry.play(state.match))
    return Change(id, number, make_play_entries(match, state.match), ends_match=match.over)


def make_match(
    rules: AnyRules,
    headers: dict[str, str],
    people: dict[Seat, tuple[str, str]],
    inherited: tuple[Entry, ...] = (),
    score: Entry | None = None,
) -> NewMatch:
    """Return a new match with people, given by identity and name, at its seats.

    `inherited` are turns of another match that this one continues. A rematch has a `score`.
    """
    id = make_token()
    header = format_header(rules, headers)
    names: dict[Seat, str] = {}
    for seat, (_, name) in people.items():
        names[seat] = clean_name(name, names.values())
    seatings = tuple(Entry(EntryKind.SIT, name, seat) for seat, name in names.items())
    state = MatchState(id, header)
    state.add((*inherited, *seatings))
    match = state.play_automatic(state.match) if state.complete else state.match
    free_seats = state.people - set(people)
    invite = next((Invite(make_token(), id, seat, time.time() + _WEEK) for seat in free_seats), None)
    return NewMatch(
        id,
        header,
        (*inherited, *seatings, *filter(None, [score]), *make_play_entries(match, state.match)),
        {seat: identity for seat, (identity, _) in people.items()},
        invite,
        match.over,
    )


def render_record(state: MatchState, viewer: Viewer) -> str:
    """Return the record for a viewer: the whole record after the end, before it what the viewer's seat knows.

    Without hidden information, this record lacks only the seed before the end, so it can be resumed. Raises
    MatchNotFound for a spectator before the end.
    """
    headers = dict(state.headers)
    if state.over:
        return dump_record(state.match, headers)
    if viewer is None:
        raise MatchNotFound()
    if state.rules.has_hidden_information:
        return dump_record(state.match, headers, viewer)
    return dump_record(state.match, {key: headers[key] for key in headers if key not in SECRET_HEADERS})
