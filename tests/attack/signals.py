"""Signals at every prompt, in a real terminal: it is left as it was found, and no secret and nothing lost."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from duels.core.match import Match
from duels.core.rules import Seat, Sight
from duels.core.words import Question, Words, plain
from duels.games import find_game
from duels.play.dice import Dice
from duels.play.journal import read_record
from duels.play.live import LiveMatch
from duels.play.new_match import seat_players
from tests.attack.harness import Case, in_turn, shuffled
from tests.attack.sessions import HEADERS, RECORD
from tests.support import GAME_NAMES, entries_for, lines_of
from tests.terminal.terminal import HIDE, PASS, STOPPED, Job

MENU = "Number or name"


@dataclass(frozen=True)
class Prompt:
    """A question on the screen and the answer to it."""

    text: str
    answer: str
    lines: tuple[str, ...]
    """What the record holds while it is asked."""
    hidden: bool = False
    """Whether what is typed is not shown."""


@dataclass
class Sitting:
    """A command and all prompts that come, in order."""

    arguments: tuple[str, ...]
    prompts: list[Prompt] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    """What must never be left on the screen."""


def sitting(name: str, machine: bool, rng: Random) -> Sitting:
    """A few turns of a game, between two people or against a machine, with commands in between."""
    headers = {**HEADERS, "seat2": "greedy" if machine else "human"}
    there = Sitting(("play", name, "--seed", "7", "--save", "{}", "--seat2", headers["seat2"], "--plain"))
    rules = find_game(name).rules()
    live = seat_players(Match.start(rules), headers)
    guarded = rules.has_secrets and not machine
    at_keyboard: Seat | None = None
    while live.match.actor is not None and len(live.match.turns) < 8:
        seat, match, lines = live.person, live.match, tuple(lines_of(live.match))
        if not seat:
            live.play(live.match.actor, live.choose())
            continue
        live.play(seat, rng.choice(match.actions))
        for question, entry in _dialogue(live.words, match.sight(seat), entries_for(live.match)):
            hidden = guarded and question.secret
            if guarded and at_keyboard is not seat:
                there.prompts.append(Prompt(PASS.format(seat.label), "", lines, hidden=True))
                at_keyboard = seat
            if guarded and rng.random() < 0.5:
                there.prompts.append(Prompt(question.prompt, "board", lines, hidden))
                there.prompts.append(Prompt(HIDE, "", lines, hidden=True))
                there.secrets.add("Your token is")
            back = LiveMatch(match, live.players, Dice("7")).takeback(seat)
            if back and not back.revocable and not machine and rng.random() < 0.5:
                there.prompts.append(Prompt(question.prompt, "undo", lines, hidden))
                agree = f"{seat.other.label}, do you agree to take it back? (yes/no): "
                there.prompts.append(Prompt(agree, "no", lines))
            there.prompts.append(Prompt(question.prompt, entry, lines, hidden))
            if hidden:
                there.secrets.add(entry)
    return there


def _dialogue(
    words: Words[Any, Any], sight: Sight[Any, Any], entries: Sequence[str]
) -> Iterator[tuple[Question, str]]:
    """The questions that these entries answer, each with the last line of its prompt."""
    dialogue = words.ask(sight)
    question = next(dialogue, None)
    for entry in entries:
        assert question
        yield replace(question, prompt=plain(question.prompt).rpartition("\n")[2]), entry
        with suppress(StopIteration):
            question = dialogue.send(entry)


def menu(rng: Random) -> Sitting:
    """The menu of bare `duels`, up to its last question."""
    answers = (("Number or name: ", "1"), ("Number or name [human]: ", ""), ("Number or name [human]: ", ""))
    return Sitting((), [Prompt(text, answer, ()) for text, answer in answers])


# -- what is done there --------------------------------------------------------------------------------------


def _end(number: signal.Signals) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(there: Sitting, at: Prompt, path: Path, terminal: Job) -> None:
        terminal.signal(number)
        assert terminal.wait() == 128 + number
        _check_left(there, at, path, terminal)

    return act


def _key(key: str) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(there: Sitting, at: Prompt, path: Path, terminal: Job) -> None:
        terminal.send(key)
        assert terminal.wait() == (131 if key == "\x1c" else 130)
        _check_left(there, at, path, terminal)

    return act


def _stop(stop: Callable[[Job], None]) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(there: Sitting, at: Prompt, path: Path, terminal: Job) -> None:
        stop(terminal)
        terminal.ask(STOPPED)
        assert terminal.left_as_found, "the shell has the terminal as it was"
        _check_secrets(there, terminal)
        terminal.send("\n")
        if at.hidden:
            terminal.wait_for_hiding()
            assert not terminal.echoes, "what is typed is hidden again"
        if at.text == HIDE:
            terminal.ask(HIDE)
        terminal.send(f"{at.answer}\n")
        place = next(place for place, prompt in enumerate(there.prompts) if prompt is at)
        for then in there.prompts[place + 1 : place + 2]:
            terminal.ask(then.text)
            _end(signal.SIGTERM)(there, then, path, terminal)

    return act


def _check_left(there: Sitting, at: Prompt, path: Path, terminal: Job) -> None:
    assert terminal.left_as_found, "the terminal is left as it was found"
    assert "Traceback" not in terminal.text
    _check_secrets(there, terminal)
    if there.arguments:
        assert f"The match is saved. Go on with: duels resume {path}" in terminal.text
        assert tuple(lines_of(read_record(path).match)) == at.lines


def _check_secrets(there: Sitting, terminal: Job) -> None:
    """No secret on the main screen."""
    for secret in there.secrets:
        assert secret not in terminal.left_behind, f"{secret!r} is left on the screen"


DEEDS = {
    "SIGINT": _end(signal.SIGINT),
    "SIGTERM": _end(signal.SIGTERM),
    "SIGHUP": _end(signal.SIGHUP),
    "SIGQUIT": _end(signal.SIGQUIT),
    "Ctrl-C": _key("\x03"),
    "Ctrl-D": _key("\x04"),
    "Ctrl-\\": _key("\x1c"),
    "SIGTSTP": _stop(lambda terminal: terminal.signal(signal.SIGTSTP)),
    "Ctrl-Z": _stop(lambda terminal: terminal.send("\x1a")),
}


def attack(there: Sitting, place: int, deed: str, folder: Path) -> None:
    path = folder / RECORD
    arguments = [str(path) if argument == "{}" else argument for argument in there.arguments]
    with Job(folder, *arguments) as terminal:
        for prompt in there.prompts[:place]:
            terminal.answer(prompt.text, prompt.answer)
        at = there.prompts[place]
        terminal.ask(at.text)
        if at.hidden:
            terminal.wait_for_hiding()
        DEEDS[deed](there, at, path, terminal)


def signals(rng: Random) -> Iterator[Case]:
    """Every signal at every prompt."""

    def of_kind(make: Callable[[Random], Sitting], rng: Random) -> Iterator[Case]:
        while True:
            there = make(rng)
            for place, deed in shuffled(rng, product(range(len(there.prompts)), DEEDS)):
                name = f"{' '.join(there.arguments)}: {deed} at prompt {place}, {there.prompts[place].text!r}"
                yield Case(name, partial(attack, there, place, deed))

    makes: list[Callable[[Random], Sitting]] = [menu]
    makes += [partial(sitting, *kind) for kind in product(GAME_NAMES, (False, True))]
    return in_turn(*(of_kind(make, Random(rng.random())) for make in makes))
