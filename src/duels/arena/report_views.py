"""The report on a run as JSON has it, as CSV, as text for a terminal and as one self-contained HTML page."""

from collections.abc import Iterator, Mapping
from csv import DictWriter
from html import escape
from io import StringIO
from math import isfinite
from typing import Any

from duels.arena.amounts import tokens
from duels.arena.confidence import CONFIDENCE, FEWEST_UNITS, Interval, interval_data
from duels.arena.mistakes import Boards, key_of, name_of, said_of
from duels.arena.report import GameReport, Report, by_class, of_run, usage_by_player
from duels.arena.scores import Pairing, PlayerScore
from duels.arena.tables import (
    Block,
    Document,
    Items,
    PageOnly,
    Prose,
    Table,
    heading,
    paragraphs,
    percent,
    points,
    scrolling,
    share,
)
from duels.core.errors import format_install_command
from duels.core.options import options_data

_FEWEST_TO_ESTIMATE = 20  # pairs: variances of fewer say next to nothing
_MOST_WORST = 8  # decisions in a game
_PALE = 0.3
_STOPPED = (
    " Results decided when to stop: only intervals of results with luck taken out hold, and others "
    "are left out (– or ±?)."
)
_LEGEND = (
    '<p class="legend"><span class="won" style="--p:1"></span> the row is better, '
    '<span class="lost" style="--p:1"></span> the column is; the stronger the colour, the larger the lead; '
    f'<span class="won" style="--p:{_PALE}"></span><span class="lost" style="--p:{_PALE}"></span> '
    "pale: not settled, the interval includes one half.</p>"
)
_COLUMNS = (
    "The interval under 'luck taken out' holds however often one looks. That under 'fixed size' is narrower, "
    "and holds if the number of matches was fixed beforehand. 'Fewer pairs' is how many times fewer the "
    "result without luck needs for the same width; '?' marks a rough estimate, and a dash too few pairs."
)


# -- data ------------------------------------------------------------------------------------------------


def as_data(report: Report) -> dict[str, Any]:
    """The report as JSON has it; two runs of the same config compare equal."""
    return {
        "players": list(report.players),
        "seed": report.seed,
        "matches": report.matches,
        "planned": report.planned,
        "confidence": CONFIDENCE,
        "until": report.until,
        "games": {game.rules.name: _game_data(game) for game in report.games},
        "ratings": report.ratings.as_data() if report.ratings else None,
        "model": dict(report.conditions),
        "prices": dict(report.prices.of),
        "usage": {player: report.prices.data(used) for player, used in usage_by_player(report).items()},
        "notes": list(report.notes),
    }


def _game_data(game: GameReport) -> dict[str, Any]:
    return {
        "options": options_data(game.rules.options()),
        "matches": game.matches,
        "opening": game.opening,
        "exactness": game.exactness,
        "luck": game.luck,
        "measure": game.measure,
        "players": {each.player: _standing_data(each, game.measure) for each in game.standings},
        "pairings": [_pairing_data(each) for each in game.pairings],
        "blunders": [each.as_data() for each in game.blunders],
    }


def _standing_data(each: PlayerScore, measure: str) -> dict[str, Any]:
    key = key_of(measure)
    return {
        "matches": each.matches,
        "won": interval_data(each.won) if each.matches else None,
        f"{key}_per_decision": interval_data(each.per_decision) if each.decisions else None,
        f"{key}_per_match": interval_data(each.per_match) if each.decisions else None,
        "decisions": each.decisions,
        "forfeits": each.forfeits,
        "failures": dict(each.failures),
        "kinds_of_decision": {
            category: {"decisions": count, key: short} for category, (count, short) in each.manners.items()
        },
    }


def _pairing_data(each: Pairing) -> dict[str, Any]:
    fixed = each.adjusted_fixed_within
    return {
        "one": each.one,
        "two": each.two,
        "matches": each.matches,
        "cut_off": each.cut_off,
        "won": interval_data(each.won) if each.matches else None,
        "adjusted": interval_data(each.adjusted) if each.pairs else None,
        "pairs_left_out": each.left_out,
        "adjusted_fixed_size": interval_data(fixed) if fixed else None,
        "variance_gain": interval_data(each.gain) if each.gain else None,
    }


