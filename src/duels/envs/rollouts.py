"""Whole playouts of many games: steps without coming back in between."""

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from functools import reduce

from duels.core.errors import DuelsError
from duels.core.extras import extra
from duels.core.validation import check_int
from duels.envs import dice
from duels.envs.form import Form
from duels.envs.packed import ReadyPolicy
from duels.envs.past import Past
from duels.envs.results import Tally

with extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]

# Rows of a block of playing that fit the processor's cache together.
CHUNK = 16_384
BLOCK = 65_536


class Rollouts(ABC):
    """What a batch does to play on by itself."""

    num_envs: int
    form: Form
    autoreset: bool
    _streams: NDArray[np.uint64]
    _word: NDArray[np.uint64] | None
    _past: Past | None

    @abstractmethod
    def _ready(self, policy: ArrayLike | ReadyPolicy | None) -> ReadyPolicy | None:
        """A policy made ready; None for random play."""

    def rollout(self, steps: int, policy: ArrayLike | ReadyPolicy | None = None, threads: int = 1) -> Tally:
        """Play `steps` steps everywhere without coming back in between; games that end start again.

        Both seats play by `policy`, a table or `random`: exactly as `step(sample(policy))` would.
        Threads are worth starting in compiled code only.
        """
        steps, threads = check_int("steps", steps, 0), check_int("threads", threads, 1)
        ready = self._ready(policy)
        if not self.autoreset:
            raise DuelsError("A rollout needs a batch that starts ended games again (autoreset=True).")
        if self._past:
            raise DuelsError("A rollout remembers nothing: make the batch without memory.")
        self._word = None
        size = min(CHUNK, -(-self.num_envs // threads))
        parts = [slice(i, min(i + size, self.num_envs)) for i in range(0, self.num_envs, size)]
        if threads == 1:
            tallies = [self._roll(part, steps, ready) for part in parts]
        else:
            with ThreadPoolExecutor(threads) as pool:
                tallies = list(pool.map(lambda part: self._roll(part, steps, ready), parts))
        draws, cut = (
            np.concatenate([getattr(tally, kind) for tally in tallies]) for kind in ("draws", "truncated")
        )
        if self.form.limit_draws:
            draws, cut = draws + cut, np.zeros_like(cut)
        return Tally(steps * self.num_envs, np.concatenate([tally.wins for tally in tallies]), draws, cut)

    @abstractmethod
    def _roll(self, part: slice, steps: int, policy: ReadyPolicy | None) -> Tally:
        """Play `steps` steps in `part` of the batch."""

    def _draw(self, part: slice, ticks: int) -> tuple[Ints, Ints]:
        """The bits for chance and for a random player of the next ticks, which are then used up."""
        words = dice.words(self._streams[part], ticks)
        self._streams[part] += np.uint64(ticks * dice.GAMMA & 0xFFFFFFFFFFFFFFFF)
        chance = (words >> np.uint64(32)).view(np.int64)
        words &= np.uint64(dice.HALF)
        return chance, words.view(np.int64)

    @staticmethod
    def _blocks(steps: int, envs: int, longest: int) -> list[int]:
        """`steps` cut into blocks so short that their numbers stay in the cache."""
        size = max(1, min(longest, BLOCK // envs))
        return [min(size, steps - first) for first in range(0, steps, size)]

    @staticmethod
    def _total(tallies: list[Tally], envs: int) -> Tally:
        return reduce(Tally.__add__, tallies, Tally.of(envs))
