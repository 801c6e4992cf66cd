"""Prints what perfect play is in a position, and checks the oracle by its second methods."""

import json
import shlex
from dataclasses import asdict
from typing import Any

from duels.analysis.advice import all_alike, belief_strip, how_sure, percent
from duels.core.errors import DuelsError, quote
from duels.core.rules import Rules, Seat, Sight
from duels.solving.oracle import Check, Exactness, Judged, Value, Verdict
from duels.solving.oracles import oracle_for
from duels.terminal.interrupts import long_computation
from duels.terminal.options import flags_for
from duels.terminal.screen import Screen

# So many lines are listed; where there are more actions, those of equal value share a line.
MOST_LINES = 20
_NAMES_A_LINE = 8


def position_to_solve(rules: Rules[Any, Any, Any], text: str | None) -> Sight[Any, Any]:
    """The position asked about, the opening by default; somebody must have to decide there."""
    sight = rules.parse_position(text) if text is not None else rules.sight(rules.initial(), Seat.ONE)
    if not sight.actions:
        raise DuelsError(
            f"{quote(text or '')} is no position in which a player decides: {_why(rules, sight)}."
        )
    return sight


def _why(rules: Rules[Any, Any, Any], sight: Sight[Any, Any]) -> str:
    """Why nobody who could be told has anything to decide."""
    if sight.actor is None:
        return "the match is over"
    if not isinstance(sight.actor, Seat):
        return "chance is to act"
    # The seat of a position is the one to act, unless the position is what one seat has seen.
    example = rules.format(rules.all_actions()[-1])
    return (
        f"{sight.actor.label} is to act. Add what {sight.seat.label} sees next ('?' for what is hidden, "
        f"or like '{example}'), up to where {sight.seat.label} decides"
    )


def show_solution(
    rules: Rules[Any, Any, Any],
    sight: Sight[Any, Any],
    screen: Screen,
    every_action: bool = False,
) -> None:
    """Value, the actions with their values, the best ones marked and first, how exact it is."""
    with screen.patience("solving") as progress:
        oracle = oracle_for(rules, progress)
        verdict = oracle.judge(sight)
        reason = oracle.reason(sight)
        findings = [finding.text for finding in oracle.findings(sight)]
    screen.say(f"{rules.name}: {rules.format_position(sight)}\n")  # whole, however long: it is copied back
    screen.say(f"{sight.seat.label} to move wins {percent(verdict.value)} ({_sure(verdict.value)}).\n\n")
    screen.say("".join(f"{line}\n" for line in _action_lines(rules, verdict, every_action)))
    screen.say(f"\n{_legend(verdict)} {reason}\n{belief_strip(oracle.belief(sight))}")
    for text in findings:
        screen.say(f"\n{text}")
    if claim := oracle.claim():
        screen.say(f"\n{claim}\n")


def _legend(verdict: Verdict[Any]) -> str:
    """What the marks mean, in a position where it matters what is played."""
    if alike := all_alike(verdict):
        return alike
    if verdict.mixed:
        return "* often taken by the strategy, and not clearly worse by estimate than its mix."
    differ = len({judged.value.number for judged in verdict.actions if judged.best}) > 1
    return "* not proven worse than the best." if differ else "* best."


def _action_lines(rules: Rules[Any, Any, Any], verdict: Verdict[Any], every_action: bool) -> list[str]:
    mixed = verdict.mixed
    ranked = sorted(
        verdict.actions, key=lambda judged: (not judged.best, mixed and -judged.weight, -judged.value.number)
    )
    if every_action or len(ranked) <= MOST_LINES:
        return _aligned([(rules.format(judged.action), judged) for judged in ranked], mixed)
    groups: dict[tuple[str, ...], list[Judged[Any]]] = {}
    for judged in ranked:
        groups.setdefault(_columns("", judged, mixed), []).append(judged)
    rows = []
    for alike in groups.values():
        names = ", ".join(rules.format(judged.action) for judged in alike[:_NAMES_A_LINE])
        more = len(alike) - _NAMES_A_LINE
        rows.append((f"{names} … and {more:,} more" if more > 0 else names, alike[0]))
    left = sum(len(alike) for alike in list(groups.values())[MOST_LINES:])
    more_lines = [f"  … and {left:,} more: --all lists them"] if left else []
    return _aligned(rows[:MOST_LINES], mixed) + more_lines


