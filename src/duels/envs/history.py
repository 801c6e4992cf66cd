"""The last entries of games as each seat saw them, for observations with `memory`."""

from typing import Any

from duels.core.extras import require_extra
from duels.core.features import EntryTokens
from duels.core.rules import AnyRules

with require_extra("vector"):
    import numpy as np
    from numpy.typing import NDArray

Tokens = NDArray[np.int32]
Flags = NDArray[np.bool_]


class EntryHistory:
    """The last `memory` entries of every game, latest first.

    As in a match, a seat learns of the other's secret entries only when it next sees something.
    """

    def __init__(self, rules: AnyRules, memory: int, envs: int) -> None:
        self._entries = EntryTokens(rules)
        self._marks = np.stack([np.frombuffer(mark, np.int8) for mark in self._entries.marks()])
        self._tokens = np.zeros((2, envs, memory), np.int32)
        self._pending = np.zeros((2, envs), np.int64)

    def clear(self, which: NDArray[np.intp] | slice) -> None:
        """Clear the history of these games."""
        self._tokens[:, which] = EntryTokens.NOTHING
        self._pending[:, which] = 0

    def add(
        self, movers: NDArray[np.int8], actions: NDArray[np.int64], hidden: Flags, played: Flags | None
    ) -> None:
        """Add the actions just taken in games (None: in all); the other seat sees those not hidden."""
        everywhere = np.ones(len(movers), np.bool_) if played is None else played
        for seat in (0, 1):
            mine = movers == seat
            secret = everywhere & hidden & ~mine
            self._pending[seat] += secret
            seen = everywhere & ~secret
            while (late := seen & (self._pending[seat] > 0)).any():
                self._push(seat, late, np.full(len(movers), EntryTokens.HIDDEN))
                self._pending[seat] -= late
            self._push(seat, seen, self._entries.token(actions, mine))

    def _push(self, seat: int, which: Flags, tokens: NDArray[np.int64]) -> None:
        places = np.flatnonzero(which)
        kept = self._tokens[seat, places, :-1]
        self._tokens[seat, places, 1:] = kept
        self._tokens[seat, places, 0] = tokens[places]

    def encode(self, seats: int | NDArray[np.int8], which: Any = slice(None)) -> NDArray[np.int8]:
        """[env, feature] the history of these seats, in all games or in `which`."""
        if isinstance(seats, int):
            tokens = self._tokens[seats, which]
        else:
            envs = np.arange(self._tokens.shape[1])[which]
            tokens = self._tokens[seats[which], envs]
        features: NDArray[np.int8] = self._marks.take(tokens, axis=0).reshape(len(tokens), -1)
        return features
