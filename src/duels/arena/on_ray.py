"""Plays matches on a Ray cluster: many matches a task; those of a worker that died are played again."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from duels.arena.bout import Bout
from duels.arena.config import Config
from duels.arena.folder import Score, score_of
from duels.arena.logs import Log, Row
from duels.arena.worker import Players
from duels.core.errors import DuelsError
from duels.core.extras import extra

AT_ONCE = 20
"""Matches of a task: so many that a task's own cost is small, so few that little is played again."""
MOST_DEATHS = 5  # of workers that were playing the same task
_WAITING = 3  # tasks for each processor that are handed in ahead


class RayPool:
    """A cluster, or this machine as one. Rows are written to the log here, wherever they were played."""

    def __init__(self, config: Config, folder: Path, prefix: str, address: str | None) -> None:
        with extra("ray"):
            import ray
        self._ray: Any = ray
        self._began = not ray.is_initialized()
        if self._began:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        self._config = ray.put(config)
        self._task = ray.remote(max_retries=MOST_DEATHS)(play_some)
        self._log = Log(folder, f"{prefix}ray")

    def play(self, bouts: Iterable[Bout]) -> Iterator[tuple[Bout, Score]]:
        """These matches with their scores, in the order in which their tasks end."""
        ray, waiting = self._ray, iter(bouts)
        most = _WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
        under_way: dict[Any, list[Bout]] = {}
        while True:
            while len(under_way) < most and (some := list(islice(waiting, AT_ONCE))):
                under_way[self._task.remote(self._config, some)] = some
            if not under_way:
                return
            (done, *_), _ = ray.wait(list(under_way), num_returns=1)
            for bout, row in zip(under_way.pop(done), self._rows(done), strict=True):
                self._log.add(row)
                yield bout, score_of(row)

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


def play_some(config: Config, bouts: list[Bout]) -> list[Row]:
    """A task: some matches, with players of its own."""
    with closing(Players(config)) as players:
        return [players.play(bout) for bout in bouts]
