"""A review on the terminal, and as JSON: the table of decisions, the curve, the account."""

import json
from typing import Any

from duels.core.rules import Seat
from duels.core.words import Ink, either
from duels.solving.oracle import Exactness, Value
from duels.terminal.advice import MARKS, how_sure, points, shaded
from duels.terminal.review import Moment, Review

_HEIGHT = 8
_WIDTH = 72
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.WON}
_SLIPS_TOLD = 5
BELIEFS = "Where each could expect the other before each entry, the darker the likelier, ( ) where it was:"
_LEAST_TOLD = 0.0005  # less reads 0.0


def review_as_text(review: Review) -> str:
    lines = [
        f"{review.game.name}: {heading(review)}",
        "",
        f"     {'who':<9}{'entry':<11}chance to win: the mover's, or Player 1's where chance acts",
        *(_moment_line(review, moment) for moment in review.moments),
        *_belief_lines(review),
        "",
        "Player 1's chance to win, entry by entry:",
        *_curve(review),
        "",
        *account(review),
    ]
    return "\n".join(lines) + "\n"


def heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    return f"{outcome.reason if outcome else 'unfinished; the values are as it stands.'}{sure}"


def _moment_line(review: Review, moment: Moment) -> str:
    if not isinstance(moment.actor, Seat):
        change = f"{100 * moment.before:5.1f}% -> {100 * moment.after:5.1f}%"
        return f"{moment.number:>3}. {'chance':<9}{moment.entry:<11}{change}  luck {_luck(moment.luck)}"
    ink = Ink.of(moment.actor)
    change = f"{_own(moment, moment.before):5.1f}% -> {_own(moment, moment.after):5.1f}%"
    line = f"{moment.number:>3}. {ink(f'{moment.actor.label:<9}')}{moment.entry:<11}{change}"
    if moment.mark:
        line += f"  {_SERIOUS.get(moment.mark, str)(moment.mark)}"
    if moment.alike:
        line += f"  {moment.alike.removesuffix('.').lower()}"
    if moment.loss > MARKS[0].most:
        line += f", gave away {points(moment.loss, review.exactness)}; best: {best_of(moment)}"
    if abs(moment.luck) > max(_LEAST_TOLD, 2 * review.error):
        line += f"  luck {_luck(moment.luck)}"
    return line


def best_of(moment: Moment) -> str:
    """The best actions by name, a few of them."""
    names = moment.best
    return either(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _own(moment: Moment, value: float) -> float:
    return 100 * (value if moment.actor is Seat.ONE else 1 - value)


def _luck(luck: float) -> str:
    return f"{100 * luck:+.1f} points for Player 1" if abs(luck) >= _LEAST_TOLD else "none"


def _belief_lines(review: Review) -> list[str]:
    """What each side could know of the other's token, before each entry, one strip below the other."""
    moments = [moment for moment in review.moments if moment.beliefs]
    if not moments:
        return []
    lines = ["", BELIEFS, f"     {'Player 1 of Player 2':<24}Player 2 of Player 1"]
    for moment in moments:
        strips = (f"{shaded(belief.places, belief.truth):<24}" for belief in moment.beliefs.values())
        lines.append(f"{moment.number:>3}. {''.join(strips)}{who(moment)}: {moment.entry}")
    return lines


def who(moment: Moment) -> str:
    return moment.actor.label if isinstance(moment.actor, Seat) else "Chance"


def _curve(review: Review) -> list[str]:
    """A bar for the opening and each entry, filled from below in eighths; a long match is drawn closer."""
    values = [review.opening, *(moment.after for moment in review.moments)]
    if 2 * len(values) <= _WIDTH:
        values = [value for value in values for _ in range(2)]
    elif len(values) > _WIDTH:
        values = [values[round(i * (len(values) - 1) / (_WIDTH - 1))] for i in range(_WIDTH)]
    rows = []
    for row in range(_HEIGHT - 1, -1, -1):
        bars = "".join(_BLOCKS[max(0, min(8, round(value * _HEIGHT * 8) - row * 8))] for value in values)
        label = {_HEIGHT - 1: "100%", _HEIGHT // 2 - 1: " 50%", 0: "  0%"}.get(row, "    ")
        rows.append(f"{label} |{bars}".rstrip())
    return rows


def account(review: Review) -> list[str]:
    """What was given away, what was luck, that they add up to the result, and why the match was lost."""
    one, two = review.loss(Seat.ONE), review.loss(Seat.TWO)
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    sign = "+" if review.luck >= 0 else "-"
    end = "the result" if review.match.outcome else "the value as it stands"
    return [
        f"Given away: Player 1 {100 * one:.1f} points, Player 2 {100 * two:.1f} points. "
        f"Luck: {_luck(review.luck)}. (Each value: {sure}.)",
        f"{100 * review.opening:.1f} at the start {sign} {100 * abs(review.luck):.1f} luck "
        f"- {100 * one:.1f} + {100 * two:.1f} given away = {100 * review.result:.1f}, {end}.",
        *_why(review),
        "Marks, by points given away: "
        + ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
        + f", {MARKS[-1].name} above.",
    ]


def _why(review: Review) -> list[str]:
    """What decided the match: the loser's slips, the dearest first, and the luck it had."""
    outcome = review.match.outcome
    if not outcome or outcome.winner is None:
        return []
    loser = outcome.winner.other
    slips = [m for m in review.moments if m.actor is loser and m.loss > MARKS[0].most]
    slips.sort(key=lambda moment: -moment.loss)
    side = 1 if loser is Seat.ONE else -1
    lines = ["", f"Why {loser.label} lost:"]
    for slip in slips[:_SLIPS_TOLD]:
        lines.append(
            f"- Entry {slip.number}, {slip.entry}, gave away {points(slip.loss, review.exactness)}; best was "
            f"{best_of(slip)}. {slip.reason}".rstrip()
        )
    rest = slips[_SLIPS_TOLD:]
    if rest:
        lost = points(sum(slip.loss for slip in rest), review.exactness)
        lines.append(f"- {len(rest)} smaller slips gave away {lost} together.")
    if not slips:
        lines.append("- It gave nothing away.")
    opening = review.opening if loser is Seat.ONE else 1 - review.opening
    if opening < _LEAST_TOLD:
        lines.append("- The game is lost for it from the start if the other makes no mistake.")
    if -side * review.luck >= _LEAST_TOLD:
        worst = min(review.moments, key=lambda moment: side * moment.luck)
        lines.append(
            f"- Luck took {points(-side * review.luck, review.exactness)} in all, most with entry "
            f"{worst.number}, {worst.entry} ({points(-side * worst.luck, review.exactness)})."
        )
    elif side * review.luck >= _LEAST_TOLD:
        lines.append(f"- Luck was with it all the same, by {points(side * review.luck, review.exactness)}.")
    return [*lines, ""]


def review_as_json(review: Review) -> str:
    outcome = review.match.outcome
    return json.dumps(
        {
            "game": review.game.name,
            "winner": outcome.winner if outcome else None,
            "reason": outcome.reason if outcome else None,
            "finished": outcome is not None,
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
        **_belief_fields(moment),
    }


def _belief_fields(moment: Moment) -> dict[str, Any]:
    if not moment.beliefs:
        return {}
    return {
        "beliefs": {
            str(seat.value): {"places": belief.places, "truth": belief.truth}
            for seat, belief in moment.beliefs.items()
        }
    }
