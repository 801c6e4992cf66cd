"""The command `review`: a graded table of a match's entries, or its boards one by one."""

import json
import os
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import click

from duels.analysis import review_text
from duels.analysis.reasons import Section, explain_result, list_reader_slips
from duels.analysis.review import Review, ReviewedEntry, review_record
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
_MARGIN, _AXIS_LABEL = "     ", "  entries"  # left and right of the chart
_BLOCKS = " ▁▂▃▄▅▆▇█"
_MARK_INKS = {"mistake": Ink.CHANGED, "blunder": Ink.LOST}
_BELIEFS_HEADING = "What each player could infer before each entry (darker is likelier, ( ) is the truth):"
_WHO_WIDTH = 10
_BELIEF_WIDTH = 24
_ENTRY_WIDTH = 11
_LONG_MATCH = 40  # entries
_UNEVENTFUL, _EQUAL = "nothing given away, no luck", "all actions were equally good"
_MIN_RUN = {_UNEVENTFUL: 6, _EQUAL: 3}  # entries
_TEXT_WIDTH = 100
_POSITION_LABEL = "  Position: "


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
@click.option("--html", "html_path", type=options.NEW_FILE, help="Also write the review as a web page.")
@click.option("--force", is_flag=True, help="Let --html overwrite an existing file.")
@click.option(
    "--step", is_flag=True, help="Show the boards one by one, with the hidden information of both seats."
)
@options.plain_option
def review(
    file: Path | None, as_json: bool, html_path: Path | None, force: bool, step: bool, plain: bool
) -> None:
    """Show where a match was won or lost, by default the last one.

    The review shows what each decision cost and how much was luck.
    """
    if step and as_json:
        raise click.UsageError("--step cannot be combined with --json.")
    if html_path and os.path.lexists(html_path) and not force:
        raise click.UsageError(
            f"--html: {escape_unprintable(str(html_path))} already exists. Pass --force to overwrite it."
        )
    file = file or options.find_last_match()
    record = read_record(file)
    screen = Screen(plain)
    with screen.progress("reviewing") as progress:
        reviewed = review_record(record, progress)
    if html_path:
        from duels.analysis.review_page import render_review_page
        from duels.files import write_atomically

        format_branch_command = partial(options.format_command, "resume", file.resolve(), "--at")
        html = render_review_page(reviewed, record.headers, format_branch_command)
        write_atomically(html_path, html.encode(), overwrite=force)
    if as_json:
        from duels.analysis.review_json import review_to_dict

        click.echo(json.dumps(review_to_dict(reviewed), indent=2))
    elif step:
        step_through(reviewed, screen)
    else:
        screen.say(render_review(reviewed, screen.width))
    if html_path:
        click.echo(f"Page: {escape_unprintable(str(html_path))}", err=True)


def render_review(review: Review, width: int = _TEXT_WIDTH, reasons_first: bool = False) -> str:
    """Render the whole review, with paragraphs no wider than `width`.

    With `reasons_first`, the reasons stand above the details. By default they come last, where a terminal
    still shows them after a long text.
    """
    chance_label, text_width = review_text.get_chance_label(review), min(width, _TEXT_WIDTH)
    heading = f"{review.game.name}: {review_text.format_heading(review)}"
    title = wrap(f"{heading}\n{review_text.describe_players(review)}", text_width).splitlines()
    details = [
        wrap(review_text.format_legend(review), text_width),
        "",
        f"     {'who':<{_WHO_WIDTH}}{'entry':<{_get_entry_width(review)}}{chance_label}, before and after",
        *_render_entries(review),
        *_render_beliefs(review),
        "",
        f"{chance_label}, entry by entry:",
        *_render_chart(review, width),
        "",
        wrap("\n".join(review_text.format_account(review)), text_width),
    ]
    reasons = _render_reasons(review, text_width)
    parts = [*title, *reasons, "", *details] if reasons_first else [*title, *details, *reasons]
    return "\n".join(parts) + "\n"


def _get_entry_width(review: Review) -> int:
    return max(_ENTRY_WIDTH, *(len(entry.notation) + 2 for entry in review.entries), 0)


def _render_entries(review: Review) -> list[str]:
    """Return one line per entry. A run of uneventful entries shares a line."""
    is_long = len(review.entries) > _LONG_MATCH
    board = 1
    lines = ["     --- board 1 ---"] if any(entry.restarts for entry in review.entries) else []
    for summary, group in groupby(review.entries, key=partial(_summarize_entry, is_long)):
        entries = list(group)
        if summary and len(entries) >= _MIN_RUN[summary]:
            lines.append(_render_run(review, entries, board, summary))
            board += sum(entry.restarts for entry in entries)
            continue
        for entry in entries:
            lines.append(_render_entry(review, entry))
            if entry.restarts:
                board += 1
                lines.append(f"     --- board {board} ---")
    return lines


