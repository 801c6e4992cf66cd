"""The command `review`: a graded table of a match's entries, or its boards one by one."""

import json
import os
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import click

from duels.analysis import review_text
from duels.analysis.review import Moment, Review, review_record
from duels.analysis.review_reasons import Section, explain_result, list_reader_slips
from duels.analysis.wording import EQUALLY_GOOD, MIN_SHOWN, format_belief, render_shades
from duels.core.errors import escape_unprintable
from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.library import read_record
from duels.terminal import options
from duels.terminal.replay import page_through
from duels.terminal.screen import Screen, wrap
from duels.terminal.solve import format_solve_command

_HEIGHT = 8
_MAX_BARS = 72
_MARGIN, _ENTRIES = "     ", "  entries"  # left and right of the chart's axis
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.LOST}
_BELIEFS = "What each player could infer before each entry (darker is likelier, ( ) is the truth):"
_WHO_WIDTH = 10
_ENTRY_WIDTH = 11
_LONG_MATCH = 40  # entries
_UNEVENTFUL, _EQUAL = "nothing given away, no luck", "all actions were equally good"
_MIN_RUN = {_UNEVENTFUL: 6, _EQUAL: 3}  # entries
_TEXT_WIDTH = 100
_POSITION = "  Position: "


@click.command(
    epilog=options.format_examples(
        "duels review evening.duel",
        "duels review --step",
        "duels review evening.duel --json",
        "duels review evening.duel --html review.html",
    )
)
@options.record_argument
@click.option("--json", "as_json", is_flag=True, help="Print the review as a JSON object.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write an HTML page of the boards.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing page.")
@click.option(
    "--step", is_flag=True, help="Show the boards one by one, with the hidden information of both seats."
)
@options.plain_option
def review(file: Path | None, as_json: bool, page: Path | None, force: bool, step: bool, plain: bool) -> None:
    """Show where a match was won and lost.

    The review shows the cost of each decision and the effect of luck. Without FILE, it covers the last match.
    """
    if step and as_json:
        raise click.UsageError("--step cannot be combined with --json.")
    if page and os.path.lexists(page) and not force:
        raise click.UsageError(
            f"--html: {escape_unprintable(str(page))} already exists. Pass --force to overwrite it."
        )
    file = file or options.find_last_match()
    record = read_record(file)
    screen = Screen(plain)
    with screen.progress("reviewing") as progress:
        reviewed = review_record(record, progress)
    if page:
        from duels.analysis.review_page import render_review_page
        from duels.files import write_atomically

        def format_branch_command(entries: int) -> str:
            return options.format_command("resume", file.resolve(), "--at", entries)

        write_atomically(
            page,
            render_review_page(reviewed, record.headers, format_branch_command).encode(),
            overwrite=force,
        )
    if as_json:
        from duels.analysis.review import review_to_dict

        click.echo(json.dumps(review_to_dict(reviewed), indent=2))
    elif step:
        step_through(reviewed, screen)
    else:
        screen.say(render_review(reviewed, screen.width))
    if page:
        click.echo(f"Page: {escape_unprintable(str(page))}", err=True)


def render_review(review: Review, width: int = _TEXT_WIDTH) -> str:
    """Render the whole review, with paragraphs no wider than `width`.

    The reasons come last because a terminal still shows the end of a long text.
    """
    chance, text_width = review_text.get_chance_label(review), min(width, _TEXT_WIDTH)
    lines = [
        f"{review.game.name}: {review_text.format_heading(review)}",
        review_text.describe_players(review),
        wrap(review_text.format_legend(review), text_width),
        "",
        f"     {'who':<{_WHO_WIDTH}}{'entry':<{_get_entry_width(review)}}{chance}, before and after",
        *_render_moments(review),
        *_render_beliefs(review),
        "",
        f"{chance}, entry by entry:",
        *_render_chart(review, width),
        "",
        wrap("\n".join(review_text.format_account(review)), text_width),
        *_render_reasons(review, text_width),
    ]
    return "\n".join(lines) + "\n"


def _get_entry_width(review: Review) -> int:
    return max(_ENTRY_WIDTH, *(len(moment.entry) + 2 for moment in review.moments), 0)


def _render_moments(review: Review) -> list[str]:
    """Return one line per entry. A run of uneventful entries shares a line."""
    is_long = len(review.moments) > _LONG_MATCH
    board = 1
    lines = ["     --- board 1 ---"] if any(moment.restarts for moment in review.moments) else []
    for summary, group in groupby(review.moments, key=partial(_summarize_moment, is_long)):
        moments = list(group)
        if summary and len(moments) >= _MIN_RUN[summary]:
            lines.append(_render_run(review, moments, board, summary))
            board += sum(moment.restarts for moment in moments)
            continue
        for moment in moments:
            lines.append(_render_moment(review, moment))
            if moment.restarts:
                board += 1
                lines.append(f"     --- board {board} ---")
    return lines


