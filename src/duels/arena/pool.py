"""Workers that play matches: in this process, in a pool of processes, or on a Ray cluster.

A worker that dies is replaced, and its match is played again.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any

from duels.arena.config import Config
from duels.arena.folder import CONFIG, Folder, MatchScore, read_score
from duels.arena.logs import Log, Row, read_rows
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, Seat
from duels.players import Player
from duels.players.program import ProgramPlayer


class PlayerCache:
    """The players and judges of a run. Each is made once per game, a player once per seat.

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
    """Return a function that raises DuelsError if a program of a run does not start, and runs only once.

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


BATCH_SECONDS = 0.2
"""Seconds after which a worker returns its scores."""
MAX_DEATHS = 3  # of workers, during one match
MAX_BATCH = 256
"""The most matches in one message: sending a message takes as long as a quick match."""
_RAY_BATCH = 20
"""Matches per task: enough to outweigh its overhead, few enough to lose little if it fails."""
_MAX_RAY_DEATHS = 5  # of workers, during one task
_TASKS_PER_CPU = 3  # submitted ahead


MatchListener = Callable[[MatchPlan, MatchScore], None]
"""Called with every match that has ended and is logged."""


class Worker:
    """A worker with its own players and its own log."""

    def __init__(self, config: Config, folder: Path, name: str) -> None:
        self._cache = PlayerCache(config, Folder(folder), f"{name}-")
        self._log = Log(folder, name)

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        for plan in plans:
            listener(plan, self._play_one(plan))

    def play_batch(self, plans: Iterable[MatchPlan]) -> list[MatchScore]:
        """Play matches for BATCH_SECONDS, at least one, and return their scores."""
        started, scores = monotonic(), []
        for plan in plans:
            scores.append(self._play_one(plan))
            if monotonic() - started > BATCH_SECONDS:
                break
        return scores

    def _play_one(self, plan: MatchPlan) -> MatchScore:
        row = self._cache.play(plan)
        self._log.add(row)
        return read_score(row)

    def close(self) -> None:
        with closing(self._log):
            self._cache.close()


def run_worker(connection: Any, config: Config, folder: Path, prefix: str, name: str) -> None:
    """Run a worker process: receive matches and send scores until the connection closes.

    If the log cannot be saved at the end, the last message is an OSError.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells us to stop
    handle = Folder(folder).lock_as_worker(prefix)
    parent = parent_process()
    if parent and not parent.is_alive():  # another process may continue the run and play our matches
        os.close(handle)
        return
    worker = Worker(config, folder, name)
    try:
        while (plans := connection.recv()) is not None:
            try:
                answer: Any = worker.play_batch(plans)
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
        self._names: dict[Connection, str] = {}
        # Forked processes would keep each other's pipes open and not notice that this process ended.
        self._context = get_context("spawn")
        for number in range(1, workers + 1):
            self._start(f"{prefix}{number}")

    def _start(self, name: str) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=run_worker, args=(theirs, self._config, self._folder, self._prefix, name), daemon=False
        )
        process.start()
        theirs.close()
        self._processes[ours] = process
        self._names[ours] = name
        return ours

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        """Play matches and pass each to `listener` when it ends."""
        queue = _PlanQueue(plans)
        playing: dict[Connection, list[MatchPlan]] = {}
        deaths: dict[str, int] = {}
        while True:
            for worker in [each for each in self._processes if each not in playing]:
                some = queue.take()
                if some:
                    playing[self._send_plans(worker, some)] = some
            if not playing:
                return
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                some = playing.pop(ready)
                try:
                    scores = ready.recv()
                except (EOFError, OSError):
                    scores = self._recover_scores(ready, some)
                    for plan in some[len(scores) :][:1]:  # the one that it was playing
                        self._count_death(plan, deaths)
                if isinstance(scores, BaseException):
                    raise scores
                queue.put_back(some, len(scores))
                for plan, score in zip(some, scores, strict=False):
                    listener(plan, score)

    def _send_plans(self, worker: Connection, some: list[MatchPlan]) -> Connection:
        """Send matches to a worker, replacing it if it died. Returns the worker that has them."""
        try:
            worker.send(some)
        except OSError:  # it died while idle, so no match is to blame
            worker = self._replace(worker)
            worker.send(some)
        return worker

    def _recover_scores(self, dead: Connection, some: list[MatchPlan]) -> list[MatchScore]:
        """Replace a dead worker and return the scores that it had logged."""
        log = Log.make_path(self._folder, self._names[dead])
        self._replace(dead)
        # A worker that died while starting has no log yet.
        logged = {row["key"]: row for _, row in read_rows(log)} if log.exists() else {}
        return [read_score(logged[plan.key]) for plan in some if plan.key in logged]

    @staticmethod
    def _count_death(plan: MatchPlan, deaths: dict[str, int]) -> None:
        deaths[plan.key] = deaths.get(plan.key, 0) + 1
        if deaths[plan.key] >= MAX_DEATHS:
            raise DuelsError(
                f"{MAX_DEATHS} workers died while playing the same match of {plan.game} between "
                f"{plan.players[0]} and {plan.players[1]}."
            )

    def _replace(self, dead: Connection) -> Connection:
        dead.close()
        self._processes.pop(dead).join()
        return self._start(self._names.pop(dead))

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


class _PlanQueue:
    """A queue of matches that adapts the batch size to what a worker plays in BATCH_SECONDS."""

    def __init__(self, plans: Iterable[MatchPlan]) -> None:
        self._plans = iter(plans)
        self._returned: list[MatchPlan] = []
        self._batch = 1

    def take(self) -> list[MatchPlan]:
        """Return the next batch; empty at the end."""
        some, self._returned = self._returned[: self._batch], self._returned[self._batch :]
        return some + list(islice(self._plans, self._batch - len(some)))

    def put_back(self, some: list[MatchPlan], count: int) -> None:
        """Put back the matches of a batch after the first `count`, which were played."""
        self._returned = some[count:] + self._returned
        self._batch = max(1, min(MAX_BATCH, 2 * count if count == len(some) else count))


class RayPool:
    """A Ray cluster, or this machine as one. Rows are logged on this machine."""

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
            while len(running) < limit and (some := list(islice(queue, _RAY_BATCH))):
                running[self._task.remote(self._config, some)] = some
            if not running:
                return
            (done, *_), _ = ray.wait(list(running), num_returns=1)
            for plan, row in zip(running.pop(done), self._get_rows(done), strict=True):
                self._log.add(row)
                listener(plan, read_score(row))

    def _get_rows(self, done: Any) -> list[Row]:
        try:
            rows: list[Row] = self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise DuelsError(f"Ray could not play some matches: {str(error).splitlines()[0]}") from None
        return rows

    def close(self) -> None:
        with closing(self._log):
            if self._is_owner:
                self._ray.shutdown()


def play_batch(config: Config, plans: list[MatchPlan]) -> list[Row]:
    """Play matches in a Ray task, with its own players."""
    with closing(PlayerCache(config)) as players:
        return [players.play(plan) for plan in plans]
