"""Where matches are played: here, in processes of this machine, or on a Ray cluster.

A worker that dies is replaced, and its match is played again.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any

from duels.arena.config import Config
from duels.arena.folder import CONFIG, Folder, Score, score_of
from duels.arena.logs import Log, Row, read_rows
from duels.arena.match_plan import Judge, MatchPlan, play_with
from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, Seat
from duels.players import Player
from duels.players.program import ProgramPlayer


class Seats:
    """Players and judges of a run, each made once for each game; a program serves one seat only.

    `log_of` says where what a program writes to its stderr goes.
    """

    def __init__(self, config: Config, log_of: Callable[[str, Seat], Path | None] = lambda *_: None) -> None:
        self._config, self._log_of = config, log_of
        self._judges: dict[AnyRules, Judge] = {}
        self._players: dict[tuple[AnyRules, str, Seat], Player] = {}

    def judge(self, rules: AnyRules) -> Judge:
        """The judge of a game."""
        if rules not in self._judges:
            self._judges[rules] = Judge(rules)
        return self._judges[rules]

    def player(self, rules: AnyRules, name: str, seat: Seat) -> Player:
        """The player of that name, at a seat of a game."""
        key = rules, name, seat
        if key not in self._players:
            self._players[key] = self._config.seat(name, rules, self._log_of(name, seat))
        return self._players[key]

    def play(self, bout: MatchPlan) -> Row:
        """Play a match; its row."""
        rules = bout.rules()
        players = {seat: self.player(rules, bout.players[seat - 1], seat) for seat in Seat}
        return play_with(bout, self.judge(rules), players)

    def close(self) -> None:
        """End the programs."""
        for player in self._players.values():
            if isinstance(player, ProgramPlayer):
                player.close()


class ProgramCheck:
    """Starts each program of a run once: one that cannot start would forfeit every match.

    Where a run begins that is done at once, so that nothing is written if one does not start. Where it goes
    on, it is done before the first match that is missing, and not at all if none is.
    """

    def __init__(self, config: Config, out: Path) -> None:
        self._config = config
        self._done = False
        if not (out / CONFIG).exists():
            self()

    def __call__(self) -> None:
        """DuelsError, which says why, if a program does not start and say that it is ready."""
        if self._done:
            return
        rules = self._config.rules(self._config.games[0])
        for name in self._config.programs():
            player = self._config.seat(name, rules)
            assert isinstance(player, ProgramPlayer)
            with closing(player):
                try:
                    player.start()
                except DuelsError as error:
                    raise DuelsError(f"{name} does not start: {error}") from None
        self._done = True


A_WHILE = 0.2
"""Seconds after which a worker tells what it has played."""
MOST_DEATHS = 3  # of workers that were playing the same match
MOST_AT_ONCE = 256
"""Matches that are handed to a worker in one go, if they are quick: each message costs as much as one."""
_RAY_AT_ONCE = 20
"""Matches of a task: so many that a task's own cost is small, so few that little is played again."""
_MOST_RAY_DEATHS = 5  # of workers that were playing the same task
_WAITING = 3  # tasks for each processor that are handed in ahead


Listener = Callable[[MatchPlan, Score], None]
"""Is told of every match that has ended, and is in a log."""


class Worker:
    """Plays with players of its own, into a log of its own."""

    def __init__(self, config: Config, folder: Path, name: str) -> None:
        kept = Folder(folder)
        self._seats = Seats(config, lambda player, seat: kept.bot_log(player, f"{name}-{seat.value}"))
        self._log = Log(folder, name)

    def play(self, bouts: Iterable[MatchPlan], listener: Listener) -> None:
        """Play these matches, one after another."""
        for bout in bouts:
            listener(bout, self._play_one(bout))

    def play_some(self, bouts: Iterable[MatchPlan]) -> list[Score]:
        """Play matches for a while; the scores of those that there was time for, one at least."""
        began, scores = monotonic(), []
        for bout in bouts:
            scores.append(self._play_one(bout))
            if monotonic() - began > A_WHILE:
                break
        return scores

    def _play_one(self, bout: MatchPlan) -> Score:
        row = self._seats.play(bout)
        self._log.add(row)
        return score_of(row)

    def close(self) -> None:
        """Let the players go, and the log."""
        with closing(self._log):
            self._seats.close()


