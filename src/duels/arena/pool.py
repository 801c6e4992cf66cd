"""Workers that play matches: in this process, in a pool of processes, or on a Ray cluster.

A worker that dies is replaced, and its match is played again.
"""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, closing, suppress
from functools import cache, partial
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from duels.arena.config import Config
from duels.arena.folder import CONFIG, Folder, MatchScore, read_score
from duels.arena.logs import Log
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.arena.schemas import Row
from duels.core.errors import DuelsError, require_extra
from duels.core.rules import AnyRules, Seat
from duels.players import Player
from duels.players.program import ProgramPlayer


class PlayerCache:
    """The players and judges of a run: one judge per game, and one player per game, name and seat.

    With a folder, the stderr of each program is written to a file named after the worker and the seat.
    """

    def __init__(self, config: Config, folder: Folder | None = None, worker: str = "") -> None:
        self._config, self._folder, self._worker = config, folder, worker
        self.get_judge = cache(Judge)
        self._players: dict[tuple[AnyRules, str, Seat], Player] = {}

    def get_player(self, rules: AnyRules, name: str, seat: Seat) -> Player:
        key = rules, name, seat
        if key not in self._players:
            file = f"{self._worker}{seat.value}"
            log = self._folder.get_bot_log_path(name, file) if self._folder else None
            self._players[key] = self._config.make_player(name, rules, log)
        return self._players[key]

    def play(self, plan: MatchPlan) -> Row:
        rules = plan.rules()
        players = {seat: self.get_player(rules, plan.players[seat - 1], seat) for seat in Seat}
        return play_match(plan, self.get_judge(rules), players)

    def close(self) -> None:
        for player in self._players.values():
            if isinstance(player, ProgramPlayer):
                player.close()


def make_program_check(config: Config, out: Path) -> Callable[[], None]:
    """Return a check that raises DuelsError if a program of a run does not start. It runs only once.

    A program that does not start would forfeit every match. For a new folder the check runs at once, before
    anything is written. Otherwise the caller runs it before the first missing match.
    """
    check = cache(partial(_check_programs, config))
    if not (out / CONFIG).exists():
        check()
    return check


def _check_programs(config: Config) -> None:
    rules = config.rules(config.games[0])
    for name in config.list_programs():
        player = config.make_player(name, rules)
        assert isinstance(player, ProgramPlayer)
        with closing(player):
            try:
                player.start()
            except DuelsError as error:
                raise DuelsError(f"{name} does not start: {error}") from None


MAX_DEATHS = 3  # of workers, during one match
_RAY_BATCH = 20
"""Matches per task: enough to outweigh its overhead, few enough to lose little if it fails."""
_MAX_RAY_DEATHS = 5  # of workers, during one task
_TASKS_PER_CPU = 3  # running or queued


MatchListener = Callable[[MatchPlan, MatchScore], None]
"""Called with every match that has ended and is logged."""


class Worker:
    """Plays matches in this process, with its own players and its own log."""

    def __init__(self, config: Config, folder: Path, name: str) -> None:
        self._cache = PlayerCache(config, Folder(folder), f"{name}-")
        self._log = Log(folder, name)

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        for plan in plans:
            listener(plan, self.play_one(plan))

    def play_one(self, plan: MatchPlan) -> MatchScore:
        row = self._cache.play(plan)
        self._log.add(row)
        return read_score(row)

    def close(self) -> None:
        with closing(self._log):
            self._cache.close()


