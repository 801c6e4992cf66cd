"""A review as one self-contained HTML page: the curve, and boards to step through."""

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from duels.analysis.review import Belief, Moment, Review
from duels.analysis.review_words import (
    account,
    best_of,
    heading,
    legend,
    lost,
    what_came_up,
    who,
    why_lost,
)
from duels.analysis.wording import MARKS, belief_strip, darkness, of_player_1
from duels.core.drawing import Drawing
from duels.core.rules import Seat
from duels.core.words import Words, plain

_WIDTH, _HEIGHT, _MARGIN = 720, 220, 34
_LEAST_GAP = 14  # between dots that are 12 wide
_LISTED = {mark.name for mark in MARKS[2:]}


def review_as_page(review: Review) -> str:
    """The page; it needs nothing but itself."""
    template = Template(files(__package__).joinpath("review.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"{review.game.title}: {heading(review)}"),
        chance=of_player_1(review.match.rules),
        curve=curve(review),
        mistakes=_mistakes(review),
        beliefs=_beliefs(review),
        # A closing tag inside the data would end the script.
        steps=json.dumps(review_steps(review)).replace("</", "<\\/"),
        account=escape(plain("\n".join(_account(review)))),
    )


def review_steps(review: Review) -> list[dict[str, str]]:
    """The match entry by entry, each with its boards as SVG, a title, what there is to say, and its mark."""
    rules = review.match.rules
    words, drawing = review.game.words(rules), review.game.drawing(rules)
    steps = [{"title": "The start", "board": "", "text": plain(words.opening()), "mark": ""}]
    for moment in review.moments:
        board = "".join(_boards(drawing, moment, _looking(moment)))
        steps.append({"board": board, **_step(review, words, moment, _looking(moment))})
    return steps


def _account(review: Review) -> list[str]:
    why = why_lost(review)
    return [*account(review), *(["", *why, ""] if why else []), legend()]


def _looking(moment: Moment) -> tuple[Seat, ...]:
    """Whose boards are shown: in games with secrets both, else that of whoever decided."""
    if moment.match.rules.has_secrets:
        return tuple(Seat)
    return (moment.actor,) if isinstance(moment.actor, Seat) else (Seat.ONE,)


def _boards(drawing: Drawing[Any, Any], moment: Moment, looking: tuple[Seat, ...]) -> Iterator[str]:
    """The boards after an entry, each with its player where they differ."""
    for seat in looking:
        whose = f"<figcaption>{seat.label}</figcaption>" if len(looking) > 1 else ""
        yield f"<figure>{whose}{drawing.draw(moment.match.sight(seat))}</figure>"


def _step(
    review: Review, words: Words[Any, Any], moment: Moment, looking: tuple[Seat, ...]
) -> dict[str, str]:
    seat = moment.actor if isinstance(moment.actor, Seat) else Seat.ONE
    remembered = "".join(plain(words.remembered(moment.match.sight(each))) for each in looking)
    lines = [f"Player 1: {100 * moment.before:.1f}% before, {100 * moment.after:.1f}% after."]
    if moment.reason:
        lines.append(
            f"{moment.mark.capitalize()}: {seat.label}, you gave away {lost(review, moment)}. {moment.effect}"
        )
        lines.append(f"Best was {best_of(moment)}. {moment.reason}")
        lines.append(f"Position before it: {moment.position}")
    elif moment.mark or moment.alike:
        lines.append(moment.alike or f"{moment.mark.capitalize()}.")
    if came_up := what_came_up(review, moment):
        told = "; ".join(came_up)
        lines.append(f"{told[0].upper()}{told[1:]}.")
    if moment.mishap:
        lines.append(f"{seat.label}, {moment.mishap}.")
    if moment.beliefs:
        lines.append(f"What {seat.label} could know:\n{belief_strip(moment.beliefs[seat].places)}")
    text = remembered + "\n".join(lines)
    return {"title": _title(moment), "text": text, "mark": moment.mark}


def _title(moment: Moment) -> str:
    return f"{moment.number}. {who(moment).capitalize()}: {moment.entry}"


def _mistakes(review: Review) -> str:
    """A list of what was given away; each item leads to its entry."""
    slips = [moment for moment in review.moments if moment.mark in _LISTED]
    items = "".join(
        f'<li data-step="{moment.number}" class="{moment.mark}">{escape(_title(moment))}: '
        f"{moment.mark}, {escape(lost(review, moment))}</li>"
        for moment in slips
    )
    return f"<ul>{items}</ul>" if items else ""


def _beliefs(review: Review) -> str:
    """Both seats' beliefs over time, a row for each entry."""
    rows = "".join(
        f'<tr data-step="{moment.number}"><th>{escape(_title(moment))}</th>'
        + "<td></td>".join(_strip(belief) for belief in moment.beliefs.values())
        + "</tr>"
        for moment in review.moments
        if moment.beliefs
    )
    if not rows:
        return ""
    return (
        "<p>What each player could know before each entry (darker is likelier, the frame marks the truth): "
        f"on the left Player 1 of Player 2, on the right Player 2 of Player 1.</p><table>{rows}</table>"
    )


def _strip(belief: Belief) -> str:
    return "".join(
        f'<td class="cell{" true" if name == belief.truth else ""}" style="--p:{dark:.2f}" '
        f'title="{escape(name)}: {belief.places[name]:.0%}"></td>'
        for name, dark in darkness(belief.places).items()
    )


def curve(review: Review) -> str:
    """The winning probability as an SVG, one dot an entry."""
    values = [review.opening, *(moment.after for moment in review.moments)]
    # However long the match, a dot stays wide enough to be clicked: the curve scrolls instead.
    gap = max(_LEAST_GAP, (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1))
    width = 2 * _MARGIN + gap * max(1, len(values) - 1)
    points = [
        (_MARGIN + index * gap, _MARGIN + (1 - value) * (_HEIGHT - 2 * _MARGIN))
        for index, value in enumerate(values)
    ]
    marks = ["", *(moment.mark for moment in review.moments)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle class="dot {mark}" data-step="{index}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
        for index, ((x, y), mark) in enumerate(zip(points, marks, strict=True))
    )
    grid = "".join(
        f'<line class="grid" x1="{_MARGIN}" x2="{width - _MARGIN:.0f}" y1="{y}" y2="{y}"/>'
        f'<text x="2" y="{y + 4}">{label}</text>'
        for label, y in (("100%", _MARGIN), ("50%", _HEIGHT / 2), ("0%", _HEIGHT - _MARGIN))
    )
    size = f'viewBox="0 0 {width:.0f} {_HEIGHT}" width="{width:.0f}" height="{_HEIGHT}"'
    return f'<svg {size}>{grid}<polyline points="{line}"/>{dots}</svg>'
