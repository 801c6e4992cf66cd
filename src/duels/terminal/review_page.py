"""A review as one self-contained web page: the curve, and boards to step through."""

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from duels.core.rules import Seat
from duels.core.words import Words, plain
from duels.terminal.advice import belief_strip
from duels.terminal.review import Moment, Review
from duels.terminal.review_text import account

_WIDTH, _HEIGHT, _MARGIN = 720, 220, 34


def review_as_page(review: Review) -> str:
    """The page; it needs nothing but itself."""
    words = review.game.words(review.match.rules)
    steps = [{"title": "The start", "text": plain(words.opening()), "mark": ""}]
    steps += [_step(review, words, moment) for moment in review.moments]
    outcome = review.match.outcome
    template = Template(files(__package__).joinpath("review.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"{review.game.title}: {outcome.reason if outcome else 'unfinished'}"),
        curve=_curve(review),
        # A closing tag inside the data would end the script.
        steps=json.dumps(steps).replace("</", "<\\/"),
        account=escape(plain("\n".join(account(review)))),
    )


def _step(review: Review, words: Words[Any, Any], moment: Moment) -> dict[str, str]:
    who = moment.actor.label if isinstance(moment.actor, Seat) else "Chance"
    seat = moment.actor if isinstance(moment.actor, Seat) else Seat.ONE
    board = plain(words.board(moment.match.sight(seat)))
    lines = [f"Player 1: {100 * moment.before:.1f}% before, {100 * moment.after:.1f}% after."]
    if moment.mark:
        lines.append(f"{moment.mark}: gave away {100 * moment.loss:.1f} points.")
    if moment.mark and moment.loss and moment.best:
        lines.append(f"Best: {', '.join(moment.best[:6])}. {moment.reason}")
    if moment.luck:
        lines.append(f"Luck: {100 * moment.luck:+.1f} points for Player 1.")
    strip = belief_strip(moment.belief)
    if strip:
        lines.append(f"Where {seat.label} could expect the other:\n{strip}")
    text = board + "\n" + "\n".join(lines)
    return {"title": f"{moment.number}. {who}: {moment.entry}", "text": text, "mark": moment.mark}


def _curve(review: Review) -> str:
    """The winning probability as an SVG, one dot an entry."""
    values = [review.opening, *(moment.after for moment in review.moments)]
    gap = (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1)
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
        f'<line class="grid" x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y}" y2="{y}"/>'
        f'<text x="2" y="{y + 4}">{label}</text>'
        for label, y in (("100%", _MARGIN), ("50%", _HEIGHT / 2), ("0%", _HEIGHT - _MARGIN))
    )
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}">{grid}<polyline points="{line}"/>{dots}</svg>'
