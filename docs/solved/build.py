"""Writes docs/solved.md and its pictures; every number comes from the oracles.

python docs/solved/build.py          writes docs/solved.md and docs/images/solved-*.svg. It takes minutes if
                                     hunt.json describes another strategy, or if the code that played the
                                     matches in flip.json has changed
python docs/solved/build.py --check  fails if the page or a picture is out of date
"""

import json
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import charts
from chapters import Pictures, chain, flip, leap, lights

sys.path.insert(0, str(Path(__file__).parents[2]))  # where tools/ is

from tools.hunt.progress import Progress
from tools.hunt.report import sections
from tools.hunt.study import fingerprint, study

DOCS = Path(__file__).parent.parent
STUDY = DOCS / "solved" / "hunt.json"
"""The output of `python -m tools.hunt study --json`, stored because it takes minutes."""
WIDTH = 110

HEAD = """\
# Perfect play

For players and researchers: the value of each game, and how to play it perfectly.

A value is the probability that a player wins when both sides play perfectly. A match that
never ends counts as half a win. `duels solve GAME --verify` checks the values with a second method.
`make solved` writes this page and fails if one of its statements is wrong.
"""


def hunt(pictures: Pictures) -> str:
    found = json.loads(STUDY.read_text(encoding="utf-8"))
    seats = {f"Player {seat}": conduct for seat, conduct in found["seats"].items()}
    cells = [str(cell) for cell in range(1, len(seats["Player 1"]["enters"]) + 1)]
    pictures["solved-hunt-enter"] = charts.grouped(
        "Where the strategy enters, in percent",
        cells,
        {name: conduct["enters"] for name, conduct in seats.items()},
    )
    pictures["solved-hunt-look"] = charts.grouped(
        "Distance between a player's successive observations, in percent",
        cells[:-1],
        {name: conduct["names_far"] for name, conduct in seats.items()},
    )
    pictures["solved-hunt-length"] = charts.bars(
        "The turn on which the game ends, in percent",
        [str(turn) for turn in range(1, len(found["simulated"]["lengths"]) + 1)],
        [round(100 * chance, 1) for chance in found["simulated"]["lengths"]],
    )
    pictures["solved-hunt-habits"] = charts.bars(
        "Wins of the strategy against simple players, both seats, in percent",
        list(found["habits"]),
        [round(100 * habit["mean"], 1) for habit in found["habits"].values()],
    )
    shown = {
        "How to enter": "![Entering](images/solved-hunt-enter.svg)",
        "Where to look": "![Looking](images/solved-hunt-look.svg)",
        "How long a game lasts": "![Turns](images/solved-hunt-length.svg)",
        "What naive habits cost": "![Simple players](images/solved-hunt-habits.svg)",
    }
    chapters = "\n".join(
        f"### {heading}\n\n{text}" + (f"\n{shown[heading]}\n" if heading in shown else "")
        for heading, text in sections(found).items()
    )
    return f"""\
## hunt: not solved, but bounded

Both tokens are hidden, so perfect play is a mixed strategy, and nobody has found it. `duels` ships a strategy
for both seats with a certificate: bounds on how often the best possible opponent with perfect memory wins.
`duels solve hunt --verify` recomputes the certificate, and `make hunt-study` all numbers below. A point is 1%
of winning probability.

{chapters}
[Hunt's strategy](hunt-strategy.md) describes how we found it.
"""


def renew_the_study() -> None:
    """Recompute the study of hunt if the strategy has changed."""
    if STUDY.exists() and json.loads(STUDY.read_text(encoding="utf-8"))["strategy"] == fingerprint():
        return
    if "--check" in sys.argv:
        sys.exit(f"{STUDY.name} describes another strategy. Run make solved.")
    STUDY.write_text(json.dumps(study(Progress()), indent=2) + "\n", encoding="utf-8")


def wrapped(page: str) -> str:
    """Wrap the paragraphs at WIDTH; inline `code` stays on one line."""
    blocks = page.rstrip().split("\n\n")
    kept = re.compile(r"[#|!]| {4}")
    return "\n\n".join(block if kept.match(block) else _filled(block) for block in blocks) + "\n"


def _filled(paragraph: str) -> str:
    joined = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), " ".join(paragraph.split()))
    lines = textwrap.wrap(joined, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


CHAPTERS: tuple[Callable[[Pictures], str], ...] = (lights, leap, chain, flip, hunt)


def main() -> None:
    renew_the_study()
    pictures: Pictures = {}
    page = wrapped("\n".join([HEAD, *(chapter(pictures) for chapter in CHAPTERS)]))
    files = {DOCS / "solved.md": page}
    files |= {DOCS / "images" / f"{name}.svg": picture for name, picture in pictures.items()}
    stale = [
        path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        sys.exit(f"Out of date: {', '.join(path.name for path in stale)}. Run make solved." if stale else 0)
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
