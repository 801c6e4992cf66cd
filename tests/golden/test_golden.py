"""The command prints the golden transcripts, and the transcripts contain the books' screens."""

import re
from pathlib import Path

import pytest

from duels.games import GAMES
from tests.golden.transcripts import (
    HERE,
    Command,
    as_subprocess,
    format_story,
    in_process,
    parse,
    paths,
    perform,
)

# The books' screens run through the installed command, the rest in this process.
WAYS: list[tuple[Path, Command]] = [(path, in_process) for path in paths()]
WAYS += [(path, as_subprocess) for path in paths() if path.name.startswith("book-")]
# Cases that every game has.
ALWAYS = {"commands", "leave-and-resume", "wrong-entries"}


def name_of(value: object) -> str:
    if isinstance(value, Path):
        return f"{value.parent.name}/{value.stem}"
    return str(getattr(value, "__name__", value))


@pytest.mark.parametrize(("path", "command"), WAYS, ids=name_of)
def test_the_command_prints_the_transcript(path: Path, command: Command, tmp_path: Path) -> None:
    golden = path.read_text(encoding="utf-8")
    assert format_story(perform(parse(golden), tmp_path, command)) == golden, "`make golden` shows how"


@pytest.mark.parametrize("game", GAMES)
def test_transcripts_contain_the_books_own_lines(game: str) -> None:
    """Transcripts can be regenerated; the fragments are typed from the books and cannot."""
    text = (HERE / f"{game}.book").read_text(encoding="utf-8")
    _comment, *sections = re.split(r"^== ([a-z0-9-]+) ==\n", text, flags=re.MULTILINE)
    positions: dict[str, int] = {}
    for case, fragment in zip(sections[::2], sections[1::2], strict=True):
        story = parse((HERE / game / f"{case}.txt").read_text(encoding="utf-8"))
        screen = "\n" + "".join(scene.output.screen for scene in story.scenes)
        index = screen.find("\n" + fragment, positions.get(case, 0))
        assert index >= 0, f"{game}/{case}.txt does not show, here or in this order:\n{fragment}"
        # Fragments may share the line break between them.
        positions[case] = index + len(fragment)


def test_every_game_has_transcripts() -> None:
    assert {path.parent.name for path in paths()} == set(GAMES)
    assert {path.stem for path in HERE.glob("*.book")} == set(GAMES)
    for game in GAMES:
        cases = {path.stem for path in (HERE / game).iterdir()}
        assert cases >= ALWAYS, f"{game} lacks {ALWAYS - cases}"
        assert any(case.startswith("book-") for case in cases), f"{game} lacks its book's screens"
