"""The command `levels`: how strong the levels were measured to be."""

import json
from dataclasses import asdict

import click

from duels.analysis.levels import LevelRow, describe_other_factors, get_default_matches, measure_levels
from duels.core.rules import AnyRules
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.terminal.game_options import GameCommand, game_argument
from duels.terminal.options import format_examples, print_text
from duels.terminal.screen import Screen

_CLOSE = 0.55  # a score that nobody would notice at the table


@click.command(
    epilog=format_examples(
        "duels levels chain", "duels levels flip --matches 100", "duels levels leap --goal 50 --json"
    ),
    cls=GameCommand,
)
@game_argument
@click.option(
    "--matches",
    type=click.IntRange(2),
    help="Matches a row; by default 1000 where skill alone decides, else 100.",
)
@click.option("--seed", default="levels", show_default=True, help="Makes the measurement repeatable.")
@click.option("--json", "as_json", is_flag=True, help="The rows as one JSON list.")
def levels(rules: AnyRules, matches: int | None, seed: str, as_json: bool) -> None:
    """Show how strong the levels are: novice, casual, club, expert, best.

    A level is defined by how much winning probability it gives away per decision, as a share of what random
    play does: the share that is intended stands beside the one that is measured. `best` is called `perfect`
    where that is proven. In hunt, where the strategy mixes and nothing that it mixes in is given away, it is
    how far the choices lie below the mixture.
    """
    matches = matches or get_default_matches(rules)
    with Screen().progress("measuring") as progress:
        rows = measure_levels(rules, matches, seed, progress)
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        print_text(render_levels(rules, rows, matches))


def render_levels(rules: AnyRules, rows: list[LevelRow], matches: int) -> str:
    mixes = rows[0].measure == BELOW_THE_MIXTURE
    measured = "how far each level's choices lie below the mixture" if mixes else "what each level gives away"
    lines = [
        f"{rules.name}: {measured} per decision, and its score against the level below",
        f"{'of random play':>29}",
        f"{'level':<10}{'intended':>9}{'measured':>10}   {'points a decision':<18}   score",
    ]
    for row in rows:
        lost = f"{100 * row.per_decision:6.2f} ± {100 * row.per_decision_margin:.2f}"
        line = f"{row.name:<10}{row.share:>9.0%}{row.measured_share:>10.0%}   {lost:<18}   "
        if row.score is not None and row.margin is not None:
            unclear = "" if row.clear else "  cannot be told apart by so many matches"
            line += f"{row.score:6.1%} ± {100 * row.margin:.1f} points{unclear}"
        lines.append(line.rstrip())
    told = f"{matches:,} matches a row"
    if rows[-1].matches != matches:
        told = f"{told} (points a decision, by estimates) and {rows[-1].matches:,} (scores)"
    lines.append(
        f"Measured over {told}, half from either seat, luck taken out; ± 95% confidence. "
        "A point is 1% to win."
    )
    if mixes:
        lines.append(
            "The strategy mixes, and its mixture is worth more than most of what a random choice takes.\n"
            "Whoever mixes like it is 0 below on average; that a player can be foreseen shows in the scores\n"
            "alone."
        )
    if not all(row.clear for row in rows[1:]):
        lines.append("More matches tell levels apart: --matches.")
    part = describe_other_factors(rules)
    if part and any(row.score is not None and row.score < _CLOSE for row in rows[1:]):
        lines.append(f"Some levels are close: {part} much of this game.")
    return "\n".join(lines) + "\n"
