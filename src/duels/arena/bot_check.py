"""Plays the protocol through with a program, bad days included, and says what is wrong with it."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, AnySight, Seat
from duels.play.dice import StreamDice
from duels.play.new_match import add_machine_limit
from duels.play.step import decide_next_entry
from duels.players import RandomPlayer, protocol
from duels.players.child import Child
from duels.players.failures import BadAnswer, Failure
from duels.players.program import ProgramLimits, ProgramPlayer

_PATIENCE = 2.0  # seconds for what should take no time at all


@dataclass(frozen=True)
class BotFinding:
    """One thing that was tried, and what came of it."""

    name: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name}{f': {self.detail}' if self.detail else ''}"


def check_bot(command: str, games: list[AnyRules], limits: ProgramLimits) -> Iterator[BotFinding]:
    """Everything that a program should be able to do, one finding after another."""
    first = games[0]
    talk = _Talk(command, first, limits)
    ready = _try("says ready first, and nothing before it", talk.start)
    yield ready
    if not ready.passed:
        talk.end()
        return
    for name, attempt in (
        ("answers a question", talk.answers),
        ("ignores keys and messages that it does not know", talk.ignores_the_unknown),
        ("answers again when it is told that its answer was wrong", talk.answers_again),
        ("writes one line for one question", talk.is_silent),
        ("ends by itself when its input is closed", talk.leaves),
    ):
        finding = _try(name, attempt)
        yield finding
        if not finding.passed:  # what is tried next deserves a program that runs
            talk.end()
            if not _try("starts again", talk.start).passed:
                break
    talk.end()
    for rules in games:
        for seat in Seat:
            yield _play(command, add_machine_limit(rules), seat, limits)


def _try(name: str, attempt: Callable[[], str]) -> BotFinding:
    try:
        return BotFinding(name, True, attempt())
    except BadAnswer as failed:
        return BotFinding(name, False, f"{failed.failure.value}: {failed}")
    except DuelsError as error:
        return BotFinding(name, False, str(error))


class _Talk:
    """A conversation about the first position of a game, line by line."""

    def __init__(self, command: str, rules: AnyRules, limits: ProgramLimits) -> None:
        self._command = command
        self._rules = rules
        self._limits = limits
        self._child: Child | None = None
        self._number = 0
        self._answered = False
        self._sight: AnySight = Match.start(rules).sight(Seat.ONE)

    def start(self) -> str:
        self._child = Child(self._command, self._limits.memory_mb, None)
        deadline = monotonic() + self._limits.start_seconds
        self._child.send(json.dumps(protocol.make_hello(self._rules, self._budget_ms)), deadline)
        name = protocol.parse_ready(self._child.receive(deadline)).get("name")
        return str(name) if name else ""

    def answers(self) -> str:
        return self._ask()

    def ignores_the_unknown(self) -> str:
        self._send({"type": "weather", "sky": "clear"})
        return self._ask(unknown={"a key": ["of", "a later version"]})

    def answers_again(self) -> str:
        return self._ask(error="'pass' is not allowed now.")

    def is_silent(self) -> str:
        assert self._child
        if not self._answered:
            raise BadAnswer(Failure.EMPTY, "it has answered no question.")
        try:
            line = self._child.receive(monotonic() + 0.2)
        except BadAnswer as failed:
            if failed.failure is Failure.LATE:
                return ""
            raise
        raise BadAnswer(Failure.FLOODED, f"it wrote {line!r} though nothing was asked.")

    def leaves(self) -> str:
        assert self._child
        left = self._child.close()
        self._child = None
        if not left:
            raise BadAnswer(Failure.LATE, "it had to be killed. End at the end of the input.")
        return ""

    def end(self) -> None:
        if self._child:
            self._child.kill()
            self._child = None

    @property
    def _budget_ms(self) -> int:
        return int(self._limits.move_seconds * 1000)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child
        self._child.send(json.dumps(message), monotonic() + _PATIENCE)

    def _ask(self, error: str = "", **unknown: Any) -> str:
        assert self._child
        self._number += 1
        question = protocol.make_request(
            self._sight, self._number, self._budget_ms, match="check", error=error
        )
        self._send({**question, **unknown})
        try:
            line = self._child.receive(monotonic() + self._limits.move_seconds)
        except BadAnswer as failed:
            if failed.failure is Failure.LATE:
                raise BadAnswer(Failure.LATE, "no answer came in time. Does it flush its output?") from None
            raise
        answer = protocol.parse_reply_to(line, self._number)
        if answer is None:
            raise BadAnswer(Failure.UNREADABLE, f"the id is {self._number}, and {line!r} has another.")
        action, policy = protocol.parse_move(answer, self._sight)
        self._answered = True
        return f"with a policy over {len(policy)} actions" if policy else self._rules.format(action)


def _play(command: str, rules: AnyRules, seat: Seat, limits: ProgramLimits) -> BotFinding:
    """A match against random moves, restarted on the way: a program must be able to go on."""
    name = f"plays {rules.name} as {seat.label}"
    player = ProgramPlayer(command, rules, limits)
    dice = StreamDice(Random(f"bot check {rules.name} {seat}"))
    match: AnyMatch = Match.start(rules)
    decisions, slowest = 0, 0.0
    try:
        while match.actor is not None:
            if match.actor is seat:
                if decisions == 1:
                    player.close()
                    player = ProgramPlayer(command, rules, limits)
                with suppress(BadAnswer):  # which is told by the answer
                    player.start()
            asked = monotonic()
            entry = decide_next_entry(match, {seat: player, seat.other: RandomPlayer()}, dice)
            if entry.no_move:
                raise entry.no_move
            if entry.answer.failed:
                first = entry.answer.failed[0]
                return BotFinding(name, False, f"{first.failure.value} in decision {decisions + 1}: {first}")
            if entry.actor is seat:
                slowest = max(slowest, monotonic() - asked)
                decisions += 1
            match = entry.play(match)
    except DuelsError as problem:
        return BotFinding(name, False, str(problem))
    finally:
        player.close()
    assert match.outcome
    winner = match.outcome.winner
    ended = match.outcome.ending.value if winner is None else "it won" if winner is seat else "it lost"
    told = f"{decisions} decisions, the slowest in {slowest * 1000:.0f} ms; {ended}"
    return BotFinding(name, True, told)
