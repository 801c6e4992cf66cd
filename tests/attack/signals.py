"""Signals at every prompt of a real terminal: it is restored, secrets are cleared, and nothing is lost."""

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
from duels.core.record import dump_record
from duels.core.rules import AnySight, Seat
from duels.core.words import Question, Words, strip_ink
from duels.games import find_game
from duels.play.library import read_record
from duels.play.new_match import seat_players
from duels.terminal.messages import find_undo_seats
from tests.attack.harness import Case, in_turn, shuffled
from tests.attack.sessions import HEADERS, RECORD
from tests.support import GAME_NAMES, entries_for, lines_of, play_randomly
from tests.terminal.terminal import HIDE, PASS, STOPPED, Job

SAVED = "The match is saved. Continue with: "
NOT_KEPT = "Nothing was played, so nothing was saved."


@dataclass(frozen=True)
class Prompt:
    """A question on the screen and the answer to it."""

    text: str
    answer: str
    hidden: bool = False
    """Whether the terminal does not echo the answer."""
    lines: tuple[str, ...] | None = None
    """The lines of the record if the command is left here; None if there is no record."""
    message: str = ""
    """The message if the command is left here."""
    at_end: int = 130
    """The exit code if the input ends here."""


@dataclass
class Sitting:
    """A command and all its prompts, in order."""

    arguments: tuple[str, ...]
    prompts: list[Prompt] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    """Texts that must not stay on the screen."""
    before: bytes = b""
    """The content of the record before the command starts."""


def sitting(name: str, machine: bool, rng: Random) -> Sitting:
    """A few turns of a game, between two people or against a machine, with commands in between."""
    headers = {**HEADERS, "seat2": "greedy" if machine else "human"}
    session = Sitting(("play", name, "--seed", "7", "--save", "{}", "--seat2", headers["seat2"], "--plain"))
    live = seat_players(Match.start(find_game(name).rules()), headers)
    guarded = live.match.rules.has_hidden_information and not machine
    at_keyboard: Seat | None = None

    def ask(text: str, answer: str, hidden: bool = False) -> None:
        lines = tuple(lines_of(live.match)) if live.has_decisions else None
        session.prompts.append(Prompt(text, answer, hidden, lines, SAVED if live.has_decisions else NOT_KEPT))

    while live.match.actor is not None and len(live.match.turns) < 8:
        seat, match = live.person_to_move, live.match
        if not seat:
            live.play_entry(live.decide_next_entry())
            continue
        action = rng.choice(match.actions)
        for question, entry in _dialogue(
            live.words, match.sight(seat), entries_for(match.play(seat, action))
        ):
            hidden = guarded and question.secret
            if guarded and at_keyboard is not seat:
                ask(PASS.format(seat.label), "", hidden=True)
                at_keyboard = seat
            if guarded and rng.random() < 0.5:
                ask(question.prompt, "board", hidden)
                ask(HIDE, "", hidden=True)
                session.secrets.add("Your token is")
            is_clear = guarded or find_undo_seats(live, seat) == (seat,)  # otherwise a key says whose
            if not machine and is_clear and live.find_takeback(seat) and rng.random() < 0.5:
                ask(question.prompt, "undo", hidden)
                ask(f"{seat.other.label}, do you agree to take it back? (yes/no): ", "no")
            ask(question.prompt, entry, hidden)
            if hidden:
                session.secrets.add(entry)
        live.play(seat, action)
    if live.match.over:
        lines = tuple(lines_of(live.match))
        session.prompts.append(Prompt("q quit: ", "q", hidden=True, lines=lines, at_end=0))
    return session


def _dialogue(
    words: Words[Any, Any], sight: AnySight, entries: Sequence[str]
) -> Iterator[tuple[Question, str]]:
    """Return the questions for these entries, each with the last line of its prompt."""
    dialogue = words.ask(sight)
    question = next(dialogue, None)
    for entry in entries:
        assert question
        yield replace(question, prompt=strip_ink(question.prompt).rpartition("\n")[2]), entry
        with suppress(StopIteration):
            question = dialogue.send(entry)


def menu(rng: Random) -> Sitting:
    """The menu of bare `duels`, up to its last question."""
    texts = ("Number or name: ", "Number or name: ", "Number or name [casual]: ", "Number or name [me]: ")
    return Sitting((), [Prompt(text, "1", at_end=0) for text in texts])


