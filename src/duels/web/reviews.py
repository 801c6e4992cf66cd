"""Reviews and hints. They are slow, so workers compute them, and their modules are imported on demand."""

import re
from dataclasses import replace
from functools import lru_cache, partial
from math import ceil
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError
from duels.core.narration import PlayerNames
from duels.core.rules import BOTH, AnyRules, Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.players import HUMAN
from duels.web.match_state import MatchState, Viewer, make_play_entries
from duels.web.opponents import get_built_in
from duels.web.request_errors import RequestError, StaleRequest
from duels.web.visitors import Visitor
from duels.web.workers import WorkerPool

if TYPE_CHECKING:
    from duels.analysis.hints import Hint
    from duels.analysis.review import Review

MAX_UPLOAD_BYTES = 256 << 10
"""The largest record that a visitor can upload."""
PAGE_ENTRIES = 200
"""The number of entries on a page of a review: at most about 3 MB."""
PAGE_FIELDS = ("summary", "worst")
"""The fields of a review that only pages need: how the reader played, and the number of the worst entry."""
_OPTIONS = re.compile(r"^options:(.*)$", re.MULTILINE | re.IGNORECASE)


def review_uploaded_record(text: str, page: int = 1) -> dict[str, Any]:
    """Review a record that a visitor uploaded.

    Raises RequestError if it is too large or not standard, or if there is no such page.
    """
    if len(text.encode()) > MAX_UPLOAD_BYTES:
        raise RequestError(f"The record is too large. At most {MAX_UPLOAD_BYTES >> 10} KB are allowed.")
    head = text.partition("\n\n")[0]
    for options in _OPTIONS.findall(head):
        if any(not part.startswith("max_") for part in options.split()):
            raise RequestError("This match has unusual options. Review it in a terminal: duels review FILE")
    return _describe_review(_review_text(text.replace("\r\n", "\n")), page)


@lru_cache(maxsize=16)
def review_finished_match(
    text: str, viewer: Viewer, names: tuple[str, str], inherited_turns: int, page: int = 1
) -> dict[str, Any]:
    """Review a finished match of this server for a viewer, who is called `you`.

    Turns inherited from another match are attributed to the seats and do not count.
    """
    review = _review_text(text)
    labels = {seat: seat.label for seat in Seat}
    own = replace(
        review, players={**labels, viewer: HUMAN} if viewer else labels, names=PlayerNames(*names, viewer)
    )
    data = _describe_review(own, page)
    if inherited_turns:
        data |= _summarize_after(own, inherited_turns)
        inherited = _describe_review(replace(review, players=labels), page)["steps"]
        count = max(0, inherited_turns + 1 - data["first"])
        data["steps"][:count] = inherited[:count]
    return {
        **data,
        "players": {str(seat.value): name for seat, name in review.players.items()},
        "names": list(names),
    }


def _summarize_after(review: "Review", skipped: int) -> dict[str, Any]:
    """Return the totals of the turns after the first `skipped`."""
    from duels.analysis.review_json import review_to_dict
    from duels.analysis.review_text import format_account

    own = replace(review, opening=review.entries[skipped - 1].value_after, entries=review.entries[skipped:])
    data = review_to_dict(own)
    subject = f"first {skipped} entries come" if skipped > 1 else "first entry comes"
    note = f"The {subject} from another match; only later entries count here."
    sums = {name: data[name] for name in ("opening", "luck", "loss")}
    account = [note, *format_account(own, f"after entry {skipped}")]
    return {**sums, **_summarize_play(own), "taken_over": skipped, "account": account}


def _summarize_play(review: "Review") -> dict[str, Any]:
    """Return how the reader played, in words, and the number of the worst entry, or 0."""
    from duels.analysis.reasons import describe_play, find_worst_slip

    worst = find_worst_slip(review)
    return {"summary": describe_play(review), "worst": worst.number if worst else 0}


@lru_cache(maxsize=16)
def _review_text(text: str) -> "Review":
    from duels.analysis.review import review_record

    try:
        return review_record(load_record(text))
    except DuelsError as problem:
        raise RequestError(str(problem)) from None


def _describe_review(review: "Review", page: int) -> dict[str, Any]:
    """Return the data of a page of a review: totals of all entries, details of the page's entries.

    Raises RequestError if there is no such page.
    """
    from duels.analysis.review_json import review_to_dict
    from duels.analysis.review_page import build_review_steps, render_curve
    from duels.analysis.review_text import (
        LUCK_EXPLANATION,
        format_account,
        format_heading,
        format_legend,
        get_chance_label,
    )

    pages = max(1, ceil(len(review.entries) / PAGE_ENTRIES))
    if not 1 <= page <= pages:
        raise RequestError(f"'page' must be from 1 to {pages}.")
    first = (page - 1) * PAGE_ENTRIES
    opening = review.entries[first - 1].value_after if first else review.opening
    part = replace(review, opening=opening, entries=review.entries[first : first + PAGE_ENTRIES])
    # A later page begins with the last board of the page before it.
    before = replace(part, entries=review.entries[max(0, first - 1) : first + PAGE_ENTRIES])
    data = review_to_dict(review)
    return {
        **data,
        "moments": data["moments"][first : first + PAGE_ENTRIES],
        "page": page,
        "pages": pages,
        "first": first,
        "title": review.game.title,
        "heading": strip_ink(format_heading(review)),
        **_summarize_play(review),
        "chance": get_chance_label(review),
        "account": format_account(review),
        "legend": f"{format_legend(review)} {LUCK_EXPLANATION}",
        "curve": render_curve(part),
        "steps": build_review_steps(before)[1 if first else 0 :],
        "taken_over": 0,
        "secrets": review.match.rules.has_hidden_information,
    }


async def get_hint(
    state: MatchState, viewer: Viewer, workers: WorkerPool, visitor: Visitor
) -> dict[str, Any]:
    """Return a hint for a seat that is to move against a bot.

    Raises RequestError if there are no hints in this match, and StaleRequest if it is not the seat's turn.
    """
    if viewer is None or state.people == BOTH:
        raise RequestError("Hints are only for the player in a match against a bot.")
    if state.actor is not viewer:
        raise StaleRequest("It is not your turn. Ask for a hint when it is.")
    lines = [entry.text for entry in make_play_entries(state.match)]
    opponent = get_built_in(state.kinds[viewer.other])
    return await workers.run(partial(_find_hint, state.header, lines, viewer, opponent), visitor)


def _find_hint(header: str, lines: list[str], seat: Seat, opponent: str | None) -> dict[str, Any]:
    from duels.analysis.hints import hint

    match = load_record(header).match.play_text(*lines)
    try:
        return describe_hint(hint(match.sight(seat), against=opponent), match.rules)
    except DuelsError as error:
        raise RequestError(str(error)) from None


def describe_hint(advice: "Hint[Any]", rules: AnyRules) -> dict[str, Any]:
    """Return the data of a hint: its stages, the advised actions and the belief."""
    from duels.analysis.wording import Glossary

    glossary, texts = Glossary(), [text[:1].upper() + text[1:] for text in advice.stages]
    return {
        "text": Glossary().explain(" ".join(texts[1:])),
        "stages": [glossary.explain(text) for text in texts],
        "actions": [rules.format(action) for action in advice.actions],
        "belief": dict(advice.belief),
    }
