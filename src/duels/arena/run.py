"""Plays the missing matches of a run, in rounds, until all are played or the results are precise enough."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path

from duels.arena.confidence import Interval
from duels.arena.config import Config
from duels.arena.folder import WHOLE_RUN, Folder, MatchScore, format_shard, is_in_shard, read_score
from duels.arena.match_plan import MatchPlan
from duels.arena.models import ModelWorker
from duels.arena.pool import ProcessPool, RayPool, Worker, make_program_check
from duels.arena.scores import adjusted_interval, take_unbroken
from duels.core.errors import BadOption, quote

FIRST_ROUND, MIN_ROUND, GROWTH = 20, 10, 8
"""Pairs in the first round, the minimum for later rounds, and the divisor for their size.

A later round has an eighth of the pairs so far, because checking the results takes longer each time."""


@dataclass
class RunProgress:
    """The matches played so far, for the progress line."""

    done: int
    total: int
    """An upper bound, because a run may stop earlier."""
    played: int = 0
    """Matches played by this call."""
    spent: str = ""
    """The cost so far; empty without models or prices."""
    delay_reason: str = ""
    """The reason for a delay; empty if there is none."""
    points: dict[str, tuple[float, int]] = field(default_factory=dict)
    margins: dict[tuple[str, str, str], Interval] = field(default_factory=dict)
    """The results of pairings so far, if the run may stop early."""

    def count(self, plan: MatchPlan, score: float) -> None:
        self.delay_reason = ""
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
    """Start or continue a run: play every match that is not logged yet.

    Shard (I, N) plays every N-th pair, starting with the I-th, so N machines play all pairs. `on` names
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
        with closing(
            _Session(config, folder, prefix, workers, on, shard, check, listener, scores)
        ) as session:
            session.play_missing()
            if worker := session.model_worker:
                folder.unfinished = tuple(dict.fromkeys(worker.interruptions))
                folder.is_spent = worker.budget_meter.is_spent
        folder.unfinished += folder.find_new_damage(set(scores))
    return folder


@dataclass
class _Session:
    """Plays the missing matches of a run: those with models by a ModelWorker, the others in a pool."""

    config: Config
    folder: Folder
    prefix: str
    workers: int
    on: str | None
    shard: tuple[int, int]
    check: Callable[[], None]
    """Called before the first match."""
    listener: ProgressListener
    scores: dict[str, MatchScore]
    """The scores of all matches so far, by key."""

    def __post_init__(self) -> None:
        self._stack, self._models = ExitStack(), set(self.config.list_models())
        self.model_worker: ModelWorker | None = None
        if self._models:
            worker = ModelWorker(self.config, self.folder, self.prefix, self.shard[1])
            worker.on_wait = self._report_wait
            self.model_worker = self._stack.enter_context(closing(worker))
        self._progress = RunProgress(0, 0)

    def play_missing(self) -> None:
        """Play the matches that are not logged yet, in rounds."""
        planned = {
            pairing: list(
                self.config.plan_matches(*pairing, range(self.config.count_matches(pairing[0]) // 2))
            )
            for pairing in self.config.iter_pairings()
        }
        in_shard = [
            plan for plans in planned.values() for plan in plans if is_in_shard(plan.pair, self.shard)
        ]
        # Keys are slow to compute, and a new run does not need them here.
        logged = {plan.key for plan in in_shard if plan.key in self.scores} if self.scores else set()
        self._progress = RunProgress(len(logged), len(in_shard))
        for plan in in_shard if logged else ():
            if plan.key in logged:
                self._progress.count(plan, self.scores[plan.key][0])
        self.listener(self._progress)
        for start, end in _iter_rounds(max(len(plans) // 2 for plans in planned.values()), self.config.until):
            undecided = [
                plans[2 * start : 2 * end]
                for pairing, plans in planned.items()
                if not self._is_decided(pairing, plans[: 2 * start])
            ]
            self._play(
                plan
                for plan in chain.from_iterable(zip_longest(*undecided))  # so all pairings progress together
                if plan and is_in_shard(plan.pair, self.shard) and not (logged and plan.key in logged)
            )

    def _play(self, plans: Iterable[MatchPlan]) -> None:
        with_models: list[MatchPlan] = []
        without_models: list[MatchPlan] = []
        for plan in plans:
            (without_models if self._models.isdisjoint(plan.players) else with_models).append(plan)
        if with_models or without_models:
            self.check()
        if without_models:
            self._pool.play(without_models, self._count)
        if with_models and self.model_worker:
            self.model_worker.play(with_models, self._count)

    @cached_property
    def _pool(self) -> Worker | ProcessPool | RayPool:
        return self._stack.enter_context(closing(self._make_pool()))

    def _make_pool(self) -> Worker | ProcessPool | RayPool:
        config, out, prefix = self.config, self.folder.path, self.prefix
        if self.on is not None:
            cluster, _, address = self.on.partition(":")
            if cluster != "ray":
                raise BadOption(f"--on must be ray or ray:ADDRESS, not {quote(self.on)}.")
            return RayPool(config, out, prefix, address or None)
        if self.workers == 1:
            return Worker(config, out, f"{prefix}1")
        return ProcessPool(config, out, prefix, self.workers)

    def _count(self, plan: MatchPlan, score: MatchScore) -> None:
        self.scores[plan.key] = score
        self._progress.done += 1
        self._progress.played += 1
        self._progress.count(plan, score[0])
        self._progress.spent = self.model_worker.budget_meter.spent if self.model_worker else ""
        self.listener(self._progress)

    def _report_wait(self, reason: str) -> None:
        self._progress.delay_reason = reason
        self.listener(self._progress)

    def _is_decided(self, pairing: tuple[str, str, str], plans: list[MatchPlan]) -> bool:
        """Whether the result of a pairing is known to within the margin `until`."""
        if self.config.until is None or not plans:
            return False
        results = {}
        for pair in zip(plans[::2], plans[1::2], strict=True):
            if all(plan.key in self.scores for plan in pair):
                (score, adjusted), (other_score, other_adjusted) = (self.scores[plan.key] for plan in pair)
                results[pair[0].pair] = (score + 1 - other_score) / 2, (adjusted + 1 - other_adjusted) / 2
        result = adjusted_interval(take_unbroken(results, (plan.pair for plan in plans[::2])))
        self._progress.margins[pairing] = result
        return result.margin <= self.config.until

    def close(self) -> None:
        self._stack.close()


def _iter_rounds(pairs: int, max_margin: float | None) -> Iterator[tuple[int, int]]:
    """Yield the start and the end (exclusive) of the pairs of each round.

    A run can stop only between rounds, so its size does not depend on the number or speed of workers.
    """
    if max_margin is None:
        yield 0, pairs
        return
    start, end = 0, min(FIRST_ROUND, pairs)
    while start < pairs:
        yield start, end
        start, end = end, min(end + max(MIN_ROUND, end // GROWTH), pairs)
