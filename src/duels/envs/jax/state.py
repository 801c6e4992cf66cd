"""The state of a game in JAX, with Pgx's fields; in a batch every field has one more dimension."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax


@dataclass(frozen=True)
class State:
    """A game, including its secrets: give agents `observation` and `legal_action_mask` only.

    Players are 0 and 1; as in Pgx, the player who moves first is drawn at random.
    """

    current_player: Any
    """The player to move; after the end, the player who did not move last."""
    observation: Any
    """The observation of the current player: zeros and ones."""
    rewards: Any
    """[player] the rewards of the last step: 1 for a win, -1 for a loss, otherwise 0."""
    terminated: Any
    """Whether the game was won or drawn, or lost by an illegal action."""
    truncated: Any
    """Whether a limit truncated the game."""
    legal_action_mask: Any
    """[action] the legal actions of the current player; all True after termination."""
    _step_count: Any
    _position: Any
    _clock: Any
    """Steps counted towards the limit, or None without a limit."""
    _first: Any
    """The player who moved first."""
    _env: Any = field(metadata={"static": True})

    def replace(self, **changes: Any) -> "State":
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    @property
    def env_id(self) -> str:
        """The id of the environment."""
        return str(self._env.id)

    def to_svg(self) -> str:
        """Return the board with the secrets of both seats as SVG; the boards of a batch are stacked."""
        return str(self._env.draw(self))

    def save_svg(self, filename: str | Path) -> None:
        """Write the board to a file."""
        Path(filename).write_text(self.to_svg(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.to_svg()


jax.tree_util.register_dataclass(State)
