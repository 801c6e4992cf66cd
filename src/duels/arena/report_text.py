"""A report as tables for a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from textwrap import wrap
from typing import Any

from duels.arena.amounts import tokens
from duels.arena.confidence import FEWEST_UNITS, Interval
from duels.arena.mistakes import name_of, said_of
from duels.arena.report import GameReport, Report, usage_by_player
from duels.arena.scores import Pairing, Standing
from duels.arena.summary import by_class, of_run
from duels.core.errors import to_install

_WIDTH = 80
_WIDEST = 44  # of a column that is no name: what is longer is told in full elsewhere, or as data
_FEWEST_TO_ESTIMATE = 20  # pairs: variances of fewer say next to nothing
_MOST_LISTED = 5  # of the worst decisions in a game


def as_text(report: Report) -> str:
    """All tables, game by game."""
    done = "" if report.matches >= report.planned else f" of {report.planned}"
    lines = [f"{report.matches}{done} matches, seed {report.seed}. Intervals: 95 %."]
    lines += [*notes(STOPPED if report.until is not None else ""), "", *in_short(of_run(report)), ""]
    for game in report.games:
        lines += _game(game)
    lines += _usage(report)
    lines += _ratings(report)
    return "\n".join(lines).rstrip() + "\n"


def in_short(sentences: Iterable[str]) -> list[str]:
    """The summary at the top of a report, as lines that fit a terminal."""
    lines = ["In short:"]
    for each in sentences:
        lines += wrap(each, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return lines


STOPPED = (
    "Results decided when to stop: only intervals of results with luck taken out hold, and others "
    "are left out (– or ±?)."
)


def _game(game: GameReport) -> list[str]:
    rules = game.rules
    options = "".join(f", {name} {value}" for name, value in rules.options().items())
    lines = [
        *notes(f"{rules.game.title} ({rules.name}{options}): {game.matches} matches"),
        *notes(game.worth),
        "",
    ]
    name = name_of(game.measure)
    rows = [["player", "won", f"{name} per decision", f"{name} per match", "forfeits"]]
    for each in game.standings:
        rows.append(
            [
                each.player,
                share(each.won, each.matches),
                *graded(each),
                str(each.forfeits or ""),
            ]
        )
    lines += [*table(rows), *notes(said_of(game.measure)), ""]
    failures = [f"{each.player}: {by_class(each.failures)}" for each in game.standings if each.failures]
    lines += ["Failures:", *listed(failures), ""] if failures else []
    rows = [["result of", "against", "won", "luck taken out", "fixed size", "fewer pairs", "cut off"]]
    for pair in game.pairings:
        rows.append(
            [
                pair.one,
                pair.two,
                share(pair.won, pair.matches),
                share(pair.adjusted, pair.pairs),
                fixed_size(pair),
                times_fewer(pair),
                str(pair.cut_off or ""),
            ]
        )
    lines += [*table(rows, names=2), *notes(too_little(game), pairs_left_out(game), game.luck), ""]
    if worst := game.worst(_MOST_LISTED):
        lines += ["Worst decisions:", *listed(worst), ""]
    return lines


def fixed_size(pair: Pairing) -> str:
    """The result with luck taken out for a size fixed beforehand; a dash where no such interval holds."""
    known = pair.adjusted_fixed_within
    return "" if known is None else percent(known) if isfinite(known.margin) else "–"


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


def too_little(game: GameReport) -> str:
    """That some intervals are missing, and why; nothing if none are."""
    usual = [each for each in game.standings if isfinite(each.won.margin)]  # STOPPED tells of the others
    known = [each.per_decision for each in usual if each.decisions]
    known += [pair.adjusted_fixed for pair in game.pairings if pair.adjusted_fixed]
    if all(isfinite(each.margin) for each in known):
        return ""
    few = f"fewer than {FEWEST_UNITS} pairs"
    return f"No interval (– or ±?): {few}, or too few mistakes, or too lopsided results."


def pairs_left_out(game: GameReport) -> str:
    """That results with luck taken out are not those of all pairs; nothing if they are."""
    count = sum(pair.left_out for pair in game.pairings)
    if not count:
        return ""
    pairs = "1 finished pair is" if count == 1 else f"{count} finished pairs are"
    return f"Luck taken out: {pairs} left out until those before are finished."


def _usage(report: Report) -> list[str]:
    rows = usage_rows(report)
    if not rows:
        return []
    return [*table([USAGE, *rows]), *notes(asked_in_all(report)), ""]


USAGE = ["model", "requests", "seconds each", "tokens in", "tokens out", "cost"]


def usage_rows(report: Report) -> list[list[str]]:
    """What every model took, under USAGE."""
    rows = []
    for player, each in usage_by_player(report).items():
        wait = f"{report.seconds.get(player, 0.0) / each.requests:.1f}"
        rows.append(
            [
                player,
                str(each.requests),
                wait,
                *(tokens(n, each) for n in (each.prompt, each.completion)),
                report.prices.told(each),
            ]
        )
    return rows


def asked_in_all(report: Report) -> str:
    """How models were asked; and what all requests took, where some were for matches that were broken off."""
    told, spent = asked_how(report.conditions), report.spending.used
    if spent.requests > sum(each.requests for each in usage_by_player(report).values()):
        cost = report.prices.told(spent)
        told += f" With matches that were broken off: {spent.requests} requests{cost and f', cost {cost}'}."
    return told


def asked_how(conditions: Mapping[str, Any]) -> str:
    """The conditions under which models were asked, in a sentence."""
    told = [f"legal actions {'shown' if conditions['show_actions'] else 'not shown'}"]
    told += ["positions mirrored"] * conditions["mirror"] + ["cells renamed"] * conditions["relabel"]
    return f"Models were asked with {', '.join(told)}."


def _ratings(report: Report) -> list[str]:
    if report.ratings is None:
        return [f"Ratings need the extra 'arena': {to_install('arena')}."]
    if not report.ratings.players:
        return []
    rows = [["rating over all games", ""]]
    ordered = sorted(report.ratings.players.items(), key=lambda each: -each[1].estimate)
    rows += [[name, f"{each.estimate:+.0f}{rating_bounds(each)}"] for name, each in ordered]
    lines = table(rows)
    if report.ratings.misfits:
        lines += ["One number does not tell all here:", *listed(report.ratings.misfits)]
    return lines


def rating_bounds(each: Interval) -> str:
    """The interval of a rating; nothing where there is none."""
    return f" ({each.low:+.0f} to {each.high:+.0f})" if isfinite(each.margin) else ""


def graded(each: Standing) -> tuple[str, str]:
    """A player's decisions: how far they fell short each, and in a match; a dash where there were none."""
    if not each.decisions:
        return "–", "–"
    return points(each.per_decision), points(each.per_match)


