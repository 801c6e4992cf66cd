"""The report on a run as JSON, as CSV, as text for a terminal and as HTML."""

from collections.abc import Iterator
from csv import DictWriter
from html import escape
from io import StringIO
from typing import Any

from duels.arena.confidence import CONFIDENCE, MIN_UNITS, Interval, interval_data
from duels.arena.mistakes import MistakeBoards, explain_measure, measure_key, measure_label
from duels.arena.report import GameReport, Report, format_failures, sum_usage_by_player, summarize_run
from duels.arena.scores import Pairing, PlayerScore
from duels.arena.tables import (
    Block,
    Document,
    Items,
    PageOnly,
    Prose,
    Table,
    format_interval,
    format_points,
    render_heading,
    render_paragraphs,
    render_scrollable,
)
from duels.core.errors import format_install_command
from duels.core.options import options_data

_MIN_PAIRS_FOR_GAIN = 20
_MAX_WORST = 8  # decisions in a game
_MAX_PALE = 0.3  # the strongest colour of an undecided result
_LEGEND = (
    '<p class="legend"><span class="won" style="--p:1"></span> the row is better, '
    '<span class="lost" style="--p:1"></span> the column is; the stronger the colour, the larger the lead; '
    f'<span class="won" style="--p:{_MAX_PALE}"></span><span class="lost" style="--p:{_MAX_PALE}"></span> '
    "pale: undecided, because the interval includes one half.</p>"
)
_COLUMN_NOTES = (
    "The interval under 'luck-adjusted' is valid however often you look. The one under 'fixed size' is "
    "narrower, but valid only if the number of matches was fixed in advance. 'Fewer pairs' says how many "
    "times fewer pairs the adjusted result needs for an interval of the same width; '?' marks a rough "
    "estimate, a dash too few pairs."
)


def as_data(report: Report) -> dict[str, Any]:
    """Return the report for JSON. Two runs with the same config give equal data."""
    return {
        "players": list(report.players),
        "seed": report.seed,
        "matches": report.matches,
        "planned": report.planned,
        "confidence": CONFIDENCE,
        "until": report.max_margin,
        "games": {game.rules.name: _game_data(game) for game in report.games},
        "ratings": report.ratings.as_data() if report.ratings else None,
        "model": dict(report.costs.conditions),
        "prices": dict(report.costs.prices.per_million),
        "usage": {
            player: report.costs.prices.usage_data(used)
            for player, used in sum_usage_by_player(report).items()
        },
        "notes": list(report.notes),
    }


def _game_data(game: GameReport) -> dict[str, Any]:
    return {
        "options": options_data(game.rules.options()),
        "matches": game.matches,
        "opening": game.opening,
        "exactness": game.exactness,
        "luck": game.luck_sentence,
        "measure": game.measure,
        "players": {each.player: _score_data(each, game.measure) for each in game.scores},
        "pairings": [_pairing_data(each) for each in game.pairings],
        "blunders": [each.as_data() for each in game.blunders],
    }


def _score_data(each: PlayerScore, measure: str) -> dict[str, Any]:
    key = measure_key(measure)
    return {
        "matches": each.matches,
        "won": interval_data(each.won) if each.matches else None,
        f"{key}_per_decision": interval_data(each.per_decision) if each.decisions else None,
        f"{key}_per_match": interval_data(each.per_match) if each.decisions else None,
        "decisions": each.decisions,
        "forfeits": each.forfeits,
        "failures": dict(each.failures),
        "kinds_of_decision": {
            category: {"decisions": count, key: shortfall}
            for category, (count, shortfall) in each.mistake_categories.items()
        },
    }


def _pairing_data(each: Pairing) -> dict[str, Any]:
    fixed = each.adjusted_fixed_clipped
    return {
        "one": each.one,
        "two": each.two,
        "matches": each.matches,
        "cut_off": each.cut_off,
        "won": interval_data(each.won) if each.matches else None,
        "adjusted": interval_data(each.adjusted) if each.pairs else None,
        "matches_to_settle": each.matches_to_settle,
        "pairs_left_out": each.left_out,
        "adjusted_fixed_size": interval_data(fixed) if fixed else None,
        "variance_gain": interval_data(each.variance_ratio) if each.variance_ratio else None,
    }


