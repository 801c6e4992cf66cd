"""The vectorised core: any number of games of one kind, stepped together as arrays."""

from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.core.validation import check_flag, check_int
from duels.envs.batch import Batch, ReadyPolicy
from duels.envs.form import form_of
from duels.envs.results import BatchTally, Steps
from duels.envs.tabled import TableBatch, make_batch
from duels.games import resolve_rules
from duels.solving.tables import Tables

__all__ = ["Batch", "BatchTally", "ReadyPolicy", "Steps", "TableBatch", "Tables", "make"]


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
    """`num_envs` games: of a game or the one of that name with options (`max_turns=40`), or by rules.

    `first` is the number of the first environment: a batch of 100 is, game for game, a batch of 60
    and a batch of 40 made with `first=60`. With `copy=False`, `observe()` and `masks()` may return the
    batch's own arrays, not to be written to, and the next step writes over them. With `limit_ends="draw"` a
    limit of the rules is part of the game: reaching it terminates the game, and what is left of it is
    observed. `memory` is how many of the last entries a seat is shown beside what it knows now, in games with
    secrets. A game that has too many states for tables is refused, except flip, which has a step of its own;
    the extra `fast` compiles that, and without it large batches of flip are slow.
    """
    rules = resolve_rules(game, **options)
    return make_batch(
        rules,
        check_int("num_envs", num_envs, 1),
        check_int("seed", seed),
        check_int("first", first, 0),
        check_flag("autoreset", autoreset),
        form_of(rules, limit_ends, memory),
        check_flag("copy", copy),
    )
