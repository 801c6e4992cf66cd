"""Reviews and hints for pages: heavy, so they are loaded when they are asked for, and run in threads."""

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.core.words import plain
from duels.games import load_record
from duels.web.refusals import Refusal, Stale
from duels.web.standing import Standing, Viewer, lines
from duels.web.workers import Workers

if TYPE_CHECKING:
    from duels.analysis.review import Review

MOST_BYTES = 256 << 10
"""Of a record that is handed in."""
_OPTIONS = re.compile(r"^options:(.*)$", re.MULTILINE | re.IGNORECASE)


def review_posted(text: str) -> dict[str, Any]:
    """The review of a record from outside: of the books' sizes, and not too long."""
    if len(text.encode()) > MOST_BYTES:
        raise Refusal(f"A record is at most {MOST_BYTES >> 10} KB long.")
    head = text.partition("\n\n")[0]
    for options in _OPTIONS.findall(head):
        if any(not part.startswith("max_") for part in options.split()):
            raise Refusal("Only matches of the books' sizes are reviewed here.")
    return review_text(text.replace("\r\n", "\n"))


@lru_cache(maxsize=64)
def review_kept(text: str) -> dict[str, Any]:
    """The same for a match of ours that is over, which may be looked at again."""
    return review_text(text)


def review_text(text: str) -> dict[str, Any]:
    """The review of a record, as a page shows it."""
    from duels.analysis.review import review_record

    try:
        return _shown(review_record(load_record(text)))
    except DuelsError as problem:
        raise Refusal(str(problem)) from None


def _shown(review: "Review") -> dict[str, Any]:
    """The review as data, with the boards and sentences that a page steps through."""
    from duels.analysis.review_data import review_as_data
    from duels.analysis.review_page import curve, review_steps
    from duels.analysis.review_words import heading

    return {
        **review_as_data(review),
        "title": review.game.title,
        "heading": plain(heading(review)),
        "curve": curve(review),
        "steps": review_steps(review),
        "secrets": review.match.rules.has_secrets,
    }


async def hint_for(standing: Standing, viewer: Viewer, workers: Workers) -> dict[str, Any]:
    """A hint for a seat that is to move against a machine."""
    if viewer is None or len(standing.people) == len(Seat):
        raise Refusal("Hints are for matches against a machine.")
    if standing.match.actor is not viewer:
        raise Stale("It is not your turn.")
    played = [entry.text for entry in lines(standing.match)]
    return await workers.run(partial(_hint, standing.header, played, viewer))


def _hint(header: str, played: list[str], seat: Seat) -> dict[str, Any]:
    from duels.analysis.hints import hint

    match = load_record(header).match.play_text(*played)
    try:
        found = hint(match.sight(seat))
    except DuelsError as unknown:
        raise Refusal(str(unknown)) from None
    return {
        "text": found.text,
        "actions": [match.rules.format(action) for action in found.actions],
        "belief": dict(found.belief),
    }