def as_csv(report: Report) -> str:
    """One line for every player in every game."""
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
        for each in game.standings
    ]
    out = StringIO()
    writer = DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_cells(name: str, interval: Interval, count: int) -> dict[str, float | None]:
    """An estimate and its bounds, empty where nothing was counted."""
    cells = interval_data(interval).values() if count else [None] * 3
    return dict(zip((name, f"{name}_low", f"{name}_high"), cells, strict=True))


# -- text and page ---------------------------------------------------------------------------------------


def as_text(report: Report) -> str:
    """The report for a terminal."""
    return _document(report).text()


def as_page(report: Report) -> str:
    """The report as one self-contained HTML page."""
    return _document(report).html()


def _document(report: Report) -> Document:
    done = "" if report.matches >= report.planned else f" of {report.planned}"
    introduction = (
        f"{report.matches}{done} matches between {len(report.players)} players, seed {report.seed}. "
        "All intervals are of 95 %. A loss is what a decision gave away of the chance to win, if both sides "
        f"play perfectly from there on, in points of a hundred.{_STOPPED * (report.until is not None)}"
    )
    names = ", ".join(game.rules.name for game in report.games)
    games = [block for game in report.games for block in _game(report, game)]
    blocks = [*games, *_ratings(report), _usage(report)]
    return Document(f"Arena: {names}", introduction, of_run(report), blocks)


def _game(report: Report, game: GameReport) -> Iterator[Block]:
    rules, name = game.rules, name_of(game.measure)
    options = "".join(f", {name} {value}" for name, value in rules.options().items())
    cut = sum(pairing.cut_off for pairing in game.pairings)
    limits = f"{cut} of {game.matches} matches were cut off by the limit and count one half." if cut else ""
    title = f"{rules.game.title} ({rules.name}{options}): {game.matches} matches"
    yield Prose([game.state_value, game.luck, limits], title)
    yield PageOnly(heading("Who beats whom, luck taken out") + _matrix(report, game) + _LEGEND)
    yield Table(
        "Decisions",
        ["player", "won", f"{name} per decision", f"{name} per match", "decisions", "forfeits"],
        [
            [each.player, share(each.won, each.matches), *graded(each), each.decisions, each.forfeits or ""]
            for each in game.standings
        ],
        notes=[said_of(game.measure)],
    )
    kinds = Table(
        "By kind of decision",
        ["player", "kind", "decisions", f"{name} each"],
        [
            [each.player, manner, count, f"{100 * lost / count:.2f}"]
            for each in game.standings
            for manner, (count, lost) in each.manners.items()
            if manner
        ],
        names=2,
    )
    yield PageOnly(kinds.html())
    failed = [f"{each.player}: {by_class(each.failures)}" for each in game.standings if each.failures]
    yield Items("Failures, apart from skill", failed)
    yield Table(
        "Results with and without luck",
        ["result of", "against", "matches", "won", "luck taken out", "fixed size", "fewer pairs", "cut off"],
        [[each.one, each.two, each.matches, *_results(each)] for each in game.pairings],
        names=2,
        notes=[_too_little(game), _pairs_left_out(game)],
    )
    yield PageOnly(paragraphs(_COLUMNS))
    yield Boards("Worst decisions", game.worst(_MOST_WORST))


def graded(each: PlayerScore) -> tuple[str, str]:
    """A player's decisions: how far they fell short each, and in a match; a dash where there were none."""
    if not each.decisions:
        return "–", "–"
    return points(each.per_decision), points(each.per_match)


def _results(pair: Pairing) -> list[object]:
    """How a pairing ended, with luck, without it, and for how many matches the limit did it."""
    known = pair.adjusted_fixed_within
    fixed = "" if known is None else percent(known) if isfinite(known.margin) else "–"
    won, adjusted = share(pair.won, pair.matches), share(pair.adjusted, pair.pairs)
    return [won, adjusted, fixed, times_fewer(pair), pair.cut_off or ""]


