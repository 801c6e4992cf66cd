"""What a page shows of a match, as a value: derived from the match as it stands, for one seat.

Nothing here may depend on what is hidden from the viewer. Two matches that a seat cannot tell apart give
equal views, byte by byte.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from duels.core.match import AnyMatch, Concession
from duels.core.narration import SEAT_LABELS, PlayerNames, victory, wins
from duels.core.record import format_entry
from duels.core.rules import BOTH, CHANCE, AnyRules, AnySight, Outcome, Seat
from duels.core.words import Words, strip_ink
from duels.play.narrator import Narrator
from duels.web.match_state import REMATCH, TAKEBACK, MatchState, Offer, Viewer, shown_prompt

_SEATS = tuple(Seat)
_NAMED = "named"  # whether the text of a line of the log begins with who did it; only pages need that


def view(standing: MatchState, viewer: Viewer) -> dict[str, Any]:
    """Everything that a program is told of the match, as JSON has it."""
    sight = sight_of(standing, viewer)
    told = _shown(standing, viewer, sight)
    return {
        **told,
        "log": [{key: value for key, value in line.items() if key != _NAMED} for line in told["log"]],
        "offer": told["offer"] and told["offer"]._asdict(),
        "refused": told["refused"] and told["refused"]._asdict(),
        "players": [_player(standing, viewer, seat) for seat in Seat],
        "text": strip_ink(_written_board(standing, sight)),
        "actions": [_action(standing, sight, action)._asdict() for action in sight.actions],
    }


def shown(standing: MatchState, viewer: Viewer) -> dict[str, Any]:
    """What the viewer's page shows of it."""
    sight = sight_of(standing, viewer)
    drawing = standing.drawing
    told = _shown(standing, viewer, sight)
    return {
        **told,
        "seats": tuple([_seat(standing, viewer, seat) for seat in _SEATS]),
        "over": told["outcome"] is not None,
        "may_rematch": REMATCH in told["may"],
        "example": drawing.example(sight) if sight.actions else "",
        "buttons": tuple(
            [_action(standing, sight, action) for action in sight.actions if not drawing.is_on_board(action)]
        ),
    }


def _shown(standing: MatchState, viewer: Viewer, sight: AnySight) -> dict[str, Any]:
    """What both are told."""
    outcome = standing.outcome
    prompt = prompt_of(standing.words, sight) if sight.actions else ""
    return {
        "match": standing.id,
        "event": standing.event(viewer),
        "game": standing.rules.name,
        "title": standing.rules.game.title,
        "seat": int(viewer) if viewer else None,
        "turn": turn_of(standing, viewer),
        "sentence": _headline(standing, viewer, sight),
        "prompt": prompt,
        "log": _log(standing, viewer, sight),
        "offer": _offer(standing, viewer, standing.offer),
        "refused": _offer(standing, viewer, standing.refused),
        "may": _may(standing, viewer),
        "outcome": _outcome(outcome, viewer) if outcome else None,
        "rematch": standing.rematch or None,
        "watchable": standing.may_watch(None),
        "invite": None,
        "board": _board(standing, viewer, sight),
    }


def sight_of(standing: MatchState, viewer: Viewer) -> AnySight:
    """What the viewer knows; nobody may do anything before everybody has sat down."""
    sight = standing.match.sight(viewer or Seat.ONE)
    if viewer is None or not standing.complete:
        return replace(sight, actions=())
    return sight


def _names(standing: MatchState, viewer: Viewer) -> PlayerNames:
    return PlayerNames(standing.called[Seat.ONE], standing.called[Seat.TWO], viewer)


def _board(standing: MatchState, viewer: Viewer, sight: AnySight) -> str:
    """The board as the viewer sees it."""
    names = _names(standing, viewer)
    if _laid_open(standing):
        return standing.drawing.draw_open(*map(standing.match.sight, Seat), names=names)
    return standing.drawing.draw(sight, targets=True, names=names)


def _written_board(standing: MatchState, sight: AnySight) -> str:
    if _laid_open(standing):
        return str(standing.words.open_board(*map(standing.match.sight, Seat)))
    return str(standing.words.board(sight))


