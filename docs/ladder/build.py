"""Writes docs/ladder.md from a run of the ladder: no number in it is typed by hand.

python docs/ladder/build.py RUN      writes the page from the folder of a run
"""

import sys
from pathlib import Path
from statistics import pvariance

import experiments

from duels.arena.confidence import wilson
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.mistakes import name_of, said_of
from duels.arena.report import GameReport, Report, report_on
from duels.arena.report_views import graded
from duels.arena.tables import percent
from duels.games import find_game

PAGE = Path(__file__).parents[1] / "ladder.md"
PUBLISHED = {"o3-mini": 17, "o1": 12, "DeepSeek-R1": 4, "any other": 0}
MATCHES = 30


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def needs(report: Report, rows: list[Row]) -> str:
    lines = []
    for game in report.games:
        pairings = list(experiments.pairs_by_pairing(game, rows))
        raw, adjusted = (
            experiments.needed([pvariance([getattr(pair, what) for pair in pairs]) for pairs in pairings])
            for what in ("score", "adjusted_score")
        )
        asked = 2 * experiments.requests_per_match(game.rules, rows)
        probed = experiments.questions(game.rules.name)
        lines.append(
            [
                game.rules.name,
                f"{raw:,}",
                f"{adjusted:,}",
                f"{raw / adjusted:.1f}",
                f"{experiments.needed_under_peeking(pairings):,}",
                f"{raw * asked:,.0f}",
                f"{adjusted * asked:,.0f}",
                _range([sum(each.values()) for each in probed]) if probed else "–",
            ]
        )
    head = [
        "game",
        "pairs, by results",
        "pairs, luck taken out",
        "times fewer",
        "pairs, luck taken out, under peeking",
        "requests, by results",
        "requests, luck taken out",
        "questions of a probe",
    ]
    return table(head, lines)


def _range(counts: list[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}"


def covered() -> str:
    head = ["game", "true result", "sequence, at every look", "usual, at every look", "usual, at the end"]
    return table(head, [experiments.coverage(name) for name in ("lights", "leap")])


def standings(game: GameReport) -> str:
    rows = [[each.player, percent(each.won), *graded(each)] for each in game.standings]
    name = name_of(game.measure)
    said = said_of(game.measure)
    told = table(["player", "won", f"{name} per decision", f"{name} per match"], rows)
    return told + (f"\n{said}\n" if said else "")


def matrix(report: Report, game: GameReport) -> str:
    known = {}
    for each in game.pairings:
        known[each.one, each.two] = each.adjusted.estimate
        known[each.two, each.one] = 1 - each.adjusted.estimate
    rows = [
        [one, *(f"{100 * known[one, two]:.0f}" if (one, two) in known else "" for two in report.players)]
        for one in report.players
    ]
    return table(["", *report.players], rows)


def published() -> str:
    rows = []
    for model, won in PUBLISHED.items():
        interval = wilson(won, MATCHES)
        rows.append([model, f"{won} of {MATCHES}", f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"])
    return table(["model", "won", "95 %, in percent"], rows)


def beside(rows: list[Row]) -> str:
    """What so few matches tell, and what a probe would have told."""
    rules = find_game("lights").rules()
    intervals = [wilson(won, MATCHES) for won in PUBLISHED.values()]
    widest = max(interval.high - interval.low for interval in intervals)
    asked = MATCHES * experiments.requests_per_match(rules, rows)
    seats = [count for each in experiments.questions("lights") or () for count in each.values()]
    low, high = min(seats), max(seats)
    return (
        f"{MATCHES} matches leave intervals of up to {100 * widest:.0f} points, and say nothing about which\n"
        f"moves were wrong. They take some {asked:.0f} requests. A probe of one seat takes {low} to {high},\n"
        f"for a perfect player and {experiments.ASKED} others that always answer the same. It tells for\n"
        "every position that matters whether the model knows the right move, how much the best opponent\n"
        "wins against it, and what it gets against every known opponent."
    )


def page(folder: Folder) -> str:
    report = report_on(folder)
    rows = list(folder.rows().values())
    ratings = report.ratings
    assert ratings, "install the extra arena first"
    ordered = sorted(ratings.players.items(), key=lambda each: -each[1].estimate)
    rated = [
        [name, f"{each.estimate:+.0f}", f"{each.low:+.0f} to {each.high:+.0f}"] for name, each in ordered
    ]
    misfits = "".join(f"- {each}\n" for each in ratings.misfits)
    games = "\n".join(
        f"### {game.rules.game.title} ({game.rules.name})\n\n{standings(game)}\n"
        f"Results with luck taken out, of the row against the column:\n\n{matrix(report, game)}"
        for game in report.games
    )
    return f"""\
# The standing field

`duels arena ladder --out runs/ladder` played this: random, greedy, the levels and best against each other in
all five games, {report.matches:,} matches, seed {report.seed}; `make ladder` writes the page. All numbers are
in points of a hundred, intervals are of 95 %; `±?` stands where mistakes are too few to tell. What the
numbers mean is on [the arena's page](arena.md).

## Ratings over all games

{table(["player", "rating", "95 %"], rated)}
{"One number does not tell all here:" if misfits else "All pairs fit the model."}

{misfits}
## By game

{games}
## How much it takes

How many pairs of matches it takes until a result is known to within {100 * experiments.WIDTH:.0f} points,
for the median pair of players above: by the usual interval, for results as they are and with luck taken out,
and by the confidence sequence, which holds however often one looks; and the requests that this takes from one
player, forced moves included. A probe asks about positions instead. What it tells of a player that always
answers the same is exact, for every opponent; the questions are those for both seats of a perfect player and
of {experiments.ASKED} others. In hunt and flip a probe tells how good decisions are, and no results.

{needs(report, rows)}
Whether intervals hold: {experiments.RUNS} runs of {experiments.ONE} against {experiments.TWO} in games where
the true result can be computed, looked at after {", ".join(map(str, experiments.LOOKS))} pairs. An interval
of 95 % should hold in 95 of 100 runs. The usual one does at one look that was fixed beforehand, and does not
if one looks again and again.

{covered()}
`make ladder` carries these experiments out. `tests/arena/test_confidence.py` tests the same, and
`make check-slow` with more matches.

## Beside what is published for lights

gg-bench let models play {MATCHES} matches each of this game (its number 891) against a trained agent:

{published()}
{beside(rows)}
"""


if __name__ == "__main__":
    PAGE.write_text(page(Folder(Path(sys.argv[1]))), encoding="utf-8")
