"""A review as a self-contained HTML page: a curve, the cost of every entry, and boards."""

import json
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from itertools import pairwise
from string import Template
from typing import Any

from duels.analysis.reasons import Reason, explain_result
from duels.analysis.review import Belief, Review, ReviewedEntry
from duels.analysis.review_text import (
    describe_entry,
    describe_stake,
    format_account,
    format_heading,
    format_legend,
    format_loss,
    format_title,
    get_actor_name,
    get_chance_label,
    is_slip,
    list_comments,
)
from duels.analysis.wording import MISTAKE_NAMES, compute_darkness
from duels.core.drawing import Drawing
from duels.core.match import AnyMatch
from duels.core.narration import SEAT_LABELS, PlayerNames
from duels.core.rules import Seat
from duels.core.svg import stylesheet
from duels.core.words import Words, strip_ink
from duels.solving.oracle import Exactness

_HEIGHT, _MARGIN = 180, 14  # pixels; the curve is as wide as the page
_PHONE_WIDTH = 260  # pixels
_EXTRA_RADIUS = {mark: pixels for pixels, mark in enumerate(MISTAKE_NAMES, start=1)}
_BOARD_ITEM = '<li class="board-number">Board {}</li>'
_MAX_POSITION_LENGTH = 60  # longer positions fill half a phone screen
ContinueCommand = Callable[[int], str]
"""Returns the command that continues the match after a number of entries."""


def render_review_page(
    review: Review, headers: Mapping[str, str] | None = None, make_command: ContinueCommand | None = None
) -> str:
    """Render a page without external resources.

    `headers` are those of the record: players and date.
    """
    template, curve_style = (
        files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("review.html", "curve.css")
    )
    return Template(template).substitute(
        styles=stylesheet() + curve_style,
        title=escape(review.game.title),
        game=escape(review.game.name),
        outcome=escape(format_heading(review)),
        players=_render_players(review, headers or {}),
        why=_render_reasons(review),
        chance=get_chance_label(review),
        play="the strategy" if review.exactness is Exactness.ESTIMATE else "perfectly",
        curve=render_curve(review),
        entries=_render_entries(review),
        beliefs=_render_beliefs(review),
        # A closing tag inside the data would end the script.
        steps=json.dumps(build_review_steps(review, make_command)).replace("</", "<\\/"),
        account=escape(strip_ink("\n".join([*format_account(review), format_legend(review)]))),
    )


def build_review_steps(review: Review, make_command: ContinueCommand | None = None) -> list[dict[str, str]]:
    """Return the start and every entry as steps: board as SVG, title, comments, mark and commands."""
    rules, names = review.match.rules, review.names or SEAT_LABELS
    words, drawing = review.game.words(rules), review.game.drawing(rules)
    start = _render_board(drawing, review.match.after(0), Seat.ONE, names)
    # Leave out the board in letters: the page draws it.
    welcome = strip_ink("\n".join(words.opening().render_news()))
    opening = {"title": "The start", "board": start, "text": welcome, "mark": ""}
    steps = [{**opening, **_make_commands(review, 0, make_command)}]
    for entry in review.entries:
        board = _render_board(drawing, entry.match, _get_viewer(entry), names)
        step = _describe_step(review, words, entry)
        steps.append({"board": board, **step, **_make_commands(review, entry.number, make_command)})
    return steps


def _render_reasons(review: Review) -> str:
    sections = "".join(
        f"<h2>{escape(section.title)}</h2><ul>{''.join(map(_render_reason, section.reasons))}</ul>"
        for section in explain_result(review)
    )
    return f'<section class="card" id="why">{sections}</section>' if sections else ""


def _render_reason(reason: Reason) -> str:
    return f"<li>{escape(strip_ink(reason.text))}{_render_position(escape(strip_ink(reason.position)))}</li>"


def _render_position(notation: str) -> str:
    if not notation:
        return ""
    code = f"<code>{notation}</code>"
    if len(notation) <= _MAX_POSITION_LENGTH:
        return f"<br>Position: {code}"
    return f"<details><summary>Position</summary>{code}</details>"


def _render_players(review: Review, headers: Mapping[str, str]) -> str:
    names = ((seat, headers.get(f"seat{seat.value}")) for seat in Seat)
    seats = [(seat, name and ("you" if seat is review.person else name)) for seat, name in names]
    items = [f'<b class="p{seat.value}">{seat.label}</b>: {escape(name)}' for seat, name in seats if name]
    if started := headers.get("started"):
        items.append(f"<time>{escape(started)}</time>")
    return f'<p class="players">{" · ".join(items)}</p>' if items else ""


def _make_commands(review: Review, number: int, make_command: ContinueCommand | None) -> dict[str, str]:
    """Return the commands that continue from this board and, after a slip, from the board before it."""
    if make_command is None:
        return {}
    is_final = number == len(review.entries) and review.match.over
    commands = {} if is_final else {"here": make_command(number)}
    if number and is_slip(review.entries[number - 1]):
        commands["again"] = make_command(number - 1)
    return commands


def _get_viewer(entry: ReviewedEntry) -> Seat:
    return entry.actor if isinstance(entry.actor, Seat) else Seat.ONE


def _render_board(drawing: Drawing[Any, Any], match: AnyMatch, seat: Seat, names: PlayerNames) -> str:
    """Render the board as a seat sees it; with hidden information, show the secrets of both seats."""
    if match.rules.has_hidden_information:
        picture = drawing.draw_open(match.sight(Seat.ONE), match.sight(Seat.TWO), names=names)
    else:
        picture = drawing.draw(match.sight(seat), names=names)
    return f"<figure>{picture}</figure>"