def _aligned(rows: list[tuple[str, Judged[Any]]], mixed: bool) -> list[str]:
    """A line for each action or actions, chances below chances."""
    table = [_columns(names, judged, mixed) for names, judged in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    widths[1] = max(widths[1], 12)
    return [f"{mark} {names:<{widths[1]}} {chance:>{widths[2]}}{rest}" for mark, names, chance, rest in table]


def _columns(names: str, judged: Judged[Any], mixed: bool) -> tuple[str, str, str, str]:
    """Mark, names, chance to win, and what there is to say about that."""
    chance, plus_minus, bound = percent(judged.value).partition(" ± ")
    fraction = judged.value.fraction
    exact = f"  {fraction}" if fraction is not None and fraction.denominator > 1 else ""
    often = f"  played {judged.weight:.1%}" if mixed and judged.weight else ""
    return "*" if judged.best else " ", names, f"{chance:>8}", f"{plus_minus}{bound}{exact}{often}"


def _sure(value: Value) -> str:
    """What stands behind a value that is shown with its bound."""
    if value.exactness is Exactness.BOUND:
        return "proven"
    fraction = f"{value.fraction}, " if value.fraction is not None and value.fraction.denominator > 1 else ""
    return fraction + how_sure(value)


def solution_as_json(rules: Rules[Any, Any, Any], sight: Sight[Any, Any], screen: Screen) -> str:
    """The same for programs."""
    with screen.patience("solving") as progress:
        oracle = oracle_for(rules, progress)
        verdict = oracle.judge(sight)
    answer: dict[str, Any] = {
        "game": rules.name,
        "position": rules.format_position(sight),
        "to_move": sight.seat.value,
        **_value_fields(verdict.value),
        "actions": [
            {
                "action": rules.format(judged.action),
                **_value_fields(judged.value),
                "best": judged.best,
                "weight": judged.weight,
            }
            for judged in verdict.actions
        ],
    }
    if rules.has_secrets:
        answer["belief"] = oracle.belief(sight)
    if claim := oracle.claim():
        answer["claim"] = claim
    answer |= {finding.name: finding.data for finding in oracle.findings(sight)}
    return json.dumps(answer, indent=2)


def _value_fields(value: Value) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.number, "exactness": value.exactness.value}
    if value.fraction is not None:
        fields["exact"] = str(value.fraction)
    if value.error:
        fields |= {"low": value.low, "high": value.high}
    return fields


def verify(rules: Rules[Any, Any, Any], as_json: bool, screen: Screen) -> bool:
    """Run the oracle's second methods, a line each as they finish; whether all agree."""
    with screen.patience("getting ready") as progress:
        oracle = oracle_for(rules, progress)
    checks: list[Check] = []
    with long_computation():
        for check in screen.patiently("checking", oracle.verify):
            checks.append(check)
            if not as_json:
                screen.say(f"{check}\n")
    failed = sum(not check.passed for check in checks)
    if as_json:
        answer = {"game": rules.name, "passed": not failed, "checks": [asdict(check) for check in checks]}
        screen.say(json.dumps(answer, indent=2) + "\n")
    else:
        screen.say(f"{len(checks) - failed} passed, {failed} failed\n")
    return not failed


def command_to_solve(rules: Rules[Any, Any, Any], position: str) -> str:
    """What to enter in a shell to solve this position."""
    return shlex.join(["duels", "solve", rules.name, *flags_for(rules), "--position", position])
