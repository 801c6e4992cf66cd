"""JAX environments with Pgx's interface: pure functions for `jit`, `vmap` and `scan`.

As in Pgx, an environment plays one game; use `vmap` for many. Tables are those of the other environments. Pgx
is not required.
"""

from duels.core.errors import require_extra
from duels.core.features import TRUNCATION
from duels.core.game import Game
from duels.core.options import OptionValue
from duels.core.rules import AnyRules
from duels.envs.settings import make_settings, resolve_env_rules

with require_extra("jax"):
    from duels.envs.jax.env import Env, State, auto_reset, get_env

__all__ = ["Env", "State", "auto_reset", "make"]


def make(game: str | Game | AnyRules, *, limit_ends: str = TRUNCATION, **options: OptionValue) -> Env:
    """Make an environment. `game` is a name or a `Game`, with options such as `max_turns=40`, or rules.

    With `limit_ends="draw"`, a limit ends the game as a draw, and observations show the moves left.
    Raises TooLarge if the game has too many states for tables.

    >>> import jax
    >>> env = make("lights")
    >>> states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(7), 3))
    >>> states.legal_action_mask.sum(axis=1).tolist()
    [13, 13, 13]
    """
    rules = resolve_env_rules(game, **options)
    return get_env(rules, make_settings(rules, limit_ends))