def share(interval: Interval, count: int) -> str:
    """A share of the points in so many matches or pairs; a dash where there were none."""
    return percent(interval) if count else "–"


def percent(interval: Interval) -> str:
    """A share with its interval: `62.5 (58.1 to 66.7)`, or `62.5 (–)` if that is not known."""
    if not isfinite(interval.margin):
        return f"{100 * interval.estimate:.1f} (–)"
    return f"{100 * interval.estimate:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def points(interval: Interval) -> str:
    """What was given away, in points of a hundred, with its margin if that is known."""
    margin = f"{100 * interval.margin:.2f}" if isfinite(interval.margin) else "?"
    return f"{100 * interval.estimate:.2f} ±{margin}"


def table(rows: Sequence[Sequence[str]], names: int = 1) -> list[str]:
    """Columns as wide as they need to be; those without anything in them are left out.

    What does not fit a terminal stands below, with the first columns, the names of the rows, again. Where
    these are too long for that they are shortened.
    """
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    widths = _widths(rows, kept, names)
    rows = [[_shortened(cell, widths.get(place, 0)) for place, cell in enumerate(row)] for row in rows]
    blocks = [kept[:names]]
    for place in kept[names:]:
        together = [*blocks[-1], place]
        if len(blocks[-1]) > names and sum(widths[each] + 2 for each in together) - 2 > _WIDTH:
            together = [*kept[:names], place]
            blocks.append(together)
        else:
            blocks[-1] = together
    lines = []
    for number, block in enumerate(blocks):
        lines += [""] * bool(number)
        lines += ["  ".join(f"{row[place]:<{widths[place]}}" for place in block).rstrip() for row in rows]
    return lines


def _widths(rows: Sequence[Sequence[str]], kept: list[int], names: int) -> dict[int, int]:
    """How wide columns are, so that the names and the widest of the others fit a terminal."""
    widths = {place: max(len(row[place]) for row in rows) for place in kept}
    first, others = kept[:names], kept[names:]
    for place in others:
        widths[place] = min(widths[place], _WIDEST)
    room = _WIDTH - 2 * len(first) - max((widths[place] for place in others), default=0)
    while sum(widths[place] for place in first) > room:
        widths[max(first, key=widths.__getitem__)] -= 1
    return widths


def _shortened(text: str, width: int) -> str:
    """A text with its middle left out if it is too long: names often differ at their ends."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def notes(*sentences: str) -> list[str]:
    """Sentences that may be empty, each on lines of its own."""
    return [line for each in sentences for line in wrap(each, _WIDTH)]


def listed(items: Iterable[object]) -> list[str]:
    """Items a line each, indented, folded where they are longer than a terminal is wide."""
    return [line for each in items for line in wrap(str(each), _WIDTH, **_INDENTED)]


_INDENTED: dict[str, Any] = {
    "initial_indent": "  ",
    "subsequent_indent": "    ",
    "break_on_hyphens": False,
    "break_long_words": False,
}
