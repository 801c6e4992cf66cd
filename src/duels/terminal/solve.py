"""The command `solve`: the value of a position, or a verification of the values."""

import json
from typing import Any

import click

from duels.analysis.wording import describe_equal_actions, describe_exactness, format_belief, format_percent
from duels.core.errors import DuelsError, quote, require_extra
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.words import Ink
from duels.solving.oracle import ActionValue, Check, Exactness, Oracle, Value, Verdict
from duels.solving.oracles import get_oracle
from duels.terminal.game_options import GameCommand, format_options, game_argument
from duels.terminal.options import format_command, format_examples, plain_option
from duels.terminal.screen import Screen
from duels.terminal.signals import interruptible_computation

MAX_LINES = 20  # with more actions, those of equal value share a line
_NAMES_PER_LINE = 8


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
@click.option("--position", help="A position in the game's notation, by default the opening.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@click.option("--all", "every_action", is_flag=True, help="List every action, even if there are many.")
@click.option("--verify", "verifying", is_flag=True, help="Verify the values with independent methods.")
@plain_option
def solve(
    rules: AnyRules, position: str | None, as_json: bool, every_action: bool, verifying: bool, plain: bool
) -> int:
    """Show the value of a position and of every action in it.

    A value is the probability that the player to move wins if both sides play perfectly. A draw or endless
    play counts as half a win. Perfect play is unknown in hunt, so its values assume that both sides follow
    the strategy that comes with duels.

    \b
    Time for --verify on one core:
      lights, leap  about a second
      chain         some seconds
      flip          a few minutes
      hunt          some minutes (needs the extra 'fast')
    """
    screen = Screen(plain)
    for name, is_used in {"--position": position is not None, "--all": every_action}.items():
        if verifying and is_used:
            raise click.UsageError(f"{name} cannot be combined with --verify.")
    try:
        sight = parse_position(rules, position)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    if verifying:
        return 0 if verify(rules, as_json, screen) else 1
    with screen.progress("solving") as progress:
        oracle = get_oracle(rules, progress)
        data = describe_solution(sight, oracle) if as_json else {}
        text = "" if as_json else render_solution(sight, oracle, every_action)
    if as_json:
        click.echo(json.dumps(data, indent=2))
    screen.say(text)
    return 0


def parse_position(rules: AnyRules, text: str | None) -> AnySight:
    """Parse a position, by default the opening. Raises DuelsError if no player decides there."""
    if text is None:
        return rules.sight(rules.initial(), Seat.ONE)
    sight = rules.parse_position(text)
    if not sight.actions:
        problem = _explain_no_decision(rules, sight)
        raise DuelsError(f"No player decides in the position {quote(text)}: {problem}.")
    return sight


def _explain_no_decision(rules: AnyRules, sight: AnySight) -> str:
    if sight.actor is None:
        return "the match is over"
    if not isinstance(sight.actor, Seat):
        return "chance is to act"
    # Only a position that describes one seat's view can belong to a seat that is not to act.
    example = rules.format(rules.all_actions()[-1])
    return (
        f"{sight.actor.label} is to act. Add the entries that {sight.seat.label} sees next ('?' for a hidden "
        f"entry, or for example '{example}'), until {sight.seat.label} decides"
    )


def describe_solution(sight: AnySight, oracle: Oracle[Any, Any]) -> dict[str, Any]:
    """Return the values of a position and of its actions for `--json`; no actions if chance is to act."""
    rules, verdict = sight.rules, oracle.judge(sight) if sight.actions else None
    data = {
        "game": rules.name,
        "position": rules.format_position(sight),
        "to_move": sight.actor.value if sight.actor else None,
        **_describe_value(verdict.value if verdict else oracle.value(sight)),
        "actions": [
            {
                "action": rules.format(judged.action),
                **_describe_value(judged.value),
                "best": judged.best,
                "weight": judged.weight,
            }
            for judged in (verdict.actions if verdict else ())
        ],
    }
    if rules.has_hidden_information:
        data["belief"] = dict(oracle.belief(sight)) if verdict else {}
    if guarantee := oracle.guarantee():
        data["claim"] = guarantee
    return data | {finding.name: finding.data for finding in (oracle.findings(sight) if verdict else ())}


def _describe_value(value: Value) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.number, "exactness": value.exactness.value}
    if value.fraction is not None:
        fields["exact"] = str(value.fraction)
    if value.error:
        fields |= {"low": value.low, "high": value.high}
    return fields


