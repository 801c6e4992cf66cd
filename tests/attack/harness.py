"""The harness of all attacks: streams of cases and their counts."""

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

CASE_SECONDS = 20.0
"""A case that uses more processor time is a failure. A file of some megabytes takes about a second."""


@dataclass(frozen=True)
class Case:
    """One attempt to do harm, in its own folder. `run` raises if a promise is broken."""

    name: str
    run: Callable[[Path], None]


@dataclass(frozen=True)
class Attack:
    """A kind of attack: an endless stream of cases, the same for the same generator."""

    kind: str
    what: str
    """The method, in a few words."""
    cases: Callable[[Random], Iterator[Case]]
    short: int
    """How many cases `make test` tries: a few seconds."""

    def stream(self, seed: str) -> Iterator[Case]:
        """All cases, numbered from 0: seed, kind and number name a case."""
        return self.cases(Random(f"{seed}/{self.kind}"))


@dataclass(frozen=True)
class Failure:
    kind: str
    number: int
    case: str
    problem: str

    def __str__(self) -> str:
        return f"{self.kind} {self.number}: {self.case}\n    {self.problem}"


@dataclass
class Report:
    """The result of an attack."""

    attack: Attack
    cases: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)


def run(
    attack: Attack,
    seed: str,
    cases: int | None = None,
    seconds: float = float("inf"),
    first: int = 0,
    until_failure: bool = False,
) -> Report:
    """Try cases from number `first` on, up to a number of cases or seconds.

    A case that cannot be made counts as a failure too: making one often needs a session without disturbance.
    """
    report = Report(attack)
    start = monotonic()
    stream = islice(attack.stream(seed), first, None if cases is None else first + cases)
    while True:
        number = first + report.cases
        try:
            case = next(stream, None)
        except Exception as error:
            report.failures.append(Failure(attack.kind, number, "making the case", format_error(error)))
            break
        if case is None:
            break
        problem = attempt(case)
        report.cases += 1
        report.seconds = monotonic() - start
        if problem:
            report.failures.append(Failure(attack.kind, number, case.name, problem))
        if report.seconds >= seconds or (until_failure and problem):
            break
    return report


def attempt(case: Case) -> str:
    """Run a case. Return the problem, or an empty string."""
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        with bounded(CASE_SECONDS):
            case.run(folder)
    except Exception as problem:
        return format_error(problem)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def format_error(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"


class TooLong(Exception):
    """A case used too much processor time."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Limit the processor time of the block."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {seconds:.0f} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def in_turn(*streams: Iterable[T]) -> Iterator[T]:
    """Take one item from each stream in turn, until all are exhausted."""
    waiting = [iter(stream) for stream in streams]
    while waiting:
        for stream in tuple(waiting):
            try:
                yield next(stream)
            except StopIteration:
                waiting.remove(stream)


def shuffled(rng: Random, things: Iterable[T]) -> list[T]:
    """Return the items in random order, so that the first ones are a fair sample."""
    mixed = list(things)
    rng.shuffle(mixed)
    return mixed
