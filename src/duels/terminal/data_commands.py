"""The commands `stats`, `levels` and `export`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from duels.analysis import export as exporting
from duels.analysis.levels import LevelRow, describe_other_factors, get_default_matches, measure_levels
from duels.analysis.statistics import PlayedMatch, ResultTally, Statistics, compute_statistics, get_decisions
from duels.analysis.wording import MIN_SHOWN
from duels.core.rules import AnyRules, Seat
from duels.core.words import join_and
from duels.games import GAMES
from duels.play.library import SavedMatch, list_saved_matches
from duels.play.new_match import add_machine_limit
from duels.players import HUMAN
from duels.players.levels import list_equal_levels
from duels.solving.oracle import BELOW_THE_MIXTURE, Progress
from duels.terminal.game_options import GameCommand, game_argument, optional_game_argument, player_option
from duels.terminal.options import NEW_FILE, format_examples, plain_option, print_text
from duels.terminal.screen import Screen

_BARS = "▁▂▃▄▅▆▇█"
_MAX_MISTAKES = 5
_CLOSE_SCORE = 0.55  # below it, a person hardly notices the difference


@click.command(epilog=format_examples("duels stats", "duels stats --json"))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@plain_option
def stats(as_json: bool, plain: bool) -> None:
    """Show your results against the machine and your most common mistakes.

    The statistics cover the finished matches against a machine in your matches folder. They also show how
    much winning probability your decisions gave away, from your oldest matches to your newest.
    """
    screen = Screen(plain)
    with screen.progress("grading your matches") as progress:
        matches = []
        for number, saved in enumerate(list_saved_matches(screen.notice), start=1):
            progress(f"{number} so far")
            if match := _grade_match(saved, progress):
                matches.append(match)
    result = compute_statistics(matches)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=2))
    else:
        screen.say(render_statistics(result))


def _grade_match(saved: SavedMatch, progress: Progress) -> PlayedMatch | None:
    """Grade the person's decisions. Return None unless the match is over and against a machine."""
    match = saved.record.match
    people = [seat for seat, player in zip(Seat, saved.players, strict=True) if player == HUMAN]
    if not match.outcome or len(people) != 1:
        return None
    (you,) = people
    return PlayedMatch(
        match.rules.name,
        saved.players[you.other - 1],
        float(match.outcome.score(you)),
        saved.last_played,
        get_decisions(match, you, progress),
    )


def render_statistics(statistics: Statistics) -> str:
    """Render the results, the losses over time and the most common mistakes."""
    if not statistics.matches:
        return "You have not finished a match against the machine yet.\n"
    lines = [f"{'game':<9}{'against':<10}{'won':>4}{'lost':>6}{'no winner':>11}   streak"]
    lines += [_format_row(tally) for tally in statistics.tallies]
    losses, shortfalls = {}, {}
    for game, stages in statistics.stages.items():
        if all(abs(stage.loss) < MIN_SHOWN > abs(stage.below_mixture or 0.0) for stage in stages):
            continue  # all numbers would round to 0.0
        if any(stage.below_mixture is not None for stage in stages):
            shortfalls[game] = [stage.below_mixture or 0.0 for stage in stages]
        else:
            losses[game] = [stage.loss for stage in stages]
    for title, trends in (
        ("Points given away per decision (a point is a winning probability of 1%)", losses),
        ("Points below the mixed strategy per decision (0 is as good as the strategy)", shortfalls),
    ):
        if trends:
            lines += ["", f"{title}, oldest matches first:"]
            lines += [f"{game:<9}{_format_trend(averages)}" for game, averages in trends.items()]
    if statistics.mistakes:
        lines += ["", "Your most common mistakes:"]
    for mistake in statistics.mistakes[:_MAX_MISTAKES]:
        times = "once" if mistake.times == 1 else f"{mistake.times} times"
        lines.append(f"- {mistake.game}: {mistake.kind} ({times}, {100 * mistake.loss:.1f} points in all)")
    return "\n".join(lines) + "\n"


def _format_row(tally: ResultTally) -> str:
    streak = f"{abs(tally.streak)} {'won' if tally.streak > 0 else 'lost'}" if tally.streak else "none"
    longest = f"; longest {tally.longest} won" if tally.longest > max(tally.streak, 0) else ""
    numbers = f"{tally.won:>4}{tally.lost:>6}{tally.nobody:>11}"
    return f"{tally.game:<9}{tally.opponent:<10}{numbers}   {streak}{longest}"


def _format_trend(averages: list[float]) -> str:
    first, last = (f"{100 * average:.1f}" for average in (averages[0], averages[-1]))
    if len(averages) == 1:
        return first
    heights = [max(0.0, average) for average in averages]
    maximum = max(heights) or 1.0
    bars = "".join(_BARS[round(height / maximum * (len(_BARS) - 1))] for height in heights)
    return f"{bars}  from {first} to {last}, at most {100 * max(averages):.1f}"


