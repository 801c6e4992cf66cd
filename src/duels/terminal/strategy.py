"""`duels solve hunt --train` and `--study`: a strategy built anew, and what the shipped one does."""

import json
import tempfile
from pathlib import Path

from duels.core.errors import DuelsError
from duels.games import Game
from duels.solving.progress import Steps
from duels.terminal.progress import Progress, long_computation
from duels.terminal.screen import Screen


def train(game: Game, quick: bool, seed: str | None, folder: Path | None, screen: Screen) -> None:
    """Build the strategy from nothing and compare it with the shipped one; keep it if there is a `folder`."""
    rebuilding = game.learned("rebuild")
    if folder:
        for name in rebuilding.FILES:
            if (folder / name).exists():
                raise DuelsError(f"{folder / name} exists already and is not written over.")
        _try_to_write(folder)
    if seed is not None:
        screen.notice("Training draws no lots: the same comes out for every seed.")
    screen.notice(
        f"The strategy and its certificate are written to {folder} at the end."
        if folder
        else "Nothing is written: --out keeps it."
    )
    tell = Progress(screen)
    steps = Steps(rebuilding.rebuild(quick, certifying=folder is not None))
    with long_computation():
        for step in screen.patiently("training", iter(steps)):
            tell(step.text, step.done)
    built = steps.result
    if folder:
        for name, data in built.files.items():
            (folder / name).write_bytes(data)
            screen.say(f"Wrote {folder / name}.\n")
    screen.say(f"{built.comparison}\n")
    if quick:
        screen.say("The plan was far too short on purpose: this is no strategy to play.\n")


def _try_to_write(folder: Path) -> None:
    """Fail now rather than after all the work."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"?")


def study(game: Game, as_json: bool, screen: Screen) -> None:
    """Print everything that is known about the shipped strategy, worked out anew."""
    studying = game.learned("study")
    tell = Progress(screen)
    steps = Steps(studying.study())
    with long_computation():
        for text in screen.patiently("studying", iter(steps)):
            tell(text)
    found = steps.result
    screen.say(f"{json.dumps(found, indent=2)}\n" if as_json else studying.report(found))
