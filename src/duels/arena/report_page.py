"""A report as one self-contained HTML page: matrix, standings, worst decisions as boards, failures."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template

from duels.arena.confidence import Interval
from duels.arena.mistakes import name_of, said_of
from duels.arena.report import GameReport, Report
from duels.arena.report_text import (
    STOPPED,
    USAGE,
    asked_in_all,
    fixed_size,
    graded,
    pairs_left_out,
    rating_bounds,
    share,
    times_fewer,
    too_little,
    usage_rows,
)
from duels.arena.summary import by_class, of_run
from duels.core.errors import to_install
from duels.core.svg import stylesheet

_MOST_BOARDS = 12


def as_page(report: Report) -> str:
    """The page; it needs nothing but itself."""
    done = "" if report.matches >= report.planned else f" of {report.planned} planned"
    summary = (
        f"{report.matches}{done} matches between {len(report.players)} players, seed {report.seed}. "
        "All intervals are of 95 %. A loss is what a decision gave away of the chance to win, if both sides "
        "play perfectly from there on, in points of a hundred."
    )
    if report.until is not None:
        summary += f" {STOPPED}"
    games = "".join(_game(report, game) for game in report.games)
    body = games + _ratings(report) + _usage(report)
    names = ", ".join(game.rules.name for game in report.games)
    return html_page(f"Arena: {names}", summary, html_in_short(of_run(report)) + body)


def html_in_short(sentences: Iterable[str]) -> str:
    """The summary at the top of a report."""
    return f"<h2>In short</h2><ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"


def html_page(title: str, summary: str, body: str) -> str:
    """A page that needs nothing but itself, around a body that is HTML already."""
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(title), summary=escape(summary), boards=stylesheet(), body=body)


def _ratings(report: Report) -> str:
    if report.ratings is None:
        return f"<p>Ratings need the extra arena: {escape(to_install('arena'))}.</p>"
    if not report.ratings.players:
        return ""
    ordered = sorted(report.ratings.players.items(), key=lambda each: -each[1].estimate)
    rows = [[escape(name), f"{each.estimate:+.0f}", rating_bounds(each)] for name, each in ordered]
    doubts = "".join(f"<li>{escape(each)}</li>" for each in report.ratings.misfits)
    warning = f"<p>One number does not tell all here:</p><ul>{doubts}</ul>" if doubts else ""
    return f"<h2>Ratings over all games</h2>{html_table(['player', 'rating', '95 %'], rows)}{warning}"


def _usage(report: Report) -> str:
    rows = [list(map(escape, row)) for row in usage_rows(report)]
    if not rows:
        return ""
    return f"<h2>Cost</h2>{html_table(USAGE, rows)}<p>{escape(asked_in_all(report))}</p>"


def _game(report: Report, game: GameReport) -> str:
    rules, worth = game.rules, f"{game.worth} {game.luck}"
    cut = sum(pairing.cut_off for pairing in game.pairings)
    limits = f" {cut} of {game.matches} matches were cut off by the limit and count one half." if cut else ""
    return (
        f"<h2>{escape(rules.game.title)} ({escape(rules.name)})</h2><p>{escape(worth + limits)}</p>"
        f"<h3>Who beats whom, luck taken out</h3>{_matrix(report, game)}"
        f"<h3>Decisions</h3>{_standings(game)}{_manners(game)}{_failures(game)}"
        f"{_pairings(game)}{_boards(game)}"
    )


def _matrix(report: Report, game: GameReport) -> str:
    results: dict[tuple[str, str], Interval] = {}
    for each in game.pairings:
        if each.pairs:
            results[each.one, each.two] = each.adjusted
            results[each.two, each.one] = each.adjusted.complement
    head = "".join(f"<th>{escape(name)}</th>" for name in report.players)
    rows = "".join(
        f"<tr><th>{escape(one)}</th>"
        + "".join(_cell(results.get((one, two))) for two in report.players)
        + "</tr>"
        for one in report.players
    )
    return _scrolling(f'<table class="matrix"><tr><td></td>{head}</tr>{rows}</table>') + _LEGEND


_PALE = 0.3
_LEGEND = (
    '<p class="legend"><span class="won" style="--p:1"></span> the row is better, '
    '<span class="lost" style="--p:1"></span> the column is; the stronger the colour, the larger the lead; '
    f'<span class="won" style="--p:{_PALE}"></span><span class="lost" style="--p:{_PALE}"></span> '
    "pale: not settled, the interval includes one half.</p>"
)


def _cell(result: Interval | None) -> str:
    if result is None:
        return "<td></td>"
    side, lead = ("won" if result.estimate > 0.5 else "lost"), min(1.0, abs(result.estimate - 0.5) * 2)
    # What is settled is stronger than anything that is not, however small the lead.
    strength = _PALE + (1 - _PALE) * lead if result.excludes(0.5) else _PALE * lead
    bounds = f"{100 * result.low:.0f} to {100 * result.high:.0f}"
    told = f"{100 * result.estimate:.1f}<small>{bounds}</small>"
    return f'<td class="{side}" style="--p:{strength:.2f}">{told}</td>'


def _standings(game: GameReport) -> str:
    rows = [
        [
            escape(each.player),
            share(each.won, each.matches),
            *graded(each),
            str(each.decisions),
        ]
        for each in game.standings
    ]
    name = name_of(game.measure)
    said = said_of(game.measure)
    head = ["player", "won", f"{name} per decision", f"{name} per match", "decisions"]
    return html_table(head, rows) + (f"<p>{escape(said)}</p>" if said else "")


def _manners(game: GameReport) -> str:
    rows = [
        [escape(each.player), escape(manner), str(count), f"{100 * lost / count:.2f}"]
        for each in game.standings
        for manner, (count, lost) in each.manners.items()
        if manner
    ]
    head = ["player", "kind", "decisions", f"{name_of(game.measure)} each"]
    return f"<h3>By kind of decision</h3>{html_table(head, rows, texts=2)}" if rows else ""


def _failures(game: GameReport) -> str:
    rows = [
        [escape(each.player), escape(by_class(each.failures)), str(each.forfeits)]
        for each in game.standings
        if each.failures
    ]
    if not rows:
        return "<p>No failures.</p>"
    head = ["player", "failures", "forfeits"]
    return f"<h3>Failures, apart from skill</h3>{html_table(head, rows, texts=2)}"


def _pairings(game: GameReport) -> str:
    rows = [
        [
            escape(f"{each.one} against {each.two}"),
            str(each.matches),
            share(each.won, each.matches),
            share(each.adjusted, each.pairs),
            fixed_size(each),
            times_fewer(each),
            str(each.cut_off or ""),
        ]
        for each in game.pairings
    ]
    head = ["players", "matches", "won", "luck taken out", "the same, fixed size", "fewer pairs", "cut off"]
    told = (_COLUMNS, too_little(game), pairs_left_out(game))
    note = "".join(f"<p>{escape(each)}</p>" for each in told if each)
    return f"<h3>Results with and without luck</h3>{html_table(head, rows)}{note}"


_COLUMNS = (
    "The interval under 'luck taken out' holds however often one looks. That under 'fixed size' is narrower, "
    "and holds if the number of matches was fixed beforehand. 'Fewer pairs' is how many times fewer the "
    "result without luck needs for the same width; '?' marks a rough estimate, and a dash too few pairs."
)


def _boards(game: GameReport) -> str:
    worst = game.worst(_MOST_BOARDS)
    if not worst:
        return ""
    return f'<h3>Worst decisions</h3><div class="boards">{"".join(each.figure() for each in worst)}</div>'


def html_table(head: list[str], rows: Iterable[list[str]], texts: int = 1) -> str:
    """A table of cells that are HTML already; the first columns are texts, the others numbers."""
    first = _row("th", map(escape, head), texts)
    rest = "".join(_row("td", row, texts) for row in rows)
    return _scrolling(f"<table>{first}{rest}</table>")


def _scrolling(table: str) -> str:
    """A table that can be scrolled where it is wider than the page, by keys too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _row(tag: str, cells: Iterable[str], texts: int) -> str:
    """A row; where numbers fold, their intervals stay whole."""
    told = "".join(
        f'<{tag} class="text">{cell}</{tag}>'
        if place < texts
        else f"<{tag}>{cell.replace(' to ', _TO)}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{told}</tr>"


_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"
