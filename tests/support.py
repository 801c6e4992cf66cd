"""Shared helpers: random matches, people's entries for them, and the command."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from hypothesis import strategies as st

from duels.core.explore import count_histories
from duels.core.match import AnyMatch, EarlyEnd, Match, draw
from duels.core.record import dump_record
from duels.core.rules import CHANCE, AnyRules, Seat
from duels.core.words import Dialogue, Question, Words
from duels.games import GAMES, find_game
from duels.play.dice import Dice
from duels.players import make_player
from duels.terminal.commands import run

GAME_NAMES = tuple(GAMES)
# Each game as in the book, and in a smaller form that shows its options.
OPTIONS: dict[str, tuple[dict[str, int], ...]] = {
    "lights": ({}, {"lights": 4}),
    "leap": ({}, {"goal": 9}),
    "chain": ({}, {"cells": 5, "run": 3, "max_boards": 2}),
    "hunt": ({}, {"cells": 3, "max_turns": 5}),
    "flip": ({}, {"side": 3, "values": 3, "copies": 3, "target": 9}),
}


def all_rules() -> list[AnyRules]:
    return [find_game(name).rules(**options) for name in GAME_NAMES for options in OPTIONS[name]]


def play_randomly(match: AnyMatch, rng: Random, turns: int, resign: bool = False) -> AnyMatch:
    """Play at most this many turns; with `resign`, a seat may give up on the way."""
    for _ in range(turns):
        actor = match.actor
        if actor is None:
            break
        if not isinstance(actor, Seat):
            match = match.play(CHANCE, draw(match, rng))
        elif resign and rng.random() < 0.05:
            match = match.resign(actor)
        else:
            match = match.play(actor, rng.choice(match.actions))
    return match


def count_lines(rules: AnyRules, length: int) -> tuple[int, ...]:
    """Return the number of histories of 1, 2, … `length` entries (perft)."""
    return tuple(
        sum(histories * len(rules.actions(state)) for state, histories in layer.items())
        for layer in islice(count_histories(rules), length)
    )


def all_matches(match: AnyMatch, turns: int) -> list[AnyMatch]:
    """Return every match that is `turns` longer, or over sooner."""
    if not turns or match.actor is None:
        return [match]
    actor = match.actor
    return [end for action in match.actions for end in all_matches(match.play(actor, action), turns - 1)]


@st.composite
def matches(draw_: st.DrawFn, names: tuple[str, ...] = GAME_NAMES, resign: bool = True) -> AnyMatch:
    """A match of any game, somewhere between its start and its end."""
    name = draw_(st.sampled_from(names))
    rules = find_game(name).rules(**draw_(st.sampled_from(OPTIONS[name])))
    rng = Random(draw_(st.integers(0, 2**32)))
    return play_randomly(Match.start(rules), rng, draw_(st.integers(0, 60)), resign)


@st.composite
def decisions(draw_: st.DrawFn) -> AnyMatch:
    """A match in which a seat is to decide, at a question the book asks."""
    match = draw_(matches(resign=False))
    while not isinstance(match.actor, Seat) or not has_question(match):
        if match.actor is None or match.previous is None:
            match = play_randomly(Match.start(match.rules), Random(1), 2)
            break
        match = match.previous
    return match


def words_of(match: AnyMatch) -> Words[Any, Any]:
    return find_game(match.rules.name).words(match.rules)


def has_question(match: AnyMatch) -> bool:
    """Return whether the player to decide gets a question."""
    assert isinstance(match.actor, Seat)
    return any(True for _ in words_of(match).ask(match.sight(match.actor)))


def entries_for(after: AnyMatch) -> tuple[str, ...]:
    """Return a person's entries for the last decision of `after`."""
    assert after.last
    assert after.previous
    turn = after.last
    if not isinstance(turn.actor, Seat):
        return ()
    if isinstance(turn.action, EarlyEnd):
        return ("resign",)
    return words_of(after).entries(after.previous.sight(turn.actor), turn.action)


def chance_of(match: AnyMatch) -> str:
    """Return the chance outcomes of a match in the format of --chance."""
    return " ".join(match.rules.format(turn.action) for turn in match.turns if turn.actor is CHANCE)


def lines_of(match: AnyMatch) -> list[str]:
    """Return the entries of a match as in its record."""
    return [
        turn.action.value if isinstance(turn.action, EarlyEnd) else match.rules.format(turn.action)
        for turn in match.turns
    ]


HEADERS = {"seat1": "human", "seat2": "human", "seed": "7", "started": "2026-01-02 03:04 UTC"}


def sample_record(name: str, turns: int, seat: Seat | None = None) -> bytes:
    """Return the file of a fixed match with at most this many turns."""
    match = play_randomly(Match.start(find_game(name).rules()), Random(3), turns)
    return dump_record(match, HEADERS, seat).encode()


def play_as_table(name: str, who: Mapping[Seat, str], seed: str, rng: Random) -> AnyMatch:
    """Return the match of `duels play --seed` if people enter random actions by `rng`."""
    game = find_game(name)
    match: AnyMatch = Match.start(game.rules())
    dice = Dice(seed)
    players = {seat: make_player(who[seat], match.rules) for seat in Seat if who[seat] != "human"}
    while match.actor is not None:
        if not isinstance(match.actor, Seat):
            action = dice.draw_chance(match)
        elif who[match.actor] == "human":
            action = rng.choice(match.actions)
        else:
            chooser = dice.get_generator(match, match.actor.label)
            action = players[match.actor].choose(match.sight(match.actor), chooser)
        match = match.play(match.actor, action)
    return match


def advance(dialogue: "Dialogue[Any]", entries: tuple[str, ...]) -> Question:
    """Enter `entries`. Return the next question."""
    question = next(dialogue)
    for entry in entries:
        question = dialogue.send(entry)
    return question


def finish(dialogue: "Dialogue[Any]", entries: Sequence[str]) -> Any:
    """Enter the rest. Return the action."""
    try:
        for entry in entries:
            dialogue.send(entry)
    except StopIteration as done:
        return done.value
    raise AssertionError(f"more is asked after {entries}")


@dataclass(frozen=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@contextmanager
def home(folder: Path) -> Iterator[None]:
    with mock.patch.dict(os.environ, {"DUELS_HOME": str(folder)}):
        yield


def duels(folder: Path, *arguments: str | Path, entered: str = "") -> CommandResult:
    """Run a command in this process; an exception that escapes it fails the test."""
    out, err = io.StringIO(), io.StringIO()
    typed = mock.patch.object(sys, "stdin", io.StringIO(entered))
    # Tests that kill the command check syncing. Here it would only take time.
    unsynced = mock.patch.object(os, "fsync")
    with home(folder), typed, unsynced, redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return CommandResult(code, out.getvalue(), err.getvalue())


COMMAND = (sys.executable, "-c", "from duels.terminal.commands import main; main()")


def environment(folder: Path, **more: str) -> dict[str, str]:
    dropped = ("COLUMNS", "LINES", "NO_COLOR", "PYTHONUNBUFFERED", "TERM")
    variables = {name: value for name, value in os.environ.items() if name not in dropped}
    ours = {"DUELS_HOME": str(folder), "DUELS_PACE": "off", "PYTHONUTF8": "1", "TERM": "xterm"}
    return {**variables, **ours, **more}


def command(
    folder: Path, *arguments: str | Path, entered: bytes = b"", **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the real command in a separate process."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=entered,
        capture_output=True,
        env=environment(folder),
        timeout=120,
        check=False,
        **more,
    )
