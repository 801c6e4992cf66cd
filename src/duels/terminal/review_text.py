"""A review on the terminal: the table of decisions, the beliefs, the curve, the account."""

from itertools import groupby
from textwrap import wrap

from duels.analysis.review import Moment, Review
from duels.analysis.review_words import (
    POSITION,
    account,
    best_of,
    doubtful,
    heading,
    legend,
    lost,
    slipped,
    slips_of_loser,
    what_came_up,
    who,
    why_lost,
)
from duels.analysis.wording import LEAST_SHOWN, of_player_1, shaded
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.terminal.solve import command_to_solve

_HEIGHT = 8
_WIDTH = 72
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.WON}
_BELIEFS = "What each player could know before each entry (darker is likelier, ( ) is the truth):"
_ENTRY_WIDTH = 11
_LONG_MATCH = 40  # entries
_LEAST_SUMMED_UP = 6
_TEXT_WIDTH = 100
_LOOK = "Look into the first of these positions: "
_COPIED = (POSITION, _LOOK)  # what is on these lines stays in one piece


def review_as_text(review: Review, width: int = _TEXT_WIDTH) -> str:
    """The whole review; no paragraph is wider than `width`."""
    chance = of_player_1(review.match.rules)
    lines = [
        f"{review.game.name}: {heading(review)}",
        "",
        f"     {'who':<9}{'entry':<{_entry_width(review)}}{chance}, before and after",
        *_moment_lines(review),
        *_belief_lines(review),
        "",
        f"{chance}, entry by entry:",
        *_curve(review),
        "",
        *(line for paragraph in _paragraphs(review) for line in _wrapped(paragraph, min(width, _TEXT_WIDTH))),
    ]
    return "\n".join(lines) + "\n"


def _entry_width(review: Review) -> int:
    return max(_ENTRY_WIDTH, *(len(moment.entry) + 2 for moment in review.moments), 0)


def _moment_lines(review: Review) -> list[str]:
    """A line for each entry; in a long match, entries in which nothing happened share one."""
    lines = []
    long = len(review.moments) > _LONG_MATCH
    for quiet, group in groupby(review.moments, key=lambda moment: long and _quiet(moment)):
        moments = list(group)
        if quiet and len(moments) >= _LEAST_SUMMED_UP:
            boards = sum(moment.restarts for moment in moments)
            news = f"; {boards} new board{'s' * (boards > 1)}" if boards else ""
            first, last = moments[0], moments[-1]
            lines.append(
                f"     entries {first.number} to {last.number}: nothing given away, no luck, "
                f"{100 * last.after:.1f}% throughout{news}"
            )
            continue
        for moment in moments:
            lines.append(_moment_line(review, moment))
            if moment.restarts:
                lines.append("     --- a new board ---")
    return lines


def _quiet(moment: Moment) -> bool:
    return abs(moment.after - moment.before) < LEAST_SHOWN and moment.loss < LEAST_SHOWN


def _moment_line(review: Review, moment: Moment) -> str:
    actor = f"{who(moment):<9}"
    if isinstance(moment.actor, Seat):
        actor = Ink.of(moment.actor)(actor)
    entry = f"{moment.entry:<{_entry_width(review)}}"
    line = f"{moment.number:>3}. {actor}{entry}{100 * moment.before:5.1f}% -> {100 * moment.after:5.1f}%"
    if moment.mark:
        line += f"  {_SERIOUS.get(moment.mark, str)(moment.mark)}"
    if moment.alike:
        line += f"  {moment.alike.removesuffix('.').lower()}"
    if slipped(moment):
        line += f", gave away {lost(review, moment)}; best: {best_of(moment)}"
    elif doubtful(moment):
        line += f", gave away {lost(review, moment)}"
    return "  ".join([line, *what_came_up(review, moment)])


def _belief_lines(review: Review) -> list[str]:
    """What each seat could know of the other's secret before each entry, a strip below the other."""
    moments = [moment for moment in review.moments if moment.beliefs]
    if not moments:
        return []
    lines = ["", _BELIEFS, f"     {'Player 1 of Player 2':<24}Player 2 of Player 1"]
    for moment in moments:
        strips = (f"{shaded(belief.places, belief.truth):<24}" for belief in moment.beliefs.values())
        lines.append(f"{moment.number:>3}. {''.join(strips)}{who(moment)}: {moment.entry}")
    return lines


def _curve(review: Review) -> list[str]:
    """A bar for the opening and each entry, filled in eighths; bars of a long match are narrower."""
    values = [review.opening, *(moment.after for moment in review.moments)]
    entries = len(values) - 1
    if 2 * len(values) <= _WIDTH:
        values = [value for value in values for _ in range(2)]
    elif len(values) > _WIDTH:
        values = [values[round(i * (len(values) - 1) / (_WIDTH - 1))] for i in range(_WIDTH)]
    # A lost position is a thin line at the bottom, not a gap.
    heights = [max(1, round(value * _HEIGHT * 8)) for value in values]
    rows = []
    for row in range(_HEIGHT - 1, -1, -1):
        bars = "".join(_BLOCKS[max(0, min(8, height - row * 8))] for height in heights)
        label = {_HEIGHT - 1: "100%", _HEIGHT // 2 - 1: " 50%", 0: "  0%"}.get(row, "    ")
        rows.append(f"{label} |{bars}".rstrip())
    end = str(entries)
    return [
        *rows,
        f"     +{'-' * len(values)}",
        f"      0{end:>{max(len(end) + 1, len(values) - 1)}}  entries",
    ]


def _paragraphs(review: Review) -> list[str]:
    why, slips = why_lost(review), slips_of_loser(review)
    if slips:
        why.append(_LOOK + command_to_solve(review.match.rules, slips[0].position))
    return [*account(review), *(["", *why, ""] if why else []), legend()]


def _wrapped(paragraph: str, width: int) -> list[str]:
    if not paragraph or paragraph.startswith(_COPIED):
        return [paragraph]
    indent = "  " if paragraph.startswith("- ") else ""
    return wrap(paragraph, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
