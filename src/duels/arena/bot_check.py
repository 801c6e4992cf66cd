"""Checks a program's protocol, including error cases, and plays a match in every game."""

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

_SEND_SECONDS = 2.0


@dataclass(frozen=True)
class BotFinding:
    name: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name}{f': {self.detail}' if self.detail else ''}"


def check_bot(command: str, games: list[AnyRules], limits: ProgramLimits) -> Iterator[BotFinding]:
    """Yield the result of each check of a program, then of a match at each seat of each game."""
    session = _Session(command, games[0], limits)
    ready = _run_check("says ready first, and nothing before it", session.start)
    yield ready
    if not ready.passed:
        session.kill()
        return
    for name, check in (
        ("answers a question", session.ask),
        ("ignores keys and messages that it does not know", session.send_unknown),
        ("answers again when it is told that its answer was wrong", session.send_error),
        ("writes one line for one question", session.check_silence),
        ("ends by itself when its input is closed", session.check_exit),
    ):
        finding = _run_check(name, check)
        yield finding
        if not finding.passed:  # the next check needs a fresh program
            session.kill()
            if not _run_check("starts again", session.start).passed:
                break
    session.kill()
    for rules in games:
        for seat in Seat:
            yield _play_match(command, add_machine_limit(rules), seat, limits)


def _run_check(name: str, check: Callable[[], str]) -> BotFinding:
    try:
        return BotFinding(name, True, check())
    except BadAnswer as failed:
        return BotFinding(name, False, f"{failed.failure.value}: {failed}")
    except DuelsError as error:
        return BotFinding(name, False, str(error))


class _Session:
    """A running program that is asked about the first position of a game."""

    def __init__(self, command: str, rules: AnyRules, limits: ProgramLimits) -> None:
        self._command, self._rules, self._limits = command, rules, limits
        self._budget_ms = int(limits.move_seconds * 1000)
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

    def send_unknown(self) -> str:
        self._send({"type": "weather", "sky": "clear"})
        return self.ask(unknown={"a key": ["of", "a later version"]})

    def send_error(self) -> str:
        return self.ask(error="'pass' is not allowed now.")

    def check_silence(self) -> str:
        assert self._child
        if not self._answered:
            raise BadAnswer(Failure.EMPTY, "no question was answered.")
        try:
            line = self._child.receive(monotonic() + 0.2)
        except BadAnswer as failed:
            if failed.failure is Failure.LATE:
                return ""
            raise
        raise BadAnswer(Failure.FLOODED, f"it wrote {line!r} without a question.")

    def check_exit(self) -> str:
        assert self._child
        exited = self._child.close()
        self._child = None
        if not exited:
            raise BadAnswer(Failure.LATE, "it had to be killed. Exit at the end of the input.")
        return ""

    def kill(self) -> None:
        if self._child:
            self._child.kill()
            self._child = None

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child
        self._child.send(json.dumps(message), monotonic() + _SEND_SECONDS)

    def ask(self, error: str = "", **unknown: Any) -> str:
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
            raise BadAnswer(
                Failure.UNREADABLE,
                f"the answer {line!r} does not have the id {self._number} of the question.",
            )
        action, policy = protocol.parse_move(answer, self._sight)
        self._answered = True
        return f"with a policy over {len(policy)} actions" if policy else self._rules.format(action)


def _play_match(command: str, rules: AnyRules, seat: Seat, limits: ProgramLimits) -> BotFinding:
    """Play a match against random moves. The program is restarted once, as it must be able to continue."""
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
                with suppress(BadAnswer):  # the answer reports it, too
                    player.start()
            start = monotonic()
            entry = decide_next_entry(match, {seat: player, seat.other: RandomPlayer()}, dice)
            if entry.no_move:
                raise entry.no_move
            if entry.answer.failed:
                first = entry.answer.failed[0]
                return BotFinding(name, False, f"{first.failure.value} in decision {decisions + 1}: {first}")
            if entry.actor is seat:
                slowest = max(slowest, monotonic() - start)
                decisions += 1
            match = entry.play(match)
    except DuelsError as problem:
        return BotFinding(name, False, str(problem))
    finally:
        player.close()
    assert match.outcome
    winner = match.outcome.winner
    result = match.outcome.ending.value if winner is None else "it won" if winner is seat else "it lost"
    return BotFinding(name, True, f"{decisions} decisions, the slowest in {slowest * 1000:.0f} ms; {result}")
