"""The command `stats`: a person's statistics, gathered from the matches on disk."""

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
_MOST_MISTAKES = 5


@click.command(epilog=format_examples("duels stats", "duels stats --json"))
@click.option("--json", "as_json", is_flag=True, help="The statistics as one JSON object.")
@plain_option
def stats(as_json: bool, plain: bool) -> None:
    """Tell how you do against the machine: results, losses over time, usual mistakes."""
    screen = Screen(plain)
    with screen.progress("grading your matches") as progress:
        played = []
        for number, kept in enumerate(list_saved_matches(screen.notice), start=1):
            progress(f"{number} so far")
            if match := _played(kept, progress):
                played.append(match)
    found = compute_statistics(played)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        screen.say(render_statistics(found))


def _played(kept: SavedMatch, progress: Progress) -> PlayedMatch | None:
    """The match as its one person had it; None if it is unfinished, or not against a machine."""
    match = kept.record.match
    people = [seat for seat, player in zip(Seat, kept.players, strict=True) if player == HUMAN]
    if not match.outcome or len(people) != 1:
        return None
    (you,) = people
    return PlayedMatch(
        match.rules.name,
        kept.players[you.other - 1],
        float(match.outcome.score(you)),
        kept.played,
        get_decisions(match, you, progress),
    )


def render_statistics(found: Statistics) -> str:
    """The results, the losses over time, and the mistakes that come most."""
    if not found.matches:
        return "No match against the machine is finished yet.\n"
    lines = [f"{'game':<9}{'against':<10}{'won':>4}{'lost':>6}{'no winner':>11}   streak"]
    lines += [_row(tally) for tally in found.tallies]
    lost, below = {}, {}
    for game, stages in found.stages.items():
        if all(abs(stage.loss) < MIN_SHOWN > abs(stage.below_mixture or 0.0) for stage in stages):
            continue  # numbers that are all 0.0 tell nothing
        if any(stage.below_mixture is not None for stage in stages):
            below[game] = [stage.below_mixture or 0.0 for stage in stages]
        else:
            lost[game] = [stage.loss for stage in stages]
    if lost:
        lines += ["", "Points given away per decision (1 point is 1% to win), the oldest matches first:"]
        lines += [f"{game:<9}{_course(averages)}" for game, averages in lost.items()]
    if below:
        lines += ["", "Points below the mixture per decision (0 is as good as the strategy), likewise:"]
        lines += [f"{game:<9}{_course(averages)}" for game, averages in below.items()]
    if found.mistakes:
        lines += ["", "Mistakes that come most:"]
    for mistake in found.mistakes[:_MOST_MISTAKES]:
        times = "once" if mistake.times == 1 else f"{mistake.times} times"
        lines.append(f"- {mistake.game}: {mistake.kind} ({times}, {100 * mistake.loss:.1f} points in all)")
    return "\n".join(lines) + "\n"


def _row(tally: ResultTally) -> str:
    now = f"{abs(tally.streak)} {'won' if tally.streak > 0 else 'lost'}" if tally.streak else "none"
    longest = f"; longest {tally.longest} won" if tally.longest > max(tally.streak, 0) else ""
    numbers = f"{tally.won:>4}{tally.lost:>6}{tally.nobody:>11}"
    return f"{tally.game:<9}{tally.opponent:<10}{numbers}   {now}{longest}"


def _course(averages: list[float]) -> str:
    """The averages at the ends, and bars from stage to stage; below 0 there is no bar to draw."""
    first, last = (f"{100 * average:.1f}" for average in (averages[0], averages[-1]))
    if len(averages) == 1:
        return first
    heights = [max(0.0, average) for average in averages]
    most = max(heights) or 1.0
    bars = "".join(_BARS[round(height / most * (len(_BARS) - 1))] for height in heights)
    return f"{bars}  from {first} to {last}, at most {100 * max(averages):.1f}"