def practice(rng: Random) -> Sitting:
    """Exercises. If the person leaves, an exercise is neither failed nor finished."""
    return Sitting(("practice", "lights", "--seed", "7", "--plain"), [Prompt("> ", "1") for _ in range(4)])


def stepping(rng: Random) -> Sitting:
    """A match shown step by step, on a separate screen."""
    match = play_randomly(Match.start(find_game(rng.choice(GAME_NAMES)).rules()), rng, 6)
    asked = Prompt("q stop --", "", hidden=True, lines=tuple(lines_of(match)), at_end=0)
    return Sitting(
        ("replay", "{}", "--step", "--plain"), [asked], before=dump_record(match, HEADERS).encode()
    )


# -- signals and keys ----------------------------------------------------------------------------------------


def _end(number: signal.Signals) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(session: Sitting, prompt: Prompt, path: Path, terminal: Job) -> None:
        terminal.signal(number)
        _check_code(terminal, 128 + number)
        _check_left(session, prompt, path, terminal)

    return act


def _key(key: str) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(session: Sitting, prompt: Prompt, path: Path, terminal: Job) -> None:
        terminal.send(key)
        _check_code(terminal, {"\x03": 130, "\x04": prompt.at_end, "\x1c": 131}[key])
        _check_left(session, prompt, path, terminal)

    return act


def _stop(stop: Callable[[Job], None]) -> Callable[[Sitting, Prompt, Path, Job], None]:
    def act(session: Sitting, prompt: Prompt, path: Path, terminal: Job) -> None:
        stop(terminal)
        terminal.ask(STOPPED)
        assert terminal.is_restored, "the shell gets its terminal settings back"
        _check_secrets(session, terminal)
        terminal.send("\n")
        terminal.ask(prompt.text)
        if prompt.hidden:
            terminal.wait_for_no_echo()
            assert not terminal.echoes, "the terminal echoes a secret entry after the suspension"
        terminal.send(f"{prompt.answer}\n")
        index = next(index for index, each in enumerate(session.prompts) if each is prompt)
        for next_prompt in session.prompts[index + 1 : index + 2]:
            terminal.ask(next_prompt.text)
            _end(signal.SIGTERM)(session, next_prompt, path, terminal)

    return act


def _check_code(terminal: Job, expected: int) -> None:
    code = terminal.wait()
    assert code == expected, f"it ended with {code}, not {expected}"


def _check_left(session: Sitting, prompt: Prompt, path: Path, terminal: Job) -> None:
    assert terminal.is_restored, "the terminal's settings are not restored"
    assert "Traceback" not in terminal.text
    _check_secrets(session, terminal)
    assert prompt.message in terminal.text, f"{prompt.message!r} is not printed"
    if prompt.lines is None:
        assert not path.exists()
    else:
        assert tuple(lines_of(read_record(path).match)) == prompt.lines


def _check_secrets(session: Sitting, terminal: Job) -> None:
    """Check that the main screen shows no secret."""
    for secret in session.secrets:
        assert secret not in terminal.main_screen, f"{secret!r} is left on the screen"


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


def attack(session: Sitting, place: int, deed: str, folder: Path) -> None:
    path = folder / RECORD
    arguments = [str(path) if argument == "{}" else argument for argument in session.arguments]
    if session.before:
        path.write_bytes(session.before)
    with Job(folder, *arguments) as terminal:
        for prompt in session.prompts[:place]:
            terminal.answer(prompt.text, prompt.answer)
        prompt = session.prompts[place]
        terminal.ask(prompt.text)
        if prompt.hidden:
            terminal.wait_for_no_echo()
        DEEDS[deed](session, prompt, path, terminal)


def signals(rng: Random) -> Iterator[Case]:
    """Every signal at every prompt."""

    def of_kind(make: Callable[[Random], Sitting], rng: Random) -> Iterator[Case]:
        while True:
            session = make(rng)
            for place, deed in shuffled(rng, product(range(len(session.prompts)), DEEDS)):
                text = session.prompts[place].text
                name = f"{' '.join(session.arguments)}: {deed} at prompt {place}, {text!r}"
                yield Case(name, partial(attack, session, place, deed))

    makes: list[Callable[[Random], Sitting]] = [menu, practice, stepping]
    makes += [partial(sitting, *kind) for kind in product(GAME_NAMES, (False, True))]
    return in_turn(*(of_kind(make, Random(rng.random())) for make in makes))
