"""A review as one self-contained HTML page: the curve, every entry with what it cost, and boards."""

import json
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from itertools import pairwise
from string import Template
from typing import Any

from duels.analysis.review import Belief, Moment, Review
from duels.analysis.review_reasons import Reason, explain_result
from duels.analysis.review_text import (
    describe_assumed_play,
    describe_entry,
    describe_stake,
    format_account,
    format_heading,
    format_legend,
    format_loss,
    format_title,
    get_chance_label,
    get_short_name,
    is_slip,
    list_comments,
)
from duels.analysis.wording import MISTAKES, compute_darkness
from duels.core.drawing import Drawing
from duels.core.match import AnyMatch
from duels.core.narration import SEAT_LABELS, Narration, PlayerNames
from duels.core.rules import Seat
from duels.core.svg import stylesheet
from duels.core.words import Words, strip_ink

_HEIGHT, _MARGIN = 180, 14  # of the curve, in pixels; it is as wide as the page
_NARROWEST = 260  # pixels that the curve has on a phone
_LARGER = {mark.name: pixels for pixels, mark in enumerate(MISTAKES, start=1)}
_BOARD = '<li class="on">Board {}</li>'
_LISTED = {mark.name for mark in MISTAKES}
_LONGEST_SHOWN = 60  # letters of a position; a longer one fills half a phone
PlayOn = Callable[[int], str]
"""The command that plays on from after so many entries."""


def render_review_page(
    review: Review, headers: Mapping[str, str] | None = None, play_on: PlayOn | None = None
) -> str:
    """The page; it needs nothing but itself.

    `headers` are the record's, which name players and date.
    """
    template = Template(files(__package__).joinpath("review.html").read_text(encoding="utf-8"))
    return template.substitute(
        styles=stylesheet() + curve_stylesheet(),
        title=escape(review.game.title),
        game=escape(review.game.name),
        outcome=escape(format_heading(review)),
        players=_players(review, headers or {}),
        result=_result(review),
        why=_why(review),
        chance=get_chance_label(review),
        play=describe_assumed_play(review),
        curve=render_curve(review),
        entries=_entries(review),
        beliefs=_beliefs(review),
        # A closing tag inside the data would end the script.
        steps=json.dumps(build_review_steps(review, play_on)).replace("</", "<\\/"),
        account=escape(strip_ink("\n".join([*format_account(review), format_legend(review)]))),
    )


def build_review_steps(review: Review, play_on: PlayOn | None = None) -> list[dict[str, str]]:
    """The start, then every entry: boards as SVG, a title, what there is to say, its mark, commands."""
    rules, names = review.match.rules, review.names or SEAT_LABELS
    words, drawing = review.game.words(rules), review.game.drawing(rules)
    start = _board(drawing, review.match.after(0), Seat.ONE, names)
    # What the drawing shows is not said again in letters.
    welcome = strip_ink("\n".join(words.opening().render_news()))
    opening = {"title": "The start", "board": start, "text": welcome, "mark": ""}
    steps = [{**opening, **_commands(review, 0, play_on)}]
    for moment in review.moments:
        board = _board(drawing, moment.match, _decided(moment), names)
        told = _step(review, words, moment)
        steps.append({"board": board, **told, **_commands(review, moment.number, play_on)})
    return steps


def _result(review: Review) -> str:
    """Whether the one person won, before how the match ended."""
    outcome = review.match.outcome
    if not outcome or not outcome.winner or not review.person:
        return ""
    return f"<b>You {'won' if outcome.winner is review.person else 'lost'}.</b> "


def _why(review: Review) -> str:
    """Why it was won or lost: what somebody who opens the page wants to know first."""
    told = "".join(
        f"<h2>{escape(section.title)}</h2><ul>{''.join(map(_reason, section.reasons))}</ul>"
        for section in explain_result(review)
    )
    return f'<section class="card" id="why">{told}</section>' if told else ""


