"""Matches of text seats on disk, so that another process can continue them.

A match's file has a line for its task and a line for each reply. The same task and replies give the same
match in every process of the same version, so nothing else is stored.
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from duels import files
from duels.arena.text_seat import MatchTask, TextSeat
from duels.core.errors import DuelsError, GameOver, quote
from duels.integrations.conversation import format_opening, play_action, start_conversation

_VERSION = version("duels")
_MAX_OPEN = 64  # matches kept in memory; others are replayed from their files
_HANDLE_LENGTH = 16


@dataclass(frozen=True)
class MatchView:
    """A question of a match. It contains only what the seat may know."""

    match: str
    game: str
    player: int
    """1 or 2: the seat of the model."""
    opponent: str
    question: int
    """The number of the question in `text`. A failed attempt also leads to a new question."""
    text: str
    actions: tuple[str, ...]
    """The legal actions in notation, if the match lists them."""
    over: bool
    """Whether the match is over: then `text` is its result."""


class MatchConversation:
    """A match with its questions so far."""

    def __init__(self, handle: str, task: MatchTask) -> None:
        self.handle = handle
        self.seat: TextSeat = start_conversation(task)
        self.questions: list[MatchView] = []
        self._answers: list[str] = []
        self._add_question(format_opening(self.seat))

    def find_next(self, number: int, action: str) -> MatchView | None:
        """Return the question that followed question `number`, or None if that question is still open.

        Raises DuelsError if question `number` was answered differently, or has not been asked yet.
        """
        current = len(self.questions)
        if number == current:
            return None
        if not 1 <= number < current:
            raise DuelsError(f"Question {number} has not been asked. The current question is {current}.")
        if (earlier := self._answers[number - 1]) != action:
            raise DuelsError(
                f"Question {number} was answered with {quote(earlier)}. The current question is {current}."
            )
        return self.questions[number]

    def play(self, action: str) -> MatchView:
        """Answer the current question, and return the next one."""
        self._add_question(play_action(self.seat, action))
        self._answers.append(action)
        return self.questions[-1]

    def _add_question(self, text: str) -> None:
        seat, task = self.seat, self.seat.task
        actions = seat.actions if task.conditions.show_actions else ()
        number = len(self.questions) + 1
        view = MatchView(self.handle, task.game, task.seat, task.opponent, number, text, actions, seat.over)
        self.questions.append(view)


class MatchStore:
    """The matches in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._matches: dict[str, MatchConversation] = {}
        self._lock = Lock()

    def start(self, task: MatchTask) -> MatchConversation:
        """Start a match and save it. Raises the errors of `start_conversation`."""
        match = MatchConversation(f"{task.game}-{secrets.token_urlsafe(_HANDLE_LENGTH)}", task)
        self.folder.mkdir(parents=True, exist_ok=True)
        header = {"version": _VERSION, **task.as_row()}
        files.write_atomically(self._get_path(match.handle), _dump(header), private=True)
        with self._lock:
            self._remember(match)
        return match

    def get(self, handle: str) -> MatchConversation:
        """Return a match as it is now. Raises DuelsError if there is no such match."""
        with self._open(handle) as (match, _):
            return match

    def play(self, handle: str, number: int, action: str) -> MatchView:
        """Answer a question once, and return the next question.

        The answer is saved before it is played. The same call again returns the same question. Raises
        GameOver after the end, DuelsError if there is no such match, and the errors of `find_next`.
        """
        with self._open(handle) as (match, file):
            question = match.find_next(number, action)
            if question is None:
                if match.seat.over:
                    raise GameOver("The match is over.")
                files.write_all(file, _dump({"action": action}))
                os.fsync(file)
                question = match.play(action)
            return question

    def _get_path(self, handle: str) -> Path:
        return self.folder / f"{handle}.jsonl"

    @contextmanager
    def _open(self, handle: str) -> Iterator[tuple[MatchConversation, int]]:
        """Lock a match against other threads and processes. Yield it with its open file."""
        path = self._get_path(handle)
        with self._lock:
            try:
                if path.parent != self.folder:
                    raise FileNotFoundError
                file = os.open(path, os.O_RDWR | files.NO_WAIT)
            except (OSError, ValueError):
                raise DuelsError(f"There is no match {quote(handle)}.") from None
            try:
                files.try_lock(file, wait=True)
                yield self._update(handle, file), file
            finally:
                files.close_quietly(file)

    def _update(self, handle: str, file: int) -> MatchConversation:
        """Return the match in a file, and move to the end of its last whole line."""
        data = os.pread(file, os.fstat(file).st_size, 0)
        data = data[: data.rfind(b"\n") + 1]  # a line that was torn by a crash was never played
        os.ftruncate(file, len(data))
        os.lseek(file, 0, os.SEEK_END)
        try:
            lines = [json.loads(line) for line in data.splitlines()]
            match = self._matches.pop(handle, None) or _read_header(handle, lines[0])
            for line in lines[len(match.questions) :]:  # played by another process, or before a restart
                match.play(line["action"])
        except DuelsError:
            raise
        except (ValueError, LookupError, TypeError):
            raise DuelsError(f"The file of match {quote(handle)} is damaged. Start a new match.") from None
        self._remember(match)
        return match

    def _remember(self, match: MatchConversation) -> None:
        self._matches[match.handle] = match
        while len(self._matches) > _MAX_OPEN:
            del self._matches[next(iter(self._matches))]


def _read_header(handle: str, row: dict[str, Any]) -> MatchConversation:
    if (earlier := row["version"]) != _VERSION:
        raise DuelsError(
            f"Match {quote(handle)} was started by duels {earlier}, and its opponent may play differently in "
            f"{_VERSION}. Start a new match."
        )
    return MatchConversation(handle, MatchTask.from_row(row))


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
