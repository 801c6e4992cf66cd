"""The command `levels`: the measured strength of the levels."""

import json
from dataclasses import asdict

import click

from duels.analysis.levels import LevelRow, describe_other_factors, get_default_matches, measure_levels
from duels.core.rules import AnyRules
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.terminal.game_options import GameCommand, game_argument
from duels.terminal.options import format_examples, print_text
from duels.terminal.screen import Screen

_CLOSE_SCORE = 0.55  # below it, a person hardly notices the difference


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
    help="Matches per row. By default 1000 in games without chance and hidden information, otherwise 100.",
)
@click.option("--seed", default="levels", show_default=True, help="Seed of the matches.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def levels(rules: AnyRules, matches: int | None, seed: str, as_json: bool) -> None:
    """Measure how strong the levels are: novice, casual, club, expert, best.

    A level is defined by the winning probability that it gives away per decision, as a share of what random
    play gives away. The table shows the intended and the measured share. `best` is called `perfect` in games
    that we have solved. In hunt, the strategy is a mixture of actions, and the table shows instead how far a
    level's choices are below that mixture.
    """
    matches = matches or get_default_matches(rules)
    with Screen().progress("measuring") as progress:
        rows = measure_levels(rules, matches, seed, progress)
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        print_text(render_levels(rules, rows, matches))


def render_levels(rules: AnyRules, rows: list[LevelRow], matches: int) -> str:
    """Render the table of levels with its legend."""
    is_mixed = rows[0].measure == BELOW_THE_MIXTURE
    measured = (
        "how far each level's choices are below the mixture" if is_mixed else "what each level gives away"
    )
    lines = [
        f"{rules.name}: {measured} per decision, and its score against the level below",
        f"{'of random play':>29}",
        f"{'level':<10}{'intended':>9}{'measured':>10}   {'points / decision':<18}   score",
    ]
    for row in rows:
        lost = f"{100 * row.per_decision:6.2f} ± {100 * row.per_decision_margin:.2f}"
        line = f"{row.name:<10}{row.share:>9.0%}{row.measured_share:>10.0%}   {lost:<18}   "
        if row.score is not None and row.margin is not None:
            unclear = "" if row.clear else "  too few matches to tell"
            line += f"{row.score:6.1%} ± {100 * row.margin:.1f} points{unclear}"
        lines.append(line.rstrip())
    sample = f"{matches:,} matches per row"
    if rows[-1].matches != matches:
        sample = f"{sample} (points per decision, estimated) and {rows[-1].matches:,} (scores)"
    lines.append(
        f"Measured over {sample}, half from either seat, luck taken out; ± is the 95% confidence interval. "
        "A point is 1% to win."
    )
    if is_mixed:
        lines.append(
            "A player who mixes like the strategy is 0 points below it on average. Being predictable costs\n"
            "no points here; it shows only in the scores."
        )
    if not all(row.clear for row in rows[1:]):
        lines.append("To separate close levels, pass a larger number to --matches.")
    part = describe_other_factors(rules)
    if part and any(row.score is not None and row.score < _CLOSE_SCORE for row in rows[1:]):
        lines.append(f"Some levels are close: {part} much of this game.")
    return "\n".join(lines) + "\n"
