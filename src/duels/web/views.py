"""Views: the data that a page or a program gets about a match, for one viewer.

A view must not depend on information that is hidden from the viewer. Matches that a viewer cannot distinguish
have views that are equal byte for byte.
"""

from dataclasses import replace
from typing import Any

from duels.core.match import AnyMatch, EarlyEnd
from duels.core.narration import SEAT_LABELS, PlayerNames, Sentence, victory, wins
from duels.core.record import format_entry
from duels.core.rules import BOTH, CHANCE, AnyRules, AnySight, Outcome, Seat
from duels.core.words import Words, strip_ink
from duels.play.narrator import Narrator, format_board_number
from duels.web.match_state import REMATCH, STOP, TAKEBACK, MatchState, Offer, Viewer, format_prompt
from duels.web.pictures import Preview
from duels.web.pictures import draw_preview as draw_picture

_PAGE_FIELDS = ("has_buttons", "example", "takebacks", "named", "wins", "board_limit")
"""Fields that only pages need. `named` says whether a line of the log begins with the player's name."""


def make_json_view(state: MatchState, viewer: Viewer) -> dict[str, Any]:
    """Return the match as JSON data for programs."""
    view = make_page_view(state, viewer)
    view["log"] = [_omit_page_fields(line) for line in view["log"]]
    return _omit_page_fields(view)


def _omit_page_fields(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in _PAGE_FIELDS}


def make_page_view(state: MatchState, viewer: Viewer) -> dict[str, Any]:
    """Return the data of the viewer's page."""
    sight = get_sight(state, viewer)
    outcome = state.outcome
    return {
        "match": state.id,
        "event": state.count_events(viewer),
        "game": state.rules.name,
        "title": state.rules.game.title,
        "seat": int(viewer) if viewer else None,
        "turn": get_turn(state, viewer),
        "sentence": _make_headline(state, viewer, sight),
        "prompt": get_prompt(state.words, sight) if sight.actions else "",
        "example": state.drawing.example(sight) if sight.actions else "",
        "log": _make_log(state, viewer, sight),
        "takebacks": state.takebacks,
        "has_buttons": state.has_buttons,
        "wins": {int(seat): wins for seat, wins in state.wins.items()} if state.earlier_wins else {},
        "offer": _describe_offer(state, viewer, state.offer),
        "refused": _describe_offer(state, viewer, state.refused),
        "may": _list_extra_actions(state, viewer),
        "outcome": _describe_outcome(outcome, viewer) if outcome else None,
        "rematch": state.rematch or None,
        "watchable": state.can_watch(None),
        "invite": None,
        "board": _draw_board(state, viewer, sight),
        "board_number": format_board_number(state.match),
        "board_limit": state.rules.limit_value if state.rules.enough_boards else None,
        "players": [_describe_player(state, viewer, seat) for seat in Seat],
        "text": strip_ink(_render_text_board(state, sight)),
        "actions": [_describe_action(state, sight, action) for action in sight.actions],
    }


def get_sight(state: MatchState, viewer: Viewer) -> AnySight:
    """Return the viewer's sight. It has no actions for spectators, or before every seat is taken."""
    sight = state.match.sight(viewer or Seat.ONE)
    if viewer is None or not state.complete:
        return replace(sight, actions=())
    return sight


def _make_names(state: MatchState, viewer: Viewer) -> PlayerNames:
    return PlayerNames(state.display_names[Seat.ONE], state.display_names[Seat.TWO], viewer)


def _draw_board(state: MatchState, viewer: Viewer, sight: AnySight) -> str:
    names = _make_names(state, viewer)
    if _is_revealed(state):
        return state.drawing.draw_open(*map(state.match.sight, Seat), names=names)
    return state.drawing.draw(sight, targets=True, names=names)


def _render_text_board(state: MatchState, sight: AnySight) -> str:
    if _is_revealed(state):
        return str(state.words.open_board(*map(state.match.sight, Seat)))
    return str(state.words.board(sight))


def _is_revealed(state: MatchState) -> bool:
    """Whether the board may show hidden information, because the match is over."""
    return state.over and state.rules.has_hidden_information


def _describe_player(state: MatchState, viewer: Viewer, seat: Seat) -> dict[str, Any]:
    token = state.words.seat_name(seat)
    return {
        "seat": int(seat),
        "name": state.display_names[seat],
        "you": seat is viewer,
        "to_move": state.complete and state.actor is seat,
        "seated": seat in state.names or seat not in state.people,
        "label": seat.label,
        "token": "" if token == seat.label else token,
        "kind": state.kinds[seat],
    }