def render_solution(sight: AnySight, oracle: Oracle[Any, Any], every_action: bool = False) -> str:
    """Render the value, the actions with their values (best first) and the exactness."""
    rules, verdict = sight.rules, oracle.judge(sight) if sight.actions else None
    value = verdict.value if verdict else oracle.value(sight)
    seat = f"{sight.seat.label} to move" if verdict else sight.seat.label
    parts = [
        f"{rules.name}: {Ink.COPIED(rules.format_position(sight))}\n"
        f"{seat} {_format_value(sight, value)} ({_format_exactness(value)}).\n"
    ]
    if verdict:
        parts.append("".join(f"{line}\n" for line in _list_actions(rules, verdict, every_action)))
        reason = f"{_format_legend(verdict)} {oracle.reason(sight)}"
        parts.append(f"{reason}\n{format_belief(oracle.belief(sight))}")
        parts += [finding.text for finding in oracle.findings(sight)]
    else:
        parts.append("Chance acts first.\n")
    if guarantee := oracle.guarantee():
        parts.append(f"{guarantee}\n")
    return "\n".join(parts)


def _format_value(sight: AnySight, value: Value) -> str:
    return f"is at {format_percent(value)}" if sight.rules.can_be_drawn else f"wins {format_percent(value)}"


def _format_legend(verdict: Verdict[Any]) -> str:
    if note := describe_equal_actions(verdict):
        return note
    if verdict.is_mixed and verdict.value.exactness is Exactness.ESTIMATE:
        return "* played often by the strategy."
    if verdict.is_mixed:
        return "* played by the strategy, at no cost."
    is_uncertain = len({candidate.value.number for candidate in verdict.actions if candidate.best}) > 1
    return "* not proven worse than the best." if is_uncertain else "* best."


def _list_actions(rules: AnyRules, verdict: Verdict[Any], every_action: bool) -> list[str]:
    is_mixed = verdict.is_mixed
    ranked = sorted(
        verdict.actions,
        key=lambda candidate: (not candidate.best, is_mixed and -candidate.weight, -candidate.value.number),
    )
    if every_action or len(ranked) <= MAX_LINES:
        return _align_rows([(rules.format(candidate.action), candidate) for candidate in ranked], is_mixed)
    groups: dict[tuple[str, ...], list[ActionValue[Any]]] = {}
    for candidate in ranked:
        groups.setdefault(_make_row("", candidate, is_mixed), []).append(candidate)
    rows = []
    for group in groups.values():
        names = ", ".join(rules.format(candidate.action) for candidate in group[:_NAMES_PER_LINE])
        more = len(group) - _NAMES_PER_LINE
        rows.append((f"{names} … and {more:,} more" if more > 0 else names, group[0]))
    omitted = sum(len(group) for group in list(groups.values())[MAX_LINES:])
    more_lines = [f"  … and {omitted:,} more: pass --all to list them"] if omitted else []
    return _align_rows(rows[:MAX_LINES], is_mixed) + more_lines


def _align_rows(rows: list[tuple[str, ActionValue[Any]]], is_mixed: bool) -> list[str]:
    table = [_make_row(names, candidate, is_mixed) for names, candidate in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    widths[1] = max(widths[1], 12)
    return [f"{mark} {names:<{widths[1]}} {chance:>{widths[2]}}{rest}" for mark, names, chance, rest in table]


def _make_row(names: str, candidate: ActionValue[Any], is_mixed: bool) -> tuple[str, str, str, str]:
    """Return the mark, the names, the chance to win and remarks."""
    chance, plus_minus, bound = format_percent(candidate.value).partition(" ± ")
    fraction = candidate.value.fraction
    exact = f"  {fraction}" if fraction is not None and fraction.denominator > 1 else ""
    frequency = f"  played {candidate.weight:.1%}" if is_mixed and candidate.weight else ""
    return "*" if candidate.best else " ", names, f"{chance:>8}", f"{plus_minus}{bound}{exact}{frequency}"


def _format_exactness(value: Value) -> str:
    if value.exactness is Exactness.BOUND:
        return "proven"
    fraction = f"{value.fraction}, " if value.fraction is not None and value.fraction.denominator > 1 else ""
    return fraction + describe_exactness(value)


def verify(rules: AnyRules, as_json: bool, screen: Screen) -> bool:
    """Run the oracle's checks, print their results, and return whether all passed.

    Raises DuelsError if the oracle has no checks.
    """
    with screen.progress("getting ready") as progress:
        oracle = get_oracle(rules, progress)
    checks: list[Check] = []
    with require_extra("fast"), interruptible_computation():
        for check in screen.iter_with_progress("checking", oracle.verify):
            checks.append(check)
            if not as_json:
                screen.say(f"{check}\n")
    if not checks:
        raise DuelsError(f"--verify: there are no checks for {rules.name}.")
    failed = sum(not check.passed for check in checks)
    if as_json:
        results = [{"name": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        answer = {"game": rules.name, "passed": not failed, "checks": results}
        screen.say(json.dumps(answer, indent=2) + "\n")
    else:
        screen.say(f"{len(checks) - failed} passed, {failed} failed\n")
    return not failed


def format_solve_command(rules: AnyRules, position: str) -> str:
    """Format the command that solves a position of these rules, for the reader to copy."""
    return format_command("solve", rules.name, *format_options(rules), "--position", position)