def _reason(reason: Reason) -> str:
    return f"<li>{escape(strip_ink(reason.text))}{_position(escape(strip_ink(reason.position)))}</li>"


def _position(notation: str) -> str:
    """The position of a reason; a long one, as of a game with secrets, is folded."""
    if not notation:
        return ""
    code = f"<code>{notation}</code>"
    if len(notation) <= _LONGEST_SHOWN:
        return f"<br>Position: {code}"
    return f"<details><summary>Position</summary>{code}</details>"


def _players(review: Review, headers: Mapping[str, str]) -> str:
    """Who played, and when, as far as the record says."""
    given = ((seat, headers.get(f"seat{seat.value}")) for seat in Seat)
    seats = [(seat, name and ("you" if seat is review.person else name)) for seat, name in given]
    said = [f'<b class="p{seat.value}">{seat.label}</b>: {escape(name)}' for seat, name in seats if name]
    if started := headers.get("started"):
        said.append(f"<time>{escape(started)}</time>")
    return f'<p class="players">{" · ".join(said)}</p>' if said else ""


def _commands(review: Review, number: int, play_on: PlayOn | None) -> dict[str, str]:
    """Commands to copy: play on from the board that is shown, and a slip once more."""
    if play_on is None:
        return {}
    over = number == len(review.moments) and review.match.over
    found = {} if over else {"here": play_on(number)}
    if number and is_slip(review.moments[number - 1]):
        found["again"] = play_on(number - 1)
    return found


def _decided(moment: Moment) -> Seat:
    return moment.actor if isinstance(moment.actor, Seat) else Seat.ONE


def _board(drawing: Drawing[Any, Any], match: AnyMatch, seat: Seat, names: PlayerNames) -> str:
    """The board as a seat sees it; in games with secrets with those of both."""
    if match.rules.has_secrets:
        drawn = drawing.open_picture(match.sight(Seat.ONE), match.sight(Seat.TWO), names=names)
    else:
        drawn = drawing.picture(match.sight(seat), names=names)
    return f"<figure>{drawn}</figure>"


def _step(review: Review, words: Words[Any, Any], moment: Moment) -> dict[str, str]:
    seat = _decided(moment)
    looking = tuple(Seat) if moment.match.rules.has_secrets else (seat,)
    remembered = [words.recap(moment.match.sight(each)) for each in looking]
    if not review.is_person(seat):  # the book speaks to whoever acted
        remembered = [Narration(each.lines) for each in remembered]
    news = [strip_ink(line) for each in remembered for line in each.render_news(review.names or SEAT_LABELS)]
    text = "\n".join([*news, *list_comments(review, moment)])
    return {"title": format_title(review, moment), "text": text, "mark": moment.mark}


def _entries(review: Review) -> str:
    """Every entry with what it cost; each leads to its board."""
    board = 1
    numbered = any(moment.restarts for moment in review.moments)
    items = [_BOARD.format(board)] if numbered else []
    for moment in review.moments:
        stake = describe_stake(review, moment) if moment.indifference else ""
        told = [moment.mark, format_loss(review, moment) if is_slip(moment) else "", stake]
        slip = " data-slip" if moment.mark in _LISTED else ""
        seat = f"p{moment.actor.value}" if isinstance(moment.actor, Seat) else "chance"
        actor = f'<span class="{seat}">{escape(get_short_name(review, moment))}</span>'
        items.append(
            f'<li><button data-step="{moment.number}"{slip}>'
            f'<span class="number">{moment.number}</span>'
            f"<span>{actor} {escape(describe_entry(moment))}</span>"
            f'<span class="cost {moment.mark}">{escape(", ".join(filter(None, told)))}</span></button></li>'
        )
        if moment.restarts:
            board += 1
            items.append(_BOARD.format(board))
    return f"<ol>{''.join(items)}</ol>"