def serve(connection: Any, config: Config, folder: Path, prefix: str, name: str) -> None:
    """The main loop of a worker process: matches in, scores out; ends when nobody is there any more.

    Its last words, if it has any, are that it could not save what it had played.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us tells us to stop
    handle = Folder(folder).hold_as_worker(prefix)
    starter = parent_process()
    if starter and not starter.is_alive():  # the run may go on without us, and play what was meant for us
        os.close(handle)
        return
    worker = Worker(config, folder, name)
    try:
        while (bouts := connection.recv()) is not None:
            try:
                answer: Any = worker.play_some(bouts)
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

    def play(self, bouts: Iterable[MatchPlan], listener: Listener) -> None:
        """Play these matches; they are told of as they end."""
        waiting = _Waiting(bouts)
        playing: dict[Connection, list[MatchPlan]] = {}
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
                for bout, score in zip(some, scores, strict=False):
                    listener(bout, score)

    def _handed(self, worker: Connection, some: list[MatchPlan]) -> Connection:
        """Hand matches to a worker; the worker that has them then."""
        try:
            worker.send(some)
        except OSError:  # it died with nothing to do, which is no match's fault
            worker = self._replaced(worker)
            worker.send(some)
        return worker

    def _left_by(self, dead: Connection, some: list[MatchPlan]) -> list[Score]:
        """What a worker that died had played of some matches: it is in its log. Another takes its place."""
        name = self._names[dead]
        self._replaced(dead)
        log = Log.path_of(self._folder, name)
        # One that died as it started has no log yet.
        logged = {row["key"]: row for _, row in read_rows(log)} if log.exists() else {}
        return [score_of(logged[bout.key]) for bout in some if bout.key in logged]

    @staticmethod
    def _count_death(bout: MatchPlan, deaths: dict[str, int]) -> None:
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

    def __init__(self, bouts: Iterable[MatchPlan]) -> None:
        self._bouts = iter(bouts)
        self._again: list[MatchPlan] = []
        self._at_once = 1

    def next(self) -> list[MatchPlan]:
        """Some matches to be played in order; none if none are left."""
        some, self._again = self._again[: self._at_once], self._again[self._at_once :]
        return some + list(islice(self._bouts, self._at_once - len(some)))

    def played(self, some: list[MatchPlan], count: int) -> None:
        """Take back those of `some` that there was no time for: all but the first `count`."""
        self._again = some[count:] + self._again
        self._at_once = max(1, min(MOST_AT_ONCE, 2 * count if count == len(some) else count))


class RayPool:
    """A cluster, or this machine as one. Rows are written to the log here, wherever they were played."""

    def __init__(self, config: Config, folder: Path, prefix: str, address: str | None) -> None:
        with require_extra("ray"):
            import ray
        self._ray: Any = ray
        self._began = not ray.is_initialized()
        if self._began:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        self._config = ray.put(config)
        self._task = ray.remote(max_retries=_MOST_RAY_DEATHS)(play_some)
        self._log = Log(folder, f"{prefix}ray")

    def play(self, bouts: Iterable[MatchPlan], listener: Listener) -> None:
        """Play these matches; they are told of as their tasks end."""
        ray, waiting = self._ray, iter(bouts)
        most = _WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
        under_way: dict[Any, list[MatchPlan]] = {}
        while True:
            while len(under_way) < most and (some := list(islice(waiting, _RAY_AT_ONCE))):
                under_way[self._task.remote(self._config, some)] = some
            if not under_way:
                return
            (done, *_), _ = ray.wait(list(under_way), num_returns=1)
            for bout, row in zip(under_way.pop(done), self._rows(done), strict=True):
                self._log.add(row)
                listener(bout, score_of(row))

    def _rows(self, done: Any) -> list[Row]:
        try:
            rows: list[Row] = self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise DuelsError(f"Ray could not play some matches: {str(error).splitlines()[0]}") from None
        return rows

    def close(self) -> None:
        """Leave the cluster, and let the log go."""
        with closing(self._log):
            if self._began:
                self._ray.shutdown()


def play_some(config: Config, bouts: list[MatchPlan]) -> list[Row]:
    """A task: some matches, with players of its own."""
    with closing(Seats(config)) as seats:
        return [seats.play(bout) for bout in bouts]
