"""A review on the terminal, and as JSON: the table of decisions, the curve, the account."""

import json
from itertools import groupby
from textwrap import wrap
from typing import Any

from duels.analysis.advice import LEAST_SHOWN, MARKS, how_sure, points, shaded
from duels.analysis.review import Moment, Review
from duels.core.rules import Seat
from duels.core.words import Ink, either
from duels.solving.oracle import Exactness, Value
from duels.terminal.solve import command_to_solve

_HEIGHT = 8
_WIDTH = 72
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SERIOUS = {"mistake": Ink.CHANGED, "blunder": Ink.WON}
_SLIPS_TOLD = 5
BELIEFS = "Where each could expect the other before each entry, the darker the likelier, ( ) where it was:"
_LEAST_DOUBT = 0.005  # what a decision that is not proven wrong may have cost at most to say so
_LONG_MATCH = 40  # entries
_LEAST_SUMMED_UP = 6
_TEXT_WIDTH = 100
_POSITION, _LOOK = "  Position: ", "Look into the first of these positions: "
_COPIED = (_POSITION, _LOOK)  # what is on these lines stays in one piece


def review_as_text(review: Review) -> str:
    lines = [
        f"{review.game.name}: {heading(review)}",
        "",
        f"     {'who':<9}{'entry':<11}Player 1's chance to win, before and after",
        *_moment_lines(review),
        *_belief_lines(review),
        "",
        "Player 1's chance to win, entry by entry:",
        *_curve(review),
        "",
        *(line for paragraph in account(review) for line in _wrapped(paragraph)),
    ]
    return "\n".join(lines) + "\n"


def heading(review: Review) -> str:
    """How the match ended, and what kind of values are shown."""
    outcome = review.match.outcome
    sure = " (All values are estimates.)" if review.exactness is Exactness.ESTIMATE else ""
    return f"{outcome.reason if outcome else 'unfinished; the values are as it stands.'}{sure}"


def _moment_lines(review: Review) -> list[str]:
    """A line an entry; in a long match, entries in which nothing happened share one."""
    lines = []
    long = len(review.moments) > _LONG_MATCH
    for quiet, group in groupby(review.moments, key=lambda moment: long and _quiet(moment)):
        moments = list(group)
        if quiet and len(moments) >= _LEAST_SUMMED_UP:
            boards = sum(moment.restarts for moment in moments)
            news = f"; {boards} new board{'s' * (boards > 1)}" if boards else ""
            first, last = moments[0], moments[-1]
            lines.append(
                f"     entries {first.number} to {last.number}: nothing given away, no luck, "
                f"{100 * last.after:.1f}% throughout{news}"
            )
            continue
        for moment in moments:
            lines.append(_moment_line(review, moment))
            if moment.restarts:
                lines.append("     --- a new board ---")
    return lines


def _quiet(moment: Moment) -> bool:
    return abs(moment.after - moment.before) < LEAST_SHOWN and moment.loss < LEAST_SHOWN


def _moment_line(review: Review, moment: Moment) -> str:
    change = f"{100 * moment.before:5.1f}% -> {100 * moment.after:5.1f}%"
    if not isinstance(moment.actor, Seat):
        line = f"{moment.number:>3}. {'chance':<9}{moment.entry:<11}{change}"
        return "  ".join([line, *what_came_up(review, moment)])
    ink = Ink.of(moment.actor)
    line = f"{moment.number:>3}. {ink(f'{moment.actor.label:<9}')}{moment.entry:<11}{change}"
    if moment.mark:
        line += f"  {_SERIOUS.get(moment.mark, str)(moment.mark)}"
    if moment.alike:
        line += f"  {moment.alike.removesuffix('.').lower()}"
    if moment.loss > MARKS[0].most:
        line += f", gave away {lost(review, moment)}; best: {best_of(moment)}"
    elif moment.loss_error > _LEAST_DOUBT:
        line += f", gave away {lost(review, moment)}"
    return "  ".join([line, *what_came_up(review, moment)])


def what_came_up(review: Review, moment: Moment) -> list[str]:
    """What luck, and of a decision the mix, changed; of a decision where there is something to tell."""
    if not isinstance(moment.actor, Seat):
        return [f"luck {_luck(moment.luck)}"]
    least = max(LEAST_SHOWN, 2 * review.error)
    parts = {"the mix": moment.mixing, "luck": moment.luck - moment.mixing}
    return [f"{name} {_luck(part)}" for name, part in parts.items() if abs(part) > least]


def lost(review: Review, moment: Moment) -> str:
    """What a decision gave away; of one that is not proven worse than another, at most so much."""
    if moment.loss <= MARKS[0].most and moment.loss_error > _LEAST_DOUBT:
        return f"at most {points(moment.loss + moment.loss_error, review.exactness)}"
    return points(moment.loss, review.exactness, moment.loss_error)


