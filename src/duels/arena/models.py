"""Workers that ask models concurrently and play matches with them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, closing
from typing import Any, TypeVar

from duels.arena.config import Config
from duels.arena.costs import Spending
from duels.arena.folder import Folder, read_score
from duels.arena.logs import SYNC_NOW, Log
from duels.arena.match_plan import MatchPlan, play_dialogue
from duels.arena.pool import MatchListener, PlayerCache
from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.play.step import DecisionRequest, ask_player
from duels.players import Player
from duels.players.completions import Usage, format_money
from duels.players.endpoint import BudgetSpent, Endpoint, EndpointSettings, Meter
from duels.players.failures import Answer, NoMove, TransportError
from duels.players.model import ModelPlayer
from duels.players.program import ProgramPlayer
from duels.solving.oracle import Progress, no_progress

T = TypeVar("T")


class BudgetMeter(Meter):
    """Counts the spending of a run, including logged requests, and stops requests at the budget.

    A shard has an equal share of the budget and counts only the requests in logs with its prefix.
    """

    def __init__(self, config: Config, folder: Folder, prefix: str = "", shards: int = 1) -> None:
        self._config = config
        self._budget = config.parse_budget()
        self._shards = shards
        spending = Spending.from_requests(folder.iter_requests(prefix))
        self.used, self._unreported = spending.used, spending.unreported

    @property
    def spent(self) -> str:
        """The cost so far, with its currency; empty without prices."""
        cost = self._config.model.cost(self.used)
        return "" if cost is None else format_money(cost, self._config.currency)

    @property
    def is_spent(self) -> bool:
        if not self._budget:
            return False
        return self._cost(self.used + self._unreported) >= self._budget[0] / self._shards

    def check(self) -> None:
        """Raise BudgetSpent if the budget is used up."""
        if not self._budget or not self.is_spent:
            return
        amount, currency = self._budget
        unreported = self._cost(self._unreported)
        part = f" for one of {self._shards} shards" if self._shards > 1 else ""
        bound = f", counting at most {unreported:.2g} for requests without a full reply" if unreported else ""
        raise BudgetSpent(f"The budget of {amount / self._shards:g} {currency}{part} is spent{bound}.")

    def _cost(self, used: Usage) -> float:
        return self._config.model.cost(used) or 0.0

    def count(self, used: Usage) -> None:
        self.used += used

    def assume(self, limit: Usage, answered: bool) -> None:
        """Add the maximum usage of a request whose usage was not reported.

        Raises DuelsError if there is a budget and the endpoint answers without reporting tokens.
        """
        self._unreported += limit
        if answered and self._budget:
            raise DuelsError(
                "the endpoint does not report tokens, so a budget cannot be enforced: leave out --budget."
            )


class QuestionRunner:
    """Asks models concurrently until no question is left, the budget is spent or the endpoint is down."""

    def __init__(self, settings: EndpointSettings, budget_meter: BudgetMeter) -> None:
        self._settings, self._budget_meter = settings, budget_meter
        self.is_down = False
        """Whether the endpoint is down. If so, no more questions are asked."""
        self.interruptions: list[str] = []

    async def run(
        self, items: Iterable[T], ask: Callable[[T, Endpoint, int], Awaitable[None]], progress: Progress
    ) -> None:
        """Call `ask(item, endpoint, task_number)` for each item in one of several concurrent tasks."""
        asyncio.get_running_loop().set_exception_handler(_ignore_exit_signals)
        queue = iter(items)

        async def run_task(endpoint: Endpoint, task_number: int) -> None:
            for item in queue:
                self.is_down |= endpoint.is_down
                if self.is_down:
                    return
                try:
                    await ask(item, endpoint, task_number)
                except TransportError as error:
                    self.interruptions.append(str(error))
                except BudgetSpent as error:
                    self.interruptions.append(str(error))
                    return

        try:
            async with (
                Endpoint(self._settings, self._budget_meter, report_delay=progress) as endpoint,
                asyncio.TaskGroup() as group,  # one error cancels all tasks
            ):
                for task_number in range(self._settings.concurrency):
                    group.create_task(run_task(endpoint, task_number))
        except BaseExceptionGroup as group_error:
            raise group_error.exceptions[0] from None


def _ignore_exit_signals(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that no task retrieved. A signal ends the command with a message of its own."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


class ModelWorker:
    """Plays matches with models and logs each match when it ends.

    If a network error or the budget interrupts a match, only its requests are logged. The match is played
    again when the run continues.
    """

    def __init__(self, config: Config, folder: Folder, prefix: str, shards: int) -> None:
        self._config, self._folder = config, folder
        self.budget_meter = BudgetMeter(config, folder, prefix, shards)
        self._log = Log(folder.path, f"{prefix}models", sync_interval=SYNC_NOW)
        self._requests = folder.open_request_log(f"{prefix}models")
        self._runner = QuestionRunner(config.model, self.budget_meter)
        self.on_wait: Progress = no_progress
        """Called with the reason for a delayed reply."""
        self.interruptions = self._runner.interruptions

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        """Play matches, and pass each to `listener` when it ends. Do nothing if the endpoint is down."""
        if not self._runner.is_down:
            asyncio.run(self._play_all(plans, listener))

    async def _play_all(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        with ExitStack() as stack:  # each task has its own players
            tasks = range(self._config.model.concurrency)
            caches = [PlayerCache(self._config, self._folder, f"models-{task}-") for task in tasks]
            for cache in caches:
                stack.enter_context(closing(cache))

            async def play_one(plan: MatchPlan, endpoint: Endpoint, task_number: int) -> None:
                row = await self._play(plan, caches[task_number], endpoint)
                self._log.add(row)
                listener(plan, read_score(row))

            await self._runner.run(plans, play_one, self.on_wait)

    async def _play(self, plan: MatchPlan, cache: PlayerCache, endpoint: Endpoint) -> dict[str, Any]:
        models = self._config.list_models()
        players = {
            seat: ModelPlayer(models[name], plan.rules(), endpoint)
            for seat, name in zip(Seat, plan.players, strict=True)
            if name in models
        }
        used = dict.fromkeys(Seat, Usage())
        dialogue = play_dialogue(plan, cache.get_judge(plan.rules()))
        try:
            question = next(dialogue)
            while True:
                answer, usage = await self._answer(plan, question, cache, players.get(question.seat))
                used[question.seat] += usage
                question = dialogue.send(answer)
        except StopIteration as end:
            row: dict[str, Any] = end.value
        row["usage"] = [[used[seat].prompt, used[seat].completion, used[seat].requests] for seat in Seat]
        return row

    async def _answer(
        self, plan: MatchPlan, question: DecisionRequest, cache: PlayerCache, model: ModelPlayer | None
    ) -> tuple[Answer | NoMove, Usage]:
        seat = question.seat
        if model is None:
            player = cache.get_player(plan.rules(), plan.players[seat - 1], seat)
            if isinstance(player, ProgramPlayer):
                player.new_match(plan.key)
            return await _ask_in_thread(player, question), Usage()
        context = {"match": plan.key, "seat": seat.value, "entry": len(question.sight.history) + 1}
        return await model.decide(
            question.sight, question.rng, lambda request: self._requests.add({**context, **request})
        )

    def close(self) -> None:
        with closing(self._log):
            self._requests.close()


async def _ask_in_thread(player: Player, question: DecisionRequest) -> Answer | NoMove:
    """Ask a player in a thread. If cancelled, close the player and wait for the thread."""
    task = asyncio.create_task(asyncio.to_thread(ask_player, player, question, by_policy=True))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if isinstance(player, ProgramPlayer):
            player.close()
        await asyncio.gather(task, return_exceptions=True)
        raise
