"""Small things that the program remembers from one call to the next, in the user's data folder."""

import json
from contextlib import suppress
from typing import Any

from duels.files import write_whole
from duels.paths import data_dir


def recall(name: str) -> dict[str, Any]:
    """What was noted under this name; nothing if there is nothing, or the file is damaged."""
    with suppress(OSError, ValueError):
        noted = json.loads((data_dir() / f"{name}.json").read_text(encoding="utf-8"))
        if isinstance(noted, dict):
            return noted
    return {}


def note(name: str, things: dict[str, Any]) -> None:
    """Remember this under the name, in place of what was noted before."""
    with suppress(OSError):  # a convenience, and no reason to stop anybody
        folder = data_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / f"{name}.json", (json.dumps(things, indent=1) + "\n").encode())