def as_csv(report: Report) -> str:
    """Return CSV with a row for each player in each game."""
    rows = [
        {
            "game": game.rules.name,
            "player": each.player,
            "matches": each.matches,
            **_csv_cells("won", each.won, each.matches),
            "measure": game.measure,
            **_csv_cells("per_decision", each.per_decision, each.decisions),
            "per_match": each.per_match.estimate if each.decisions else None,
            "decisions": each.decisions,
            "forfeits": each.forfeits,
            "failures": sum(each.failures.values()),
        }
        for game in report.games
        for each in game.scores
    ]
    out = StringIO()
    writer = DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_cells(name: str, interval: Interval, count: int) -> dict[str, float | None]:
    """Return an estimate and its bounds; empty if `count` is 0."""
    cells = interval_data(interval).values() if count else [None] * 3
    return dict(zip((name, f"{name}_low", f"{name}_high"), cells, strict=True))


def make_document(report: Report) -> Document:
    """Return the report for a terminal or a page."""
    planned_note = "" if report.matches >= report.planned else f" of {report.planned}"
    introduction = (
        f"{report.matches}{planned_note} matches between {len(report.players)} players, seed {report.seed}. "
        "All intervals are 95 % intervals. A loss is the drop in the probability of winning under perfect "
        f"play, in percentage points. {_explain_missing_intervals(report)}"
    )
    names = ", ".join(game.rules.name for game in report.games)
    games = [block for game in report.games for block in _game_blocks(report, game)]
    cost = report.costs.make_table(sum_usage_by_player(report), report.seconds)
    blocks = [*games, *_rating_blocks(report), cost]
    return Document(f"Arena: {names}", introduction, summarize_run(report), blocks)


def _game_blocks(report: Report, game: GameReport) -> Iterator[Block]:
    rules, loss = game.rules, measure_label(game.measure)
    options = "".join(f", {name} {value}" for name, value in rules.options().items())
    cut = sum(pairing.cut_off for pairing in game.pairings)
    limits = f"{cut} of {game.matches} matches were cut off by the limit and count one half." if cut else ""
    title = f"{rules.game.title} ({rules.name}{options}): {game.matches} matches"
    yield Prose([game.value_sentence, game.luck_sentence, limits], title)
    yield PageOnly(render_heading("Luck-adjusted results") + _render_matrix(report, game) + _LEGEND)
    yield Table(
        "Decisions",
        ["player", "won", f"{loss} per decision", f"{loss} per match", "decisions", "forfeits"],
        [
            [
                each.player,
                format_interval(each.won) if each.matches else "–",
                *format_shortfalls(each),
                each.decisions,
                each.forfeits or "",
            ]
            for each in game.scores
        ],
        notes=[explain_measure(game.measure)],
    )
    categories = Table(
        "By category of decision",
        ["player", "category", "decisions", f"{loss} each"],
        [
            [each.player, category, count, f"{100 * lost / count:.2f}"]
            for each in game.scores
            for category, (count, lost) in each.mistake_categories.items()
            if category
        ],
        label_columns=2,
    )
    yield PageOnly(categories.render_html())
    failures = [f"{each.player}: {format_failures(each.failures)}" for each in game.scores if each.failures]
    yield Items("Failures (not part of the loss)", failures)
    yield Table(
        "Results with and without luck",
        ["result of", "against", "matches", "won", "luck-adjusted", "fixed size", "fewer pairs", "cut off"],
        [[each.one, each.two, each.matches, *_result_cells(each)] for each in game.pairings],
        label_columns=2,
        notes=[_explain_left_out(game)],
    )
    yield PageOnly(render_paragraphs(_COLUMN_NOTES))
    yield MistakeBoards("Worst decisions", game.list_worst(_MAX_WORST))


def format_shortfalls(each: PlayerScore) -> tuple[str, str]:
    """Format a player's shortfall per decision and per match; dashes without decisions."""
    if not each.decisions:
        return "–", "–"
    return format_points(each.per_decision), format_points(each.per_match)


