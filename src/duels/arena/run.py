"""Carries a run out: what is still to be played, in rounds, until all is played or enough is known."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from duels.arena.confidence import Interval
from duels.arena.config import Config
from duels.arena.folder import WHOLE, Folder, Score, in_part, name_of_part, score_of
from duels.arena.match_plan import MatchPlan
from duels.arena.models import ModelWorker, Purse
from duels.arena.pool import Listener as MatchListener
from duels.arena.pool import Pool, ProgramCheck, RayPool, Worker
from duels.arena.scores import adjusted_interval, unbroken
from duels.core.errors import BadOption, quote

FIRST, NEXT, SHARE = 20, 10, 8
"""Pairs of a pairing that are played before it is asked for the first time whether enough is known; then so
many more each time, or, once that is more, an eighth of what was played: asking takes longer each time."""


@dataclass
class Progress:
    """How far a run is."""

    done: int
    total: int
    """At most: a run may stop earlier."""
    played: int = 0
    """By this call."""
    spent: str = ""
    """Money, where models play and prices are known."""
    waiting: str = ""
    """Why no match ends at the moment, if the wire is the reason."""
    points: dict[str, tuple[float, int]] = field(default_factory=dict)
    """Each player's points so far, and of how many matches."""
    margins: dict[tuple[str, str, str], Interval] = field(default_factory=dict)
    """What is known of pairings so far, where that decides when to stop."""

    def count(self, bout: MatchPlan, score: float) -> None:
        """Add the points of a match."""
        self.waiting = ""
        for name, points in zip(bout.players, (score, 1 - score), strict=True):
            had, matches = self.points.get(name, (0.0, 0))
            self.points[name] = had + points, matches + 1


Listener = Callable[[Progress], None]


def run(
    config: Config,
    out: Path,
    workers: int = 1,
    shard: tuple[int, int] = WHOLE,
    listener: Listener = lambda progress: None,
    on: str | None = None,
) -> Folder:
    """Play what is missing of a run; a run that was broken off goes on.

    A shard (I of N) plays every N-th pair only, from the I-th: on N machines all of them are played. `on` is
    where matches are played instead of in processes here: `ray`, or `ray:ADDRESS`.
    """
    if config.until is not None and shard != WHOLE:
        raise BadOption("a part of a run cannot tell when enough is known: leave out --until or --shard.")
    check = ProgramCheck(config, out)
    with Folder.held(out, config, shard) as folder:
        part = name_of_part(shard)
        prefix = f"{part}-" if part else ""
        folder.wait_for_workers(prefix)
        known = {key: score_of(row) for key, row in folder.rows().items()}
        with closing(_Players(config, folder, prefix, workers, on, shard[1])) as players:
            _play_out(config, known, players, shard, listener, check)
            folder.unfinished = players.unfinished
            folder.is_spent = bool(players.purse and players.purse.is_spent)
    return folder


def _pool(config: Config, out: Path, prefix: str, workers: int, on: str | None) -> Worker | Pool | RayPool:
    if on is None:
        return Worker(config, out, f"{prefix}1") if workers == 1 else Pool(config, out, prefix, workers)
    where, _, address = on.partition(":")
    if where != "ray":
        raise BadOption(f"matches are played here, or on ray or ray:ADDRESS, not on {quote(on)}.")
    return RayPool(config, out, prefix, address or None)


