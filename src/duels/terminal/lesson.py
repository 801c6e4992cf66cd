"""The command `lesson`: a guided first match."""

import click

from duels.analysis.lessons import LessonStep, get_lesson
from duels.core.errors import DuelsError
from duels.core.game import Game
from duels.play.library import list_saved_matches
from duels.terminal import prompts
from duels.terminal.game_options import game_argument
from duels.terminal.options import format_command, format_examples, plain_option
from duels.terminal.puzzle_commands import load_progress, save_progress
from duels.terminal.screen import Screen

_PROGRESS = "lessons"  # name of the file with the games whose lesson was offered


@click.command(epilog=format_examples("duels lesson hunt"))
@game_argument
@plain_option
def lesson(game: Game, plain: bool) -> None:
    """Learn a game in two minutes: three or four positions with one idea each.

    Answer as in a match. A wrong answer gets a tip, and you can try again.
    """
    screen = Screen(plain)
    if play_lesson(game, screen):
        screen.say(f"Play a match: {format_command('play', game.name, '--seat2', 'casual')}\n")


def play_lesson(game: Game, screen: Screen) -> bool:
    """Show the steps of a lesson, each until the answer is right. Return whether the person saw them all.

    Raises DuelsError if there is no lesson.
    """
    steps = get_lesson(game)
    if not steps:
        rules = format_command("rules", game.name)
        raise DuelsError(f"There is no lesson for {game.name}. Read its rules with: {rules}")
    _mark_as_offered(game)
    try:
        for number, step in enumerate(steps, start=1):
            _run_step(step, f"Step {number} of {len(steps)}", screen)
    except prompts.Quit:
        return False
    screen.say("That was the lesson.\n")
    return True


def offer_lesson(game: Game, screen: Screen) -> None:
    """Offer the lesson before a person's first match of a game, once."""
    if game.name in load_progress(_PROGRESS) or not get_lesson(game):
        return
    _mark_as_offered(game)
    if any(saved.record.match.rules.name == game.name for saved in list_saved_matches(lambda text: None)):
        return
    prompt = f"Your first match of {game.name}? Press l for a lesson of two minutes, p to play [l]: "
    if screen.choose_key(prompt, ["l", "p"], default="l") == "l":
        screen.say("\n")
        play_lesson(game, screen)
        screen.pause("Press Enter to start the match. ")


def _mark_as_offered(game: Game) -> None:
    save_progress(_PROGRESS, {**load_progress(_PROGRESS), game.name: True})


def _run_step(step: LessonStep, title: str, screen: Screen) -> None:
    sight = step.sight
    words = sight.rules.game.words(sight.rules)
    board = words.solo_board(sight, "the other player") or words.board(sight)
    screen.say(f"{title}: you are {words.seat_name(sight.seat)}\n{step.task}\n\n{board}\n")

    while (action := prompts.ask_position(sight, screen)) not in step.answers:
        screen.say(f"{step.comment(action)}\n")
    screen.say(f"{step.comment(action)}\n\n")
