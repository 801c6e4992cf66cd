"""How this program is called in the user's shell: what it prints to be entered there can be entered there."""

import os
import shlex
import shutil
import sys
from pathlib import Path

_called = "duels"


def note_call() -> None:
    """Remember how the program was called, if its name alone would not find it."""
    global _called
    script = Path(sys.argv[0])
    if script.name == "__main__.py":
        _called = "python -m duels"
    elif shutil.which("duels") is None and script.exists():
        _called = shlex.quote(os.path.relpath(script))


def command(*words: object) -> str:
    """A command line of this program."""
    return " ".join([_called, *(shlex.quote(str(word)) for word in words)])
