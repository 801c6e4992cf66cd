"""Options with which there would be no game are refused in one clear line."""

from typing import Any

import numpy as np
import pytest

from duels.core.errors import BadOption, UnknownName
from duels.games import GAMES, find_game


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("lights", {"lights": 0}, "lights is at least 1 in lights, not 0."),
        ("lights", {"lights": 10**9}, "lights is at most 10000000 in lights, not 1000000000."),
        ("leap", {"goal": -3}, "goal is at least 1 in leap, not -3."),
        ("leap", {"goal": None}, "goal is at least 1 in leap, not None."),
        ("leap", {"goal": "21"}, "goal is a whole number in leap, not '21'."),
        ("lights", {"lights": 7.0}, "lights is a whole number in lights, not 7.0."),
        ("lights", {"lights": True}, "lights is a whole number in lights, not True."),
        ("chain", {"max_boards": 1.5}, "max_boards is a whole number in chain, not 1.5."),
        ("chain", {"max_boards": 0}, "max_boards is at least 1 in chain, not 0."),
        ("hunt", {"max_turns": 0}, "max_turns is at least 1 in hunt, not 0."),
        ("flip", {"side": 4}, "values times copies must fill the board of flip, side times side."),
        ("flip", {"side": 10, "values": 10, "copies": 10}, "side is at most 9 in flip, not 10."),
        ("flip", {"target": 39}, "target 39 is too high in flip: the 25 tiles could run out."),
    ],
)
def test_an_option_without_a_game_is_refused(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadOption, match=f"^{says}"):
        GAMES[name].rules(**options)


@pytest.mark.parametrize("name", GAMES)
def test_without_options_the_game_is_the_books(name: str) -> None:
    assert GAMES[name].rules().options() == {}


def test_an_option_may_be_a_number_of_numpys() -> None:
    size: Any = np.int64(5)
    assert repr(GAMES["lights"].rules(lights=size)) == "Lights(lights=5)"


@pytest.mark.parametrize("name", [None, 3, "chess"])
def test_what_is_no_games_name_is_refused(name: Any) -> None:
    with pytest.raises(UnknownName, match=f"There is no game '{name}'"):
        find_game(name)
