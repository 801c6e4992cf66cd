"""A separate folder for the tables of these tests."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _tables_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # One folder above the worker's own, so that the workers of a run share what one has compiled.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUELS_HOME", str(tmp_path_factory.getbasetemp().parent / "duels-home"))
        yield
