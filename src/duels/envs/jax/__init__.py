"""The duels as JAX environments with Pgx's interface: pure functions for `jit`, `vmap` and `scan`.

Like Pgx's they are written for one game; `vmap` makes many of it. They play by the same tables as the other
environments do. Pgx itself is not needed.
"""

from duels.core.extras import require_extra
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.envs.form import form_of
from duels.games import resolve_rules

with require_extra("jax"):
    from duels.envs.jax.env import Env, auto_reset
    from duels.envs.jax.state import State
    from duels.envs.jax.tabled import env_of

__all__ = ["Env", "State", "auto_reset", "make"]


def make(game: str | Game | AnyRules, *, limit_ends: str = TRUNCATION, **options: OptionValue) -> Env:
    """An environment of a game, or of the one of that name, with options (`max_turns=40`), or of rules.

    With `limit_ends="draw"` a limit of the rules is part of the game: reaching it terminates the game, and
    what is left of it is observed. A game that has too many states for tables is refused.
    """
    rules = resolve_rules(game, **options)
    return env_of(rules, form_of(rules, limit_ends))
