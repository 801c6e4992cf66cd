"""Processes that play matches at the same time. One that dies is replaced, and its match is played again."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from duels.arena.bout import Bout
from duels.arena.config import Config
from duels.arena.folder import Score, score_of
from duels.arena.logs import Log, read_rows
from duels.arena.worker import Worker, serve
from duels.core.errors import DuelsError

MOST_DEATHS = 3  # of workers that were playing the same match
MOST_AT_ONCE = 256
"""Matches that are handed to a worker in one go, if they are quick: each message costs as much as one."""


class Inline:
    """No processes: matches are played here, one after another."""

    def __init__(self, config: Config, folder: Path, prefix: str) -> None:
        self._worker = Worker(config, folder, f"{prefix}1")

    def play(self, bouts: Iterable[Bout]) -> Iterator[tuple[Bout, Score]]:
        """These matches with their scores, as they are played."""
        for bout in bouts:
            yield bout, score_of(self._worker.play(bout))

    def close(self) -> None:
        """End the worker."""
        self._worker.close()


class Pool:
    """So many processes. They end when we do, however that happens: their pipes close."""

    def __init__(self, config: Config, folder: Path, prefix: str, workers: int) -> None:
        self._config, self._folder, self._prefix = config, folder, prefix
        self._processes: dict[Connection, BaseProcess] = {}
        self._names: dict[Connection, str] = {}
        # Forked processes would hold each other's pipes open, and not notice that we are gone.
        self._context = get_context("spawn")
        for number in range(1, workers + 1):
            self._start(f"{prefix}{number}")

    def _start(self, name: str) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=serve, args=(theirs, self._config, self._folder, self._prefix, name), daemon=False
        )
        process.start()
        theirs.close()
        self._processes[ours] = process
        self._names[ours] = name
        return ours

    def play(self, bouts: Iterable[Bout]) -> Iterator[tuple[Bout, Score]]:
        """These matches with their scores, in the order in which they are told of."""
        waiting = _Waiting(bouts)
        playing: dict[Connection, list[Bout]] = {}
        deaths: dict[str, int] = {}
        while True:
            for worker in [each for each in self._processes if each not in playing]:
                some = waiting.next()
                if some:
                    playing[self._handed(worker, some)] = some
            if not playing:
                return
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                some = playing.pop(ready)
                try:
                    scores = ready.recv()
                except (EOFError, OSError):
                    scores = self._left_by(ready, some)
                    for bout in some[len(scores) :][:1]:  # which it was playing
                        self._count_death(bout, deaths)
                if isinstance(scores, BaseException):
                    raise scores
                waiting.played(some, len(scores))
                yield from zip(some, scores, strict=False)

    def _handed(self, worker: Connection, some: list[Bout]) -> Connection:
        """Hand matches to a worker; the worker that has them then."""
        try:
            worker.send(some)
        except OSError:  # it died with nothing to do, which is no match's fault
            worker = self._replaced(worker)
            worker.send(some)
        return worker

    def _left_by(self, dead: Connection, some: list[Bout]) -> list[Score]:
        """What a worker that died had played of some matches: it is in its log. Another takes its place."""
        name = self._names[dead]
        self._replaced(dead)
        log = Log.path_of(self._folder, name)
        # One that died as it started has no log yet.
        logged = {row["key"]: row for _, row in read_rows(log)} if log.exists() else {}
        return [score_of(logged[bout.key]) for bout in some if bout.key in logged]

    @staticmethod
    def _count_death(bout: Bout, deaths: dict[str, int]) -> None:
        """Take down that a worker died of a match; too many of them are a problem."""
        deaths[bout.key] = deaths.get(bout.key, 0) + 1
        if deaths[bout.key] >= MOST_DEATHS:
            raise DuelsError(
                f"{MOST_DEATHS} workers died of one match of {bout.game} between "
                f"{bout.players[0]} and {bout.players[1]}."
            )

    def _replaced(self, dead: Connection) -> Connection:
        dead.close()
        self._processes.pop(dead).join()
        return self._start(self._names.pop(dead))

    def close(self) -> None:
        """End all workers, and the programs with them; OSError, if one could not save what it had played."""
        for worker in self._processes:
            with suppress(OSError):
                worker.send(None)
        problems: list[OSError] = []
        for worker, process in self._processes.items():
            process.join(5)
            if process.is_alive():
                process.terminate()
                process.join()
            problems += _last_words(worker)
            worker.close()
        if problems:
            raise problems[0]


def _last_words(worker: Connection) -> Iterator[OSError]:
    """Errors of a worker that has ended and could not save everything; scores before them are skipped."""
    with suppress(EOFError, OSError):
        while worker.poll():
            if isinstance(told := worker.recv(), OSError):
                yield told


class _Waiting:
    """Matches that wait for a worker: as many at once as one plays in the time that it has for them."""

    def __init__(self, bouts: Iterable[Bout]) -> None:
        self._bouts = iter(bouts)
        self._again: list[Bout] = []
        self._at_once = 1

    def next(self) -> list[Bout]:
        """Some matches to be played in order; none if none are left."""
        some, self._again = self._again[: self._at_once], self._again[self._at_once :]
        return some + list(islice(self._bouts, self._at_once - len(some)))

    def played(self, some: list[Bout], count: int) -> None:
        """Take back those of `some` that there was no time for: all but the first `count`."""
        self._again = some[count:] + self._again
        self._at_once = max(1, min(MOST_AT_ONCE, 2 * count if count == len(some) else count))
