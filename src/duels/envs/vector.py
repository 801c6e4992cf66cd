"""The vectorised core, `duels.vector`: any number of games of one kind, stepped together as arrays."""

from importlib import import_module
from typing import Any

from duels.core.errors import DuelsError
from duels.core.extras import extra
from duels.core.rules import Rules
from duels.core.validation import check_flag, check_int
from duels.envs.batch import Batch, Steps, Tally
from duels.envs.kernels import kernel_of
from duels.envs.tabled import TableBatch
from duels.games import find_game

__all__ = ["Batch", "Steps", "TableBatch", "Tally", "make"]


def make(
    game: str | Rules[Any, Any, Any],
    num_envs: int = 1,
    seed: int = 0,
    *,
    first: int = 0,
    autoreset: bool = True,
    compiled: bool = False,
    **options: int | None,
) -> Batch:
    """`num_envs` games of `game`: its name, with the rules' options (`max_turns=40`), or its rules.

    `first` is the number of the first environment: a batch of 100 is, game for game, a batch of 60
    and a batch of 40 made with `first=60`. `compiled=True` runs rollouts in compiled code; it needs
    the extra `fast`.
    """
    if isinstance(game, Rules) and options:
        raise DuelsError("Options go with a game's name; rules have theirs already.")
    rules = game if isinstance(game, Rules) else find_game(game).rules(**options)
    if check_flag("compiled", compiled):
        with extra("fast"):
            import_module("numba")
    kernel = kernel_of(rules.name, "batch")
    kind = kernel.BATCH if kernel else TableBatch
    batch: Batch = kind(
        rules,
        check_int("num_envs", num_envs, 1),
        check_int("seed", seed),
        check_int("first", first, 0),
        check_flag("autoreset", autoreset),
        compiled,
    )
    return batch
