"""The vectorised core, `duels.vector`: any number of games of one kind, stepped together as arrays."""

from typing import Any

from duels.core.rules import Rules
from duels.envs.batch import Batch, Steps, Tally
from duels.envs.kernels import kernel_of
from duels.envs.tabled import TableBatch
from duels.games import find_game

__all__ = ["Batch", "Steps", "TableBatch", "Tally", "make", "make_batch"]


def make(
    game: str,
    num_envs: int = 1,
    seed: int = 0,
    *,
    first: int = 0,
    autoreset: bool = True,
    compiled: bool = False,
    **options: int | None,
) -> Batch:
    """`num_envs` games of `game`, with the rules' options (`max_turns=40`).

    `first` is the number of the first environment: a batch of 100 is, game for game, a batch of 60
    and a batch of 40 made with `first=60`. `compiled=True` runs rollouts in compiled code; it needs
    the extra `fast`.
    """
    rules = find_game(game).rules(**options)
    return make_batch(rules, num_envs, seed, first=first, autoreset=autoreset, compiled=compiled)


def make_batch(
    rules: Rules[Any, Any, Any],
    num_envs: int = 1,
    seed: int = 0,
    *,
    first: int = 0,
    autoreset: bool = True,
    compiled: bool = False,
) -> Batch:
    """The same, for rules that are already there."""
    kernel = kernel_of(rules.name, "batch")
    kind = kernel.BATCH if kernel else TableBatch
    batch: Batch = kind(rules, num_envs, seed, first, autoreset, compiled)
    return batch