def times_fewer(pair: Pairing) -> str:
    """How many times fewer pairs a result without luck needs: `2.5 to 4.8x`.

    A rough estimate is `4x?`, and a dash where pairs are too few even for that.
    """
    if pair.gain is None:
        return ""
    if pair.pairs < _FEWEST_TO_ESTIMATE:
        return "–"
    if not isfinite(pair.gain.margin):
        return f"{_factor(pair.gain.estimate)}x?"
    return f"{_factor(pair.gain.low)} to {_factor(pair.gain.high)}x"


def _factor(number: float) -> str:
    """A number in about two digits, never in scientific notation."""
    return f"{number:.0f}" if number >= 10 else f"{round(number, 2):.2g}"


def _too_little(game: GameReport) -> str:
    """That some intervals are missing, and why; nothing if none are."""
    usual = [each for each in game.standings if isfinite(each.won.margin)]  # _STOPPED tells of the others
    known = [each.per_decision for each in usual if each.decisions]
    known += [pair.adjusted_fixed for pair in game.pairings if pair.adjusted_fixed]
    if all(isfinite(each.margin) for each in known):
        return ""
    few = f"fewer than {FEWEST_UNITS} pairs"
    return f"No interval (– or ±?): {few}, or too few mistakes, or too lopsided results."


def _pairs_left_out(game: GameReport) -> str:
    """That results with luck taken out are not those of all pairs; nothing if they are."""
    count = sum(pair.left_out for pair in game.pairings)
    if not count:
        return ""
    pairs = "1 finished pair is" if count == 1 else f"{count} finished pairs are"
    return f"Luck taken out: {pairs} left out until those before are finished."


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
    return scrolling(f'<table class="matrix"><tr><td></td>{head}</tr>{rows}</table>')


def _cell(result: Interval | None) -> str:
    if result is None:
        return "<td></td>"
    side, lead = ("won" if result.estimate > 0.5 else "lost"), min(1.0, abs(result.estimate - 0.5) * 2)
    # What is settled is stronger than anything that is not, however small the lead.
    strength = _PALE + (1 - _PALE) * lead if result.excludes(0.5) else _PALE * lead
    bounds = f"{100 * result.low:.0f} to {100 * result.high:.0f}"
    told = f"{100 * result.estimate:.1f}<small>{bounds}</small>"
    return f'<td class="{side}" style="--p:{strength:.2f}">{told}</td>'


# -- models and ratings ----------------------------------------------------------------------------------


def _usage(report: Report) -> Table:
    """What every model took, how it was asked, and what matches that were broken off took."""
    used, spent = usage_by_player(report), report.spending.used
    notes = [asked_how(report.conditions)] if used else []
    if spent.requests > sum(each.requests for each in used.values()):
        cost = report.prices.told(spent)
        notes.append(
            f"With matches that were broken off: {spent.requests} requests{cost and f', cost {cost}'}."
        )
    return Table(
        "Cost",
        ["model", "requests", "seconds each", "tokens in", "tokens out", "cost"],
        [
            [
                player,
                each.requests,
                f"{report.seconds.get(player, 0.0) / each.requests:.1f}",
                tokens(each.prompt, each),
                tokens(each.completion, each),
                report.prices.told(each),
            ]
            for player, each in used.items()
        ],
        notes=[" ".join(notes)],
        level=2,
    )


def asked_how(conditions: Mapping[str, Any]) -> str:
    """The conditions under which models were asked, in a sentence."""
    told = [f"legal actions {'shown' if conditions['show_actions'] else 'not shown'}"]
    told += ["positions mirrored"] * conditions["mirror"] + ["cells renamed"] * conditions["relabel"]
    return f"Models were asked with {', '.join(told)}."


def _ratings(report: Report) -> list[Block]:
    """Players with their ratings, the best first, and pairings that these do not fit."""
    if report.ratings is None:
        return [Prose([f"Ratings need the extra 'arena': {format_install_command('arena')}."])]
    rows = [
        (
            name,
            f"{each.estimate:+.0f}",
            f"{each.low:+.0f} to {each.high:+.0f}" if isfinite(each.margin) else "",
        )
        for name, each in sorted(report.ratings.players.items(), key=lambda each: -each[1].estimate)
    ]
    table = Table("Ratings", ["player", "rating over all games", "95 %"], rows, level=2)
    return [table, Items("One number does not tell all here", report.ratings.misfits)]
