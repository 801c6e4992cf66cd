"""What a player observes of a match, for OpenSpiel."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from duels.core.match import AnyMatch, Turn
from duels.core.rules import CHANCE, Seat
from duels.envs.openspiel.form import SpielForm

if TYPE_CHECKING:
    from duels.envs.openspiel.game import DuelState

HIDDEN = "?"


class DuelObserver:
    """What a player observes, as text and as numbers, by OpenSpiel's kinds of observation.

    With perfect recall it is every entry of the match as the player's seat saw it; without, the
    position as the seat knows it. Public is what a bystander sees; private is what only the seat does.
    """

    def __init__(self, form: SpielForm, kind: Any) -> None:
        self._form = form
        self._recall = kind.perfect_recall
        self._public = kind.public_info
        self._private = kind.private_info
        self.tensor: Any = None
        self.dict: dict[str, Any] = {}
        if self._public and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            self._lay_out()

    def _lay_out(self) -> None:
        if self._recall:
            entries = len(self._form.actions) + len(self._form.outcomes) + 1
            length = self._form.longest + self._form.most_chance
            shapes = {"player": (2,), "entries": (length, entries)}
        else:
            shapes = {f.name: (f.count, f.width) for f in self._form.shown.features}
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        start = 0
        for name, shape in shapes.items():
            stop = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:stop].reshape(shape)
            start = stop

    def set_from(self, state: "DuelState", player: int) -> None:
        """Fill `tensor`, and its parts in `dict`."""
        if self.tensor is None:
            return
        seat = Seat(player + 1)
        if not self._recall:
            self.tensor[:] = np.frombuffer(self._form.shown.to(seat, state.match), np.int8)
            return
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        entries = self.dict["entries"]
        turns = state.match.turns_known_to(seat)[-len(entries) :]
        for row, turn in zip(entries, turns, strict=False):
            row[self._entry(turn, seat)] = 1

    def _entry(self, turn: Turn[Any], seat: Seat) -> int:
        actions = len(self._form.actions)
        if turn.hidden_from(seat):
            return actions + len(self._form.outcomes)
        return self._form.number[turn.action] + (actions if turn.actor is CHANCE else 0)

    def string_from(self, state: "DuelState", player: int) -> str:
        """The observation as text."""
        match, seat = state.match, Seat(player + 1)
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            return self._entries(match, match.turns, hidden=lambda turn: False)
        if self._private == pyspiel.PrivateInfoType.NONE:
            return self._seen(match, None) if self._public else ""
        if not self._public:
            mine = [turn for turn in match.turns if turn.hidden_from(None) and not turn.hidden_from(seat)]
            return self._entries(match, mine, hidden=lambda turn: False)
        if self._recall:
            return f"p{player}: {self._seen(match, seat)}"
        return str(self._form.describe(match.sight(seat).view))

    def _seen(self, match: AnyMatch, seat: Seat | None) -> str:
        """The match as `seat` (None: a bystander) saw it; and, when it is over, how it ended."""
        text = self._entries(match, match.turns_known_to(seat), lambda turn: turn.hidden_from(seat))
        return f"{text}. {match.outcome.code}" if match.outcome else text

    def _entries(
        self, match: AnyMatch, turns: Iterable[Turn[Any]], hidden: Callable[[Turn[Any]], bool]
    ) -> str:
        return ", ".join(HIDDEN if hidden(turn) else match.rules.format(turn.action) for turn in turns)
