"""Generate docs/ladder.md from a run of the ladder.

python docs/ladder/build.py RUN      write the page from the folder of a run
"""

import sys
from pathlib import Path
from statistics import pvariance

import experiments

from duels.arena.confidence import wilson_interval
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.mistakes import explain_measure, measure_label
from duels.arena.report import GameReport, Report, make_report
from duels.arena.report_views import format_shortfalls
from duels.arena.tables import Table, format_interval
from duels.games import find_game

PAGE = Path(__file__).parents[1] / "ladder.md"
PUBLISHED = {"o3-mini": 17, "o1": 12, "DeepSeek-R1": 4, "any other": 0}
MATCHES = 30  # of each model in the published results


def table(head: list[str], rows: list[list[str]]) -> str:
    return Table("", head, rows).render_markdown()


def render_needed_pairs(report: Report, rows: list[Row]) -> str:
    lines = []
    for game in report.games:
        pairings = list(experiments.pairs_by_pairing(game, rows))
        raw, adjusted = (
            experiments.needed_pairs(
                [pvariance([getattr(pair, key) for pair in pairs]) for pairs in pairings]
            )
            for key in ("score", "adjusted_score")
        )
        requests = 2 * experiments.requests_per_match(game.rules, rows)
        questions = experiments.count_questions_by_player(game.rules.name)
        lines.append(
            [
                game.rules.name,
                f"{raw:,}",
                f"{adjusted:,}",
                f"{raw / adjusted:.1f}",
                f"{experiments.needed_pairs_for_sequence(pairings):,}",
                f"{raw * requests:,.0f}",
                f"{adjusted * requests:,.0f}",
                _range([sum(each.values()) for each in questions]) if questions else "–",
            ]
        )
    head = [
        "game",
        "pairs, plain results",
        "pairs, luck-adjusted",
        "ratio",
        "pairs, luck-adjusted, any stopping time",
        "requests, plain results",
        "requests, luck-adjusted",
        "questions of a probe",
    ]
    return table(head, lines)


def _range(counts: list[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}"


def render_coverage() -> str:
    head = [
        "game",
        "true result",
        "sequence, every check",
        "fixed size, every check",
        "fixed size, last check",
    ]
    return table(head, [experiments.coverage(name) for name in ("lights", "leap")])


def render_standings(game: GameReport) -> str:
    rows = [[each.player, format_interval(each.won), *format_shortfalls(each)] for each in game.scores]
    name = measure_label(game.measure)
    note = explain_measure(game.measure)
    standings = table(["player", "won", f"{name} per decision", f"{name} per match"], rows)
    return standings + (f"\n{note}\n" if note else "")


def render_matrix(report: Report, game: GameReport) -> str:
    exact = experiments.compute_results(game.rules, report.players)
    results = {players: f"{100 * result:.1f}" for players, result in exact.items()}
    if not exact:
        for each in (*game.pairings, *(pairing.swapped for pairing in game.pairings)):
            results[each.one, each.two] = format_interval(each.adjusted, digits=0)
    rows = [[one, *(results.get((one, two), "") for two in report.players)] for one in report.players]
    title = "Exact results, computed from the players' policies" if exact else "Luck-adjusted results"
    return f"{title}, row against column:\n\n{table(['', *report.players], rows)}"


def render_published_results() -> str:
    rows = []
    for model, won in PUBLISHED.items():
        interval = wilson_interval(won, MATCHES)
        rows.append([model, f"{won} of {MATCHES}", f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"])
    return table(["model", "won", "95 %, in percent"], rows)


def compare_with_probe(rows: list[Row]) -> str:
    """Compare the precision and requests of the published matches with those of a probe."""
    rules = find_game("lights").rules()
    intervals = [wilson_interval(won, MATCHES) for won in PUBLISHED.values()]
    widest = max(interval.high - interval.low for interval in intervals)
    requests = MATCHES * experiments.requests_per_match(rules, rows)
    seats = [
        count for each in experiments.count_questions_by_player("lights") or () for count in each.values()
    ]
    low, high = min(seats), max(seats)
    return (
        f"{MATCHES} matches leave intervals of up to {100 * widest:.0f} points and do not show which moves\n"
        f"were wrong. They take about {requests:.0f} requests. A probe of one seat takes {low} to {high}\n"
        f"requests, for a perfect player and {experiments.OTHERS} other deterministic players. It shows\n"
        "whether the model knows the right move in every relevant position, how much the best opponent wins\n"
        "against it, and its result against every built-in opponent."
    )


def render_page(folder: Folder) -> str:
    report = make_report(folder)
    rows = list(folder.load_rows().values())
    ratings = report.ratings
    assert ratings, "install the extra arena first"
    ordered = sorted(ratings.players.items(), key=lambda each: -each[1].estimate)
    rated = [
        [name, f"{each.estimate:+.0f}", f"{each.low:+.0f} to {each.high:+.0f}"] for name, each in ordered
    ]
    misfits = "".join(f"- {each}\n" for each in ratings.misfits)
    games = "\n".join(
        f"### {game.rules.game.title} ({game.rules.name})\n\n{render_standings(game)}\n"
        f"{render_matrix(report, game)}"
        for game in report.games
    )
    return f"""\
# The ladder

For everyone who wants to compare a bot with ours: `random`, `greedy` and the levels up to `best`,
playing each other in all five games. `duels arena ladder --out runs/ladder` played
{report.matches:,} matches, seed {report.seed}. `make ladder` generates this page. Numbers are percentage
points with 95 % intervals. `±?` means too few mistakes for an interval. [Reading a report](reports.md)
explains the numbers.

## Ratings over all games

{table(["player", "rating", "95 %"], rated)}
{"Some pairings do not fit one rating:" if misfits else "All pairings fit the ratings."}

{misfits}
## By game

{games}
## How many matches you need

The table shows how many pairs of matches make a result precise to within {100 * experiments.WIDTH:.0f}
points, for the median pairing above. It compares plain with luck-adjusted results, and a fixed
number of pairs with the confidence sequence, which is valid whenever you stop. Requests are counted for
one player, including forced moves.

A probe asks about positions instead. For a deterministic player its results are exact, against every
opponent. The table gives the questions for both seats of a perfect player and of {experiments.OTHERS}
others. In hunt and flip a probe measures decisions only.

{render_needed_pairs(report, rows)}
We checked the intervals with {experiments.RUNS} runs of {experiments.ONE} against {experiments.TWO}, in
games whose true result can be computed. Each run was checked after
{", ".join(map(str, experiments.CHECKS))} pairs. A 95 % interval should contain the true result in 95 of
100 runs. The interval for a fixed size does so at a single check, but not at repeated checks.

{render_coverage()}
`make ladder` runs these experiments. `tests/arena/test_confidence.py` repeats this check.

## Compared with published results for lights

In gg-bench, models played {MATCHES} matches each of this game (number 891) against a trained agent:

{render_published_results()}
{compare_with_probe(rows)}
"""


if __name__ == "__main__":
    PAGE.write_text(render_page(Folder(Path(sys.argv[1]))), encoding="utf-8")
