"""The guide to a game of your own in CONTRIBUTING.md is complete, minimal and works."""

import re
import shutil
from pathlib import Path

import pytest

from duels.core.rules import Event, OpenRules, Rules
from duels.core.secret_rules import SecretRules
from duels.core.words import Words
from tests.examples.installing import duels, install
from tools.new_game import TEMPLATE, write_game

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = GUIDE.split("## A game of your own\n")[1].split("\n## ")[0]
NAMED = set(re.findall(r"`([^`\n]+)`", SECTION))
WORDS_NAMED = {word for name in NAMED for word in re.findall(r"\w+", name)}
NEEDED = re.findall(r"^\d+\. `([^`]+)`", SECTION, flags=re.MULTILINE)


def test_every_file_of_the_map_exists() -> None:
    section = GUIDE.split("## Where to make a change\n")[1].split("\n## ")[0]
    paths = [path for path in re.findall(r"`([^`\n]+)`", section) if "/" in path and path != "src/duels/"]
    assert len(paths) > 30
    for path in paths:
        root = ROOT if path.startswith("docs/") else ROOT / "src" / "duels"
        assert (root / path.replace("GAME", "chain")).exists(), path
    for name, path in re.findall(r"`(\w+)` in `([^`]+\.py)`", section):
        assert name in (ROOT / "src" / "duels" / path).read_text(encoding="utf-8"), name


def source() -> str:
    files = [*(ROOT / "src").rglob("*.py"), *TEMPLATE.rglob("*.template"), ROOT / "Makefile"]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_required_parts_are_listed() -> None:
    assert OpenRules.__abstractmethods__ | SecretRules.__abstractmethods__ <= WORDS_NAMED
    assert SecretRules.__abstractmethods__ - OpenRules.__abstractmethods__ == {"view"}
    assert OpenRules.__abstractmethods__ - SecretRules.__abstractmethods__ == {"parse_state", "format_state"}
    assert Words.__abstractmethods__ == {"narrate", "board"}


def test_optional_parts_are_listed() -> None:
    """CONTRIBUTING lists every part that the package looks for in a game, and every method to override."""
    looked_for = re.findall(r"(?:find|_require)\(\s*\"(\w+)\", \"(\w+)\"", source())
    assert {"rules", "words", "oracle", "features"} <= {door for door, _ in looked_for}
    for door, thing in looked_for:
        assert f"{door}.py" in NAMED
        assert thing in WORDS_NAMED
    hooks = [name for name in vars(Words) if not name.startswith("_")]
    assert set(hooks) - {"player"} <= WORDS_NAMED
    assert set(Event.__annotations__) <= WORDS_NAMED
    ready = {*vars(OpenRules), *vars(SecretRules), "name", "limit_value", "sight", "options"}
    assert {name for name in vars(Rules) if not name.startswith("_")} - ready <= WORDS_NAMED


def test_listed_parts_exist() -> None:
    words = set(re.findall(r"\w+", source())) | {path.stem for path in (ROOT / "src").rglob("*.py")}
    paths = {"examples", "tictactoe", "liarsdice", "docs", "golden", "NAME", "pyproject", "toml", "md", "txt"}
    assert WORDS_NAMED - paths - {"nim", "duels_nim"} <= words


def test_numbers_agree_with_the_code() -> None:
    from duels.core.features import MAX_EXPLORED_STATES
    from duels.solving.induction import MAX_STATES
    from duels.solving.tree import MAX_HISTORIES

    stated = set(re.findall(r"[0-9]+,[0-9]+", SECTION))
    assert stated == {f"{number:,}" for number in (MAX_EXPLORED_STATES, MAX_STATES, MAX_HISTORIES)}


def test_a_game_with_only_the_required_parts_works(tmp_path: Path) -> None:
    """The files of the list, and none besides."""
    skeleton = write_game("nim", tmp_path / "skeleton")
    assert NEEDED == ["pyproject.toml", "__init__.py", "rules.py", "words.py"]
    for name in NEEDED:
        (path,) = skeleton.rglob(name)
        target = tmp_path / "nim" / path.relative_to(skeleton)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    site = install(tmp_path / "nim", tmp_path / "site")
    assert "[duels-nim 0.1.0]" in duels(site, tmp_path, "games").stdout
    played = duels(site, tmp_path, "play", "nim", "--seat2", "perfect", entered="1\n1\n1\n1\n1\n1\n")
    assert "wins!" in played.stdout
    solved = duels(site, tmp_path, "solve", "nim", "--verify")
    assert solved.returncode == 0
    assert "FAILED" not in solved.stdout
    assert "Take one, two or three stones" in duels(site, tmp_path, "rules", "nim").stdout


@pytest.mark.parametrize("line", re.findall(r"^\.venv/bin/duels (.*)$", SECTION, flags=re.MULTILINE))
def test_the_example_command_works(line: str, tmp_path: Path) -> None:
    site = install(write_game("nim", tmp_path / "skeleton"), tmp_path / "site")
    assert "Welcome to Nim!" in duels(site, tmp_path, *line.split()).stdout