def _describe_step(review: Review, words: Words[Any, Any], entry: ReviewedEntry) -> dict[str, str]:
    seat = _get_viewer(entry)
    viewers = tuple(Seat) if entry.match.rules.has_hidden_information else (seat,)
    recaps = [words.recap(entry.match.sight(viewer)) for viewer in viewers]
    names = review.names or SEAT_LABELS
    news = [strip_ink(line) for recap in recaps for line in recap.render_news(names)]
    text = "\n".join([*news, *list_comments(review, entry)])
    return {"title": format_title(review, entry), "text": text, "mark": entry.mark}


def _render_entries(review: Review) -> str:
    board = 1
    has_restarts = any(entry.restarts for entry in review.entries)
    items = [_BOARD_ITEM.format(board)] if has_restarts else []
    for entry in review.entries:
        stake = describe_stake(review, entry) if entry.indifference else ""
        details = [entry.mark, format_loss(review, entry) if is_slip(entry) else "", stake]
        cost = escape(", ".join(filter(None, details)))
        slip = " data-slip" if entry.mark in MISTAKE_NAMES else ""
        seat = f"p{entry.actor.value}" if isinstance(entry.actor, Seat) else "chance"
        actor = f'<span class="{seat}">{escape(get_actor_name(review, entry.actor))}</span>'
        items.append(
            f'<li><button data-step="{entry.number}"{slip}>'
            f'<span class="number">{entry.number}</span>'
            f"<span>{actor} {escape(describe_entry(entry))}</span>"
            f'<span class="cost {entry.mark}">{cost}</span></button></li>'
        )
        if entry.restarts:
            board += 1
            items.append(_BOARD_ITEM.format(board))
    return f"<ol>{''.join(items)}</ol>"


def _render_beliefs(review: Review) -> str:
    entries = [entry for entry in review.entries if entry.beliefs]
    tables = "".join(_render_belief_table(entries, seat) for seat in Seat) if entries else ""
    if not tables:
        return ""
    return (
        "<h2>What each player could know</h2>"
        "<p>Before each entry. A stronger colour means a higher probability; "
        f'the dot marks the truth.</p><div class="beliefs">{tables}</div>'
    )


def _render_belief_table(entries: list[ReviewedEntry], seat: Seat) -> str:
    names = list(compute_darkness(entries[0].beliefs[seat].probabilities))
    if not names:
        return ""
    numbers = "".join(f'<th scope="col">{escape(name.rsplit(" ", 1)[-1])}</th>' for name in names)
    rows = "".join(
        f'<tr data-step="{entry.number}">'
        f'<th scope="row">{entry.number}. {escape(describe_entry(entry))}</th>'
        f"{_render_belief_row(entry.beliefs[seat])}</tr>"
        for entry in entries
    )
    caption = f"<caption>{seat.label} about {seat.other.label}</caption>"
    return f"<table>{caption}<thead><tr><td></td>{numbers}</tr></thead><tbody>{rows}</tbody></table>"


def _render_belief_row(belief: Belief) -> str:
    odds = belief.probabilities
    return "".join(
        f'<td class="place" style="--p:{darkness:.2f}" title="{escape(name)}: {odds[name]:.0%}">'
        f"{'●' if name == belief.truth else ''}</td>"
        for name, darkness in compute_darkness(odds).items()
    )


def _get_radius(gap: float, mark: str) -> float:
    """Return a dot's radius in pixels: neighbours do not touch on a phone, and mistakes stand out."""
    return max(1.5, min(6, _PHONE_WIDTH * gap / 100 * 0.4)) + _EXTRA_RADIUS.get(mark, 0)


def render_curve(review: Review) -> str:
    """Render the winning probability over the match as HTML, with a dot for each entry.

    Horizontal positions are shares of the width, so the curve fits any page. Dots shrink in long matches; the
    whole height above and below a dot is clickable.
    """
    values = [review.opening, *(entry.value_after for entry in review.entries)]
    gap = 100 / max(1, len(values) - 1)
    points = [
        (index * gap, _MARGIN + (1 - review.chance(value)) * (_HEIGHT - 2 * _MARGIN))
        for index, value in enumerate(values)
    ]
    marks = ["", *(entry.mark for entry in review.entries)]
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{y:.0f}" y2="{y:.0f}"/>'
        for y in (_MARGIN, _HEIGHT / 2, _HEIGHT - _MARGIN)
    )
    line = "".join(
        f'<line class="value" x1="{x:.3f}%" y1="{y:.1f}" x2="{end_x:.3f}%" y2="{end_y:.1f}"/>'
        for (x, y), (end_x, end_y) in pairwise(points)
    )
    dots = "".join(
        f'<circle class="dot {mark}" data-step="{index}" cx="{x:.3f}%" cy="{y:.1f}" '
        f'r="{_get_radius(gap, mark):.1f}"/>'
        for index, ((x, y), mark) in enumerate(zip(points, marks, strict=True))
    )
    bands = "".join(
        f'<rect class="band" data-step="{index}" x="{x - gap / 2:.3f}%" y="0" width="{gap:.3f}%" '
        f'height="{_HEIGHT}" fill="none" pointer-events="all"/>'
        for index, (x, _) in enumerate(points)
    )
    svg = f'<svg width="100%" height="{_HEIGHT}">{grid}{line}{dots}{bands}</svg>'
    scale = "<span>100%</span><span>50%</span><span>0%</span>"
    return (
        f'<div class="curve side-{review.side.value}" aria-hidden="true">'
        f'<div class="scale">{scale}</div><div class="drawn">{svg}</div></div>'
    )
