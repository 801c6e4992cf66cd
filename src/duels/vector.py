"""Batches: many games with the same rules, stepped together as NumPy arrays."""

from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.core.validation import check_flag, check_int
from duels.envs.batch import Batch, BatchTally, PreparedPolicy, Steps
from duels.envs.settings import make_settings, resolve_env_rules
from duels.envs.table_batch import TableBatch, make_batch
from duels.solving.tables import Tables

__all__ = ["Batch", "BatchTally", "PreparedPolicy", "Steps", "TableBatch", "Tables", "make"]


def make(
    game: str | Game | AnyRules,
    num_envs: int = 1,
    seed: int = 0,
    *,
    first: int = 0,
    autoreset: bool = True,
    copy: bool = True,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    **options: OptionValue,
) -> Batch:
    """Make a batch of `num_envs` games.

    `game` is a name, a `Game` or rules. Only the first two take options, such as `max_turns=40`.

    - `first`: the number of the first environment. A batch of 100 plays the same games as a batch of 60 and
      a batch of 40 with `first=60`.
    - `autoreset`: restart ended games in the same step.
    - `copy`: with False, `observe()` and `masks()` may return the batch's own arrays, which the next step
      overwrites.
    - `limit_ends`: with `draw`, a limit ends the game as a draw, and observations show the moves left.
    - `memory`: the number of past entries in an observation, in games with hidden information.

    Raises TooLarge if the game has too many states for tables. flip needs no tables, but large batches of
    flip are slow without the extra `fast`.

    >>> batch = make("lights", num_envs=4, seed=7)
    >>> batch.observe().shape[0], batch.masks().shape == (4, batch.num_actions)
    (4, True)
    >>> rewards, terminated, truncated = batch.step(batch.sample())
    """
    rules = resolve_env_rules(game, **options)
    return make_batch(
        rules,
        check_int("num_envs", num_envs, 1),
        check_int("seed", seed),
        check_int("first", first, 0),
        check_flag("autoreset", autoreset),
        make_settings(rules, limit_ends, memory),
        check_flag("copy", copy),
    )
