"""A game's rule card as parts, so that a page can set it in any width: a terminal's columns would not fit.

What a card says of the terminal is left out; a page has what the drawing says of the board instead.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_ELSEWHERE = "At the terminal"
_LABELLED = re.compile(r"(\S+)\s{2,}(\S.*)")
_ROW = re.compile(r"\s+(\S.*?)\s{3,}(\S.*)")


@dataclass
class Part:
    """A heading, and paragraphs, rows of a name with its meaning, or points."""

    heading: str
    paragraphs: list[str] = field(default_factory=list)
    rows: list[tuple[str, str]] = field(default_factory=list)
    points: list[str] = field(default_factory=list)


def parts(card: str, guide: Sequence[str] = ()) -> list[Part]:
    """The parts of a card after its title, then the guide to the board; lines that only wrap are joined."""
    found = [Part("")]
    for line in card.splitlines()[1:]:
        part = found[-1]
        words = line.strip()
        if not words:
            continue
        if labelled := _LABELLED.fullmatch(line):
            found.append(Part(labelled[1], [labelled[2]]))
        elif row := _ROW.fullmatch(line):
            part.rows.append((row[1], row[2]))
        elif line.startswith("- "):
            part.points.append(words[2:])
        elif not line.startswith(" "):
            found.append(Part(words))
        elif part.points:
            part.points[-1] += f" {words}"
        elif part.rows:
            part.paragraphs.append(words)
        elif part.paragraphs and part.paragraphs[-1][-1] not in ".:":
            part.paragraphs[-1] += f" {words}"
        else:
            part.paragraphs.append(words)
    found.append(Part("On the board", points=[*guide]))
    filled = [part for part in found if part.paragraphs or part.rows or part.points]
    return [part for part in filled if part.heading != _ELSEWHERE]
