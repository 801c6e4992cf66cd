"""The games for tests of environments: the book's, and small or limited forms."""

from random import Random
from typing import Any

from duels.envs import dice
from duels.games import GAMES
from duels.solving.tables import FIRST_WON, SECOND_WON
from tests.envs.reference import MatchEngine

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in GAMES},
    "lights of 4": ("lights", {"lights": 4}),
    "leap to 9": ("leap", {"goal": 9}),
    "chain of 2 boards": ("chain", {"cells": 4, "run": 4, "max_boards": 2}),
    "hunt of 6 turns": ("hunt", {"cells": 3, "max_turns": 6}),
    "flip of 9": ("flip", {"side": 3, "values": 3, "copies": 3, "target": 7}),
}


def resolve_rules(case: str) -> Any:
    game, options = CASES[case]
    return GAMES[game].rules(**options)


class Reference:
    """A game as a match, with the draws of environment `number` of a batch: the reference for the others."""

    def __init__(self, case: str, seed: int, number: int = 0) -> None:
        self.engine = MatchEngine(resolve_rules(case))
        self.stream = dice.stream(seed, number)
        self.reset()

    def reset(self) -> None:
        self.engine.reset(self.stream)

    def play(self, action: int) -> None:
        self.engine.step(action, dice.roll(self.stream)[0])
        self.stream = dice.advance(self.stream)

    def random_action(self) -> int:
        """Return the action of the environment's random player."""
        legal = self.legal()
        return legal[dice.pick(dice.roll(self.stream)[1], len(legal))]

    def legal(self) -> list[int]:
        legal: list[int] = [] if self.over else self.engine.mask().nonzero()[0].tolist()
        return legal

    def any_action(self, rng: Random) -> int:
        return rng.choice(self.legal())

    @property
    def rewards(self) -> tuple[float, float]:
        one = {FIRST_WON: 1.0, SECOND_WON: -1.0}.get(self.engine.result, 0.0)
        return one, 0.0 - one

    @property
    def over(self) -> bool:
        return self.engine.actor < 0
