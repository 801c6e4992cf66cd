"""A review on the terminal: the table of decisions, the beliefs, the curve, the account."""

from functools import partial
from itertools import groupby
from textwrap import wrap

from duels.analysis.review import Moment, Review
from duels.analysis.review_why import Section, slips_to_learn_from, why
from duels.analysis.review_words import (
    account,
    alike,
    at_stake,
    at_stake_in_all,
    best_of,
    doubtful,
    heading,
    legend,
    lost,
    slipped,
    what_came_up,
    who_in_short,
    who_played,
    whose_chance,
)
from duels.analysis.wording import EQUALLY_GOOD, LEAST_SHOWN, shaded
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.terminal.solve import command_to_solve

_HEIGHT = 8
_MOST_BARS = 72
_MARGIN, _ENTRIES = "     ", "  entries"  # left and right of the line below the bars
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.LOST}
_BELIEFS = "What each player could know before each entry (darker is likelier, ( ) is the truth):"
_WHO_WIDTH = 10
_ENTRY_WIDTH = 11
_LONG_MATCH = 40  # entries
_UNEVENTFUL, _EQUAL = "nothing given away, no luck", "all actions were equally good"
_LEAST_SUMMED_UP = {_UNEVENTFUL: 6, _EQUAL: 3}  # entries
_TEXT_WIDTH = 100
_POSITION = "  Position: "


def review_as_text(review: Review, width: int = _TEXT_WIDTH) -> str:
    """The whole review; no paragraph is wider than `width`.

    Why it was won or lost comes last: the end is what a terminal still shows.
    """
    chance = whose_chance(review)
    lines = [
        f"{review.game.name}: {heading(review)}",
        who_played(review),
        *_wrapped(legend(review), min(width, _TEXT_WIDTH)),
        "",
        f"     {'who':<{_WHO_WIDTH}}{'entry':<{_entry_width(review)}}{chance}, before and after",
        *_moment_lines(review),
        *_belief_lines(review),
        "",
        f"{chance}, entry by entry:",
        *_curve(review, width),
        "",
        *_wrapped("\n".join(account(review)), min(width, _TEXT_WIDTH)),
        *_why_lines(review, min(width, _TEXT_WIDTH)),
    ]
    return "\n".join(lines) + "\n"


def _entry_width(review: Review) -> int:
    return max(_ENTRY_WIDTH, *(len(moment.entry) + 2 for moment in review.moments), 0)


def _moment_lines(review: Review) -> list[str]:
    """A line for each entry; a run of entries in which nothing happened, or could, has one."""
    long = len(review.moments) > _LONG_MATCH
    board = 1
    lines = ["     --- board 1 ---"] if any(moment.restarts for moment in review.moments) else []
    for quiet, group in groupby(review.moments, key=partial(_kind_of_quiet, long)):
        moments = list(group)
        if quiet and len(moments) >= _LEAST_SUMMED_UP[quiet]:
            lines.append(_summed_up(review, moments, board, quiet))
            board += sum(moment.restarts for moment in moments)
            continue
        for moment in moments:
            lines.append(_moment_line(review, moment))
            if moment.restarts:
                board += 1
                lines.append(f"     --- board {board} ---")
    return lines


def _kind_of_quiet(long: bool, moment: Moment) -> str:
    """Under which words an entry is summed up with those around it; empty where it stands by itself."""
    if abs(moment.after - moment.before) >= LEAST_SHOWN or moment.loss >= LEAST_SHOWN:
        return ""
    if long:
        return _UNEVENTFUL
    return _EQUAL if moment.alike == EQUALLY_GOOD or not isinstance(moment.actor, Seat) else ""


