"""Prints how strong the levels were measured to be."""

from typing import Any

from duels.analysis.levels import LevelRow, what_decides
from duels.analysis.shortfalls import BELOW_THE_MIXTURE
from duels.core.rules import Rules

_CLOSE = 0.55  # a score that nobody would notice at the table


def levels_as_text(rules: Rules[Any, Any, Any], rows: list[LevelRow], matches: int) -> str:
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
    part = what_decides(rules)
    if part and any(row.score is not None and row.score < _CLOSE for row in rows[1:]):
        lines.append(f"Some levels are close: {part} much of this game.")
    return "\n".join(lines) + "\n"
