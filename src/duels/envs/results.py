"""The results of steps and rollouts."""

from dataclasses import dataclass
from typing import NamedTuple

from duels.core.extras import require_extra

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Steps(NamedTuple):
    """The result of one step of a batch."""

    rewards: NDArray[np.float32]
    """1 for a win, -1 for a loss, otherwise 0; indexed [env, seat]."""
    terminated: Flags
    """Whether the game ended in a win or a draw, indexed [env]."""
    truncated: Flags
    """Whether the limit truncated the game, indexed [env]."""


@dataclass(frozen=True)
class BatchTally:
    """The number of games won, drawn and truncated in a rollout, per environment."""

    steps: int
    wins: Ints
    """Games won, indexed [env, seat]."""
    draws: Ints
    """Games drawn, indexed [env]."""
    truncated: Ints
    """Games truncated by the limit, indexed [env]."""

    @classmethod
    def empty(cls, envs: int, steps: int = 0) -> "BatchTally":
        """Make an empty tally."""
        counts = np.zeros((4, envs), np.int64)
        return cls(steps * envs, np.ascontiguousarray(counts[:2].T), counts[2], counts[3])

    @property
    def games(self) -> int:
        """The number of games that ended, summed over all environments."""
        return int(self.wins.sum() + self.draws.sum() + self.truncated.sum())

    def add(self, step: Steps) -> None:
        """Count the games that a step ended."""
        (ended,) = (step.terminated | step.truncated).nonzero()
        won = step.rewards[ended] > 0
        self.wins[ended] += won
        self.draws[ended] += step.terminated[ended] & ~won.any(axis=1)
        self.truncated[ended] += step.truncated[ended]
