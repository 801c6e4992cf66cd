"""The last entries of games as each seat saw them, for observations with a memory."""

from typing import Any

from duels.core.errors import require_extra
from duels.core.features import EntryTokens
from duels.core.rules import AnyRules

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

Flags = NDArray[np.bool_]


class EntryHistory:
    """The last `memory` entries of every game as each seat saw them, latest first.

    A seat's history gets the opponent's hidden entries together with the next entry that the seat sees.
    """

    def __init__(self, rules: AnyRules, memory: int, envs: int) -> None:
        self._entries = EntryTokens(rules)
        self._marks = np.stack([np.frombuffer(mark, np.int8) for mark in self._entries.encode_tokens()])
        self._tokens = np.zeros((2, envs, memory), np.int32)
        self._pending = np.zeros((2, envs), np.int64)

    def clear(self, indices: NDArray[np.intp] | slice) -> None:
        """Clear the history of the games at `indices`."""
        self._tokens[:, indices] = EntryTokens.NOTHING
        self._pending[:, indices] = 0

    def add(
        self, movers: NDArray[np.int8], actions: NDArray[np.int64], hidden: Flags, env_mask: Flags | None
    ) -> None:
        """Add an action to the games that `env_mask` selects, by default all.

        The other seat sees the action unless it is hidden.
        """
        if env_mask is None:
            env_mask = np.ones(len(movers), np.bool_)
        for seat in (0, 1):
            own = movers == seat
            unseen = env_mask & hidden & ~own
            self._pending[seat] += unseen
            seen = env_mask & ~unseen
            while (pending := seen & (self._pending[seat] > 0)).any():
                self._push(seat, pending, np.full(len(movers), EntryTokens.HIDDEN))
                self._pending[seat] -= pending
            self._push(seat, seen, self._entries.token(actions, own))

    def _push(self, seat: int, env_mask: Flags, tokens: NDArray[np.int64]) -> None:
        indices = np.flatnonzero(env_mask)
        self._tokens[seat, indices, 1:] = self._tokens[seat, indices, :-1]
        self._tokens[seat, indices, 0] = tokens[indices]

    def encode(self, seats: int | NDArray[np.int8], indices: Any = slice(None)) -> NDArray[np.int8]:
        """Return the features of these seats' histories in the games at `indices`, indexed [env, feature]."""
        if isinstance(seats, int):
            tokens = self._tokens[seats, indices]
        else:
            envs = np.arange(self._tokens.shape[1])[indices]
            tokens = self._tokens[seats[indices], envs]
        features: NDArray[np.int8] = self._marks.take(tokens, axis=0).reshape(len(tokens), -1)
        return features
