"""`render_mode="rgb_array"`: the board as pixels, of constant size, with text, for one seat."""

import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import duels.envs.gymnasium  # noqa: F401  (registers the games)
from duels.core.match import Match
from duels.core.rules import Seat
from duels.envs import pettingzoo as ours
from duels.envs.render import BoardRenderer
from duels.games import GAMES
from tests.envs.cases import CASES, resolve_rules


@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_renders_pictures(game: str) -> None:
    env: Any = gymnasium.make(f"duels/{game.title()}-v0", render_mode="rgb_array")
    _, info = env.reset(seed=1)
    first = env.render()
    _, _, _, _, info = env.step(info["action_mask"].argmax())
    second = env.render()
    for picture in (first, second):
        assert picture.dtype == np.uint8
        assert picture.shape == first.shape
        assert (picture.shape[0] % 2, picture.shape[1] % 2, picture.shape[2]) == (0, 0, 3)
    assert (first != second).any()
    assert env.render() is not second  # so that no caller's picture is overwritten


def test_gymnasiums_render_check_passes() -> None:
    env: Any = gymnasium.make("duels/Chain-v0", render_mode="rgb_array")
    check_env(env.unwrapped)


def test_rendering_needs_a_reset() -> None:
    env: Any = gymnasium.make("duels/Chain-v0", render_mode="rgb_array")
    with pytest.raises(ValueError, match="before render"):
        env.unwrapped.render()


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_renders_pictures(game: str) -> None:
    env = ours.env(game, render_mode="rgb_array")
    env.reset(seed=1)
    before: Any = env.render()
    env.step(int(env.observe("player_1")["action_mask"].argmax()))
    after: Any = env.render()
    assert before.shape == after.shape
    assert before.dtype == np.uint8


@pytest.mark.parametrize("case", CASES)
def test_all_pictures_of_a_game_have_one_size(case: str) -> None:
    rules = resolve_rules(case)
    board: Any = BoardRenderer(rules, "rgb_array")
    match = Match.start(rules)
    shapes = {board.render(match.sight(seat)).shape for seat in Seat}
    for _ in range(8):
        if match.actor is not None:
            match = match.play(match.actor, match.actions[-1])
            shapes.add(board.render(match.sight(Seat.TWO)).shape)
    assert len(shapes) == 1


def test_a_picture_shows_only_the_seats_observations() -> None:
    rules = resolve_rules("hunt")
    board: Any = BoardRenderer(rules, "rgb_array")
    hidden = []
    for cell in (2, 6):
        match = Match.start(rules)
        hidden.append(match.play(Seat.ONE, rules.parse(f"move {cell}")))
    pictures = [[board.render(match.sight(seat)) for match in hidden] for seat in Seat]
    assert (pictures[0][0] != pictures[0][1]).any()
    assert (pictures[1][0] == pictures[1][1]).all()


PRINT = """
import hashlib
from duels.core.rules import Seat
from duels.envs.render import BoardRenderer
from duels.games import GAMES
rules = GAMES["flip"].rules()
picture = BoardRenderer(rules, "rgb_array").render(rules.sight(rules.initial(), Seat.ONE))
print((picture < 128).any(axis=2).sum(), hashlib.sha256(picture.tobytes()).hexdigest())
"""


def test_text_needs_no_system_fonts(tmp_path: Any) -> None:
    """The picture is the same with any fonts, and it is not empty."""
    config = tmp_path / "fonts.conf"
    config.write_text("<fontconfig></fontconfig>")
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={**os.environ, **fonts},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for fonts in ({}, {"FONTCONFIG_FILE": str(config), "HOME": str(tmp_path)})
    }
    assert len(printed) == 1
    assert int(printed.pop().split()[0]) > 1000
