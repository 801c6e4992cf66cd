"""Create the package of a new game from a small working template.

python tools/new_game.py NAME [FOLDER]
"""

import argparse
import keyword
import re
import sys
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "tools" / "game_template"
SUFFIX = ".template"  # keeps linters and test runners away from the files


class Refused(Exception):
    """The package cannot be created; the message gives the reason."""


def write_game(name: str, folder: Path) -> Path:
    """Create the package of the game `name` in `folder` and return its path.

    Raises Refused if the name is not allowed or the folder exists.
    """
    check_name(name)
    project = folder / name
    if project.exists():
        raise Refused(f"{project} exists already. Choose another name or folder.")
    words = {"name": name, "title": name.replace("_", " ").capitalize(), "kind": kind_of(name)}
    for source in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
        place = str(source.relative_to(TEMPLATE)).removesuffix(SUFFIX).replace("NAME", name)
        target = project / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = Template(source.read_text(encoding="utf-8")).substitute(words)
        target.write_text(text, encoding="utf-8")
    return project


def check_name(name: str) -> None:
    """Raise Refused if `name` is not a valid module name or is the name of a built-in game."""
    if keyword.iskeyword(name):
        raise Refused(f"'{name}' is not a valid name for a game: it is a Python keyword.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise Refused(f"'{name}' is not a valid name for a game: use small letters, digits and _, like nim.")
    sys.path.insert(0, str(ROOT / "src"))
    from duels.games import GAMES

    if name in GAMES:
        raise Refused(f"A game '{name}' exists already.")


def kind_of(name: str) -> str:
    """Return the class name of the rules."""
    return "".join(part.capitalize() for part in name.split("_"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Create the package of a new game.")
    parser.add_argument("name", metavar="NAME", help="name of the game on the command line")
    parser.add_argument("folder", nargs="?", default=ROOT / "examples", type=Path, help="parent folder")
    options = parser.parse_args(arguments)
    try:
        project = write_game(options.name, options.folder)
    except (Refused, OSError) as error:
        print(f"new_game: {error}", file=sys.stderr)
        return 1
    print(
        f"Created {project}\n\n"
        f"Install it:   pip install --editable {project}\n"
        f"Test it:      pytest {project}/tests\n"
        f"Play it:      duels play {options.name} --seat2 perfect\n\n"
        f"Now change rules.py and words.py in src/duels_{options.name} into your game."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
