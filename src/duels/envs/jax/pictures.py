"""Pictures of states, drawn as everywhere else."""

import re
from typing import Any

import jax
import numpy as np

from duels.core.rules import Seat
from duels.core.svg import WIDTH
from duels.envs.jax.env import Env
from duels.envs.jax.making import env_of
from duels.envs.jax.state import State


def boards(state: State) -> str:
    """The board of a game, or those of a batch under one another, as one `<svg>` element."""
    env = env_of(state._rules, state._form)
    position = jax.tree.map(np.asarray, state._position)
    games = [
        jax.tree.map(lambda part, at=at: part[at], position) for at in np.ndindex(state.current_player.shape)
    ]
    drawn, top = [], 0.0
    for game in games:
        board = _board(env, game)
        height = float(re.findall(r'viewBox="0 0 \S+ (\S+)"', board)[0])
        drawn.append(f'<svg y="{top:g}" width="{WIDTH}" height="{height:g}">{board}</svg>')
        top += height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top:g}">{"".join(drawn)}</svg>'


def _board(env: Env, position: Any) -> str:
    there, rules = env.rules_state(position), env.rules
    one, two = (rules.sight(there, seat) for seat in Seat)
    return rules.game.drawing(rules).draw_open(one, two)
