"""Golden transcripts: files with commands, entries and the expected output.

A file is a story of one or more commands that share a folder. It starts with comment lines. Each command
has these sections:

    == command ==    the command line; chance outcomes are scripted with --chance
    == entries ==    a line for each entry, nothing else; \\xNN is the character of that code
    == screen ==     standard output, to the letter
    == notices ==    standard error, with names of record files as MATCH.duel (absent: nothing)
    == exit ==       the exit code

`make golden` rewrites screens, notices and exit codes with the current output.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from duels.games import find_game
from duels.terminal.commands import run

HERE = Path(__file__).parent
# Replaces the rule card, so that its text can change without changing transcripts.
CARD = "(the rule card)\n"
_HEADING = re.compile(r"^== ([a-z]+) ==\n", flags=re.MULTILINE)
_RECORD_PATH = re.compile(r"\S*\.duel\b")


@dataclass(frozen=True)
class CommandOutput:
    """The output and exit code of a command."""

    screen: str
    notices: str
    exit: int


@dataclass(frozen=True)
class Scene:
    """One command, its entries and its output."""

    command: str
    entries: tuple[str, ...]
    output: CommandOutput

    @property
    def arguments(self) -> list[str]:
        name, *arguments = shlex.split(self.command)
        assert name == "duels"
        return arguments

    @property
    def stdin(self) -> str:
        typed = (re.sub(r"\\x([0-9a-f]{2})", lambda c: chr(int(c[1], 16)), e) for e in self.entries)
        return "".join(f"{entry}\n" for entry in typed)


@dataclass(frozen=True)
class Story:
    """The contents of a golden file."""

    comment: str
    scenes: tuple[Scene, ...]


Command = Callable[[Scene, Path], CommandOutput]


def paths() -> list[Path]:
    """Return all golden files, `GAME/CASE.txt`."""
    return sorted(HERE.glob("*/*.txt"))


def parse(text: str) -> Story:
    """Parse a golden file."""
    comment, *sections = _HEADING.split(text)
    scenes: list[dict[str, str]] = []
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        if name == "command":
            scenes.append({})
        assert name not in scenes[-1], f"duplicate section {name}"
        scenes[-1][name] = body
    return Story(comment, tuple(map(_make_scene, scenes)))


def _make_scene(sections: dict[str, str]) -> Scene:
    output = CommandOutput(
        sections.pop("screen", ""), sections.pop("notices", ""), int(sections.pop("exit", "0").strip())
    )
    scene = Scene(
        sections.pop("command").strip(), tuple(sections.pop("entries", "").split("\n")[:-1]), output
    )
    assert not sections, f"unknown sections: {sections}"
    return scene


def format_story(story: Story) -> str:
    """Format a golden file. `parse` is the inverse."""
    parts = [story.comment]
    for scene in story.scenes:
        parts.append(f"== command ==\n{scene.command}\n")
        parts.append("== entries ==\n" + "".join(f"{entry}\n" for entry in scene.entries))
        parts.append(f"== screen ==\n{scene.output.screen}")
        if scene.output.notices:
            parts.append(f"== notices ==\n{scene.output.notices}")
        parts.append(f"== exit ==\n{scene.output.exit}\n")
    return "".join(parts)


def perform(story: Story, folder: Path, command: Command) -> Story:
    """Run the commands of a story in an empty folder, and return it with the current output."""
    scenes = (replace(scene, output=_normalize(scene, command(scene, folder))) for scene in story.scenes)
    return Story(story.comment, tuple(scenes))


def _normalize(scene: Scene, output: CommandOutput) -> CommandOutput:
    screen = output.screen
    if len(scene.arguments) > 1 and scene.arguments[0] in ("play", "rules"):
        screen = screen.replace(find_game(scene.arguments[1]).card(), CARD)
    return CommandOutput(screen, _RECORD_PATH.sub("MATCH.duel", output.notices), output.exit)


def in_process(scene: Scene, folder: Path) -> CommandOutput:
    """Run the command inside this process, which is fast."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "oe")
    stdin = io.TextIOWrapper(io.BytesIO(scene.stdin.encode()), encoding="utf-8")
    with _home(folder), mock.patch.object(sys, "stdin", stdin), redirect_stdout(out), redirect_stderr(err):
        code = run(scene.arguments)
    return CommandOutput(_read_back(out), _read_back(err), code)


def _read_back(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, {"DUELS_HOME": str(folder)}):
            yield
    finally:
        os.chdir(before)


def as_subprocess(scene: Scene, folder: Path) -> CommandOutput:
    """Run the installed command `duels`."""
    scripts = sysconfig.get_path("scripts")
    result = subprocess.run(
        [Path(scripts, "duels"), *scene.arguments],
        input=scene.stdin,
        capture_output=True,
        cwd=folder,
        env={
            **os.environ,
            "DUELS_HOME": str(folder),
            "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONUTF8": "1",
        },
        encoding="utf-8",
        check=False,
    )
    return CommandOutput(result.stdout, result.stderr, result.returncode)


def regenerate() -> None:
    """Rewrite every golden file. Read the difference before you commit it."""
    for path in paths():
        with tempfile.TemporaryDirectory() as folder:
            story = perform(parse(path.read_text(encoding="utf-8")), Path(folder), in_process)
        path.write_text(format_story(story), encoding="utf-8")


if __name__ == "__main__":
    regenerate()