def _laid_open(standing: MatchState) -> bool:
    """Whether there were secrets that everybody may see now: the match is over."""
    return standing.over and standing.rules.has_secrets


class ShownSeat(NamedTuple):
    """A seat as a page shows it: who sits there, if anybody does yet."""

    seat: int
    name: str
    you: bool
    to_move: bool
    seated: bool


def _seat(standing: MatchState, viewer: Viewer, seat: Seat) -> ShownSeat:
    to_move = standing.complete and standing.actor is seat
    seated = seat in standing.names or seat not in standing.people
    return ShownSeat(int(seat), standing.called[seat], seat is viewer, to_move, seated)


def _player(standing: MatchState, viewer: Viewer, seat: Seat) -> dict[str, Any]:
    """The same for a program."""
    token = standing.words.seat_name(seat)
    return {
        **_seat(standing, viewer, seat)._asdict(),
        "label": seat.label,
        "token": "" if token == seat.label else token,
        "kind": standing.kinds[seat],
    }


def turn_of(standing: MatchState, viewer: Viewer) -> str:
    """Who is to act: `you`, `other`, `waiting` for somebody to sit down, or `over`."""
    if standing.over:
        return "over"
    if not standing.complete:
        return "waiting"
    return "you" if standing.actor is viewer else "other"


def asked_of(standing: MatchState, viewer: Viewer) -> dict[str, str | None]:
    """Whose turn it is, and the offer that waits for the viewer's answer, if there is one."""
    offer = standing.offer
    waits = offer is not None and viewer is not None and offer.seat is not viewer
    return {"turn": turn_of(standing, viewer), "offer": offer.what if offer and waits else None}


class Headline(str):
    """Sentences as one text, of which a page emphasises the first."""

    head: str
    rest: str

    def __new__(cls, head: str, *rest: str) -> "Headline":
        more = " ".join(filter(None, rest))
        headline = super().__new__(cls, f"{head} {more}".rstrip())
        headline.head, headline.rest = head, more
        return headline


def _headline(standing: MatchState, viewer: Viewer, sight: AnySight) -> Headline:
    """Whose turn it is and what is asked, or how the match ended."""
    actor, drawing = standing.actor, standing.drawing
    if standing.outcome:
        return _result(standing.outcome, _names(standing, viewer))
    if not standing.complete:
        return Headline("Waiting for somebody to sit down.")
    if actor is viewer and viewer:
        return Headline("Your turn.", drawing.last_change(sight), drawing.instruction(sight))
    if isinstance(actor, Seat):
        return Headline(
            f"{standing.called[actor]} is to {drawing.opponent_task(sight)}.", drawing.last_change(sight)
        )
    return Headline("Chance decides.")


def _result(outcome: Outcome, names: PlayerNames) -> Headline:
    """How the match ended. What the reason says already is not said twice."""
    winner, reason = outcome.winner, outcome.sentence
    if winner is None:
        return Headline("Nobody won.", reason.render(names))
    says_so = reason.subject is winner
    if names.reader is None:
        won = () if says_so else (f"{names.name(winner)} won.",)
        return Headline(*won, reason.render(names))
    if winner is not names.reader:
        return Headline("You lost.", reason.render(names))
    if says_so and wins(winner) in reason.pieces:
        return Headline(reason.replace(wins(winner), "won").render(names))
    return Headline("You won.", reason.replace(victory(winner), "").render(names).lstrip())


def prompt_of(words: Words[Any, Any], sight: AnySight) -> str:
    """What the book asks the seat to move."""
    question = next(words.ask(sight), None)
    return shown_prompt(question) if question else ""


class ShownAction(NamedTuple):
    """An action: its notation, its label, and what the book has one enter."""

    action: str
    label: str
    entries: tuple[str, ...]
    on_board: bool


def _action(standing: MatchState, sight: AnySight, action: Any) -> ShownAction:
    entries = tuple(standing.words.entries(sight, action))
    on_board = standing.drawing.is_on_board(action)
    return ShownAction(standing.rules.format(action), label(standing.rules, action), entries, on_board)