def _result_cells(pairing: Pairing) -> list[object]:
    won = format_interval(pairing.won) if pairing.matches else "–"
    adjusted = format_interval(pairing.adjusted) if pairing.pairs else "–"
    fixed = pairing.adjusted_fixed_clipped
    fixed_text = "" if fixed is None else format_interval(fixed) if fixed.has_bounds else "–"
    return [won, adjusted, fixed_text, format_gain(pairing), pairing.cut_off or ""]


def format_gain(pairing: Pairing) -> str:
    """Format how many times fewer pairs the adjusted result needs: `2.5 to 4.8x`.

    Returns `4x?` for a rough estimate, and a dash if there are too few pairs.
    """
    if pairing.variance_ratio is None:
        return ""
    if pairing.pairs < _MIN_PAIRS_FOR_GAIN:
        return "–"
    if not pairing.variance_ratio.has_bounds:
        return f"{_format_factor(pairing.variance_ratio.estimate)}x?"
    return f"{_format_factor(pairing.variance_ratio.low)} to {_format_factor(pairing.variance_ratio.high)}x"


def _format_factor(number: float) -> str:
    """Format a number with about two digits, never in scientific notation."""
    return f"{number:.0f}" if number >= 10 else f"{round(number, 2):.2g}"


def _explain_missing_intervals(report: Report) -> str:
    """Explain the marks – and ±?; empty if all intervals have bounds."""
    if report.max_margin is not None:
        return "The run may stop early, so only luck-adjusted results have intervals (others show – or ±?)."
    intervals = [each.per_decision for game in report.games for each in game.scores if each.decisions]
    intervals += [
        each.adjusted_fixed for game in report.games for each in game.pairings if each.adjusted_fixed
    ]
    if all(each.has_bounds for each in intervals):
        return ""
    too_few = f"fewer than {MIN_UNITS} pairs"
    return f"No interval (– or ±?) means {too_few}, too few mistakes, or results that are too one-sided."


def _explain_left_out(game: GameReport) -> str:
    count = sum(pairing.left_out for pairing in game.pairings)
    if not count:
        return ""
    pairs = "1 finished pair is" if count == 1 else f"{count} finished pairs are"
    return f"Luck-adjusted: {pairs} left out until earlier pairs are finished."


def _render_matrix(report: Report, game: GameReport) -> str:
    results: dict[tuple[str, str], Interval] = {}
    for each in game.pairings:
        if each.pairs:
            results[each.one, each.two] = each.adjusted
            results[each.two, each.one] = each.adjusted.complement
    head = "".join(f"<th>{escape(name)}</th>" for name in report.players)
    rows = "".join(
        f"<tr><th>{escape(one)}</th>"
        + "".join(_render_cell(results.get((one, two))) for two in report.players)
        + "</tr>"
        for one in report.players
    )
    return render_scrollable(f'<table class="matrix"><tr><td></td>{head}</tr>{rows}</table>')


def _render_cell(result: Interval | None) -> str:
    if result is None:
        return "<td></td>"
    side, lead = ("won" if result.estimate > 0.5 else "lost"), min(1.0, abs(result.estimate - 0.5) * 2)
    # A decided result has a stronger colour than any undecided one, however small the lead.
    strength = _MAX_PALE + (1 - _MAX_PALE) * lead if result.excludes(0.5) else _MAX_PALE * lead
    bounds = f"{100 * result.low:.0f} to {100 * result.high:.0f}"
    text = f"{100 * result.estimate:.1f}<small>{bounds}</small>"
    return f'<td class="{side}" style="--p:{strength:.2f}">{text}</td>'


def _rating_blocks(report: Report) -> list[Block]:
    if report.ratings is None:
        return [Prose([f"Ratings need the extra 'arena': {format_install_command('arena')}."])]
    rows = [
        (name, f"{each.estimate:+.0f}", f"{each.low:+.0f} to {each.high:+.0f}" if each.has_bounds else "")
        for name, each in sorted(report.ratings.players.items(), key=lambda each: -each[1].estimate)
    ]
    table = Table("Ratings", ["player", "rating over all games", "95 %"], rows, level=2)
    return [table, Items("Pairings that do not fit the ratings", report.ratings.misfits)]
