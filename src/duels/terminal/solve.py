"""Prints what perfect play is in a position, and checks the oracle by its second methods."""

import json
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules, Seat, Sight
from duels.games import Game
from duels.solving.oracle import Judged, Value, Verdict
from duels.terminal.advice import all_alike, belief_strip, how_sure, percent
from duels.terminal.patience import long_computation
from duels.terminal.screen import Screen

# So many lines are listed; where there are more actions, those of equal value share a line.
MOST_LINES = 20
_NAMES_A_LINE = 8


def position_to_solve(rules: Rules[Any, Any, Any], text: str | None) -> Sight[Any, Any]:
    """The position asked about, the opening by default; somebody must have to decide there."""
    sight = rules.parse_position(text) if text is not None else rules.sight(rules.initial(), Seat.ONE)
    if not sight.actions:
        raise DuelsError(f"'{rules.format_position(sight)}' is not a position in which a player decides.")
    return sight


def show_solution(
    game: Game,
    rules: Rules[Any, Any, Any],
    sight: Sight[Any, Any],
    screen: Screen,
    every_action: bool = False,
) -> None:
    """Value, the actions with their values, the best ones marked and first, how exact it is."""
    with screen.patience("solving"):
        oracle = game.oracle(rules)
        verdict = oracle.judge(sight)
        reason = oracle.reason(sight)
        findings = [finding.text for finding in oracle.findings(sight)]
    screen.say(f"{game.name}: {rules.format_position(sight)}\n")  # whole, however long: it is copied back
    screen.say(f"{sight.seat.label} to move wins {percent(verdict.value)} ({_sure(verdict.value)}).\n\n")
    screen.say("".join(f"{line}\n" for line in _action_lines(rules, verdict, every_action)))
    screen.say(f"\n{all_alike(verdict) or '* best.'} {reason}\n{belief_strip(oracle.belief(sight))}")
    for text in findings:
        screen.say(f"\n{text}")
    if claim := oracle.claim():
        screen.say(f"\n{claim}\n")


def _action_lines(rules: Rules[Any, Any, Any], verdict: Verdict[Any], every_action: bool) -> list[str]:
    mixed = verdict.mixed
    ranked = sorted(
        verdict.actions, key=lambda judged: (not judged.best, mixed and -judged.weight, -judged.value.number)
    )
    if every_action or len(ranked) <= MOST_LINES:
        return [_line(rules.format(judged.action), judged, mixed) for judged in ranked]
    groups: dict[str, list[Judged[Any]]] = {}
    for judged in ranked:
        groups.setdefault(_line("", judged, mixed), []).append(judged)
    lines = []
    for alike in groups.values():
        names = ", ".join(rules.format(judged.action) for judged in alike[:_NAMES_A_LINE])
        more = len(alike) - _NAMES_A_LINE
        lines.append(_line(f"{names} … and {more:,} more" if more > 0 else names, alike[0], mixed))
    left = sum(len(alike) for alike in list(groups.values())[MOST_LINES:])
    return [*lines[:MOST_LINES], *([f"  … and {left:,} more: --all lists them"] if left else [])]


def _line(names: str, judged: Judged[Any], mixed: bool) -> str:
    fraction = judged.value.fraction
    exact = f"  {fraction}" if fraction is not None and fraction.denominator > 1 else ""
    often = f"  played {judged.weight:.1%}" if mixed and judged.weight else ""
    return f"{'*' if judged.best else ' '} {names:<12} {percent(judged.value):>8}{exact}{often}"


def _sure(value: Value) -> str:
    fraction = f"{value.fraction}, " if value.fraction is not None and value.fraction.denominator > 1 else ""
    return fraction + how_sure(value)


def solution_as_json(game: Game, rules: Rules[Any, Any, Any], sight: Sight[Any, Any], screen: Screen) -> str:
    """The same for programs."""
    with screen.patience("solving"):
        oracle = game.oracle(rules)
        verdict = oracle.judge(sight)
    answer = {
        "game": game.name,
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
    extras = {"belief": oracle.belief(sight), "claim": oracle.claim()}
    extras |= {finding.name: finding.data for finding in oracle.findings(sight)}
    return json.dumps({**answer, **{name: extra for name, extra in extras.items() if extra}}, indent=2)


def _value_fields(value: Value) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.number, "exactness": value.exactness.value}
    if value.fraction is not None:
        fields["exact"] = str(value.fraction)
    if value.error:
        fields |= {"low": value.low, "high": value.high}
    return fields


def verify(game: Game, rules: Rules[Any, Any, Any], screen: Screen) -> bool:
    """Run the oracle's second methods, a line each as they finish; whether all agree."""
    with screen.patience("getting ready"):
        oracle = game.oracle(rules)
    passed = 0
    failed = 0
    with long_computation():
        for check in screen.patiently("checking", oracle.verify()):
            screen.say(f"{check}\n")
            passed += check.passed
            failed += not check.passed
    screen.say(f"{passed} passed, {failed} failed\n")
    return not failed
