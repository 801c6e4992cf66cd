"""Any program as a player, in any language: it is asked and answers in lines of JSON (`players.protocol`)."""

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

MAX_STALE = 100  # answers to older questions that are read past
_NEEDS_RESTART = frozenset({Failure.LATE, Failure.CRASHED, Failure.FLOODED})


@dataclass(frozen=True)
class ProgramLimits:
    """What a program may take, and how often it is asked again."""

    move_seconds: float = 10.0
    start_seconds: float = 30.0
    memory_mb: int | None = 2048
    """Per process; None for no limit."""
    retries: int = 2
    """How often a decision is asked again, with the reason, before the match is forfeited."""


DEFAULT_LIMITS = ProgramLimits()


class ProgramPlayer:
    """A program at one seat. It is started when it is first asked, and serves one match after another."""

    def __init__(
        self,
        command: str,
        rules: AnyRules,
        limits: ProgramLimits = DEFAULT_LIMITS,
        log: Path | None = None,
        secret: str = KEY_ENV,
    ) -> None:
        split_command(command)
        self.name = make_program_name(command)
        self._command = command
        self._rules = rules
        self._limits = limits
        self._log = log
        self._secret = secret
        self._asking = Lock()  # held while it is asked
        self._lock = Lock()  # for the two below
        self._child: Child | None = None
        self._closed = False
        self._number = 0  # of the last question
        self._card = False
        self._match = token_hex(4)  # until somebody gives the match a name

    def new_match(self, match: str) -> None:
        """Name the match that the next questions are about."""
        self._match = match

    def start(self) -> None:
        """Start the program now, so that its first answer does not wait for that; Failed if it cannot."""
        with self._asking:
            self._started()

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """The program's move; NoMove if it gives none in all its attempts."""
        return self.decide(sight, rng).action

    def decide(self, sight: AnySight, rng: "Random") -> Answer:
        """The program's move with what is known about it; `rng` draws from a policy that it tells.

        We draw, and not the program: so nobody can tell one policy and play another.
        """
        with self._asking:
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
        """End the program for good; whoever is asking it in another thread gets DuelsError."""
        with self._lock:
            self._closed = True
            asked = not self._asking.acquire(blocking=False)
            if asked and self._child:
                self._child.signal()  # whoever asks it sees that it is gone, and cleans up
        if not asked:
            try:
                if child := self._taken():
                    child.close()
            finally:
                self._asking.release()

    def _kill(self) -> None:
        if child := self._taken():
            child.kill()

    def _taken(self) -> Child | None:
        with self._lock:
            child, self._child = self._child, None
            return child

    def _ask(self, sight: AnySight, error: str) -> tuple[Any | None, dict[Any, float] | None]:
        child = self._started()
        self._number += 1
        budget = self._limits.move_seconds
        deadline = monotonic() + budget
        question = protocol.make_request(
            sight, self._number, int(budget * 1000), match=self._match, card=self._card, error=error
        )
        child.send(json.dumps(question), deadline)
        for _ in range(MAX_STALE):
            answer = protocol.parse_reply_to(child.receive(deadline), self._number)
            if answer is not None:
                return protocol.parse_move(answer, sight)
        raise BadAnswer(Failure.FLOODED, f"it wrote {MAX_STALE} answers to questions that were not open.")

    def _started(self) -> Child:
        """The running program, after the handshake."""
        with self._lock:
            if self._closed:
                raise DuelsError(f"{self.name} is not asked any more.")
            if self._child:
                return self._child
            child = self._child = Child(self._command, self._limits.memory_mb, self._log, self._secret)
        try:
            deadline = monotonic() + self._limits.start_seconds
            child.send(
                json.dumps(protocol.make_hello(self._rules, int(self._limits.move_seconds * 1000))), deadline
            )
            ready = protocol.parse_ready(child.receive(deadline))
        except BaseException:
            self._kill()
            raise
        self._card = ready.get("card") is True
        return child


def make_program_name(command: str) -> str:
    """What a program is called in records and reports: the script that is run, without its folder."""
    words = split_command(command)
    scripts = [word for word in words[1:] if not word.startswith("-")]
    return PROGRAM + Path(scripts[0] if scripts else words[0]).name
