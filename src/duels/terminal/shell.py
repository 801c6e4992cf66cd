"""How this program is called in the user's shell: what it prints to be entered there can be entered there."""

import os
import sys
from functools import cache

_script = ""


def note_call() -> None:
    """Remember how the program was called."""
    global _script
    _script = sys.argv[0]


def command(*words: object) -> str:
    """A command line of this program."""
    import shlex

    return " ".join([_called(_script), *(shlex.quote(str(word)) for word in words)])


@cache
def _called(script: str) -> str:
    """What calls this program: its name, where the shell finds it by that."""
    import shlex
    import shutil

    if os.path.basename(script) == "__main__.py":
        return "python -m duels"
    if shutil.which("duels") is None and os.path.exists(script):
        return shlex.quote(os.path.relpath(script))
    return "duels"
