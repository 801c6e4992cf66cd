"""The commands of the README and of docs/playing.md, and the README's Python, run unchanged."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from duels.games import GAMES

ROOT = Path(__file__).parent.parent
PAGES = {"README.md": 5, "docs/playing.md": 20}  # and how many commands each shows at least


def read_blocks(language: str, page: str = "README.md") -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_shell_commands_run(page: str, tmp_path: Path) -> None:
    commands = [line for block in read_blocks("sh", page) for line in block.splitlines()]
    assert len(commands) >= PAGES[page]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "DUELS_HOME": str(tmp_path / "home")}
    for command in commands:
        if command.split()[0] in ("make", "pip"):
            continue  # they are what runs this test, and are checked below
        result = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            # The match is saved after the first decision. Games without this move reject the entry.
            input="MOVE 3\nquit\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for block in read_blocks("sh"):
        for command in map(shlex.split, block.splitlines()):
            if command[0] == "make":
                assert re.search(rf"^{command[1]}:", makefile, flags=re.MULTILINE), command


def test_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for example in read_blocks("python"):
        exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "unbroken chain" in printed


def test_links_have_targets() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_pictures_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "docs/images/draw.py", tmp_path], cwd=ROOT, check=True)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(["chain.svg", *(f"board-{game}.svg" for game in GAMES)])
    for name in drawn:
        stored = (ROOT / "docs/images" / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == stored, "python docs/images/draw.py"


def test_the_picture_of_the_full_screen_board_is_current() -> None:
    command = [sys.executable, "docs/images/full_screen.py"]
    drawn = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    stored = (ROOT / "docs/images/full-screen.svg").read_text(encoding="utf-8")
    # The shapes depend on the version of Textual.
    drawn_texts, stored_texts = (re.findall(">([^<]+)</text>", picture) for picture in (drawn, stored))
    assert drawn_texts == stored_texts, "python docs/images/full_screen.py > docs/images/full-screen.svg"


def test_pictures_do_not_align_by_spaces() -> None:
    """Browsers merge them, and then cell numbers do not stand under their cells."""
    picture = (ROOT / "docs/images/chain.svg").read_text(encoding="utf-8")
    lines = [re.findall(r'<tspan x="([0-9.]+)"[^>]*>(.*?)</tspan>', line) for line in picture.splitlines()]
    numbered = [at for at, words in enumerate(lines) if "".join(word for _, word in words) == "1234567"]
    assert len(numbered) == 2
    for at in numbered:
        assert [x for x, word in lines[at - 1] if word in "XO_"] == [x for x, _ in lines[at]]
    assert "  " not in picture


def test_the_ledger_names_tests_that_exist() -> None:
    ledger = (ROOT / "docs/rulings.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| ((?:[TG]: .*)) \|$", ledger, flags=re.MULTILINE)
    assert len(rows) > 30
    for row in rows:
        folder = ROOT / "tests"
        for kind, name in re.findall(r"(?:([TG]): )?`([^`]+)`", row):
            if kind == "G":
                folder = ROOT / "tests/golden"
            elif kind == "T":
                folder = ROOT / "tests"
            path = folder / name if (folder / name).exists() else next(folder.rglob(name), None)
            assert path, f"{row}: {name}"


@pytest.mark.parametrize("page", ["solved", "performance"])
def test_generated_pages_are_current(page: str) -> None:
    built = subprocess.run(
        [sys.executable, f"docs/{page}/build.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
