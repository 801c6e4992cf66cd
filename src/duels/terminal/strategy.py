"""`duels solve hunt --train` and `--study`: a strategy built anew, and what the shipped one does."""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from duels.core.errors import DuelsError
from duels.games import Game
from duels.terminal.patience import Progress, long_computation
from duels.terminal.screen import Screen

T = TypeVar("T")


def train(game: Game, quick: bool, seed: str | None, folder: Path | None, screen: Screen) -> None:
    """Build the strategy from nothing and compare it with the shipped one; keep it if there is a `folder`."""
    rebuilding = game.learned("rebuild")
    target = folder / rebuilding.FILE if folder else None
    if target and target.exists():
        raise DuelsError(f"{target} exists already and is not written over.")
    if seed is not None:
        screen.notice("Training draws no lots: the same comes out for every seed.")
    screen.notice(
        f"The strategy is written to {target} at the end."
        if target
        else "Nothing is written: --out keeps it."
    )
    tell = Progress(screen)
    with long_computation():
        built = _carried_out(rebuilding.rebuild(quick), lambda step: tell(step.text, step.done))
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(built.data)
        screen.say(f"Wrote {target}.\n")
    screen.say(f"{built.comparison}\n")
    if quick:
        screen.say("The plan was far too short on purpose: this is no strategy to play.\n")


def study(game: Game, as_json: bool, screen: Screen) -> None:
    """Print everything that is known about the shipped strategy, worked out anew."""
    studying = game.learned("study")
    tell = Progress(screen)
    with long_computation():
        found = _carried_out(studying.study(), tell)
    screen.say(f"{json.dumps(found, indent=2)}\n" if as_json else studying.report(found))


def _carried_out(steps: Generator[Any, None, T], tell: Callable[[Any], None]) -> T:
    """Go through `steps`, tell each, and give back what they return."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            result: T = end.value
            return result
