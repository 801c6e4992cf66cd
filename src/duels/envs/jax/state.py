"""The state of one game in JAX, with Pgx's fields; a batch of games is the same with a dimension more."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax


@dataclass(frozen=True)
class State:
    """A game under way, secrets included: an agent is given `observation` and `legal_action_mask` alone.

    Players are 0 and 1; as in Pgx it is drawn by lot who of them moves first.
    """

    current_player: Any
    """Who is to move; once the game is over, the other than who moved last."""
    observation: Any
    """What the current player is shown: zeros and ones."""
    rewards: Any
    """[player] of the last step: 1 for a win, -1 for a loss, otherwise 0."""
    terminated: Any
    """Whether the game has been won or drawn, or lost by an illegal action."""
    truncated: Any
    """Whether a limit has cut the game off."""
    legal_action_mask: Any
    """[action] whether the current player may take it; true everywhere once the game has terminated."""
    _step_count: Any
    _position: Any
    _clock: Any
    """How far the game is on its way to the limit; None without a limit."""
    _first: Any
    """The player who moved first."""
    _env: Any = field(metadata={"static": True})

    def replace(self, **changes: Any) -> "State":
        """The same with other values in some fields."""
        return replace(self, **changes)

    @property
    def env_id(self) -> str:
        """The id of the environment that this is a state of."""
        return str(self._env.id)

    def to_svg(self) -> str:
        """The board with the secrets of both seats, for people; the boards of a batch under one another."""
        return str(self._env.draw(self))

    def save_svg(self, filename: str | Path) -> None:
        """Write the board to a file."""
        Path(filename).write_text(self.to_svg(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.to_svg()


jax.tree_util.register_dataclass(State)
