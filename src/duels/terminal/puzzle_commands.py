"""The commands `practice` and `daily`: positions with a clear answer, graded at once, with memory."""

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
from duels.terminal.game_options import GameCommand, game_argument
from duels.terminal.messages import HintLayers
from duels.terminal.options import format_command, format_examples, plain_option
from duels.terminal.prompts import (
    POSITION_COMMANDS,
    Quit,
    add_aliases,
    format_help,
    make_lookup_commands,
    run_dialogue,
)
from duels.terminal.screen import Screen

_COMMANDS = POSITION_COMMANDS | {"quit": "leave"}
HELP = format_help(_COMMANDS)
_PRACTICE, _DAILY = "practice", "daily"  # what is remembered under these names
_KEPT_AS = {
    "lights": "Lights",
    "leap": "QuantumLeap",
    "chain": "QuantumChain",
    "hunt": "QuantumHunt",
    "flip": "QuantumTiles",
}
"""What the file calls our games; games of others go by the class of their rules."""


@click.command(
    epilog=format_examples("duels practice chain", "duels practice lights --lights 12 --count 10"),
    cls=GameCommand,
)
@game_argument
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="How many positions.")
@click.option("--seed", help="Makes the positions repeatable.")
@plain_option
def practice(rules: AnyRules, count: int, seed: str | None, plain: bool) -> None:
    """Solve positions with a clear answer, graded at once.

    They get harder as you get better, from one time to the next too; with --seed they are the same each time.
    Type help at any time.
    """
    screen = Screen(plain)
    name = _kept_as(rules)
    skill = Skill() if seed else Skill.from_data(load_progress(_PRACTICE).get(name))
    began = skill.aim
    right = asked = 0
    glossary = Glossary()
    with screen.progress("looking for positions") as progress:
        get_oracle(rules, progress)  # the exercises share it
        on_offer = exercises(rules, seed)
        found = islice(on_offer if seed else select_by_skill(on_offer, skill), count)
        exercise = next(found, None)
    try:
        if exercise and (told := exercise.oracle.equivalence_note):
            screen.say(glossary.explain(f"{told}\n"))
        while exercise:
            answer = ask_exercise(exercise, f"Puzzle {asked + 1} of {count}", screen, glossary)
            asked += 1
            graded = exercise.grade(answer)
            right += graded.right
            skill.update(graded.right)
            if not seed:
                save_progress(_PRACTICE, {**load_progress(_PRACTICE), name: skill.as_data()})
            screen.say(f"{glossary.explain(graded.text)}\n\n")
            with screen.progress("looking for another position"):
                exercise = next(found, None)
        if asked < count:
            more = "more " if asked else ""
            screen.say(f"No {more}positions with a clear answer were found in {rules.name}.\n")
    except Quit:
        pass
    except KeyboardInterrupt:
        screen.say("\n")  # the score stands on a line of its own, not behind ^C
        raise
    finally:
        if asked:
            with suppress(OSError):  # the terminal may be gone
                screen.say(f"{right} of {asked} right.{'' if seed else _outlook(began, skill.aim)}\n")


def _kept_as(rules: AnyRules) -> str:
    """The key under which the skill is kept: the game, and all its options."""
    options = ", ".join(f"{each.name}={getattr(rules, each.name)!r}" for each in list_options(type(rules)))
    return f"{_KEPT_AS.get(rules.name, type(rules).__name__)}({options})"


def _outlook(before: float, now: float) -> str:
    if now == before:
        return ""
    return f" Next time it gets {'harder' if now > before else 'easier'}."


def ask_exercise(
    exercise: Exercise,
    title: str,
    screen: Screen,
    glossary: Glossary,
    hints: bool = True,
    introduction: str = "",
) -> Any:
    """The action entered; Quit if the person stops."""
    sight, rules = exercise.sight, exercise.sight.rules
    words = rules.game.words(rules)
    screen.say(f"{title}: you are {words.seat_name(sight.seat)}, to move\n")
    screen.say(f"{introduction}\n" if introduction else "")
    screen.say(f"{words.board(sight)}{words.recap(sight).render()}\n")
    strip = format_belief(exercise.oracle.belief(sight))
    if strip:
        screen.say(f"What you can know:\n{strip}")

    layers = HintLayers(glossary)
    told = HELP if hints else format_help({name: what for name, what in _COMMANDS.items() if name != "hint"})

    def leave(entered: list[str]) -> None:
        raise Quit

    commands = {
        "help": lambda entered: screen.say(told),
        **make_lookup_commands(sight, words, screen.say),
        "hint": lambda entered: screen.say(
            layers.text(sight, words, entered, exercise.oracle)
            if hints
            else "There are no hints for these puzzles.\n"
        ),
        "quit": leave,
    }
    return run_dialogue(lambda: words.ask(sight), screen.ask, add_aliases(commands, words))


