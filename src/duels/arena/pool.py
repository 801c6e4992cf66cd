"""Processes that play matches at the same time. One that dies is replaced, and its match is played again."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from duels.arena.bout import Bout
from duels.arena.config import Config
from duels.arena.folder import Row
from duels.arena.worker import Worker, serve
from duels.core.errors import DuelsError

MOST_DEATHS = 3  # of workers that were playing the same match


class Inline:
    """No processes: matches are played here, one after another."""

    def __init__(self, config: Config, folder: Path, prefix: str) -> None:
        self._worker = Worker(config, folder, f"{prefix}1")

    def play(self, bouts: Iterable[Bout]) -> Iterator[Row]:
        """The rows of these matches, as they are played."""
        return map(self._worker.play, bouts)

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

    def play(self, bouts: Iterable[Bout]) -> Iterator[Row]:
        """The rows of these matches, in the order in which they end."""
        waiting = iter(bouts)
        playing: dict[Connection, Bout] = {}
        again: list[Bout] = []
        deaths: dict[str, int] = {}

        def hand_out(worker: Connection) -> None:
            bout = again.pop() if again else next(waiting, None)
            if bout is None:
                return
            try:
                worker.send(bout)
            except OSError:  # it died with nothing to do, which is no match's fault
                worker = self._replaced(worker)
                worker.send(bout)
            playing[worker] = bout

        for worker in list(self._processes):
            hand_out(worker)
        while playing:
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                bout = playing.pop(ready)
                try:
                    answer = ready.recv()
                except (EOFError, OSError):
                    deaths[bout.key] = deaths.get(bout.key, 0) + 1
                    if deaths[bout.key] >= MOST_DEATHS:
                        raise DuelsError(
                            f"{MOST_DEATHS} workers died of one match of {bout.game} between "
                            f"{bout.players[0]} and {bout.players[1]}."
                        ) from None
                    again.append(bout)
                    hand_out(self._replaced(ready))
                    continue
                if isinstance(answer, BaseException):
                    raise answer
                hand_out(ready)
                yield answer

    def _replaced(self, dead: Connection) -> Connection:
        dead.close()
        self._processes.pop(dead).join()
        return self._start(self._names.pop(dead))

    def close(self) -> None:
        """End all workers, and the programs with them."""
        for worker in self._processes:
            with suppress(OSError):
                worker.send(None)
            worker.close()
        for process in self._processes.values():
            process.join(5)
            if process.is_alive():
                process.terminate()
                process.join()
