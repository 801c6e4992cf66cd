"""From what an operator enters to the store that is meant."""

from pathlib import Path

from duels.core.extras import extra
from duels.web.store import Store


def store_at(database: str) -> Store:
    """The store at an address: a PostgreSQL database, or the path of a file for SQLite."""
    if database.startswith(("postgresql://", "postgres://")):
        with extra("postgres"):
            from duels.web.postgres_store import PostgresStore
        return PostgresStore(database)
    from duels.web.sqlite_store import SqliteStore

    return SqliteStore(Path(database))