# -- the puzzles of the day -------------------------------------------------------------------------------


class _Day(click.DateTime):
    """A day; an error shows how people write it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{quote(str(value))} is no day. Enter it as YYYY-MM-DD.", param, ctx)


@click.command(epilog=format_examples("duels daily", "duels daily --date 2026-11-16", "duels daily --json"))
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
        click.echo(json.dumps(_daily_as_data(asked, today), indent=2))
    else:
        _play_daily(asked, today, Screen(plain))


def _play_daily(day: date, today: date, screen: Screen) -> None:
    """Ask what is left of a day's puzzles. Only today's are remembered, and count for the streak."""
    answers = _answered().get(day.isoformat(), []) if day == today else []
    glossary = Glossary()
    screen.say(f"The puzzles of {day.isoformat()}\n\n")
    try:
        for number, game in list(enumerate(GAMES.values(), start=1))[len(answers) :]:
            with screen.progress("looking for the position"):
                exercise = get_daily_puzzle(day, game)
            told = glossary.explain(exercise.oracle.equivalence_note)
            title = f"{game.title} ({game.name}), puzzle {number} of {len(GAMES)}"
            graded = exercise.grade(ask_exercise(exercise, title, screen, glossary, False, told))
            answers.append(graded.right)
            if day == today:
                save_progress(_DAILY, {**load_progress(_DAILY), day.isoformat(): answers})
            screen.say(f"{glossary.explain(graded.text)}\n\n")
    except Quit:
        rest = f" Go on with: {Ink.COPIED(format_command('daily'))}" if day == today else ""
        screen.say(f"{len(answers)} of {len(GAMES)} answered.{rest}\n")
        return
    days = count_streak(_answered(), today) if day == today else 0
    screen.say(f"{Ink.COPIED(format_daily_result(day, answers, days))}\n")
    if day == today:
        screen.say(f"Your streak: {days} {'day' if days == 1 else 'days'}. Come back tomorrow.\n")


def _daily_as_data(day: date, today: date) -> dict[str, Any]:
    """A day's puzzles for programs, without their answers, and how the person has done so far."""
    answers = _answered().get(day.isoformat(), [])
    days = count_streak(_answered(), today)
    return {
        "date": day.isoformat(),
        "puzzles": [_puzzle_as_data(get_daily_puzzle(day, game)) for game in GAMES.values()],
        "answers": answers,
        "complete": is_complete(answers),
        "streak": days,
        "share": format_daily_result(day, answers, days if day == today else 0),
    }


def _puzzle_as_data(exercise: Exercise) -> dict[str, Any]:
    sight = exercise.sight
    return {
        "game": sight.rules.name,
        "seat": sight.seat.value,
        "position": exercise.position,
        "actions": [sight.rules.format(action) for action in sight.actions],
    }


def _answered() -> dict[str, list[bool]]:
    """Whether each puzzle that was answered was answered right, by day."""
    noted = {day: rights for day, rights in load_progress(_DAILY).items() if isinstance(rights, list)}
    return {day: [bool(right) for right in rights] for day, rights in noted.items()}


# -- what the program remembers from one call to the next, in the user's data folder -----------------------


def load_progress(name: str) -> dict[str, Any]:
    """What was noted under this name; nothing if there is nothing, or the file is damaged."""
    with suppress(OSError, ValueError):
        noted = json.loads((data_dir() / f"{name}.json").read_text(encoding="utf-8"))
        if isinstance(noted, dict):
            return noted
    return {}


def save_progress(name: str, things: dict[str, Any]) -> None:
    """Remember this under the name, in place of what was noted before."""
    with suppress(OSError):  # a convenience, and no reason to stop anybody
        folder = data_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(
            folder / f"{name}.json",
            (json.dumps(things, indent=1) + "\n").encode(),
            overwrite=True,
            private=True,
        )
