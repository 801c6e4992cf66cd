"""The overhead of a run: CPU time outside matches divided by CPU time inside, in the same run.

Inside is the match itself: playing, grading and its row. Outside is everything else: planning, writing,
syncing, scheduling and accounting. Comparing with a separate run of bare play would be noisier. The start of
processes and players is not counted, because it does not depend on the number of matches.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any
from unittest.mock import patch

from duels.arena.config import Config
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.arena.pool import run_worker
from duels.arena.run import RunProgress, run
from duels.core.rules import Seat
from duels.players import Player

SKIPPED_SHARE = 1 / 16
"""The share of a run's matches that each process plays before it starts counting, while caches fill."""
_LEFT = "cpu-{}.json"  # a worker's file in the run's folder


@dataclass(frozen=True)
class Cost:
    """The cost of a match in a run, in seconds."""

    inside: float
    """CPU time of play, in whichever process."""
    outside: float
    """CPU time of everything else, in all processes."""
    wall: float

    @property
    def share(self) -> float:
        """The overhead as a share of play."""
        return self.outside / self.inside


def cost_of(config: Config, workers: int) -> Cost:
    """Run one game and return its cost."""
    ours, watch = Stopwatch(_skipped(config)), _Watch()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with (
            patch("duels.arena.pool.play_match", ours.play_match),
            patch("duels.arena.pool.run_worker", serve_timed),
        ):
            run(config, folder, workers, listener=watch)
            ours.ended = process_time()
        theirs = [Stopwatch(**json.loads(each.read_text())) for each in folder.glob(_LEFT.format("*"))]
    playing = theirs or [ours]
    played = sum(each.counted for each in playing)
    handing_out = watch.cpu if theirs else 0.0  # if it plays itself, its stopwatch has counted this
    outside = sum(each.outside for each in playing) / played + handing_out + watch.planning
    return Cost(sum(each.inside for each in playing) / played, outside, watch.wall)


@dataclass
class Stopwatch:
    """The CPU time of a playing process: inside matches, and in total since the first counted match."""

    skipped: int
    counted: int = 0
    inside: float = 0.0
    began: float = 0.0
    ended: float = 0.0

    @property
    def outside(self) -> float:
        """The CPU time outside matches, including other threads."""
        return self.ended - self.began - self.inside

    def play_match(self, plan: MatchPlan, judge: Judge, players: Mapping[Seat, Player]) -> dict[str, Any]:
        """Play a match and measure it."""
        began = thread_time()
        row = play_match(plan, judge, players)
        took = thread_time() - began
        if self.skipped:
            self.skipped -= 1
            self.began = process_time()
        else:
            self.counted += 1
            self.inside += took
        return row


def serve_timed(connection: Any, config: Config, folder: Path, prefix: str, name: str) -> None:
    """Run a worker's main loop and write its times to the run's folder."""
    watch = Stopwatch(_skipped(config))
    with patch("duels.arena.pool.play_match", watch.play_match):
        run_worker(connection, config, folder, prefix, name)
    watch.ended = process_time()
    (folder / _LEFT.format(name)).write_text(json.dumps(asdict(watch)))


class _Watch:
    """Times the main process of a run, per match: planning, later CPU time, wall clock."""

    def __init__(self) -> None:
        self._began = process_time()
        self.planning = self.cpu = self.wall = 0.0
        self._first = (0, 0.0, 0.0)

    def __call__(self, progress: RunProgress) -> None:
        played = progress.played
        if not played:
            self.planning = (process_time() - self._began) / progress.total
        elif played == 2 * int(progress.total * SKIPPED_SHARE):
            self._first = played, process_time(), perf_counter()
        elif played == progress.total:
            before, cpu, wall = self._first
            self.cpu = (process_time() - cpu) / (played - before)
            self.wall = (perf_counter() - wall) / (played - before)


def _skipped(config: Config) -> int:
    return int(config.count_matches(config.games[0]) * SKIPPED_SHARE)
