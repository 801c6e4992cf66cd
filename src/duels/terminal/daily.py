"""The command `daily`: the puzzles of the day, asked, graded at once, and remembered."""

import json
from datetime import date, datetime
from typing import Any

import click

from duels.analysis.exercises import complete, puzzle, shared, streak
from duels.analysis.wording import Glossary
from duels.core.errors import quote
from duels.core.words import Ink
from duels.games import GAMES
from duels.solving.protocols import explainer_of
from duels.terminal.options import examples, plain_option
from duels.terminal.practice import Left, ask_exercise, note, recall
from duels.terminal.screen import Screen
from duels.terminal.shell import command

_MEMORY = "daily"


class _Day(click.DateTime):
    """A day, written as people write it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{quote(str(value))} is no day. Enter it as YYYY-MM-DD.", param, ctx)


@click.command(epilog=examples("duels daily", "duels daily --date 2026-11-16", "duels daily --json"))
@click.option(
    "--date",
    "day",
    type=_Day(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Another day's puzzles, which count for nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="The puzzles as one JSON object; nothing is asked.")
@plain_option
def daily(day: datetime | None, as_json: bool, plain: bool) -> None:
    """Solve the puzzles of the day, one of each game, the same for everybody.

    Each is graded at once. A streak counts the days in a row, and the last line can be shared: it gives
    nothing away.
    """
    today = date.today()
    asked = day.date() if day else today
    if as_json:
        click.echo(json.dumps(daily_as_data(asked, today), indent=2))
    else:
        play_daily(asked, today, Screen(plain))


def play_daily(day: date, today: date, screen: Screen) -> None:
    """Ask what is left of a day's puzzles. Only today's are remembered, and count for the streak."""
    answers = answers_on(day) if day == today else []
    glossary = Glossary()
    screen.say(f"The puzzles of {day.isoformat()}\n\n")
    try:
        for number, game in list(enumerate(GAMES.values(), start=1))[len(answers) :]:
            with screen.progress("looking for the position"):
                exercise = puzzle(day, game)
            told = glossary.explain(explainer_of(exercise.oracle).counts_as_one)
            title = f"{game.title} ({game.name}), puzzle {number} of {len(GAMES)}"
            graded = exercise.grade(ask_exercise(exercise, title, screen, glossary, False, told))
            answers.append(graded.right)
            if day == today:
                note(_MEMORY, {**recall(_MEMORY), day.isoformat(): answers})
            screen.say(f"{glossary.explain(graded.text)}\n\n")
    except Left:
        rest = f" Go on with: {Ink.COPIED(command('daily'))}" if day == today else ""
        screen.say(f"{len(answers)} of {len(GAMES)} answered.{rest}\n")
        return
    screen.say(f"{Ink.COPIED(line_to_share(day, answers, today))}\n")
    if day == today:
        days = _streak(today)
        screen.say(f"Your streak: {days} {'day' if days == 1 else 'days'}. Come back tomorrow.\n")


def line_to_share(day: date, answers: list[bool], today: date) -> str:
    """A line to show to others, which gives nothing away."""
    return shared(day, answers, _streak(today) if day == today else 0)


def daily_as_data(day: date, today: date) -> dict[str, Any]:
    """A day's puzzles for programs, without their answers, and how the person has done so far."""
    answers = answers_on(day)
    return {
        "date": day.isoformat(),
        "puzzles": [_as_data(day, name) for name in GAMES],
        "answers": answers,
        "complete": complete(answers),
        "streak": _streak(today),
        "share": line_to_share(day, answers, today),
    }


def _as_data(day: date, name: str) -> dict[str, Any]:
    exercise = puzzle(day, GAMES[name])
    actions = [exercise.sight.rules.format(action) for action in exercise.sight.actions]
    return {
        "game": name,
        "seat": exercise.sight.seat.value,
        "position": exercise.position,
        "actions": actions,
    }


def answers_on(day: date) -> list[bool]:
    """Whether each of the day's puzzles that were answered was answered right."""
    return _answered().get(day.isoformat(), [])


def _streak(today: date) -> int:
    return streak(_answered(), today)


def _answered() -> dict[str, list[bool]]:
    noted = {day: rights for day, rights in recall(_MEMORY).items() if isinstance(rights, list)}
    return {day: [bool(right) for right in rights] for day, rights in noted.items()}
