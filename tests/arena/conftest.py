"""An endpoint for models that answer by a script."""

from collections.abc import Iterator

import pytest

from duels.players import endpoint
from tests.arena.model_server import KEY, Server, serving


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set an API key, and retry without delay."""
    monkeypatch.setattr(endpoint, "_FIRST_WAIT", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running
