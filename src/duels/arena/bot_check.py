"""Checks of a bot program: its protocol, its reaction to errors, and a match in every game."""

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
    """The result of one check of a bot program."""

    check: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.check}{f': {self.detail}' if self.detail else ''}"


def check_bot(command: str, games: list[AnyRules], limits: ProgramLimits) -> Iterator[BotFinding]:
    """Run all protocol checks, then play a match from each seat of each game. Yield each finding."""
    session = _Session(command, games[0], limits)
    ready = _run_check("sends 'ready' before anything else", session.start)
    yield ready
    if not ready.passed:
        session.kill()
        return
    for name, check in (
        ("answers a question", session.ask),
        ("ignores unknown keys and messages", session.check_unknown_message),
        ("answers again after an error message", session.check_error_message),
        ("writes one line per question", session.check_silence),
        ("exits when its input is closed", session.check_exit),
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
    except BadAnswer as error:
        return BotFinding(name, False, f"{error.failure.value}: {error}")
    except DuelsError as error:
        return BotFinding(name, False, str(error))


class _Session:
    """A running program and the questions that it is asked, all about a game's first position."""

    def __init__(self, command: str, rules: AnyRules, limits: ProgramLimits) -> None:
        self._command, self._rules, self._limits = command, rules, limits
        self._budget_ms = int(limits.move_seconds * 1000)
        self._child: Child | None = None
        self._request_id = 0
        self._has_answered = False
        self._sight: AnySight = Match.start(rules).sight(Seat.ONE)

    def start(self) -> str:
        self._child = Child(self._command, self._limits.memory_mb, None)
        deadline = monotonic() + self._limits.start_seconds
        self._child.send(json.dumps(protocol.make_hello(self._rules, self._budget_ms)), deadline)
        return str(protocol.parse_ready(self._child.receive(deadline)).get("name") or "")

    def check_unknown_message(self) -> str:
        self._send({"type": "weather", "sky": "clear"})
        return self.ask(unknown_key=["of", "a later version"])

    def check_error_message(self) -> str:
        return self.ask(error="'pass' is not allowed now.")

    def check_silence(self) -> str:
        if not self._has_answered:
            raise BadAnswer(Failure.EMPTY, "no question was answered.")
        line = self._receive(0.2)
        if line is not None:
            raise BadAnswer(Failure.FLOODED, f"it wrote {line!r} without a question.")
        return ""

    def check_exit(self) -> str:
        assert self._child
        exited = self._child.close()
        self._child = None
        if not exited:
            raise BadAnswer(Failure.LATE, "it did not exit and was killed. Exit at the end of the input.")
        return ""

    def kill(self) -> None:
        if self._child:
            self._child.kill()
            self._child = None

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child
        self._child.send(json.dumps(message), monotonic() + _SEND_SECONDS)

    def _receive(self, seconds: float) -> str | None:
        """Return the next line, or None if there is none in time."""
        assert self._child
        try:
            return self._child.receive(monotonic() + seconds)
        except BadAnswer as error:
            if error.failure is Failure.LATE:
                return None
            raise

    def ask(self, error: str = "", **extra_keys: Any) -> str:
        self._request_id += 1
        number = self._request_id
        question = protocol.make_request(self._sight, number, self._budget_ms, match="check", error=error)
        self._send({**question, **extra_keys})
        line = self._receive(self._limits.move_seconds)
        if line is None:
            raise BadAnswer(Failure.LATE, "no answer came in time. Does it flush its output?")
        answer = protocol.parse_reply_to(line, number)
        if answer is None:
            raise BadAnswer(
                Failure.UNREADABLE, f"the answer {line!r} does not have the question's id {number}."
            )
        action, policy = protocol.parse_move(answer, self._sight)
        self._has_answered = True
        return f"with a policy over {len(policy)} actions" if policy else self._rules.format(action)


def _play_match(command: str, rules: AnyRules, seat: Seat, limits: ProgramLimits) -> BotFinding:
    """Play a match against random moves, and restart the program once: it must continue the match."""
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
                with suppress(BadAnswer):  # the answer below reports the same failure
                    player.start()
            start = monotonic()
            entry = decide_next_entry(match, {seat: player, seat.other: RandomPlayer()}, dice)
            if entry.no_move:
                raise entry.no_move
            if entry.answer.failed:
                error = entry.answer.failed[0]
                return BotFinding(name, False, f"{error.failure.value} in decision {decisions + 1}: {error}")
            if entry.actor is seat:
                slowest = max(slowest, monotonic() - start)
                decisions += 1
            match = entry.play(match)
    except DuelsError as error:
        return BotFinding(name, False, str(error))
    finally:
        player.close()
    assert match.outcome
    winner = match.outcome.winner
    result = match.outcome.ending.value if winner is None else "it won" if winner is seat else "it lost"
    return BotFinding(name, True, f"{decisions} decisions, the slowest in {slowest * 1000:.0f} ms; {result}")
