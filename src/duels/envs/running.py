"""How a batch is computed: in compiled code or not, on how many threads, into whose arrays."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from duels.core.errors import DuelsError

FEWEST = 2048
"""Games of a part of a batch: fewer are stepped before another thread has woken up."""


class Parts:
    """A batch in parts, to be stepped by one thread each."""

    def __init__(self, envs: int, threads: int) -> None:
        size = -(-envs // max(1, min(threads, envs // FEWEST)))
        self._slices = [slice(low, min(low + size, envs)) for low in range(0, envs, size)]
        others = len(self._slices) - 1
        self._pool = ThreadPoolExecutor(others) if others else None

    def run(self, play: Callable[[slice], None]) -> None:
        """Play every part, the last in this thread."""
        *others, last = self._slices
        waiting = [self._pool.submit(play, part) for part in others] if self._pool else []
        play(last)
        for one in waiting:
            one.result()


@dataclass(frozen=True)
class Running:
    """What was asked for."""

    compiled: bool = False
    threads: int = 1
    copy: bool = True

    def __post_init__(self) -> None:
        if self.threads > 1 and not self.compiled:
            raise DuelsError("Steps run on several threads in compiled code only: say compiled=True, too.")

    def parts(self, envs: int) -> Parts:
        """The parts that a batch is stepped in."""
        return Parts(envs, self.threads)


PLAINLY = Running()
