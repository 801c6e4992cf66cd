"""A review on the terminal, and as JSON: the table of decisions, the curve, the account."""

import json
from typing import Any

from duels.core.rules import Seat
from duels.core.words import Ink
from duels.solving.oracle import Exactness
from duels.terminal.advice import MARKS, belief_strip
from duels.terminal.review import Moment, Review

_HEIGHT = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.WON}


def review_as_text(review: Review) -> str:
    outcome = review.match.outcome
    lines = [f"{review.game.name}: {outcome.reason if outcome else 'unfinished'}", ""]
    lines += [_moment_line(review, moment) for moment in review.moments]
    lines += ["", "Player 1's chance to win, entry by entry:", *_curve(review), "", *account(review)]
    return "\n".join(lines) + "\n"


def _moment_line(review: Review, moment: Moment) -> str:
    if not isinstance(moment.actor, Seat):
        change = f"{100 * moment.before:5.1f}% -> {100 * moment.after:5.1f}%"
        return f"{moment.number:>3}. {'chance':<9}{moment.entry:<11}{change}  luck {_points(moment.luck)}"
    ink = Ink.of(moment.actor)
    change = f"{_own(moment, moment.before):5.1f}% -> {_own(moment, moment.after):5.1f}%"
    line = f"{moment.number:>3}. {ink(f'{moment.actor.label:<9}')}{moment.entry:<11}{change}"
    if moment.mark:
        mark = _SERIOUS.get(moment.mark, str)(moment.mark)
        line += f"  {mark}"
    if moment.loss > MARKS[0].most:
        best = moment.best[:3]
        more = ", …" if len(moment.best) > 3 else ""
        line += f", gave away {100 * moment.loss:.1f} points; best: {', '.join(best)}{more}"
    if abs(moment.luck) > max(0.0005, 2 * review.error):
        line += f"  luck {_points(moment.luck)}"
    strip = belief_strip(moment.belief)
    return line + (f"\n     {strip.rstrip()}" if strip else "")


def _own(moment: Moment, value: float) -> float:
    return 100 * (value if moment.actor is Seat.ONE else 1 - value)


def _points(luck: float) -> str:
    return f"{100 * luck:+.1f} points for Player 1" if luck else "none"


def _curve(review: Review) -> list[str]:
    """A bar for the opening and each entry, filled from below in eighths."""
    values = [review.opening, *(moment.after for moment in review.moments)]
    rows = []
    for row in range(_HEIGHT - 1, -1, -1):
        bars = "".join(_BLOCKS[max(0, min(8, round(value * _HEIGHT * 8) - row * 8))] * 2 for value in values)
        label = {_HEIGHT - 1: "100%", _HEIGHT // 2 - 1: " 50%", 0: "  0%"}.get(row, "    ")
        rows.append(f"{label} |{bars}")
    return rows


def account(review: Review) -> list[str]:
    """What was given away, what was luck, and that they add up to the result."""
    one, two = review.loss(Seat.ONE), review.loss(Seat.TWO)
    kind = {Exactness.EXACT: "exact", Exactness.BOUND: f"each within {review.error:.2g}"}.get(
        review.exactness, "estimates"
    )
    sign = "+" if review.luck >= 0 else "-"
    lines = [
        f"Given away: Player 1 {100 * one:.1f} points, Player 2 {100 * two:.1f} points. "
        f"Luck: {100 * review.luck:+.1f} points for Player 1. (Values: {kind}.)",
        f"{100 * review.opening:.1f} at the start {sign} {100 * abs(review.luck):.1f} luck "
        f"- {100 * one:.1f} + {100 * two:.1f} given away = {100 * review.result:.1f}.",
        _why(review),
        "Marks, by points given away: "
        + ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
        + f", {MARKS[-1].name} above.",
    ]
    return [line for line in lines if line]


def _why(review: Review) -> str:
    """One sentence on what decided the match."""
    outcome = review.match.outcome
    if not outcome or outcome.winner is None:
        return ""
    loser = outcome.winner.other
    slips = [m for m in review.moments if m.actor is loser and m.loss > MARKS[0].most]
    if not slips:
        return f"{loser.label} gave nothing away and lost all the same."
    worst = max(slips, key=lambda moment: moment.loss)
    others = f" and {len(slips) - 1} more {'slip' if len(slips) == 2 else 'slips'}" if len(slips) > 1 else ""
    against = review.luck if loser is Seat.TWO else -review.luck
    luck = f" Luck took {100 * against:.1f} points on top." if against > 0.005 else ""
    return (
        f"{loser.label} lost most with entry {worst.number}{others}: '{worst.entry}' gave away "
        f"{100 * worst.loss:.1f} points, '{' or '.join(worst.best[:3])}' was best. {worst.reason}{luck}"
    )


def review_as_json(review: Review) -> str:
    outcome = review.match.outcome
    return json.dumps(
        {
            "game": review.game.name,
            "winner": outcome.winner if outcome else None,
            "reason": outcome.reason if outcome else None,
            "exactness": review.exactness.value,
            "error": review.error,
            "opening": review.opening,
            "result": review.result,
            "luck": review.luck,
            "loss": {str(seat.value): review.loss(seat) for seat in Seat},
            "thresholds": {mark.name: mark.most for mark in MARKS},
            "moments": [_moment_fields(moment) for moment in review.moments],
        },
        indent=2,
    )


def _moment_fields(moment: Moment) -> dict[str, Any]:
    return {
        "number": moment.number,
        "actor": moment.actor.value,
        "entry": moment.entry,
        "before": moment.before,
        "after": moment.after,
        "loss": moment.loss,
        "luck": moment.luck,
        "best": list(moment.best),
        "mark": moment.mark,
        "reason": moment.reason,
        **({"belief": moment.belief} if moment.belief else {}),
    }
