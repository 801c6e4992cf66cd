"""Programs in any language as players, which exchange JSON lines with us (`players.protocol`)."""

import json
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError
from duels.core.rules import AnyRules, AnySight
from duels.players import PROGRAM, protocol
from duels.players.child import KEY_ENV, Child, split_command
from duels.players.failures import Answer, BadAnswer, Failure, NoMove

if TYPE_CHECKING:
    from random import Random

MAX_STALE = 100  # how many late answers to earlier requests we skip
_NEEDS_RESTART = frozenset({Failure.LATE, Failure.CRASHED, Failure.FLOODED})


@dataclass(frozen=True)
class ProgramLimits:
    """Limits of a program's time, memory and attempts."""

    move_seconds: float = 10.0
    start_seconds: float = 30.0
    memory_mb: int | None = 2048
    """Per process; None for no limit."""
    retries: int = 2
    """The number of retries after a failed decision, before the match is forfeited."""


DEFAULT_LIMITS = ProgramLimits()


class ProgramPlayer:
    """A program at one seat. It starts with the first request and serves one match after another."""

    def __init__(
        self,
        command: str,
        rules: AnyRules,
        limits: ProgramLimits = DEFAULT_LIMITS,
        log: Path | None = None,
        key_env: str = KEY_ENV,
    ) -> None:
        split_command(command)
        self.name = make_program_name(command)
        self._command = command
        self._rules = rules
        self._limits = limits
        self._log = log
        self._key_env = key_env
        self._request_lock = Lock()
        self._lock = Lock()  # for the next two attributes
        self._child: Child | None = None
        self._closed = False
        self._number = 0  # of the last request
        self._wants_card = False
        self._match = token_hex(4)  # until new_match is called

    def new_match(self, match: str) -> None:
        """Set the id of the match for the following requests."""
        self._match = match

    def start(self) -> None:
        """Start the program before the first request. Raises BadAnswer if the handshake fails."""
        with self._request_lock:
            self._get_or_start_child()

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """Return the program's move. Raises NoMove if all attempts fail."""
        return self.decide(sight, rng).action

    def decide(self, sight: AnySight, rng: "Random") -> Answer:
        """Return the program's answer. Raises NoMove if all attempts fail.

        If the program returns a policy, `rng` draws the action, so that the program plays that policy.
        """
        with self._request_lock:
            return self._decide(sight, rng)

    def _decide(self, sight: AnySight, rng: "Random") -> Answer:
        failed: list[BadAnswer] = []
        while len(failed) <= self._limits.retries:
            try:
                action, policy = self._ask(sight, failed[-1].detail if failed else "")
            except BadAnswer as failure:
                failed.append(failure)
                if failure.failure in _NEEDS_RESTART:
                    self._kill()
                continue
            except BaseException:
                self._kill()
                raise
            if policy is not None:
                (action,) = rng.choices(list(policy), weights=list(policy.values()))
            return Answer(action, policy, tuple(failed))
        raise NoMove(self.name, tuple(failed))

    def close(self) -> None:
        """Stop the program for good; a pending request in another thread raises DuelsError."""
        with self._lock:
            self._closed = True
            is_busy = not self._request_lock.acquire(blocking=False)
            if is_busy and self._child:
                self._child.signal()  # the requesting thread notices and cleans up
        if not is_busy:
            try:
                if child := self._detach_child():
                    child.close()
            finally:
                self._request_lock.release()

    def _kill(self) -> None:
        if child := self._detach_child():
            child.kill()

    def _detach_child(self) -> Child | None:
        with self._lock:
            child, self._child = self._child, None
            return child

    def _ask(self, sight: AnySight, error: str) -> tuple[Any | None, dict[Any, float] | None]:
        child = self._get_or_start_child()
        self._number += 1
        budget = self._limits.move_seconds
        deadline = monotonic() + budget
        request = protocol.make_request(
            sight, self._number, int(budget * 1000), match=self._match, card=self._wants_card, error=error
        )
        child.send(json.dumps(request), deadline)
        for _ in range(MAX_STALE):
            answer = protocol.parse_reply_to(child.receive(deadline), self._number)
            if answer is not None:
                return protocol.parse_move(answer, sight)
        raise BadAnswer(Failure.FLOODED, f"it wrote {MAX_STALE} answers to earlier requests.")

    def _get_or_start_child(self) -> Child:
        with self._lock:
            if self._closed:
                raise DuelsError(f"{self.name} has been closed.")
            if self._child:
                return self._child
            child = self._child = Child(self._command, self._limits.memory_mb, self._log, self._key_env)
        try:
            deadline = monotonic() + self._limits.start_seconds
            hello = protocol.make_hello(self._rules, int(self._limits.move_seconds * 1000))
            child.send(json.dumps(hello), deadline)
            ready = protocol.parse_ready(child.receive(deadline))
        except BaseException:
            self._kill()
            raise
        self._wants_card = ready.get("card") is True
        return child


def make_program_name(command: str) -> str:
    """Return the program's name in records and reports: its script without the folder."""
    words = split_command(command)
    scripts = [word for word in words[1:] if not word.startswith("-")]
    return PROGRAM + Path(scripts[0] if scripts else words[0]).name