def make_preview(state: MatchState) -> Preview:
    """Return what other sites show for a link to the match: the result, or what spectators may know."""
    return Preview(state.rules.game.title, _describe_publicly(state), f"/m/{state.id}/picture.png")


def draw_preview(state: MatchState) -> str:
    """Return the picture of a link to the match."""
    if state.can_watch(None):
        board = _draw_board(state, None, get_sight(state, None))
    else:
        board = state.drawing.draw(state.rules.sight(state.rules.initial(), Seat.ONE))
    return draw_picture(make_preview(state), board)


def _describe_publicly(state: MatchState) -> str:
    if not state.can_watch(None):
        return "The match is running. Spectators can see it after the end."
    return _make_headline(state, None, get_sight(state, None))


def get_turn(state: MatchState, viewer: Viewer) -> str:
    """Return `you`, `other`, `waiting` (for a second player) or `over`."""
    if state.over:
        return "over"
    if not state.complete:
        return "waiting"
    return "you" if state.actor is viewer else "other"


def get_pending_decision(state: MatchState, viewer: Viewer) -> dict[str, str | None]:
    """Return the turn, the kind of the offer that the viewer has to answer, and the other player's name."""
    offer = state.offer if viewer and state.offer and state.offer.seat is not viewer else None
    against = get_opponent_name(state, viewer) if viewer else None
    return {"turn": get_turn(state, viewer), "offer": offer.kind if offer else None, "against": against}


def get_opponent_name(state: MatchState, seat: Seat) -> str:
    """Return the name of a seat's opponent. A person without a name is a friend."""
    if seat.other not in state.people:
        return state.kinds[seat.other]
    return state.names.get(seat.other) or ("your friend" if state.complete else "a friend")


class Headline(str):
    """A text of several sentences. Pages emphasize the first, `head`."""

    head: str
    rest: str
    spoken: str
    """The part that screen readers announce. It leaves out sentences that the log repeats."""

    def __new__(cls, head: str, *rest: str, spoken: str | None = None) -> "Headline":
        tail = " ".join(filter(None, rest))
        headline = super().__new__(cls, f"{head} {tail}".rstrip())
        headline.head, headline.rest = head, tail
        headline.spoken = str(headline) if spoken is None else spoken
        return headline


def _make_headline(state: MatchState, viewer: Viewer, sight: AnySight) -> Headline:
    actor, drawing = state.actor, state.drawing
    if state.outcome:
        headline = _make_result_headline(state.outcome, _make_names(state, viewer))
        # The log's last line tells the rest, and in some games also who won.
        headline.spoken = headline.head if headline.rest and not _log_names_winner(state) else ""
        return headline
    if not state.complete:
        return Headline("Waiting for the other player to join.")
    if actor is viewer and viewer:
        instruction = drawing.instruction(sight)
        spoken = f"Your turn. {instruction}".rstrip()
        return Headline("Your turn.", drawing.last_change(sight), instruction, spoken=spoken)
    if isinstance(actor, Seat):
        task = f"{state.display_names[actor]} is to {drawing.opponent_task(sight)}."
        return Headline(task, drawing.last_change(sight), spoken=task)
    return Headline("Chance decides.")


def _log_names_winner(state: MatchState) -> bool:
    winner = state.outcome.winner if state.outcome else None
    narrations = Narrator(state.words, BOTH).narrate_last_turn(state.match) if winner else ()
    sentences = [sentence for narration in narrations for sentence in narration.sentences]
    parts = [part for sentence in sentences for part in (sentence, *sentence.pieces)]
    return winner is not None and any(
        isinstance(part, Sentence) and part.pieces == victory(winner).pieces for part in parts
    )


def _make_result_headline(outcome: Outcome, names: PlayerNames) -> Headline:
    winner, reason = outcome.winner, outcome.sentence
    if winner is None:
        return Headline("Nobody won.", reason.render(names))
    names_winner = reason.subject is winner  # the reason says who won: do not repeat it
    if names.reader is None:
        result = () if names_winner else (f"{names.name(winner)} won.",)
        return Headline(*result, reason.render(names))
    if winner is not names.reader:
        return Headline("You lost.", reason.render(names))
    if names_winner and wins(winner) in reason.pieces:
        return Headline(reason.replace(wins(winner), "won").render(names))
    return Headline("You won.", reason.replace(victory(winner), "").render(names).lstrip())