def _beliefs(review: Review) -> str:
    """Both seats' beliefs over time, a row for each entry under the numbers of the cells."""
    moments = [moment for moment in review.moments if moment.beliefs]
    tables = "".join(_belief_table(moments, seat) for seat in Seat) if moments else ""
    if not tables:
        return ""
    return (
        "<h2>What each player could know</h2>"
        "<p>Before each entry: the stronger the colour of a place, the likelier; "
        f'the dot marks the truth.</p><div class="beliefs">{tables}</div>'
    )


def _belief_table(moments: list[Moment], seat: Seat) -> str:
    names = [
        name
        for name in moments[0].beliefs[seat].places
        if name in compute_darkness(moments[0].beliefs[seat].places)
    ]
    if not names:
        return ""
    numbers = "".join(f'<th scope="col">{escape(name.rsplit(" ", 1)[-1])}</th>' for name in names)
    rows = "".join(
        f'<tr data-step="{moment.number}">'
        f'<th scope="row">{moment.number}. {escape(describe_entry(moment))}</th>'
        f"{_strip(moment.beliefs[seat])}</tr>"
        for moment in moments
    )
    caption = f"<caption>{seat.label} about {seat.other.label}</caption>"
    return f"<table>{caption}<thead><tr><td></td>{numbers}</tr></thead><tbody>{rows}</tbody></table>"


def _strip(belief: Belief) -> str:
    return "".join(
        f'<td class="place" style="--p:{dark:.2f}" title="{escape(name)}: {belief.places[name]:.0%}">'
        f"{'●' if name == belief.truth else ''}</td>"
        for name, dark in compute_darkness(belief.places).items()
    )


def _radius(gap: float, mark: str) -> float:
    """The radius of a dot on the curve, in pixels: on a phone neighbours stay apart, and slips stand out."""
    return max(1.5, min(6, _NARROWEST * gap / 100 * 0.4)) + _LARGER.get(mark, 0)


def curve_stylesheet() -> str:
    """`curve.css`, for pages that show a curve."""
    return files(__package__).joinpath("curve.css").read_text(encoding="utf-8")


def render_curve(review: Review) -> str:
    """The winning probability over the match as HTML, one dot an entry; `curve.css` lays it out.

    Across, everything is a share of the width: it fits any page, however long the match. Dots shrink where
    there are many; what is clicked is the whole height above and below them.
    """
    values = [review.chance(value) for value in (review.opening, *(m.after for m in review.moments))]
    gap = 100 / max(1, len(values) - 1)
    points = [
        (index * gap, _MARGIN + (1 - value) * (_HEIGHT - 2 * _MARGIN)) for index, value in enumerate(values)
    ]
    marks = ["", *(moment.mark for moment in review.moments)]
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{y:.0f}" y2="{y:.0f}"/>'
        for y in (_MARGIN, _HEIGHT / 2, _HEIGHT - _MARGIN)
    )
    line = "".join(
        f'<line class="value" x1="{x:.3f}%" y1="{y:.1f}" x2="{to_x:.3f}%" y2="{to_y:.1f}"/>'
        for (x, y), (to_x, to_y) in pairwise(points)
    )
    dots = "".join(
        f'<circle class="dot {mark}" data-step="{index}" cx="{x:.3f}%" cy="{y:.1f}" '
        f'r="{_radius(gap, mark):.1f}"/>'
        for index, ((x, y), mark) in enumerate(zip(points, marks, strict=True))
    )
    bands = "".join(
        f'<rect class="band" data-step="{index}" x="{x - gap / 2:.3f}%" y="0" width="{gap:.3f}%" '
        f'height="{_HEIGHT}" fill="none" pointer-events="all"/>'
        for index, (x, _) in enumerate(points)
    )
    drawn = f'<svg width="100%" height="{_HEIGHT}">{grid}{line}{dots}{bands}</svg>'
    scale = "<span>100%</span><span>50%</span><span>0%</span>"
    return (
        f'<div class="curve side-{review.side.value}" aria-hidden="true">'
        f'<div class="scale">{scale}</div><div class="drawn">{drawn}</div></div>'
    )
