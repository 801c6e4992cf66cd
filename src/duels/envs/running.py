"""How a batch is computed: in compiled code or not, on how many threads, into whose arrays."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from duels.core.errors import DuelsError

FEWEST = 3072
"""Games of a part of a batch: fewer are stepped before another thread has woken up."""


class Parts:
    """A batch in parts: each is stepped by the thread that is free first."""

    def __init__(self, envs: int, threads: int) -> None:
        self._others = max(0, min(threads, envs // FEWEST) - 1)
        size = FEWEST if self._others else envs
        self._slices = [slice(low, min(low + size, envs)) for low in range(0, envs, size)]
        self._pool = ThreadPoolExecutor(self._others) if self._others else None

    def run(self, play: Callable[[slice], None]) -> None:
        """Play every part, in this thread and in those others that wake up before all is done.

        Nothing is played any more once this returns or raises.
        """
        left = iter(self._slices)

        def work() -> None:
            for part in left:
                play(part)

        helping: list[Future[None]] = []
        try:
            if self._pool:
                helping.extend(self._pool.submit(work) for _ in range(self._others))
            work()
            for one in helping:
                if not one.cancel():
                    one.result()
        except BaseException:  # Ctrl-C, too: whoever catches it may use the arrays
            list(left)  # leaves the others nothing to begin
            wait([one for one in helping if not one.cancel()])
            raise


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