class _Players:
    """Hands matches with models to where answers are awaited, and all others to processes."""

    def __init__(
        self, config: Config, folder: Folder, prefix: str, workers: int, on: str | None, shards: int
    ) -> None:
        models = self._models = set(config.models())
        self._make_pool = partial(_pool, config, folder.path, prefix, workers, on)
        self._pool: Worker | Pool | RayPool | None = None
        self.purse = Purse(config, folder, prefix, shards) if models else None
        self._asking = ModelWorker(config, folder, prefix, self.purse) if self.purse else None

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Why matches were broken off, each reason once."""
        return tuple(dict.fromkeys(self._asking.broken_off)) if self._asking else ()

    def tell_of_waiting(self, tell: Callable[[str], None]) -> None:
        """Have it told why replies of models are waited for."""
        if self._asking:
            self._asking.tell = tell

    def play(self, bouts: Iterable[MatchPlan], listener: MatchListener) -> None:
        """Play these matches; they are told of as they end."""
        if not self._asking:
            bouts = iter(bouts)
            for first in bouts:  # if there is one at all
                self._processes().play(chain([first], bouts), listener)
            return
        parts: dict[bool, list[MatchPlan]] = {True: [], False: []}
        for bout in bouts:
            parts[not self._models.isdisjoint(bout.players)].append(bout)
        if parts[False]:
            self._processes().play(parts[False], listener)
        if parts[True]:
            self._asking.play(parts[True], listener)

    def _processes(self) -> Worker | Pool | RayPool:
        """Where matches without models are played; started when there is one."""
        if self._pool is None:
            self._pool = self._make_pool()
        return self._pool

    def close(self) -> None:
        """End all workers."""
        try:
            if self._pool:
                self._pool.close()
        finally:
            if self._asking:
                self._asking.close()


def _play_out(
    config: Config,
    known: dict[str, Score],
    pool: _Players,
    shard: tuple[int, int],
    listener: Listener,
    check: ProgramCheck,
) -> None:
    planned = {
        pairing: list(config.bouts(*pairing, range(config.matches_of(pairing[0]) // 2)))
        for pairing in config.pairings()
    }
    ours = [bout for bouts in planned.values() for bout in _of(bouts, shard)]
    # Keys are hashes, which take as long as planning does: in a run that begins nobody needs them here.
    before = {bout.key for bout in ours if bout.key in known} if known else set()
    progress = Progress(len(before), len(ours))
    for bout in ours if before else ():
        if bout.key in before:
            progress.count(bout, known[bout.key][0])
    listener(progress)

    def wait(why: str) -> None:
        progress.waiting = why
        listener(progress)

    def count(bout: MatchPlan, score: Score) -> None:
        if config.until is not None:
            known[bout.key] = score
        progress.done += 1
        progress.count(bout, score[0])
        progress.played += 1
        progress.spent = pool.purse.spent if pool.purse else ""
        listener(progress)

    pool.tell_of_waiting(wait)
    for first, last in _rounds(max(len(bouts) // 2 for bouts in planned.values()), config.until):
        going_on = {
            pairing: bouts
            for pairing, bouts in planned.items()
            if not _enough(config.until, known, pairing, _of(bouts[: 2 * first], shard), progress)
        }
        missing = (
            bout
            for bout in _in_turn(list(going_on.values()), range(2 * first, 2 * last))
            if in_part(bout.pair, shard) and not (before and bout.key in before)
        )
        pool.play(_checked(missing, check), count)


def _rounds(pairs: int, until: float | None) -> Iterator[tuple[int, int]]:
    """From which pair to which, round by round. When to stop is asked between rounds only.

    So it does not depend on how many workers there are, or which of them is quicker.
    """
    if until is None:
        yield 0, pairs
        return
    first, last = 0, min(FIRST, pairs)
    while first < pairs:
        yield first, last
        first, last = last, min(last + max(NEXT, last // SHARE), pairs)


def _in_turn(pairings: list[list[MatchPlan]], places: range) -> Iterator[MatchPlan]:
    """All pairings side by side, so that something is known of each early on."""
    for place in places:
        for bouts in pairings:
            if place < len(bouts):
                yield bouts[place]


def _checked(bouts: Iterable[MatchPlan], check: ProgramCheck) -> Iterator[MatchPlan]:
    """These matches, the first of them once programs are known to start."""
    for bout in bouts:
        check()
        yield bout


def _enough(
    until: float | None,
    known: dict[str, Score],
    pairing: tuple[str, str, str],
    bouts: list[MatchPlan],
    progress: Progress,
) -> bool:
    """Whether a pairing's result is known closely enough from its first matches."""
    if until is None or not bouts:
        return False
    matches: dict[int, list[float]] = defaultdict(list)
    for bout in bouts:
        if bout.key in known:
            adjusted = known[bout.key][1]
            matches[bout.pair].append(adjusted if bout.players[0] == pairing[1] else 1 - adjusted)
    results = {pair: sum(both) / 2 for pair, both in matches.items() if len(both) == 2}
    result = adjusted_interval(unbroken(results, dict.fromkeys(bout.pair for bout in bouts)))
    progress.margins[pairing] = result
    return result.margin <= until


def _of(bouts: list[MatchPlan], shard: tuple[int, int]) -> list[MatchPlan]:
    """A shard's own matches: when it stops does not depend on others that run beside it."""
    return [bout for bout in bouts if in_part(bout.pair, shard)]
