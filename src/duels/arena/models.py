"""Asks models, much at the same time while their answers are awaited, and plays matches with them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any, TypeVar

from duels.arena.amounts import Spending
from duels.arena.config import Config, currency_of
from duels.arena.folder import Folder, score_of
from duels.arena.logs import AT_ONCE, Log
from duels.arena.match_plan import MatchPlan, play
from duels.arena.pool import Listener, Seats
from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.play.step import DecisionRequest, ask_player
from duels.players import Player
from duels.players.completions import Usage, format_money
from duels.players.endpoint import BudgetSpent, Endpoint, EndpointSettings, Meter
from duels.players.failures import Answer, NoMove, TransportError
from duels.players.model import ModelPlayer
from duels.players.program import ProgramPlayer
from duels.solving.progress import Progress, no_progress

T = TypeVar("T")


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
        return "" if cost is None else format_money(cost, currency_of(self._config.budget))

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


class Asker:
    """Works through what models are asked about, until all is done, the money spent or the endpoint down."""

    def __init__(self, settings: EndpointSettings, purse: Purse) -> None:
        self._settings, self._purse = settings, purse
        self.is_down = False
        """Whether the endpoint is: nothing more is asked."""
        self.broken_off: list[str] = []
        """Why something was left unfinished."""

    async def work(
        self,
        items: Iterable[T],
        ask: Callable[[T, Endpoint, int], Awaitable[None]],
        tell: Progress,
    ) -> None:
        """Have `ask` ask about each of these; it is told which of the concurrent tasks it runs in."""
        waiting = iter(items)
        try:
            async with (
                Endpoint(self._settings, self._purse, tell=tell) as endpoint,
                asyncio.TaskGroup() as group,  # which ends all if one of them does
            ):
                for number in range(self._settings.concurrency):
                    group.create_task(self._work_some(waiting, ask, endpoint, number))
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None

    async def _work_some(
        self,
        waiting: Iterator[T],
        ask: Callable[[T, Endpoint, int], Awaitable[None]],
        endpoint: Endpoint,
        number: int,
    ) -> None:
        for item in waiting:
            self.is_down |= endpoint.down
            if self.is_down:
                return
            try:
                await ask(item, endpoint, number)
            except TransportError as broken:
                self.broken_off.append(str(broken))
            except BudgetSpent as spent:
                self.broken_off.append(str(spent))
                return


class ModelWorker:
    """Plays matches with models; each is written to the log when it ends.

    A match that the wire or the budget breaks off leaves nothing but its requests: it is played when the run
    goes on.
    """

    def __init__(self, config: Config, folder: Folder, prefix: str, purse: Purse) -> None:
        self._config, self._folder = config, folder
        self._log = Log(folder.path, f"{prefix}models", every=AT_ONCE)
        self._requests = folder.request_log(f"{prefix}models")
        self._asker = Asker(config.model, purse)
        self.tell: Progress = no_progress
        """Is told why a reply is waited for."""
        self.broken_off = self._asker.broken_off

    def play(self, bouts: Iterable[MatchPlan], listener: Listener) -> None:
        """Play these matches; they are told of as they end. None are played once the endpoint is down."""
        if not self._asker.is_down:
            asyncio.run(self._play_all(bouts, listener))

    async def _play_all(self, bouts: Iterable[MatchPlan], listener: Listener) -> None:
        with ExitStack() as stack:  # each task has players of its own
            tasks = range(self._config.model.concurrency)
            seats = [stack.enter_context(closing(self._seats(number))) for number in tasks]

            async def play_one(bout: MatchPlan, endpoint: Endpoint, number: int) -> None:
                row = await self._play(bout, seats[number], endpoint)
                self._log.add(row)
                listener(bout, score_of(row))

            await self._asker.work(bouts, play_one, self.tell)

    def _seats(self, number: int) -> Seats:
        return Seats(
            self._config,
            lambda name, seat: self._folder.bot_log(name, f"models-{number}-{seat.value}"),
        )

    async def _play(self, bout: MatchPlan, seats: Seats, endpoint: Endpoint) -> dict[str, Any]:
        used = dict.fromkeys(Seat, Usage())
        playing = play(bout, seats.judge(bout.rules()))
        try:
            question = next(playing)
            while True:
                answer, usage = await self._answer(bout, question, seats, endpoint)
                used[question.seat] += usage
                question = playing.send(answer)
        except StopIteration as end:
            row: dict[str, Any] = end.value
        row["usage"] = [[used[seat].prompt, used[seat].completion, used[seat].requests] for seat in Seat]
        return row

    async def _answer(
        self, bout: MatchPlan, question: DecisionRequest, seats: Seats, endpoint: Endpoint
    ) -> tuple[Answer | NoMove, Usage]:
        seat, rules, name = question.seat, bout.rules(), bout.players[question.seat - 1]
        model = self._config.models().get(name)
        if model is None:
            player = seats.player(rules, name, seat)
            if isinstance(player, ProgramPlayer):
                player.new_match(bout.key)
            return await _in_thread(player, question), Usage()
        told = {"match": bout.key, "seat": seat.value, "entry": len(question.sight.history) + 1}
        return await ModelPlayer(model, rules, endpoint).decide(
            question.sight, question.rng, lambda request: self._requests.add({**told, **request})
        )

    def close(self) -> None:
        """Let the logs go."""
        with closing(self._log):
            self._requests.close()


async def _in_thread(player: Player, question: DecisionRequest) -> Answer | NoMove:
    """A player's answer; if it is not waited for, the player is closed, and its thread has ended."""
    asking = asyncio.create_task(asyncio.to_thread(ask_player, player, question, by_policy=True))
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        if isinstance(player, ProgramPlayer):
            player.close()
        await asyncio.gather(asking, return_exceptions=True)
        raise
