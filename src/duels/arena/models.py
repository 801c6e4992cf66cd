"""Plays the matches in which models take part: many at the same time, while their answers are awaited."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from duels.arena.amounts import Spending
from duels.arena.bout import Asked, Bout, play
from duels.arena.config import Config, currency_of
from duels.arena.folder import Folder, Score, score_of
from duels.arena.logs import AT_ONCE, Log
from duels.arena.values import Judge
from duels.core.errors import DuelsError
from duels.core.rules import Rules, Seat
from duels.play.step import Question
from duels.players.completions import Usage, money
from duels.players.endpoint import BudgetSpent, Endpoint, Meter
from duels.players.failures import Answer, NoMove, TransportFailed
from duels.players.model import ModelGaveNone, ModelPlayer

Played = tuple[Bout, Score]
Done = Queue[Played | str | BaseException | None]
"""Matches as they end, why a reply is waited for, a problem that ends everything, None when all is done."""


class Purse(Meter):
    """The money of a run: what was spent is read from its logs, and a spent budget stops every request.

    A shard, told by its prefix, has its part of the budget, and counts what it spent itself.
    """

    def __init__(self, config: Config, folder: Folder, prefix: str = "", shards: int = 1) -> None:
        self._config = config
        self._budget = config.budget_amount()
        self._shards = shards
        spending = Spending.of(folder.requests(prefix))
        self.used, self._in_doubt = spending.used, spending.in_doubt

    @property
    def spent(self) -> str:
        """For people; empty where no prices are known."""
        cost = self._config.model.cost(self.used)
        return "" if cost is None else money(cost, currency_of(self._config.budget))

    @property
    def is_spent(self) -> bool:
        """Whether the budget covers no other request: only a larger one goes on."""
        if not self._budget:
            return False
        return self._cost(self.used) + self._cost(self._in_doubt) >= self._budget[0] / self._shards

    def check(self) -> None:
        """BudgetSpent, if another request is not covered."""
        if not self._budget or not self.is_spent:
            return
        amount, currency = self._budget
        in_doubt = self._cost(self._in_doubt)
        part = f" for one of {self._shards} parts" if self._shards > 1 else ""
        doubt = (
            f", if requests without a full reply cost {in_doubt:.2g}, the most they can" if in_doubt else ""
        )
        raise BudgetSpent(f"The budget of {amount / self._shards:g} {currency}{part} is spent{doubt}.")

    def _cost(self, used: Usage) -> float:
        return self._config.model.cost(used) or 0.0

    def count(self, used: Usage) -> None:
        """Add what the endpoint reports of a request."""
        self.used += used

    def assume(self, most: Usage, answered: bool) -> None:
        """Add the most that a request can have taken; an endpoint that never tells rules a budget out."""
        self._in_doubt += most
        if answered and self._budget:
            raise DuelsError("the endpoint does not report tokens, so no budget can be kept: leave it out.")


class ModelWorker:
    """Drives matches with models on a loop of its own; each is written to the log when it ends.

    A match that the wire or the budget breaks off leaves nothing but its requests: it is played when the run
    goes on.
    """

    def __init__(self, config: Config, folder: Folder, prefix: str, purse: Purse) -> None:
        self._config, self._folder, self._purse = config, folder, purse
        self._log = Log(folder.path, f"{prefix}models", every=AT_ONCE)
        self._requests = folder.request_log(f"{prefix}models")
        self._judges: dict[Rules[Any, Any, Any], Judge] = {}
        self._playing: _Beside | None = None
        self._down = False
        self.tell: Callable[[str], None] = lambda text: None
        """Is told why a reply is waited for."""
        self.broken_off: list[str] = []
        """Why matches were left unfinished."""

    def play(self, bouts: Iterable[Bout]) -> Iterator[Played]:
        """These matches with their scores, in the order in which they end; none once the endpoint is down."""
        if self._down:
            return
        done: Done = Queue()
        self._playing = _Beside(self._play_all(list(bouts), done), done)
        try:
            while (told := done.get()) is not None:
                if isinstance(told, BaseException):
                    raise told
                if isinstance(told, str):
                    self.tell(told)
                else:
                    yield told
        finally:
            self._playing.stop()

    async def _play_all(self, bouts: list[Bout], done: Done) -> None:
        waiting = iter(bouts)
        connection = Endpoint(self._config.model, self._purse, tell=done.put)
        async with connection as endpoint, asyncio.TaskGroup() as group:
            for number in range(max(1, self._config.model.concurrency)):
                group.create_task(self._play_some(waiting, endpoint, f"models-{number}", done))

    async def _play_some(
        self,
        waiting: Iterator[Bout],
        endpoint: Endpoint,
        name: str,
        done: Done,
    ) -> None:
        with closing(_Seats(self._config, self._folder, endpoint, name)) as seats:
            for bout in waiting:
                if endpoint.down:
                    self._down = True
                    return
                try:
                    row = await self._play_one(bout, seats)
                except (TransportFailed, BudgetSpent) as broken:
                    self.broken_off.append(str(broken))
                    if isinstance(broken, BudgetSpent):
                        return
                    continue
                self._log.add(row)
                done.put((bout, score_of(row)))

    async def _play_one(self, bout: Bout, seats: "_Seats") -> dict[str, Any]:
        rules = bout.rules()
        if rules not in self._judges:
            self._judges[rules] = Judge(rules)
        used = dict.fromkeys(Seat, Usage())
        playing = play(bout, self._judges[rules])
        try:
            question = next(playing)
            while True:
                answer, usage = await self._answer(bout, question, rules, seats)
                used[question.seat] += usage
                question = playing.send(answer)
        except StopIteration as end:
            row: dict[str, Any] = end.value
        row["usage"] = [[used[seat].prompt, used[seat].completion, used[seat].requests] for seat in Seat]
        return row

    async def _answer(
        self, bout: Bout, question: Question, rules: Rules[Any, Any, Any], seats: "_Seats"
    ) -> tuple[Answer | NoMove, Usage]:
        player = seats.at(rules, bout.players[question.seat - 1], question.seat)
        if isinstance(player, Asked):
            player.new_match(bout.key)
            return await _in_thread(player, question), Usage()
        told = {"match": bout.key, "seat": question.seat.value, "entry": len(question.sight.history) + 1}
        try:
            return await player.decide(
                question.sight, question.rng, lambda request: self._requests.add({**told, **request})
            )
        except ModelGaveNone as none:
            return none, none.used

    def close(self) -> None:
        """End what is under way, and let the logs go."""
        with closing(self._log), closing(self._requests):
            if self._playing:  # whoever took the rows may have left in between
                self._playing.stop()


class _Beside:
    """A coroutine that runs on a loop of its own in another thread, until it ends or is stopped."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], done: Done) -> None:
        self._done = done
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(coroutine)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._task)
        except BaseExceptionGroup as problems:
            self._done.put(problems.exceptions[0])
        except BaseException as problem:
            self._done.put(problem)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
            self._done.put(None)

    def stop(self) -> None:
        """Break it off if it still runs; when this returns, nothing is asked or written any more."""
        with suppress(RuntimeError):  # its loop is closed already
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()


async def _in_thread(player: Asked, question: Question) -> Answer | NoMove:
    """A player's answer; if it is not waited for, the player is closed, and its thread has ended."""
    asking = asyncio.create_task(asyncio.to_thread(player.answer, question))
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        player.close()
        await asyncio.gather(asking, return_exceptions=True)
        raise


class _Seats:
    """The players of one match at a time."""

    def __init__(self, config: Config, folder: Folder, endpoint: Endpoint, name: str) -> None:
        self._config, self._folder, self._endpoint, self._name = config, folder, endpoint, name
        self._models = config.models()
        self._known: dict[tuple[Rules[Any, Any, Any], str, Seat], Asked | ModelPlayer] = {}

    def at(self, rules: Rules[Any, Any, Any], name: str, seat: Seat) -> Asked | ModelPlayer:
        key = rules, name, seat
        if key not in self._known:
            if name in self._models:
                self._known[key] = ModelPlayer(self._models[name], rules, self._endpoint)
            else:
                log: Path = self._folder.bot_log(name, f"{self._name}-{seat.value}")
                self._known[key] = Asked(self._config.seat(name, rules, log))
        return self._known[key]

    def close(self) -> None:
        for player in self._known.values():
            if isinstance(player, Asked):
                player.close()