def best_of(moment: Moment) -> str:
    """The best actions by name, a few of them."""
    names = moment.best
    return either(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _luck(luck: float) -> str:
    return f"{100 * luck:+.1f} points for Player 1" if abs(luck) >= LEAST_SHOWN else "none"


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
    entries = len(values) - 1
    if 2 * len(values) <= _WIDTH:
        values = [value for value in values for _ in range(2)]
    elif len(values) > _WIDTH:
        values = [values[round(i * (len(values) - 1) / (_WIDTH - 1))] for i in range(_WIDTH)]
    # A lost position is a thin line at the bottom, not a gap.
    heights = [max(1, round(value * _HEIGHT * 8)) for value in values]
    rows = []
    for row in range(_HEIGHT - 1, -1, -1):
        bars = "".join(_BLOCKS[max(0, min(8, height - row * 8))] for height in heights)
        label = {_HEIGHT - 1: "100%", _HEIGHT // 2 - 1: " 50%", 0: "  0%"}.get(row, "    ")
        rows.append(f"{label} |{bars}".rstrip())
    end = str(entries)
    return [
        *rows,
        f"     +{'-' * len(values)}",
        f"      0{end:>{max(len(end) + 1, len(values) - 1)}}  entries",
    ]


def account(review: Review) -> list[str]:
    """What was given away, what was luck, that they add up to the result, and why the match was lost.

    A paragraph each, in one piece.
    """
    one, two = review.loss(Seat.ONE), review.loss(Seat.TWO)
    sure = how_sure(Value(review.opening, review.exactness, error=review.error))
    sign = "+" if review.luck >= 0 else "-"
    end = "the result" if review.match.outcome else "the value as it stands"
    mixing = sum(moment.mixing for moment in review.moments)
    by_mixing = (
        f", the mix {100 * mixing:+.1f} of it (where perfect play draws lots, what comes up is luck)"
        if review.match.rules.has_secrets
        else ""
    )
    return [
        f"Given away: Player 1 {100 * one:.1f} points, Player 2 {100 * two:.1f} points. "
        f"Luck: {_luck(review.luck)}{by_mixing}. (Each value: {sure}.)",
        f"{100 * review.opening:.1f} at the start {sign} {100 * abs(review.luck):.1f} luck "
        f"- {100 * one:.1f} + {100 * two:.1f} given away = {100 * review.result:.1f}, {end}.",
        *_why(review),
        "Marks, by points given away: "
        + ", ".join(f"{mark.name} to {100 * mark.most:g}" for mark in MARKS[:-1])
        + f", {MARKS[-1].name} above.",
    ]


def _wrapped(paragraph: str) -> list[str]:
    if not paragraph or paragraph.startswith(_COPIED):
        return [paragraph]
    indent = "  " if paragraph.startswith("- ") else ""
    return wrap(
        paragraph, _TEXT_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _why(review: Review) -> list[str]:
    """What decided the match, told to who lost it: the slips, the dearest first, and the luck."""
    outcome = review.match.outcome
    if not outcome or outcome.winner is None:
        return []
    loser = outcome.winner.other
    slips = [m for m in review.moments if m.actor is loser and m.loss > MARKS[0].most]
    slips.sort(key=lambda moment: -moment.loss)
    lines = ["", f"Why you lost, {loser.label}:"]
    for slip in slips[:_SLIPS_TOLD]:
        lines.append(
            f"- Entry {slip.number}, {slip.entry}, gave away {lost(review, slip)}; best was "
            f"{best_of(slip)}. {slip.effect} {slip.reason}"
        )
        lines.append(f"{_POSITION}{slip.position}")
    rest = slips[_SLIPS_TOLD:]
    if rest:
        sum_of_them = points(
            sum(slip.loss for slip in rest), review.exactness, sum(slip.loss_error for slip in rest)
        )
        lines.append(f"- {len(rest)} smaller slips gave away {sum_of_them} together.")
    if not slips:
        by_estimate = " that the estimates tell" if review.exactness is Exactness.ESTIMATE else ""
        lines.append(f"- You gave nothing away{by_estimate}.")
    opening = review.opening if loser is Seat.ONE else 1 - review.opening
    if opening < LEAST_SHOWN:
        lines.append("- The game is lost for you from the start if the other player makes no mistake.")
    lines += _luck_lines(review, loser)
    if slips:
        command = command_to_solve(review.match.rules, slips[0].position)
        lines += [f"{_LOOK}{command}"] if command else []
    return [*lines, ""]


def _luck_lines(review: Review, loser: Seat) -> list[str]:
    side = 1 if loser is Seat.ONE else -1
    if -side * review.luck >= LEAST_SHOWN:
        worst = min(review.moments, key=lambda moment: side * moment.luck)
        how = f": {worst.mishap}" if worst.mishap else ""
        return [
            f"- Luck took {points(-side * review.luck, review.exactness)} from you in all, most with entry "
            f"{worst.number}, {worst.entry} ({points(-side * worst.luck, review.exactness)}){how}."
        ]
    if side * review.luck >= LEAST_SHOWN:
        return [f"- Luck was with you all the same, by {points(side * review.luck, review.exactness)}."]
    return []


def review_as_json(review: Review) -> str:
    outcome = review.match.outcome
    return json.dumps(
        {
            "game": review.game.name,
            "winner": outcome.winner if outcome else None,
            "reason": outcome.reason if outcome else None,
            "finished": outcome is not None,
            "exactness": review.exactness.value,
            "error": None if review.exactness is Exactness.ESTIMATE else review.error,
            "values": "opening, result, before, after and luck are Player 1's; loss is the actor's",
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
        "position": moment.position,
        "before": moment.before,
        "after": moment.after,
        "loss": moment.loss,
        "loss_error": moment.loss_error,
        "luck": moment.luck,
        **({"mixing": moment.mixing, "mishap": moment.mishap} if moment.beliefs else {}),
        "best": list(moment.best),
        "mark": moment.mark,
        "reason": moment.reason,
        "effect": moment.effect,
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
