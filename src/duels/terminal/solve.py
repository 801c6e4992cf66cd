"""The command `solve`: the solution of a position, and the checks of an oracle."""

import json
from typing import Any

import click

from duels.analysis.hints import PositionSolution, parse_position_to_solve
from duels.analysis.hints import solve as solve_position
from duels.analysis.wording import describe_equal_actions, describe_exactness, format_belief, format_percent
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, AnySight
from duels.core.words import Ink
from duels.solving.oracle import ActionValue, Check, Exactness, Value, Verdict
from duels.solving.oracles import get_oracle
from duels.terminal.game_options import GameCommand, format_options, game_argument
from duels.terminal.options import exit_with, format_command, format_examples, plain_option
from duels.terminal.screen import Screen
from duels.terminal.signals import interruptible_computation

# So many lines are listed; where there are more actions, those of equal value share a line.
MOST_LINES = 20
_NAMES_A_LINE = 8


@click.command(
    epilog=format_examples(
        "duels solve lights",
        'duels solve chain --position "__XX_O_ 1"',
        'duels solve chain --position "__X?O__ 2" --json',
        "duels solve lights --lights 12",
        "duels solve leap --goal 100",
        "duels solve flip --verify",
    ),
    cls=GameCommand,
)
@game_argument
@click.option("--position", help="In the game's notation; the opening by default.")
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
@click.option("--all", "every_action", is_flag=True, help="List every action, however many there are.")
@click.option("--verify", "verifying", is_flag=True, help="Check the values by methods written apart.")
@plain_option
def solve(
    rules: AnyRules,
    position: str | None,
    as_json: bool,
    every_action: bool,
    verifying: bool,
    plain: bool,
) -> None:
    """Show what perfect play is: the value of a position and of every action.

    A value is the probability that the player to move wins when both play perfectly; a draw counts one
    half, and so does never-ending play. In hunt, where nobody knows perfect play, it is when both play the
    strategy that comes with it.

    \b
    --verify takes, on one core:
      lights, leap  about a second
      chain         some seconds
      flip          a few minutes
      hunt          minutes, and needs the extra 'fast'
    """
    screen = Screen(plain)
    for name, given in {"--position": position is not None, "--all": every_action}.items():
        if verifying and given:
            raise click.UsageError(f"{name} does not go with --verify.")
    try:
        sight = parse_position_to_solve(rules, position)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    if verifying:
        exit_with(0 if verify(rules, as_json, screen) else 1)
    else:
        with screen.progress("solving") as progress:
            solution = solve_position(sight, get_oracle(rules, progress))
        if as_json:
            click.echo(json.dumps(solution.as_data(), indent=2))
        else:
            screen.say(render_solution(solution, every_action))


def render_solution(solution: PositionSolution[Any, Any], every_action: bool = False) -> str:
    """Value, the actions with their values, the best ones marked and first, how exact it is."""
    sight, verdict, value = solution.sight, solution.verdict, solution.value
    to_move = " to move" if verdict else ""
    parts = [
        f"{sight.rules.name}: {Ink.COPIED(solution.position)}\n"
        f"{sight.seat.label}{to_move} {_stands(sight, value)} ({_sure(value)}).\n"
    ]
    if verdict:
        parts.append("".join(f"{line}\n" for line in _action_lines(sight.rules, verdict, every_action)))
    legend = f"{_legend(verdict)} " if verdict else ""
    parts.append(f"{legend}{solution.reason}\n{format_belief(solution.belief)}")
    parts += [finding.text for finding in solution.findings]
    if solution.guarantee:
        parts.append(f"{solution.guarantee}\n")
    return "\n".join(parts)


def _stands(sight: AnySight, value: Value) -> str:
    return f"is at {format_percent(value)}" if sight.rules.can_be_drawn else f"wins {format_percent(value)}"


def _legend(verdict: Verdict[Any]) -> str:
    """What the star means, or that nothing matters."""
    if alike := describe_equal_actions(verdict):
        return alike
    if verdict.is_mixed and verdict.value.exactness is Exactness.ESTIMATE:
        return "* often taken by the strategy."
    if verdict.is_mixed:
        return "* taken often enough by the strategy, at no cost."
    differ = len({judged.value.number for judged in verdict.actions if judged.best}) > 1
    return "* not proven worse than the best." if differ else "* best."


def _action_lines(rules: AnyRules, verdict: Verdict[Any], every_action: bool) -> list[str]:
    mixed = verdict.is_mixed
    ranked = sorted(
        verdict.actions, key=lambda judged: (not judged.best, mixed and -judged.weight, -judged.value.number)
    )
    if every_action or len(ranked) <= MOST_LINES:
        return _aligned([(rules.format(judged.action), judged) for judged in ranked], mixed)
    groups: dict[tuple[str, ...], list[ActionValue[Any]]] = {}
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


def _aligned(rows: list[tuple[str, ActionValue[Any]]], mixed: bool) -> list[str]:
    """A line for each action or actions, chances below chances."""
    table = [_columns(names, judged, mixed) for names, judged in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    widths[1] = max(widths[1], 12)
    return [f"{mark} {names:<{widths[1]}} {chance:>{widths[2]}}{rest}" for mark, names, chance, rest in table]


def _columns(names: str, judged: ActionValue[Any], mixed: bool) -> tuple[str, str, str, str]:
    """Mark, names, chance to win, and what there is to say about that."""
    chance, plus_minus, bound = format_percent(judged.value).partition(" ± ")
    fraction = judged.value.fraction
    exact = f"  {fraction}" if fraction is not None and fraction.denominator > 1 else ""
    often = f"  played {judged.weight:.1%}" if mixed and judged.weight else ""
    return "*" if judged.best else " ", names, f"{chance:>8}", f"{plus_minus}{bound}{exact}{often}"


def _sure(value: Value) -> str:
    """What stands behind a value that is shown with its bound."""
    if value.exactness is Exactness.BOUND:
        return "proven"
    fraction = f"{value.fraction}, " if value.fraction is not None and value.fraction.denominator > 1 else ""
    return fraction + describe_exactness(value)


def verify(rules: AnyRules, as_json: bool, screen: Screen) -> bool:
    """Run the oracle's checks, a line each as they finish; whether all passed."""
    with screen.progress("getting ready") as progress:
        oracle = get_oracle(rules, progress)
    checks: list[Check] = []
    with require_extra("fast"), interruptible_computation():
        for check in screen.with_progress("checking", oracle.verify):
            checks.append(check)
            if not as_json:
                screen.say(f"{check}\n")
    if not checks:
        raise DuelsError(f"the oracle of {rules.name} has no checks.")
    failed = sum(not check.passed for check in checks)
    if as_json:
        told = [{"name": each.name, "passed": each.passed, "detail": each.detail} for each in checks]
        answer = {"game": rules.name, "passed": not failed, "checks": told}
        screen.say(json.dumps(answer, indent=2) + "\n")
    else:
        screen.say(f"{len(checks) - failed} passed, {failed} failed\n")
    return not failed


def command_to_solve(rules: AnyRules, position: str) -> str:
    """What to enter in a shell to solve this position."""
    return format_command("solve", rules.name, *format_options(rules), "--position", position)
