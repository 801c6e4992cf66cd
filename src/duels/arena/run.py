"""Plays the missing matches of a run, in rounds, until results are close enough or all are played."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, zip_longest
from pathlib import Path

from duels.arena.confidence import Interval
from duels.arena.config import Config
from duels.arena.folder import WHOLE_RUN, Folder, MatchScore, format_shard, is_in_shard, read_score
from duels.arena.match_plan import MatchPlan
from duels.arena.models import ModelWorker
from duels.arena.pool import MatchListener, ProcessPool, RayPool, Worker, make_program_check
from duels.arena.scores import adjusted_interval, take_unbroken
from duels.core.errors import BadOption, quote

FIRST_ROUND, MIN_ROUND, GROWTH = 20, 10, 8
"""Pairs in the first round, the fewest in a later one, and the divisor by which rounds grow.

A later round has an eighth of the pairs played so far, because each check takes longer than the last."""


@dataclass
class RunProgress:
    done: int
    total: int
    """An upper bound, as a run may stop earlier."""
    played: int = 0
    """Matches played by this call."""
    spent: str = ""
    """The cost so far; empty without models or prices."""
    waiting: str = ""
    """The reason for a delay; empty if there is none."""
    points: dict[str, tuple[float, int]] = field(default_factory=dict)
    margins: dict[tuple[str, str, str], Interval] = field(default_factory=dict)
    """The results of pairings so far, if they decide when to stop."""

    def count(self, plan: MatchPlan, score: float) -> None:
        self.waiting = ""
        for name, points in zip(plan.players, (score, 1 - score), strict=True):
            total, matches = self.points.get(name, (0.0, 0))
            self.points[name] = total + points, matches + 1


ProgressListener = Callable[[RunProgress], None]


def run(
    config: Config,
    out: Path,
    workers: int = 1,
    shard: tuple[int, int] = WHOLE_RUN,
    listener: ProgressListener = lambda progress: None,
    on: str | None = None,
) -> Folder:
    """Play the missing matches of a run, which may be new or interrupted.

    Shard (I, N) plays every N-th pair, starting with the I-th, so N machines play all of them. `on` names
    a cluster to use instead of local processes: `ray` or `ray:ADDRESS`. Raises BadOption if a shard has
    `until`, DuelsError if the folder belongs to another run or a program does not start.
    """
    if config.until is not None and shard != WHOLE_RUN:
        raise BadOption("--until needs all results, so it cannot be combined with --shard.")
    check = make_program_check(config, out)
    with Folder.open_locked(out, config, shard) as folder:
        part = format_shard(shard)
        prefix = f"{part}-" if part else ""
        folder.wait_for_workers(prefix)
        scores = {key: read_score(row) for key, row in folder.load_rows().items()}
        with closing(_Dispatcher(config, folder, prefix, workers, on, shard[1])) as dispatcher:
            _play_missing(config, scores, dispatcher, shard, listener, check)
            if worker := dispatcher.model_worker:
                folder.unfinished = tuple(dict.fromkeys(worker.interruptions))
                folder.is_spent = worker.budget_meter.is_spent
    return folder


def _make_pool(
    config: Config, out: Path, prefix: str, workers: int, on: str | None
) -> Worker | ProcessPool | RayPool:
    if on is None:
        return (
            Worker(config, out, f"{prefix}1") if workers == 1 else ProcessPool(config, out, prefix, workers)
        )
    where, _, address = on.partition(":")
    if where != "ray":
        raise BadOption(f"--on must be ray or ray:ADDRESS, not {quote(on)}.")
    return RayPool(config, out, prefix, address or None)


class _Dispatcher:
    """Sends matches with models to a ModelWorker and all others to a pool."""

    def __init__(
        self, config: Config, folder: Folder, prefix: str, workers: int, on: str | None, shards: int
    ) -> None:
        self._models = set(config.list_models())
        self._make_pool = partial(_make_pool, config, folder.path, prefix, workers, on)
        self._stack = ExitStack()
        self.model_worker = ModelWorker(config, folder, prefix, shards) if self._models else None
        if self.model_worker:
            self._stack.callback(self.model_worker.close)

    def play(self, plans: Iterable[MatchPlan], listener: MatchListener) -> None:
        if not self.model_worker:
            plans = iter(plans)
            for first in plans:  # no pool is started without a match
                self._pool.play(chain([first], plans), listener)
            return
        parts: dict[bool, list[MatchPlan]] = {True: [], False: []}
        for plan in plans:
            parts[not self._models.isdisjoint(plan.players)].append(plan)
        if parts[False]:
            self._pool.play(parts[False], listener)
        if parts[True]:
            self.model_worker.play(parts[True], listener)

    @cached_property
    def _pool(self) -> Worker | ProcessPool | RayPool:
        return self._stack.enter_context(closing(self._make_pool()))

    def close(self) -> None:
        self._stack.close()


def _play_missing(
    config: Config,
    scores: dict[str, MatchScore],
    dispatcher: _Dispatcher,
    shard: tuple[int, int],
    listener: ProgressListener,
    check: Callable[[], None],
) -> None:
    planned = {
        pairing: list(config.plan_matches(*pairing, range(config.count_matches(pairing[0]) // 2)))
        for pairing in config.iter_pairings()
    }
    ours = [plan for plans in planned.values() for plan in plans if is_in_shard(plan.pair, shard)]
    # Keys are slow hashes, and a new run does not need them here.
    before = {plan.key for plan in ours if plan.key in scores} if scores else set()
    progress = RunProgress(len(before), len(ours))
    for plan in ours if before else ():
        if plan.key in before:
            progress.count(plan, scores[plan.key][0])
    listener(progress)

    def report_wait(reason: str) -> None:
        progress.waiting = reason
        listener(progress)

    def count(plan: MatchPlan, score: MatchScore) -> None:
        if config.until is not None:
            scores[plan.key] = score
        progress.done += 1
        progress.count(plan, score[0])
        progress.played += 1
        progress.spent = worker.budget_meter.spent if worker else ""
        listener(progress)

    if worker := dispatcher.model_worker:
        worker.on_wait = report_wait
    for first, last in _iter_rounds(max(len(plans) // 2 for plans in planned.values()), config.until):
        undecided = [
            plans[2 * first : 2 * last]
            for pairing, plans in planned.items()
            if not _is_decided(config.until, scores, pairing, plans[: 2 * first], progress)
        ]
        missing = (
            plan
            for plan in chain.from_iterable(zip_longest(*undecided))  # every pairing has early results
            if plan and is_in_shard(plan.pair, shard) and not (before and plan.key in before)
        )
        dispatcher.play(_check_first(missing, check), count)


def _iter_rounds(pairs: int, until: float | None) -> Iterator[tuple[int, int]]:
    """Yield the first pair of each round, and the pair after its last.

    A run can stop only between rounds, so its size does not depend on the number or speed of workers.
    """
    if until is None:
        yield 0, pairs
        return
    first, last = 0, min(FIRST_ROUND, pairs)
    while first < pairs:
        yield first, last
        first, last = last, min(last + max(MIN_ROUND, last // GROWTH), pairs)


def _check_first(plans: Iterable[MatchPlan], check: Callable[[], None]) -> Iterator[MatchPlan]:
    """Yield matches, checking the programs before the first."""
    for plan in plans:
        check()
        yield plan


def _is_decided(
    until: float | None,
    scores: dict[str, MatchScore],
    pairing: tuple[str, str, str],
    plans: list[MatchPlan],
    progress: RunProgress,
) -> bool:
    """Whether the margin of a pairing's result is at most `until`."""
    if until is None or not plans:
        return False
    matches: dict[int, list[float]] = defaultdict(list)
    for plan in plans:
        if plan.key in scores:
            adjusted = scores[plan.key][1]
            matches[plan.pair].append(adjusted if plan.players[0] == pairing[1] else 1 - adjusted)
    results = {pair: sum(both) / 2 for pair, both in matches.items() if len(both) == 2}
    result = adjusted_interval(take_unbroken(results, dict.fromkeys(plan.pair for plan in plans)))
    progress.margins[pairing] = result
    return result.margin <= until
