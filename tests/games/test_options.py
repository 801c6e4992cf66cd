"""Options with which there would be no game are refused in one clear line."""

import pytest

from duels.core.errors import BadOption
from duels.games import GAMES


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("lights", {"lights": 0}, "lights is at least 1 in lights, not 0."),
        ("lights", {"lights": 10**9}, "lights is at most 10000000 in lights, not 1000000000."),
        ("leap", {"goal": -3}, "goal is at least 1 in leap, not -3."),
        ("leap", {"goal": None}, "goal is at least 1 in leap, not None."),
        ("chain", {"max_boards": 0}, "max_boards is at least 1 in chain, not 0."),
        ("hunt", {"max_turns": 0}, "max_turns is at least 1 in hunt, not 0."),
        ("flip", {"side": 4}, "values times copies must fill the board of flip, side times side."),
        ("flip", {"side": 10, "values": 10, "copies": 10}, "side and values are at most 9 in flip"),
        ("flip", {"target": 39}, "target 39 is too high in flip: the 25 tiles could run out."),
    ],
)
def test_an_option_without_a_game_is_refused(name: str, options: dict[str, int | None], says: str) -> None:
    with pytest.raises(BadOption, match=f"^{says}"):
        GAMES[name].rules(**options)


@pytest.mark.parametrize("name", GAMES)
def test_without_options_the_game_is_the_books(name: str) -> None:
    assert GAMES[name].rules().options() == {}