def run_worker(connection: Any, config: Config, folder: Path, prefix: str, name: str) -> None:
    """Run a worker process: receive matches and send their scores until the connection closes.

    If the log cannot be saved at the end, the last message is an OSError.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent sends None to stop the worker
    handle = Folder(folder).lock_as_worker(prefix)
    parent = parent_process()
    if parent and not parent.is_alive():  # another process may continue the run and play our matches
        os.close(handle)
        return
    worker = Worker(config, folder, name)
    try:
        while (plan := connection.recv()) is not None:
            try:
                answer: Any = worker.play_one(plan)
            except Exception as error:
                answer = error
            connection.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        try:
            worker.close()
        except OSError as error:
            with suppress(OSError):
                connection.send(error)
        os.close(handle)


class ProcessPool:
    """A pool of worker processes. They end when this process ends, because their pipes close."""

    def __init__(self, config: Config, folder: Path, prefix: str, workers: int) -> None:
        self._config, self._folder, self._prefix = config, folder, prefix
        self._processes: dict[Connection, BaseProcess] = {}
        # Forked processes would keep each other's pipes open and not notice that this process ended.
        self._context = get_context("spawn")
        for number in range(1, workers + 1):
            self._start(f"{prefix}{number}")

    def _start(self, name: str) -> Connection:
        connection, worker_end = self._context.Pipe()
        arguments = worker_end, self._config, self._folder, self._prefix, name
        process = self._context.Process(target=run_worker, name=name, args=arguments, daemon=False)
        process.start()
        worker_end.close()
        self._processes[connection] = process
        return connection

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        """Play matches and pass each to `listener` when it ends."""
        queue = iter(plans)
        playing: dict[Connection, MatchPlan] = {}
        deaths: Counter[str] = Counter()
        while True:
            for worker in [each for each in self._processes if each not in playing]:
                if plan := next(queue, None):
                    playing[self._send_plan(worker, plan)] = plan
            if not playing:
                return
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                plan = playing.pop(ready)
                try:
                    answer = ready.recv()
                except (EOFError, OSError):
                    answer = self._recover_score(ready, plan)
                if isinstance(answer, BaseException):
                    raise answer
                if answer is None:
                    self._count_death(plan, deaths)
                    queue = chain([plan], queue)
                else:
                    listener(plan, answer)

    def _send_plan(self, worker: Connection, plan: MatchPlan) -> Connection:
        """Send a match to a worker, or to a new one if it died. Returns the worker that got the match."""
        try:
            worker.send(plan)
        except OSError:  # the worker died while idle, so no match is to blame
            worker = self._replace(worker)
            worker.send(plan)
        return worker

    def _recover_score(self, dead_worker: Connection, plan: MatchPlan) -> MatchScore | None:
        """Replace a dead worker. Returns the score of its match, or None if the match was not logged."""
        log = Log.make_path(self._folder, self._processes[dead_worker].name)
        self._replace(dead_worker)
        # A worker that died while starting has no log yet.
        rows = (row for _, row in Folder(self._folder).iter_rows(log)) if log.exists() else ()
        return next((read_score(row) for row in rows if row["key"] == plan.key), None)

    @staticmethod
    def _count_death(plan: MatchPlan, deaths: Counter[str]) -> None:
        deaths[plan.key] += 1
        if deaths[plan.key] >= MAX_DEATHS:
            raise DuelsError(
                f"{MAX_DEATHS} workers died while playing the same match of {plan.game} between "
                f"{plan.players[0]} and {plan.players[1]}."
            )

    def _replace(self, dead_worker: Connection) -> Connection:
        dead_worker.close()
        process = self._processes.pop(dead_worker)
        process.join()
        return self._start(process.name)

    def close(self) -> None:
        """Stop all workers and their programs. Raises OSError if one could not save its log."""
        for worker in self._processes:
            with suppress(OSError):
                worker.send(None)
        problems: list[OSError] = []
        for worker, process in self._processes.items():
            process.join(5)
            if process.is_alive():
                process.terminate()
                process.join()
            problems += _iter_final_errors(worker)
            worker.close()
        if problems:
            raise problems[0]


def _iter_final_errors(worker: Connection) -> Iterator[OSError]:
    """Yield the errors that a worker sent before it ended, skipping scores."""
    with suppress(EOFError, OSError):
        while worker.poll():
            if isinstance(message := worker.recv(), OSError):
                yield message


class RayPool:
    """Plays matches on a Ray cluster, or with Ray on this machine. This process logs the rows."""

    def __init__(self, config: Config, folder: Path, prefix: str, address: str | None) -> None:
        with require_extra("ray"):
            import ray
        self._ray: Any = ray
        self._is_owner = not ray.is_initialized()
        if self._is_owner:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        self._config = ray.put(config)
        self._task = ray.remote(max_retries=_MAX_RAY_DEATHS)(play_batch)
        self._log = Log(folder, f"{prefix}ray")

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        ray, queue = self._ray, iter(plans)
        limit = _TASKS_PER_CPU * max(1, int(ray.cluster_resources().get("CPU", 1)))
        running: dict[Any, list[MatchPlan]] = {}
        while True:
            while len(running) < limit and (batch := list(islice(queue, _RAY_BATCH))):
                running[self._task.remote(self._config, batch, os.getcwd())] = batch
            if not running:
                return
            (task, *_), _ = ray.wait(list(running), num_returns=1)
            for plan, row in zip(running.pop(task), self._get_rows(task), strict=True):
                self._log.add(row)
                listener(plan, read_score(row))

    def _get_rows(self, task: Any) -> list[Row]:
        try:
            rows: list[Row] = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise DuelsError(f"Ray could not play some matches: {str(error).splitlines()[0]}") from None
        return rows

    def close(self) -> None:
        with closing(self._log):
            if self._is_owner:
                self._ray.shutdown()


def play_batch(config: Config, plans: list[MatchPlan], folder: str) -> list[Row]:
    """Play matches in a Ray task, with its own players. Programs run in `folder`.

    Raises DuelsError if the node has no such folder.
    """
    with ExitStack() as stack:
        if config.list_programs():
            try:
                stack.enter_context(chdir(folder))
            except OSError as error:
                raise DuelsError(
                    f"a node of the Ray cluster cannot run programs in {folder}: {error.strerror}. Share the "
                    "folder with every node, or copy it there under the same path."
                ) from None
        players = stack.enter_context(closing(PlayerCache(config)))
        return [players.play(plan) for plan in plans]
