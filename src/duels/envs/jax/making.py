"""The environment of a game by its rules, made once a process."""

from functools import lru_cache
from typing import Any

from duels.core.rules import Rules
from duels.envs.form import PLAIN, Form
from duels.envs.jax.env import Env
from duels.envs.jax.tabled import TableEnv
from duels.envs.kernels import kernel_of


@lru_cache(maxsize=16)
def env_of(rules: Rules[Any, Any, Any], form: Form = PLAIN) -> Env:
    """The environment of `rules` in a form."""
    kernel = kernel_of(rules, "jax")
    kind: type[Env] = kernel.ENV if kernel else TableEnv
    return kind(rules, form)