def _summarize_entry(is_long: bool, entry: ReviewedEntry) -> str:
    """Return the summary that an uneventful entry shares with its neighbours, or an empty string."""
    if abs(entry.value_after - entry.value_before) >= MIN_SHOWN or entry.loss >= MIN_SHOWN:
        return ""
    if is_long:
        return _UNEVENTFUL
    return _EQUAL if entry.indifference == EQUALLY_GOOD or not isinstance(entry.actor, Seat) else ""


def _render_run(review: Review, entries: list[ReviewedEntry], board: int, summary: str) -> str:
    """Return the line for a run of uneventful entries. `board` is the number of the board at its start."""
    first, last = entries[0], entries[-1]
    clauses = [
        f"     entries {first.number} to {last.number}: {summary}, "
        f"{100 * review.chance(last.value_after):.1f}% throughout"
    ]
    count = sum(entry.restarts for entry in entries)
    if count:
        boards = f"boards {board + 1} to {board + count} begin" if count > 1 else f"board {board + 1} begins"
        clauses.append(boards)
    return "; ".join(clauses)


def _render_entry(review: Review, entry: ReviewedEntry) -> str:
    actor = f"{review_text.get_actor_name(review, entry.actor):<{_WHO_WIDTH}}"
    if isinstance(entry.actor, Seat):
        actor = Ink.for_seat(entry.actor)(actor)
    notation = f"{entry.notation:<{_get_entry_width(review)}}"
    before, after = (100 * review.chance(value) for value in (entry.value_before, entry.value_after))
    row = f"{entry.number:>3}. {actor}{notation}{before:5.1f}% -> {after:5.1f}%"
    return "  ".join(filter(None, [row, ", ".join(_list_clauses(review, entry))]))


def _list_clauses(review: Review, entry: ReviewedEntry) -> list[str]:
    clauses = []
    if entry.mark:
        clauses.append(_MARK_INKS.get(entry.mark, str)(entry.mark))
    if entry.indifference:
        indifference = review_text.describe_indifference(review, entry, begins=False)
        clauses.append("; ".join(filter(None, [indifference, review_text.describe_stake(review, entry)])))
    if review_text.is_slip(entry) or review_text.has_unproven_loss(entry):
        clauses[-1] += f", gave away {review_text.format_loss(review, entry)}"
    if review_text.is_slip(entry):
        clauses[-1] += f"; best: {review_text.format_best_actions(entry)}"
    return clauses + review_text.describe_luck(review, entry)


def _render_beliefs(review: Review) -> list[str]:
    entries = [entry for entry in review.entries if entry.beliefs]
    if not entries:
        return []
    owners = [review_text.get_player_names(review).possessive(seat, begins=True) for seat in Seat]
    heading = "".join(f"{owner + ' view':<{_BELIEF_WIDTH}}" for owner in owners)
    lines = ["", _BELIEFS_HEADING, f"     {heading}".rstrip()]
    for entry in entries:
        shades = (render_shades(belief.probabilities, belief.truth) for belief in entry.beliefs.values())
        columns = "".join(f"{shade:<{_BELIEF_WIDTH}}" for shade in shades)
        name = review_text.get_actor_name(review, entry.actor)
        lines.append(f"{entry.number:>3}. {columns}{name}: {entry.notation}")
    return lines


def _render_chart(review: Review, width: int) -> list[str]:
    max_bars = max(2, min(_MAX_BARS, width - len(_MARGIN) - len(_AXIS_LABEL) - 1))
    values = [review.chance(value) for value in (review.opening, *(e.value_after for e in review.entries))]
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
        f"{_MARGIN} 0{end:>{max(len(end) + 1, len(values) - 1)}}{_AXIS_LABEL}",
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
            lines.append(_POSITION_LABEL + Ink.COPIED(reason.position))
    return lines


def step_through(review: Review, screen: Screen) -> None:
    """Page through the boards on a terminal, or print all of them."""
    pages = list(_render_pages(review))
    if screen.can_page:
        page_through(pages, "entry", screen)
    else:
        screen.say("\n".join(pages))


def _render_pages(review: Review) -> Iterator[str]:
    start = _render_board(review, review.match.after(0))
    chance_line = f"{review_text.get_chance_label(review)}: {100 * review.chance(review.opening):.1f}%."
    yield f"The start\n\n{start}\n{chance_line}\n"
    for entry in review.entries:
        yield "\n".join(
            [
                review_text.format_title(review, entry),
                "",
                _render_board(review, entry.match),
                *review_text.list_comments(review, entry, lambda belief: format_belief(belief).rstrip()),
                "",
            ]
        )


def _render_board(review: Review, match: Match) -> str:  # type: ignore[type-arg]
    words = review.game.words(review.match.rules)
    names = review_text.get_player_names(review)
    return str(words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO), names=names))