def _summed_up(review: Review, moments: list[Moment], board: int, quiet: str) -> str:
    """One line for entries in which nothing happened; they begin on the board of this number."""
    first, last = moments[0], moments[-1]
    told = [
        f"     entries {first.number} to {last.number}: {quiet}, "
        f"{100 * review.chance(last.after):.1f}% throughout"
    ]
    if stake := at_stake_in_all(review, moments):
        told.append(stake)
    new = sum(moment.restarts for moment in moments)
    if new:
        boards = f"boards {board + 1} to {board + new} begin" if new > 1 else f"board {board + 1} begins"
        told.append(boards)
    return "; ".join(told)


def _moment_line(review: Review, moment: Moment) -> str:
    actor = f"{who_in_short(review, moment):<{_WHO_WIDTH}}"
    if isinstance(moment.actor, Seat):
        actor = Ink.of(moment.actor)(actor)
    entry = f"{moment.entry:<{_entry_width(review)}}"
    before, after = (100 * review.chance(value) for value in (moment.before, moment.after))
    row = f"{moment.number:>3}. {actor}{entry}{before:5.1f}% -> {after:5.1f}%"
    return "  ".join(filter(None, [row, ", ".join(judged(review, moment))]))


def judged(review: Review, moment: Moment) -> list[str]:
    """What is to be said of an entry, in clauses: its mark, what it gave away, what was at stake, luck."""
    told = []
    if moment.mark:
        told.append(_SERIOUS.get(moment.mark, str)(moment.mark))
    if moment.alike:
        told.append("; ".join(filter(None, [alike(review, moment, begins=False), at_stake(review, moment)])))
    if slipped(moment):
        told[-1] += f", gave away {lost(review, moment)}; best: {best_of(moment)}"
    elif doubtful(moment):
        told[-1] += f", gave away {lost(review, moment)}"
    return told + what_came_up(review, moment)


def _belief_lines(review: Review) -> list[str]:
    """What each seat could know of the other's secret before each entry, a strip below the other."""
    moments = [moment for moment in review.moments if moment.beliefs]
    if not moments:
        return []
    lines = ["", _BELIEFS, f"     {'Player 1 of Player 2':<24}Player 2 of Player 1"]
    for moment in moments:
        strips = (f"{shaded(belief.places, belief.truth):<24}" for belief in moment.beliefs.values())
        lines.append(f"{moment.number:>3}. {''.join(strips)}{who_in_short(review, moment)}: {moment.entry}")
    return lines


def _curve(review: Review, width: int) -> list[str]:
    """A bar for the opening and each entry, filled in eighths; bars of a long match are narrower."""
    most = max(2, min(_MOST_BARS, width - len(_MARGIN) - len(_ENTRIES) - 1))
    values = [review.chance(value) for value in (review.opening, *(m.after for m in review.moments))]
    entries = len(values) - 1
    if 2 * len(values) <= most:
        values = [value for value in values for _ in range(2)]
    elif len(values) > most:
        values = [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]
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
        f"{_MARGIN}+{'-' * len(values)}",
        f"{_MARGIN} 0{end:>{max(len(end) + 1, len(values) - 1)}}{_ENTRIES}",
    ]


def _why_lines(review: Review, width: int) -> list[str]:
    """Why it was won or lost, then how to look into a slip."""
    lines = [line for section in why(review) for line in ["", *_section_lines(section, width)]]
    slips = slips_to_learn_from(review)
    if slips:
        which = "this position" if len(slips) == 1 else "the first of these positions"
        command = command_to_solve(review.match.rules, slips[0].position)
        lines.append(f"Look into {which}: {Ink.COPIED(command)}")
    return lines


def _section_lines(section: Section, width: int) -> list[str]:
    lines = [f"{section.title}:"]
    for reason in section.reasons:
        lines += _wrapped(f"- {reason.text}", width, indent="  ")
        if reason.position:
            lines.append(_POSITION + Ink.COPIED(reason.position))
    return lines


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The paragraphs of a text; lines but the first are indented."""
    return [
        line
        for paragraph in text.splitlines()
        for line in wrap(
            paragraph, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    ]
