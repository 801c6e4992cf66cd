"""docs/arena.md: its config and commands work, and it lists all settings."""

import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import click

from duels.arena.commands import arena, bot
from duels.arena.config import LADDER, LADDER_MATCHES, parse_config
from duels.games import find_game
from duels.players.endpoint import EndpointSettings
from tests.arena.test_confidence import exact_result
from tests.support import duels

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
]


def test_every_command_on_the_page_parses(tmp_path: Path) -> None:
    assert len(COMMANDS) >= 3
    for line in COMMANDS:
        words = shlex.split(line)
        assert words[0] == "duels"
        group = {"arena": arena, "bot": bot}.get(words[1])
        if group is None:
            continue
        command = group.commands[words[2]]
        folder = str(tmp_path)
        rest = [folder if word.startswith("runs/") else word for word in words[3:]]
        assert command.make_context(words[2], rest, click.Context(group))


def test_the_config_on_the_page_is_valid() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    content = tomllib.loads(text)
    assert content.pop("out")
    config = parse_config(content)
    assert config.names == ["random", "club", "mine"]
    assert config.rules("chain").limit_value == 20


def test_the_page_lists_every_setting_of_models() -> None:
    for each in fields(EndpointSettings):
        assert f"`{each.name}`" in PAGE


def test_the_page_of_the_ladder_is_current() -> None:
    page = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    pairs = len(LADDER) * (len(LADDER) - 1) // 2
    assert f"{pairs * sum(LADDER_MATCHES.values()):,} matches, seed 1" in page
    for game in LADDER_MATCHES:
        assert f"({game})" in page


def test_results_on_the_page_of_the_ladder_are_exact_or_have_intervals() -> None:
    page = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    for game in LADDER_MATCHES:
        _, section = page.split(f"({game})\n\n")
        _, matrix = section.split(", row against column:\n\n", 1)
        lines = [line.split(" | ") for line in matrix.split("\n\n")[0].splitlines()]
        results = {
            (row[0].strip("| "), player): cell.strip("| ")
            for row in lines[2:]
            for player, cell in zip(LADDER, row[1:], strict=True)
        }
        rules = find_game(game).rules()
        if game in ("lights", "leap"):
            result = (exact_result(rules, "club", "best") + 1 - exact_result(rules, "best", "club")) / 2
            assert results["club", "best"] == f"{100 * result:.1f}"
        elif game != "chain":
            assert all(re.fullmatch(r"|\d+ \(\d+ to \d+\)", cell) for cell in results.values())


def test_a_typo_in_a_config_lists_all_settings(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('players = ["random", "club"]\ngames = ["lights"]\noutt = "runs"\n')
    content = duels(tmp_path, "arena", "run", config).err
    assert "'outt'" in content
    assert " out," in content
