"""The commands `practice` and `daily`: puzzles with one clear answer."""

import json
from contextlib import suppress
from datetime import date, datetime
from itertools import islice
from typing import Any

import click

from duels.analysis.exercises import (
    Exercise,
    Skill,
    count_streak,
    exercises,
    format_daily_result,
    get_daily_puzzle,
    is_complete,
    select_by_skill,
)
from duels.analysis.wording import Glossary, format_belief
from duels.core.errors import quote
from duels.core.options import list_options
from duels.core.rules import AnyRules
from duels.core.words import Ink
from duels.files import write_atomically
from duels.games import GAMES
from duels.paths import data_dir
from duels.solving.oracles import get_oracle
from duels.terminal import prompts
from duels.terminal.game_options import GameCommand, game_argument
from duels.terminal.messages import HintStages
from duels.terminal.options import format_command, format_examples, plain_option
from duels.terminal.screen import Screen

_PRACTICE, _DAILY = "practice", "daily"  # names of files with the person's progress
_SAVED_NAMES = {
    "lights": "Lights",
    "leap": "QuantumLeap",
    "chain": "QuantumChain",
    "hunt": "QuantumHunt",
    "flip": "QuantumTiles",
}
"""Names of our games in the progress file. Other games use the name of their rules class."""


@click.command(
    epilog=format_examples("duels practice chain", "duels practice lights --lights 12 --count 10"),
    cls=GameCommand,
)
@game_argument
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="Number of puzzles.")
@click.option("--seed", help="Seed of the puzzles.")
@plain_option
def practice(rules: AnyRules, count: int, seed: str | None, plain: bool) -> None:
    """Solve puzzles: positions with one clearly best answer.

    Each answer is graded at once. The puzzles get harder as you improve, and duels remembers your level. With
    --seed you get the same puzzles each time, and your level does not change. Enter help to see the commands.
    """
    screen = Screen(plain)
    name = _format_progress_name(rules)
    skill = Skill() if seed else Skill.from_data(load_progress(_PRACTICE).get(name))
    first_aim = skill.aim
    right = answered = 0
    glossary = Glossary()
    with screen.progress("searching for positions") as progress:
        get_oracle(rules, progress)  # cached, so the exercises reuse it
        candidates = exercises(rules, seed)
        selection = islice(candidates if seed else select_by_skill(candidates, skill), count)
        exercise = next(selection, None)
    try:
        if exercise and (note := exercise.oracle.equivalence_note):
            screen.say(f"{glossary.explain(note)}\n")
        while exercise:
            answer = ask_exercise(exercise, f"Puzzle {answered + 1} of {count}", screen, glossary)
            answered += 1
            result = exercise.grade(answer)
            right += result.right
            skill.update(result.right)
            if not seed:
                save_progress(_PRACTICE, {**load_progress(_PRACTICE), name: skill.as_data()})
            screen.say(f"{glossary.explain(result.text)}\n\n")
            with screen.progress("searching for the next position"):
                exercise = next(selection, None)
        if answered < count:
            more = "more " if answered else ""
            screen.say(f"Found no {more}positions with a clear answer in {rules.name}.\n")
    except prompts.Quit:
        pass
    except KeyboardInterrupt:
        screen.say("\n")  # the terminal has printed ^C on this line
        raise
    finally:
        if answered:
            with suppress(OSError):  # the terminal may be gone
                outlook = "" if seed else _format_outlook(first_aim, skill.aim)
                screen.say(f"{right} of {answered} right.{outlook}\n")


def _format_progress_name(rules: AnyRules) -> str:
    options = ", ".join(f"{o.name}={getattr(rules, o.name)!r}" for o in list_options(type(rules)))
    return f"{_SAVED_NAMES.get(rules.name, type(rules).__name__)}({options})"


def _format_outlook(previous_aim: float, aim: float) -> str:
    if aim == previous_aim:
        return ""
    return f" The next puzzles will be {'harder' if aim > previous_aim else 'easier'}."


def ask_exercise(
    exercise: Exercise,
    title: str,
    screen: Screen,
    glossary: Glossary,
    offer_hints: bool = True,
    introduction: str = "",
) -> Any:
    """Ask for an action and return it. Raises Quit if the person stops."""
    sight, rules = exercise.sight, exercise.sight.rules
    words = rules.game.words(rules)
    screen.say(f"{title}: you are {words.seat_name(sight.seat)}, to move\n")
    screen.say(f"{introduction}\n" if introduction else "")
    screen.say(f"{words.board(sight)}{words.recap(sight).render()}\n")
    belief = format_belief(exercise.oracle.belief(sight))
    if belief:
        screen.say(f"What you can infer:\n{belief}")

    stages = HintStages(glossary)

    def hint(entries: list[str]) -> None:
        screen.say(stages.render(sight, words, entries, exercise.oracle))

    return prompts.ask_position(sight, screen, hint if offer_hints else None)


