"""Both example games, installed."""

from pathlib import Path

import pytest

from tests.examples.installing import EXAMPLES, NAMES, install


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name in NAMES:
        install(EXAMPLES / name, folder)
    return folder
