"""Reviews and hints. They are slow, so they run in threads, and their modules are imported on demand."""

import re
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError
from duels.core.narration import PlayerNames
from duels.core.rules import BOTH, Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.players import HUMAN
from duels.web.match_state import MatchState, Viewer, make_play_entries
from duels.web.request_errors import RequestError, StaleRequest
from duels.web.workers import WorkerPool

if TYPE_CHECKING:
    from duels.analysis.review import Review

MAX_UPLOAD_BYTES = 256 << 10
"""The largest record that a visitor can upload."""
_OPTIONS = re.compile(r"^options:(.*)$", re.MULTILINE | re.IGNORECASE)


def review_uploaded_record(text: str) -> dict[str, Any]:
    """Review a record that a visitor uploaded. Raises RequestError if it is too large or not standard."""
    if len(text.encode()) > MAX_UPLOAD_BYTES:
        raise RequestError(f"The record is too large. At most {MAX_UPLOAD_BYTES >> 10} KB are allowed.")
    head = text.partition("\n\n")[0]
    for options in _OPTIONS.findall(head):
        if any(not part.startswith("max_") for part in options.split()):
            raise RequestError("This match has unusual options. Review it in a terminal: duels review FILE")
    return _describe_review(_review_text(text.replace("\r\n", "\n")))


@lru_cache(maxsize=64)
def review_finished_match(
    text: str, viewer: Viewer, names: tuple[str, str], inherited_turns: int
) -> dict[str, Any]:
    """Review a finished match of this server for a viewer, who is called `you`.

    Turns inherited from another match are attributed to the seats and do not count.
    """
    review = _review_text_cached(text)
    labels = {seat: seat.label for seat in Seat}
    own = replace(
        review,
        players={**labels, viewer: HUMAN} if viewer else labels,
        names=PlayerNames(*names, viewer),
    )
    data = _describe_review(own)
    if inherited_turns:
        data |= _summarize_after(own, inherited_turns)
        inherited = _describe_review(replace(review, players=labels))["steps"]
        data["steps"][: inherited_turns + 1] = inherited[: inherited_turns + 1]
    return {
        **data,
        "players": {str(seat.value): name for seat, name in review.players.items()},
        "names": list(names),
    }


def _summarize_after(review: "Review", entries: int) -> dict[str, Any]:
    """Return the totals of the turns after the first `entries`."""
    from duels.analysis.review import review_to_dict
    from duels.analysis.review_text import format_account

    own = replace(review, opening=review.moments[entries - 1].after, moments=review.moments[entries:])
    data = review_to_dict(own)
    subject = f"first {entries} entries come" if entries > 1 else "first entry comes"
    note = f"The {subject} from another match; only later entries count here."
    sums = {name: data[name] for name in ("opening", "luck", "loss")}
    return {**sums, "taken_over": entries, "account": [note, *format_account(own, f"after entry {entries}")]}


def _review_text(text: str) -> "Review":
    from duels.analysis.review import review_record

    try:
        return review_record(load_record(text))
    except DuelsError as problem:
        raise RequestError(str(problem)) from None


_review_text_cached = lru_cache(maxsize=64)(_review_text)


def _describe_review(review: "Review") -> dict[str, Any]:
    """Return the data of a review page."""
    from duels.analysis.review import review_to_dict
    from duels.analysis.review_page import build_review_steps, render_curve
    from duels.analysis.review_text import (
        LUCK_EXPLANATION,
        format_account,
        format_heading,
        format_legend,
        get_chance_label,
    )

    return {
        **review_to_dict(review),
        "title": review.game.title,
        "heading": strip_ink(format_heading(review)),
        "chance": get_chance_label(review),
        "account": format_account(review),
        "legend": f"{format_legend(review)} {LUCK_EXPLANATION}",
        "curve": render_curve(review),
        "steps": build_review_steps(review),
        "taken_over": 0,
        "secrets": review.match.rules.has_secrets,
    }


async def get_hint(state: MatchState, viewer: Viewer, workers: WorkerPool) -> dict[str, Any]:
    """Return a hint for a seat that is to move against a bot.

    Raises RequestError if there are no hints in this match, and StaleRequest if it is not the seat's turn.
    """
    if viewer is None or state.people == BOTH:
        raise RequestError("Hints are only for the player in a match against a bot.")
    if state.actor is not viewer:
        raise StaleRequest("It is not your turn. Ask for a hint when it is.")
    lines = [entry.text for entry in make_play_entries(state.match)]
    return await workers.run(partial(_find_hint, state.header, lines, viewer))


def _find_hint(header: str, lines: list[str], seat: Seat) -> dict[str, Any]:
    from duels.analysis.hints import hint
    from duels.analysis.wording import Glossary

    match = load_record(header).match.play_text(*lines)
    try:
        advice = hint(match.sight(seat))
    except DuelsError as error:
        raise RequestError(str(error)) from None
    return {
        "text": Glossary().explain(advice.text[:1].upper() + advice.text[1:]),
        "actions": [match.rules.format(action) for action in advice.actions],
        "belief": dict(advice.belief),
    }
