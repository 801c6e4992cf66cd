"""Prints docs/solved.md and draws its pictures: every number in it comes from the oracles.

python docs/solved/build.py          writes docs/solved.md and docs/images/solved-*.svg; takes minutes if
                                     hunt has another strategy than the one studied in hunt.json, or if
                                     matches of flip might come out otherwise than those in flip.json
python docs/solved/build.py --check  fails if they are not what the oracles say now
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
"""What `python -m tools.hunt study --json` prints: it takes minutes, so a copy is kept."""
WIDTH = 110

HEAD = """\
# Perfect play

`make solved` writes this page from the oracles, and fails if one of its sentences is no longer true. Every
section names the commands that print its numbers, and a second method checks every oracle:
`duels solve GAME --verify`. A value is the probability that a player wins when both sides play perfectly;
never-ending play counts one half.
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
        "How many cells away from its last observation a player's next one is, in percent",
        cells[:-1],
        {name: conduct["names_far"] for name, conduct in seats.items()},
    )
    pictures["solved-hunt-length"] = charts.bars(
        "On which turn the game ends, in percent",
        [str(turn) for turn in range(1, len(found["pair"]["lengths"]) + 1)],
        [round(100 * chance, 1) for chance in found["pair"]["lengths"]],
    )
    pictures["solved-hunt-habits"] = charts.bars(
        "What the strategy wins against a habit, both seats together, in percent",
        list(found["habits"]),
        [round(100 * habit["mean"], 1) for habit in found["habits"].values()],
    )
    shown = {
        "How to enter": "![Entering](images/solved-hunt-enter.svg)",
        "Where to look": "![Looking](images/solved-hunt-look.svg)",
        "How long a game lasts": "![Turns](images/solved-hunt-length.svg)",
        "What naive habits cost": "![Habits](images/solved-hunt-habits.svg)",
    }
    chapters = "\n".join(
        f"### {heading}\n\n{text}" + (f"\n{shown[heading]}\n" if heading in shown else "")
        for heading, text in sections(found).items()
    )
    return f"""\
## hunt: not solved, but bounded

Both tokens are hidden, so perfect play is a mixed strategy, and nobody has found it. `duels` ships a strategy
for both seats with a certificate: bounds on what the best possible opponent, with a perfect memory, wins
against it in the real, unlimited game. `duels solve hunt --verify` recomputes the certificate and
`make hunt-study`, in a checkout, everything below; both take minutes. A point is 1 % to win.

{chapters}
How the strategy was found and what else was tried is told in [hunt-strategy.md](hunt-strategy.md).
"""


def renew_the_study() -> None:
    """Work the study of hunt out anew if the strategy is not the one that it is about."""
    if STUDY.exists() and json.loads(STUDY.read_text(encoding="utf-8"))["strategy"] == fingerprint():
        return
    if "--check" in sys.argv:
        sys.exit(f"{STUDY.name} is about another strategy: run make solved")
    STUDY.write_text(json.dumps(study(Progress()), indent=2) + "\n", encoding="utf-8")


def wrapped(page: str) -> str:
    """The page with its paragraphs in lines of at most WIDTH; what stands in `code` stays on one line."""
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
        sys.exit(f"not what the oracles say: {', '.join(path.name for path in stale)}" if stale else 0)
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