def label(rules: AnyRules, action: Any) -> str:
    """An action as a button names it."""
    notation = rules.format(action)
    return notation[:1].upper() + notation[1:]


def _log(standing: MatchState, viewer: Viewer, sight: AnySight) -> list[dict[str, Any]]:
    """What happened as far as the viewer knows, whose sight this is, told in one voice."""
    match = standing.match
    # After the end there are no secrets.
    watching = BOTH if standing.over else frozenset((viewer,) if viewer else ())
    narrator = Narrator(standing.words, watching)
    told = standing.told[viewer]
    now = match.length
    for number in range(len(told) + 1, len(match.turns_known_to(viewer)) + 1):
        after = match if number == now else match.after(number)
        seen = sight if number == now else after.sight(viewer or Seat.ONE)
        earlier = number <= standing.taken_over
        names = SEAT_LABELS if earlier else _names(standing, viewer)
        told.append({**_told(standing, narrator, after, seen, names), "earlier": earlier})
    return list(told)


def _told(
    standing: MatchState, narrator: Narrator, after: AnyMatch, sight: AnySight, names: PlayerNames
) -> dict[str, Any]:
    turn, viewer = after.last, names.reader
    assert turn
    secrets = standing.rules.has_secrets and not standing.over
    action, _ = turn.redact(narrator.watching)
    news = [sentence for narration in narrator.narrate_last_turn(after) for sentence in narration.sentences]
    text = strip_ink(" ".join(sentence.render(names) for sentence in news))
    seat = turn.actor if isinstance(turn.actor, Seat) else news[0].subject if news else None
    return {
        "seat": int(seat) if seat else None,
        "who": names.name(seat, begins=True) if seat else "",
        "entry": None if secrets and action is None else format_entry(after.rules, turn),
        "resigned": isinstance(turn.action, Concession),
        "secret": secrets and viewer is not None and turn.hidden_from(viewer.other),
        "text": text,
        # What chance brings then tells of the decision too.
        "told_next": action is not None and not text and sight.actor is CHANCE,
        _NAMED: seat is not None and bool(news) and news[0].subject is seat,
    }


class ShownOffer(NamedTuple):
    """An offer as the viewer is told of it."""

    what: str
    mine: bool
    by: str
    undoes_more: bool


class ShownInvite(NamedTuple):
    """How to invite somebody: a link, which may be for this computer alone, and until when."""

    link: str
    qr: str
    alone: bool
    expires: float


def _offer(standing: MatchState, viewer: Viewer, offer: Offer | None) -> ShownOffer | None:
    if not offer:
        return None
    undoes_more = offer.what == TAKEBACK and _undoes_more(standing, offer)
    return ShownOffer(offer.what, offer.seat is viewer, standing.called[offer.seat], undoes_more)


def _undoes_more(standing: MatchState, offer: Offer) -> bool:
    """Whether a takeback undoes what the other seat did since; among secrets, as far as that may be told."""
    since = standing.match.turns[offer.kept :]
    return standing.rules.has_secrets or any(turn.actor is offer.seat.other for turn in since)


def _may(standing: MatchState, viewer: Viewer) -> tuple[str, ...]:
    """What the viewer may do beside the actions of the game."""
    if viewer is None:
        return ()
    if standing.over:
        return () if standing.rematch or standing.offer else (REMATCH,)
    if not standing.complete:
        return ()
    may = ["resign"]
    if standing.actor is viewer and standing.people != BOTH:
        may.append("hint")
    if not standing.offer and standing.may_take_back(viewer):
        may.append(TAKEBACK)
    return tuple(may)


def _outcome(outcome: Outcome, viewer: Viewer) -> dict[str, Any]:
    return {
        "code": outcome.code,
        "ending": outcome.ending.value,
        "winner": outcome.winner.value if outcome.winner else None,
        "won": None if outcome.winner is None or viewer is None else outcome.winner is viewer,
        "reason": outcome.reason,
    }
