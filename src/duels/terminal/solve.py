"""Prints what perfect play is in a position, and checks the oracle by its second methods."""

import json
from typing import Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules, Seat, Sight
from duels.games import Game
from duels.solving.oracle import Value
from duels.terminal.advice import belief_strip, how_sure, percent
from duels.terminal.screen import Screen


def position_to_solve(rules: Rules[Any, Any, Any], text: str | None) -> Sight[Any, Any]:
    """The position asked about, the opening by default; somebody must have to decide there."""
    sight = rules.parse_position(text) if text is not None else rules.sight(rules.initial(), Seat.ONE)
    if not sight.actions:
        raise DuelsError(f"'{rules.format_position(sight)}' is not a position in which a player decides.")
    return sight


def show_solution(game: Game, rules: Rules[Any, Any, Any], sight: Sight[Any, Any], screen: Screen) -> None:
    """Value, every action with its value, the best ones marked, how exact it is."""
    with screen.patience("solving"):
        oracle = game.oracle(rules)
        verdict = oracle.judge(sight)
        reason = oracle.reason(sight)
    screen.say(f"{game.name}: {rules.format_position(sight)}\n")
    screen.say(f"{sight.seat.label} to move wins {percent(verdict.value)} ({_sure(verdict.value)}).\n\n")
    mixed = any(0 < judged.weight < 1 for judged in verdict.actions)
    for judged in sorted(verdict.actions, key=lambda judged: -judged.value.number):
        name = f"{rules.format(judged.action):<12}"
        fraction = judged.value.fraction
        exact = f"  {fraction}" if fraction is not None and fraction.denominator > 1 else ""
        often = f"  played {judged.weight:.0%}" if mixed and judged.weight else ""
        line = f"{'*' if judged.best else ' '} {name} {percent(judged.value):>8}{exact}{often}"
        screen.say(line.rstrip() + "\n")
    screen.say(f"\n* best. {reason}\n{belief_strip(oracle.belief(sight))}")
    if claim := oracle.claim():
        screen.say(f"{claim}\n")


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
    try:
        for check in screen.patiently("checking", oracle.verify()):
            screen.say(f"{check}\n")
            passed += check.passed
            failed += not check.passed
    except ModuleNotFoundError as missing:
        raise DuelsError(f"this check needs {missing.name}: pip install 'duels[solve]'") from None
    screen.say(f"{passed} passed, {failed} failed\n")
    return not failed