def _summarize_moment(is_long: bool, moment: Moment) -> str:
    """Return the summary that an uneventful entry shares with its neighbours, or an empty text."""
    if abs(moment.after - moment.before) >= MIN_SHOWN or moment.loss >= MIN_SHOWN:
        return ""
    if is_long:
        return _UNEVENTFUL
    return _EQUAL if moment.indifference == EQUALLY_GOOD or not isinstance(moment.actor, Seat) else ""


def _render_run(review: Review, moments: list[Moment], board: int, summary: str) -> str:
    """Return the line for a run of uneventful entries that starts on this board."""
    first, last = moments[0], moments[-1]
    clauses = [
        f"     entries {first.number} to {last.number}: {summary}, "
        f"{100 * review.chance(last.after):.1f}% throughout"
    ]
    if stake := review_text.describe_total_stake(review, moments):
        clauses.append(stake)
    new = sum(moment.restarts for moment in moments)
    if new:
        boards = f"boards {board + 1} to {board + new} begin" if new > 1 else f"board {board + 1} begins"
        clauses.append(boards)
    return "; ".join(clauses)


def _render_moment(review: Review, moment: Moment) -> str:
    actor = f"{review_text.get_short_name(review, moment):<{_WHO_WIDTH}}"
    if isinstance(moment.actor, Seat):
        actor = Ink.for_seat(moment.actor)(actor)
    entry = f"{moment.entry:<{_get_entry_width(review)}}"
    before, after = (100 * review.chance(value) for value in (moment.before, moment.after))
    row = f"{moment.number:>3}. {actor}{entry}{before:5.1f}% -> {after:5.1f}%"
    return "  ".join(filter(None, [row, ", ".join(_list_clauses(review, moment))]))


def _list_clauses(review: Review, moment: Moment) -> list[str]:
    clauses = []
    if moment.mark:
        clauses.append(_SERIOUS.get(moment.mark, str)(moment.mark))
    if moment.indifference:
        indifference = review_text.describe_indifference(review, moment, begins=False)
        clauses.append("; ".join(filter(None, [indifference, review_text.describe_stake(review, moment)])))
    if review_text.is_slip(moment) or review_text.has_unproven_loss(moment):
        clauses[-1] += f", gave away {review_text.format_loss(review, moment)}"
    if review_text.is_slip(moment):
        clauses[-1] += f"; best: {review_text.format_best_actions(moment)}"
    return clauses + review_text.describe_luck(review, moment)


def _render_beliefs(review: Review) -> list[str]:
    moments = [moment for moment in review.moments if moment.beliefs]
    if not moments:
        return []
    lines = ["", _BELIEFS, f"     {'Player 1 of Player 2':<24}Player 2 of Player 1"]
    for moment in moments:
        strips = (f"{render_shades(belief.places, belief.truth):<24}" for belief in moment.beliefs.values())
        name = review_text.get_short_name(review, moment)
        lines.append(f"{moment.number:>3}. {''.join(strips)}{name}: {moment.entry}")
    return lines


def _render_chart(review: Review, width: int) -> list[str]:
    max_bars = max(2, min(_MAX_BARS, width - len(_MARGIN) - len(_ENTRIES) - 1))
    values = [review.chance(value) for value in (review.opening, *(m.after for m in review.moments))]
    entries = len(values) - 1
    if 2 * len(values) <= max_bars:
        values = [value for value in values for _ in range(2)]
    elif len(values) > max_bars:
        values = [values[round(i * (len(values) - 1) / (max_bars - 1))] for i in range(max_bars)]
    # Draw a lost position as a thin line, not as a gap.
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


def _render_reasons(review: Review, width: int) -> list[str]:
    lines = [line for section in explain_result(review) for line in ["", *_render_section(section, width)]]
    slips = list_reader_slips(review)
    if slips:
        position = "this position" if len(slips) == 1 else "the first of these positions"
        solve = format_solve_command(review.match.rules, slips[0].position)
        lines.append(f"Analyse {position} with: {Ink.COPIED(solve)}")
    return lines


def _render_section(section: Section, width: int) -> list[str]:
    lines = [f"{section.title}:"]
    for reason in section.reasons:
        lines.append(wrap(f"- {reason.text}", width))
        if reason.position:
            lines.append(_POSITION + Ink.COPIED(reason.position))
    return lines


def step_through(review: Review, screen: Screen) -> None:
    """Page through the boards on a terminal, or print all of them."""
    pages = list(_render_pages(review))
    if screen.on_terminal and screen.can_clear:
        page_through(pages, "entry", screen)
    else:
        screen.say("\n".join(pages))


def _render_pages(review: Review) -> Iterator[str]:
    start = _render_board(review, review.match.after(0))
    chance = f"{review_text.get_chance_label(review)}: {100 * review.chance(review.opening):.1f}%."
    yield f"The start\n\n{start}\n{chance}\n"
    for moment in review.moments:
        yield "\n".join(
            [
                review_text.format_title(review, moment),
                "",
                _render_board(review, moment.match),
                *review_text.list_comments(review, moment, lambda belief: format_belief(belief).rstrip()),
                "",
            ]
        )


def _render_board(review: Review, match: Match) -> str:  # type: ignore[type-arg]
    words = review.game.words(review.match.rules)
    return str(words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO)))
