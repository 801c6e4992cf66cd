"""Writes the package of a new game: a small one that works, to be changed into the one that is meant.

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
SUFFIX = ".template"  # so that nothing takes the files for what they will be


class Refused(Exception):
    """The package cannot be written; the message says why."""


def write_game(name: str, folder: Path) -> Path:
    """Write the package of the game `name` into a new folder of that name in `folder`; where it is."""
    check_name(name)
    project = folder / name
    if project.exists():
        raise Refused(f"{project} is there already: nothing is written over.")
    words = {"name": name, "title": name.replace("_", " ").capitalize(), "kind": kind_of(name)}
    for source in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
        place = str(source.relative_to(TEMPLATE)).removesuffix(SUFFIX).replace("NAME", name)
        target = project / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = Template(source.read_text(encoding="utf-8")).substitute(words)
        target.write_text(text, encoding="utf-8")
    return project


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a game and of a module, and the names of our own games."""
    if keyword.iskeyword(name):
        raise Refused(f"'{name}' is no name for a game: it is a word of Python's own.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise Refused(f"'{name}' is no name for a game: write small letters, digits and _, like nim.")
    sys.path.insert(0, str(ROOT / "src"))
    from duels.games import GAMES

    if name in GAMES:
        raise Refused(f"There is a game '{name}' already.")


def kind_of(name: str) -> str:
    """The name of the class of its rules."""
    return "".join(part.capitalize() for part in name.split("_"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the package of a new game.")
    parser.add_argument("name", metavar="NAME", help="how the game is called on the command line")
    parser.add_argument("folder", nargs="?", default=ROOT / "examples", type=Path, help="where to put it")
    given = parser.parse_args(arguments)
    try:
        project = write_game(given.name, given.folder)
    except (Refused, OSError) as error:
        print(f"new_game: {error}", file=sys.stderr)
        return 1
    print(
        f"Written: {project}\n\n"
        f"Install it:   pip install --editable {project}\n"
        f"Test it:      pytest {project}/tests\n"
        f"Play it:      duels play {given.name} --seat2 perfect\n\n"
        f"It is a heap of stones. Make it your game: rules.py and words.py in src/duels_{given.name}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
