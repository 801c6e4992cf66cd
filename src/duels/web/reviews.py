"""Reviews and hints for pages: heavy, so they are loaded when they are asked for, and run in threads."""

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
from duels.web.match_state import MatchState, Viewer, lines
from duels.web.refusals import Refusal, Stale
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
    return _shown(_judge(text.replace("\r\n", "\n")))


@lru_cache(maxsize=64)
def review_kept(text: str, viewer: Viewer, names: tuple[str, str], taken_over: int) -> dict[str, Any]:
    """The same for a match of ours that is over, which may be looked at again.

    It is told to the viewer: its own seat is `you`, and the other player, or both to a bystander, have names.
    Entries that were taken over from another match are told of the seats, and count for nobody.
    """
    judged = _judged(text)
    labels = {seat: seat.label for seat in Seat}
    told = replace(
        judged,
        players={**labels, viewer: HUMAN} if viewer else labels,
        names=PlayerNames(*names, viewer),
    )
    shown = _shown(told)
    if taken_over:
        shown |= _since(told, taken_over)
        earlier = _shown(replace(judged, players=labels))["steps"]
        shown["steps"][: taken_over + 1] = earlier[: taken_over + 1]
    return {
        **shown,
        "players": {str(seat.value): name for seat, name in judged.players.items()},
        "names": list(names),
    }


def _since(review: "Review", entries: int) -> dict[str, Any]:
    """What is added up if that begins after so many entries."""
    from duels.analysis.review import review_to_dict
    from duels.analysis.review_text import format_account

    own = replace(review, opening=review.moments[entries - 1].after, moments=review.moments[entries:])
    data = review_to_dict(own)
    many = f"first {entries} entries come" if entries > 1 else "first entry comes"
    said = f"The {many} from another match; only what came later counts here."
    sums = {name: data[name] for name in ("opening", "luck", "loss")}
    return {**sums, "taken_over": entries, "account": [said, *format_account(own, f"after entry {entries}")]}


def _judge(text: str) -> "Review":
    """The heavy part, which is the same for everybody."""
    from duels.analysis.review import review_record

    try:
        return review_record(load_record(text))
    except DuelsError as problem:
        raise Refusal(str(problem)) from None


_judged = lru_cache(maxsize=64)(_judge)


def _shown(review: "Review") -> dict[str, Any]:
    """The review as data, with the boards and sentences that a page steps through."""
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


async def hint_for(standing: MatchState, viewer: Viewer, workers: Workers) -> dict[str, Any]:
    """A hint for a seat that is to move against a machine."""
    if viewer is None or standing.people == BOTH:
        raise Refusal("Hints are for matches against a machine.")
    if standing.actor is not viewer:
        raise Stale("It is not your turn.")
    played = [entry.text for entry in lines(standing.match)]
    return await workers.run(partial(_hint, standing.header, played, viewer))


def _hint(header: str, played: list[str], seat: Seat) -> dict[str, Any]:
    from duels.analysis.hints import hint
    from duels.analysis.wording import Glossary

    match = load_record(header).match.play_text(*played)
    try:
        found = hint(match.sight(seat))
    except DuelsError as unknown:
        raise Refusal(str(unknown)) from None
    return {
        "text": Glossary().explain(found.text[:1].upper() + found.text[1:]),
        "actions": [match.rules.format(action) for action in found.actions],
        "belief": dict(found.belief),
    }