def get_prompt(words: Words[Any, Any], sight: AnySight) -> str:
    """Return the book's question to the seat to move, or an empty string."""
    question = next(words.ask(sight), None)
    return format_prompt(question) if question else ""


def _describe_action(state: MatchState, sight: AnySight, action: Any) -> dict[str, Any]:
    return {
        "action": state.rules.format(action),
        "label": format_label(state.rules, action),
        "entries": state.words.entries(sight, action),
        "on_board": state.drawing.is_on_board(action),
    }


def format_label(rules: AnyRules, action: Any) -> str:
    """Return the label of an action's button."""
    notation = rules.format(action)
    return notation[:1].upper() + notation[1:]


def _make_log(state: MatchState, viewer: Viewer, sight: AnySight) -> list[dict[str, Any]]:
    """Return a line for each turn that the viewer may know. `sight` is the viewer's current sight."""
    match = state.match
    seats = BOTH if state.over else frozenset((viewer,) if viewer else ())
    narrator = Narrator(state.words, seats)
    lines = state.log_lines[viewer]
    for number in range(len(lines) + 1, len(match.turns_known_to(viewer)) + 1):
        is_last = number == match.length
        match_after = match if is_last else match.after(number)
        sight_after = sight if is_last else match_after.sight(viewer or Seat.ONE)
        earlier = number <= state.inherited_turns
        names = SEAT_LABELS if earlier else _make_names(state, viewer)
        lines.append({**_make_log_line(state, narrator, match_after, sight_after, names), "earlier": earlier})
    return list(lines)


def _make_log_line(
    state: MatchState, narrator: Narrator, match: AnyMatch, sight: AnySight, names: PlayerNames
) -> dict[str, Any]:
    turn, viewer = match.last, names.reader
    assert turn
    secrets = state.rules.has_hidden_information and not state.over
    action, _ = turn.redact(narrator.seats)
    narrations = narrator.narrate_last_turn(match)
    sentences = [sentence for narration in narrations for sentence in narration.sentences]
    text = strip_ink(" ".join(sentence.render(names) for sentence in sentences))
    seat = turn.actor if isinstance(turn.actor, Seat) else sentences[0].subject if sentences else None
    return {
        "seat": int(seat) if seat else None,
        "who": names.name(seat, begins=True) if seat else "",
        "entry": None if secrets and action is None else format_entry(match.rules, turn),
        "resigned": isinstance(turn.action, EarlyEnd) and turn.action is not EarlyEnd.STOP,
        "secret": secrets and viewer is not None and turn.hidden_from(viewer.other),
        "text": text,
        # The chance outcome that follows mentions the decision.
        "told_next": action is not None and not text and sight.actor is CHANCE,
        "named": seat is not None and bool(sentences) and sentences[0].subject is seat,
    }


def _describe_offer(state: MatchState, viewer: Viewer, offer: Offer | None) -> dict[str, Any] | None:
    if not offer:
        return None
    return {
        "what": offer.kind,
        "mine": offer.seat is viewer,
        "by": state.display_names[offer.seat],
        "undoes_more": offer.kind == TAKEBACK and _undoes_opponent_moves(state, offer),
    }


def _undoes_opponent_moves(state: MatchState, offer: Offer) -> bool:
    # With hidden information the answer is always yes: it must not reveal whether the opponent has moved.
    dropped = state.match.turns[offer.turns_kept :]
    return state.rules.has_hidden_information or any(turn.actor is offer.seat.other for turn in dropped)


def _list_extra_actions(state: MatchState, viewer: Viewer) -> tuple[str, ...]:
    """Return the viewer's options besides the actions of the game."""
    if viewer is None:
        return ()
    if state.over:
        return () if state.rematch or state.offer else (REMATCH,)
    if not state.complete:
        return ()
    options = ["resign"]
    if state.actor is viewer and state.people != BOTH:
        options.append("hint")
    if not state.offer and state.can_take_back(viewer):
        options.append(TAKEBACK)
    if not state.offer and state.match.can_stop:
        options.append(STOP)
    return tuple(options)


def _describe_outcome(outcome: Outcome, viewer: Viewer) -> dict[str, Any]:
    return {
        "code": outcome.code,
        "ending": outcome.ending.value,
        "winner": outcome.winner.value if outcome.winner else None,
        "won": None if outcome.winner is None or viewer is None else outcome.winner is viewer,
        "reason": outcome.reason,
    }
