"""Writes docs/ladder.md from a run of the ladder: no number in it is typed by hand.

python docs/ladder/build.py RUN      writes the page from the folder of a run
"""

import sys
from math import ceil
from pathlib import Path
from statistics import median, pvariance

from duels.arena.confidence import wilson
from duels.arena.folder import Folder, Row
from duels.arena.mistakes import name_of, said_of
from duels.arena.report import GameReport, Report, report_on
from duels.arena.report_text import percent, points
from duels.arena.scores import PairResult, pair_results

PAGE = Path(__file__).parents[1] / "ladder.md"
WIDTH = 0.03
_Z = 1.96
QUESTIONS = {"lights": 140, "leap": 217, "chain": 826}
"""Of a probe: of best in lights and leap, of a bot that always answers the same in chain."""
PUBLISHED = {"o3-mini": 17, "o1": 12, "DeepSeek-R1": 4, "any other": 0}
MATCHES = 30


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def needed(spread: list[float]) -> int:
    """Pairs until the mean is known to within WIDTH, by its variance."""
    return max(1, ceil(_Z**2 * median(spread) / WIDTH**2))


def needs(report: Report, rows: list[Row]) -> str:
    lines = []
    for game in report.games:
        name = game.rules.name
        raw, adjusted = [], []
        for pairing in game.pairings:
            both = {pairing.one, pairing.two}
            pairs = results(
                [row for row in rows if row["game"] == name and set(row["players"]) == both], pairing.one
            )
            raw.append(pvariance([pair.score for pair in pairs]))
            adjusted.append(pvariance([pair.adjusted for pair in pairs]))
        decisions = sum(each.decisions for each in game.standings) / max(1, 2 * game.matches)
        won, clear = needed(raw), needed(adjusted)
        questions = str(QUESTIONS[name]) if name in QUESTIONS else "–"
        lines.append(
            [name, f"{won:,}", f"{clear:,}", f"{won / clear:.1f}", f"{2 * clear * decisions:,.0f}", questions]
        )
    head = [
        "game",
        "pairs, by results",
        "pairs, luck taken out",
        "times fewer",
        "requests for the latter",
        "questions of a probe, exact",
    ]
    return table(head, lines)


def results(rows: list[Row], player: str) -> list[PairResult]:
    return pair_results(rows, player)


def standings(game: GameReport) -> str:
    rows = [
        [each.player, percent(each.won), points(each.per_decision), points(each.per_match)]
        for each in game.standings
    ]
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
in points of a hundred, intervals are of 95 %. What they mean is on [the arena's page](arena.md).

## Ratings over all games

{table(["player", "rating", "95 %"], rated)}
{"One number does not tell all here:" if misfits else "All pairs fit the model."}

{misfits}
## By game

{games}
## How much it takes

The pairs of matches after which a result is known to within {100 * WIDTH:.0f} points, by the usual interval,
for the median pair of players above; and the requests that this takes from one player. A probe asks about
positions instead, and what it tells of a player that always answers the same is exact.

{needs(report, rows)}
## Beside what is published for lights

gg-bench let models play 30 matches each of this game (its number 891) against a trained agent:

{published()}
Thirty matches leave intervals of up to 34 points, and say nothing about which moves were wrong. They take
some 70 requests. A probe of one seat takes 60 to 110, and tells for every position that matters whether the
model knows the right move, how much the best opponent wins against it, and what it gets against every known
opponent.
"""


if __name__ == "__main__":
    PAGE.write_text(page(Folder(Path(sys.argv[1]))), encoding="utf-8")
