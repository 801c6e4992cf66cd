"""What all attacks have in common: streams of cases, none of which may do harm, and how they are counted."""

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

CASE_SECONDS = 20.0
"""Of the processor: what takes longer is a failure. A file of some megabytes takes about a second."""


@dataclass(frozen=True)
class Case:
    """One attempt to do harm, in a folder of its own; `run` raises where a promise is broken."""

    name: str
    run: Callable[[Path], None]


@dataclass(frozen=True)
class Attack:
    """A kind of attack: an endless stream of cases, the same for the same generator."""

    kind: str
    what: str
    """What is done, in a few words."""
    cases: Callable[[Random], Iterator[Case]]
    short: int
    """How many cases `make test` tries: a few seconds."""

    def stream(self, seed: str) -> Iterator[tuple[int, Case]]:
        """All cases with their numbers: seed, kind and number name a case."""
        return zip(count(), self.cases(Random(f"{seed}/{self.kind}")), strict=False)


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
    """What came of an attack."""

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
    """Try cases from number `first` on, until there were so many, or for so long."""
    report = Report(attack)
    start = monotonic()
    for number, case in islice(attack.stream(seed), first, None if cases is None else first + cases):
        problem = attempt(case)
        report.cases += 1
        report.seconds = monotonic() - start
        if problem:
            report.failures.append(Failure(attack.kind, number, case.name, problem))
        if report.seconds >= seconds or (until_failure and problem):
            break
    return report


def attempt(case: Case) -> str:
    """What went wrong; empty if nothing did."""
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        with bounded(CASE_SECONDS):
            case.run(folder)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


class TooLong(Exception):
    """Something took more time of the processor than it may."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Within, no more than so many seconds of the processor may be used."""

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
    """One from each stream, again and again, as long as any has more."""
    waiting = [iter(stream) for stream in streams]
    while waiting:
        for stream in tuple(waiting):
            try:
                yield next(stream)
            except StopIteration:
                waiting.remove(stream)


def shuffled(rng: Random, things: Iterable[T]) -> list[T]:
    """The same in another order: so that the first few are a fair sample."""
    mixed = list(things)
    rng.shuffle(mixed)
    return mixed
