"""The command `stats`: statistics of a person's saved matches."""

import json
from dataclasses import asdict

import click

from duels.analysis.statistics import PlayedMatch, ResultTally, Statistics, compute_statistics, get_decisions
from duels.analysis.wording import MIN_SHOWN
from duels.core.rules import Seat
from duels.play.library import SavedMatch, list_saved_matches
from duels.players import HUMAN
from duels.solving.progress import Progress
from duels.terminal.options import format_examples, plain_option
from duels.terminal.screen import Screen

_BARS = "▁▂▃▄▅▆▇█"
_MAX_MISTAKES = 5


@click.command(epilog=format_examples("duels stats", "duels stats --json"))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@plain_option
def stats(as_json: bool, plain: bool) -> None:
    """Show your results against the machine and your most common mistakes.

    The statistics cover all finished matches between you and a machine in your matches folder. They include
    how much winning probability your decisions gave away over time.
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
    """Return the match from the person's point of view, or None unless it is over and against a machine."""
    match = saved.record.match
    people = [seat for seat, player in zip(Seat, saved.players, strict=True) if player == HUMAN]
    if not match.outcome or len(people) != 1:
        return None
    (you,) = people
    return PlayedMatch(
        match.rules.name,
        saved.players[you.other - 1],
        float(match.outcome.score(you)),
        saved.played,
        get_decisions(match, you, progress),
    )


def render_statistics(statistics: Statistics) -> str:
    """Render the results, the losses over time and the most common mistakes."""
    if not statistics.matches:
        return "You have not finished a match against the machine yet.\n"
    lines = [f"{'game':<9}{'against':<10}{'won':>4}{'lost':>6}{'no winner':>11}   streak"]
    lines += [_format_row(tally) for tally in statistics.tallies]
    lost, below = {}, {}
    for game, stages in statistics.stages.items():
        if all(abs(stage.loss) < MIN_SHOWN > abs(stage.below_mixture or 0.0) for stage in stages):
            continue  # all numbers would round to 0.0
        if any(stage.below_mixture is not None for stage in stages):
            below[game] = [stage.below_mixture or 0.0 for stage in stages]
        else:
            lost[game] = [stage.loss for stage in stages]
    if lost:
        lines += ["", "Points given away per decision (1 point is 1% to win), oldest matches first:"]
        lines += [f"{game:<9}{_format_trend(averages)}" for game, averages in lost.items()]
    if below:
        lines += [
            "",
            "Points below the mixture per decision (0 is as good as the strategy), oldest matches first:",
        ]
        lines += [f"{game:<9}{_format_trend(averages)}" for game, averages in below.items()]
    if statistics.mistakes:
        lines += ["", "Your most common mistakes:"]
    for mistake in statistics.mistakes[:_MAX_MISTAKES]:
        times = "once" if mistake.times == 1 else f"{mistake.times} times"
        lines.append(f"- {mistake.game}: {mistake.kind} ({times}, {100 * mistake.loss:.1f} points in all)")
    return "\n".join(lines) + "\n"


def _format_row(tally: ResultTally) -> str:
    now = f"{abs(tally.streak)} {'won' if tally.streak > 0 else 'lost'}" if tally.streak else "none"
    longest = f"; longest {tally.longest} won" if tally.longest > max(tally.streak, 0) else ""
    numbers = f"{tally.won:>4}{tally.lost:>6}{tally.nobody:>11}"
    return f"{tally.game:<9}{tally.opponent:<10}{numbers}   {now}{longest}"


def _format_trend(averages: list[float]) -> str:
    first, last = (f"{100 * average:.1f}" for average in (averages[0], averages[-1]))
    if len(averages) == 1:
        return first
    heights = [max(0.0, average) for average in averages]
    maximum = max(heights) or 1.0
    bars = "".join(_BARS[round(height / maximum * (len(_BARS) - 1))] for height in heights)
    return f"{bars}  from {first} to {last}, at most {100 * max(averages):.1f}"
