"""What every test relies on: the games of this package, whatever else is installed beside it."""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from tests.browser import running_browser


@pytest.fixture(scope="session", autouse=True)
def no_games_of_others() -> None:
    """An author has a game of their own in the same environment; tests of installed games start processes."""
    with mock.patch("importlib.metadata.entry_points", return_value=()):
        from duels.games import installed_games

        assert installed_games() == ()  # and remembered


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser, started once."""
    with running_browser() as running:
        yield running