@click.command(
    epilog=format_examples(
        "duels levels", "duels levels flip --matches 100", "duels levels leap --goal 50 --json"
    ),
    cls=GameCommand,
)
@optional_game_argument
@click.option(
    "--matches",
    type=click.IntRange(2),
    help="Matches per row. The default is 100, or 1000 in games without chance and hidden information.",
)
@click.option("--seed", default="levels", show_default=True, help="Seed of the matches.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, or an object of lists by game.")
def levels(rules: AnyRules | None, matches: int | None, seed: str, as_json: bool) -> None:
    """Measure how strong the levels are: novice, casual, club, expert, best.

    A level is defined by its loss per decision: the winning probability that it gives away, as a share of
    random play's loss. The table shows the intended and the measured share. `best` is called `perfect` in
    games that we have solved. In hunt, the best strategy is mixed: it chooses at random. The table then
    shows how much worse a level's choices are than the mixed strategy. Without GAME, duels measures all
    five games.
    """
    data: dict[str, list[dict[str, Any]]] = {}
    for measured_rules in [rules] if rules else [game.rules() for game in GAMES.values()]:
        count = matches or get_default_matches(measured_rules)
        with Screen().progress(f"measuring {measured_rules.name}") as progress:
            rows = measure_levels(measured_rules, count, seed, progress)
        data[measured_rules.name] = [asdict(row) for row in rows]
        if not as_json:
            print_text(("\n" if len(data) > 1 else "") + render_levels(measured_rules, rows, count))
    if as_json:
        click.echo(json.dumps(data[rules.name] if rules else data, indent=2))


def render_levels(rules: AnyRules, rows: list[LevelRow], matches: int) -> str:
    """Render the table of `duels levels`: the intended and the measured strength of each level."""
    is_mixed = rows[0].measure == BELOW_THE_MIXTURE
    title = (
        "how much worse each level is than the mixed strategy" if is_mixed else "what each level gives away"
    )
    lines = [
        f"{rules.name}: {title} per decision, and its score against the level below",
        "relative to random play".rjust(29),
        f"{'level':<10}{'intended':>9}{'measured':>10}   {'points / decision':<18}   score",
    ]
    for row in rows:
        loss = f"{100 * row.per_decision:6.2f} ± {100 * row.per_decision_margin:.2f}"
        line = f"{row.name:<10}{row.share:>9.0%}{row.measured_share:>10.0%}   {loss:<18}   "
        if row.score is not None and row.margin is not None:
            unclear = "" if row.is_clear else "  too few matches to tell"
            line += f"{row.score:6.1%} ± {100 * row.margin:.1f} points{unclear}"
        lines.append(line.rstrip())
    sample = f"{matches:,} matches per row"
    if rows[-1].matches != matches:
        sample = f"{sample} (points per decision, estimated) and {rows[-1].matches:,} (scores)"
    lines.append(
        f"Measured over {sample}, half from each seat and adjusted for luck. "
        "± is the 95% confidence interval. A point is a winning probability of 1%."
    )
    if is_mixed:
        lines.append(
            "A player who follows the mixed strategy loses 0 points on average. Predictable play loses\n"
            "no points in this table either; only the scores can show it."
        )
    equal = [f"{name} plays like {level}" for name, level in list_equal_levels(rules.name).items()]
    if equal:
        lines.append(f"In {rules.name}, {join_and(equal)}.")
    if not all(row.is_clear for row in rows[1:]):
        lines.append("To separate close levels, raise --matches.")
    factors = describe_other_factors(rules)
    if factors and any(row.score is not None and row.score < _CLOSE_SCORE for row in rows[1:]):
        lines.append(f"Some levels are close: {factors} much of this game.")
    return "\n".join(lines) + "\n"


@click.command(
    epilog=format_examples(
        "duels export chain --games 1000 --player perfect",
        "duels export lights --games 500 --player club --out lights.parquet",
        "duels export hunt --max-turns 20 --jobs 2",
        "duels export chain --player club --format minari --out duels/chain-club-v0",
    ),
    cls=GameCommand,
)
@game_argument
@click.option(
    "--games", "count", type=click.IntRange(1), default=100, show_default=True, help="Number of matches."
)
@player_option("--player", "The player at seat 1.", "best")
@player_option("--against", "The player at seat 2. By default the same player.")
@click.option("--seed", default="export", show_default=True, help="Seed of the matches.")
@click.option(
    "--out",
    "path",
    type=NEW_FILE,
    help="A .jsonl or .parquet file, by default GAME-PLAYER.jsonl. With --format minari, a dataset id.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "parquet", "minari"]),
    help="File format. By default taken from the file name.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Number of processes.")
def export(
    rules: AnyRules,
    count: int,
    player: str,
    against: str | None,
    seed: str,
    path: Path | None,
    kind: str | None,
    jobs: int,
) -> None:
    """Write matches between machine players, with a grade for every decision.

    If you interrupt an export, run the same command again to continue it. To add matches, run it again with
    a larger --games. You cannot continue or extend a Minari dataset. Matches end after 50 boards of chain or
    50 turns of hunt unless you set --max-boards or --max-turns.
    """
    run = exporting.Export(add_machine_limit(rules), (player, against or player), seed, count)

    def report(finished: int, games: int) -> None:
        if finished % max(1, games // 20) == 0:
            click.echo(f"… {finished} of {games}", err=True)

    if kind == "minari":
        from duels.analysis.minari import export_minari

        dataset = path.as_posix() if path else f"duels/{rules.name}-{player}-v0"
        export_minari(run, dataset, report, jobs)
        click.echo(dataset)
        return
    path = path or Path(f"{rules.name}-{player}.{kind or 'jsonl'}")
    if kind and path.suffix != f".{kind}":
        raise click.UsageError(f"--format {kind} needs a file name that ends with .{kind}, not {path}.")
    existing = exporting.export(run, path, report, jobs)
    if existing:
        surplus = f", more than --games {count}. All of them are kept" if existing > count else ""
        click.echo(f"The file already had {existing} matches{surplus}.", err=True)
    click.echo(str(path))