def _parse_date(_context: click.Context, _parameter: click.Parameter, text: str | None) -> date | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date() if text is not None else None
    except ValueError:
        raise click.BadParameter(f"{quote(text or '')} is not a date. Enter it as YYYY-MM-DD.") from None


@click.command(epilog=format_examples("duels daily", "duels daily --date 2026-11-16", "duels daily --json"))
@click.option(
    "--date",
    "day",
    callback=_parse_date,
    metavar="YYYY-MM-DD",
    help="Solve another day's puzzles. They do not count for your streak.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the puzzles as a JSON object.")
@plain_option
def daily(day: date | None, as_json: bool, plain: bool) -> None:
    """Solve the daily puzzles: one per game, the same for everybody.

    Each answer is graded at once. Your streak is the number of days in a row on which you answered all
    puzzles. You can share the last line of the output: it does not reveal the answers.
    """
    today = date.today()
    if as_json:
        click.echo(json.dumps(_make_daily_data(day or today, today), indent=2))
    else:
        _play_daily(day or today, today, Screen(plain))


def _play_daily(day: date, today: date, screen: Screen) -> None:
    """Ask the unanswered puzzles of a day. Save the answers only if the day is today."""
    answers = _load_answers().get(day.isoformat(), []) if day == today else []
    glossary = Glossary()
    screen.say(f"The puzzles of {day.isoformat()}\n\n")
    try:
        for number, game in list(enumerate(GAMES.values(), start=1))[len(answers) :]:
            with screen.progress("searching for a position"):
                exercise = get_daily_puzzle(day, game)
            note = glossary.explain(exercise.oracle.equivalence_note)
            title = f"{game.full_title}, puzzle {number} of {len(GAMES)}"
            result = exercise.grade(ask_exercise(exercise, title, screen, glossary, False, note))
            answers.append(result.right)
            if day == today:
                save_progress(_DAILY, {**load_progress(_DAILY), day.isoformat(): answers})
            screen.say(f"{glossary.explain(result.text)}\n\n")
    except prompts.Quit:
        rest = f" Continue with: {Ink.COPIED(format_command('daily'))}" if day == today else ""
        screen.say(f"{len(answers)} of {len(GAMES)} answered.{rest}\n")
        return
    streak = count_streak(_load_answers(), today) if day == today else 0
    screen.say(f"{Ink.COPIED(format_daily_result(day, answers, streak))}\n")
    if day == today:
        screen.say(f"Your streak: {streak} {'day' if streak == 1 else 'days'}. Come back tomorrow.\n")


def _make_daily_data(day: date, today: date) -> dict[str, Any]:
    answers = _load_answers().get(day.isoformat(), [])
    streak = count_streak(_load_answers(), today)
    return {
        "date": day.isoformat(),
        "puzzles": [_make_puzzle_data(get_daily_puzzle(day, game)) for game in GAMES.values()],
        "answers": answers,
        "complete": is_complete(answers),
        "streak": streak,
        "share": format_daily_result(day, answers, streak if day == today else 0),
    }


def _make_puzzle_data(exercise: Exercise) -> dict[str, Any]:
    sight = exercise.sight
    return {
        "game": sight.rules.name,
        "seat": sight.seat.value,
        "position": exercise.position,
        "actions": [sight.rules.format(action) for action in sight.actions],
    }


def _load_answers() -> dict[str, list[bool]]:
    """Return whether each answer was right, by day."""
    progress = load_progress(_DAILY).items()
    return {day: [bool(right) for right in rights] for day, rights in progress if isinstance(rights, list)}


def load_progress(name: str) -> dict[str, Any]:
    """Load a progress file. Return an empty dictionary if it is missing or damaged."""
    with suppress(OSError, ValueError):
        data = json.loads((data_dir() / f"{name}.json").read_text(encoding="utf-8"))
        if isinstance(data, dict):
            return data
    return {}


def save_progress(name: str, data: dict[str, Any]) -> None:
    """Write a progress file. Errors are ignored, so that a full disk does not end the puzzles."""
    with suppress(OSError):
        folder = data_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(
            folder / f"{name}.json",
            (json.dumps(data, indent=1) + "\n").encode(),
            overwrite=True,
            private=True,
        )
