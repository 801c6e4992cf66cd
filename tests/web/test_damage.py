"""Unreadable rows, deleted matches and emptied files during a match."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from duels.core.errors import DuelsError
from duels.web.request_errors import MatchNotFound
from duels.web.sqlite_store import SqliteStore
from tests.web.conftest import emptied
from tests.web.serving import Visitor, pair, serving

Execute = Callable[[str], None]


@pytest.fixture
def execute(database: str) -> Execute:
    """Run a statement on the database as its operator could. Tables have the names of PostgreSQL."""

    def run(statement: str) -> None:
        if database.startswith("postgresql"):
            with psycopg.connect(database, autocommit=True) as postgres:
                postgres.execute(statement.encode())
        else:
            with sqlite3.connect(database) as sqlite:
                sqlite.execute(statement.replace("duels_", ""))
            sqlite.close()

    return run


DAMAGE = {
    "an illegal entry": "duels_log SET text = '9' WHERE number = 3 AND match",
    "a takeback of nothing": "duels_log SET kind = 'back', text = '999' WHERE number = 3 AND match",
    "a negative takeback": "duels_log SET kind = 'back', text = '-1' WHERE number = 3 AND match",
    "an unknown kind": "duels_log SET kind = 'dance' WHERE number = 3 AND match",
    "an unknown offer": "duels_log SET kind = 'offer', text = 'tea 1' WHERE number = 3 AND match",
    "an impossible offer": "duels_log SET kind = 'offer', text = 'takeback 9' WHERE number = 3 AND match",
    "an entry of a third seat": "duels_log SET seat = 3 WHERE number = 3 AND match",
    "a missing entry": "duels_log SET number = 7 WHERE number = 2 AND match",
    "no header": "duels_matches SET header = 'tea' WHERE id",
    "a game that is gone": "duels_matches SET header = 'duels record 2\ngame: chess\n\n' WHERE id",
    "a third seat": "duels_seats SET seat = 3 WHERE seat = 1 AND match",
    "a time out of reach": "duels_seats SET since = 1e300 WHERE match",
}
SQLITE_DAMAGE = {
    "bytes that are no text": "duels_log SET text = CAST(x'ff' AS TEXT) WHERE number = 3 AND match",
    "a name of bytes": "duels_log SET text = x'ff' WHERE number = 1 AND match",
    "a header of bytes": "duels_matches SET header = x'ff' WHERE id",
    "no entries": "duels_log SET match = 'lost' WHERE match",
    "a time in words": "duels_seats SET since = 'noon' WHERE match",
}
IN_THE_LIST_ALONE = ("a time out of reach", "a time in words")


@pytest.mark.parametrize("damage", [*DAMAGE, *SQLITE_DAMAGE])
def test_an_unreadable_match_does_not_affect_others(
    database: str, execute: Execute, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    if damage in SQLITE_DAMAGE and database.startswith("postgresql"):
        pytest.skip("PostgreSQL does not store this")
    with serving(database) as base:
        ann, _, match = pair(base, "lights", name="Ann")
        good = ann.start("leap", "friend")
        assert ann.act(match, "1").status_code == 204
    execute(f"UPDATE {(DAMAGE | SQLITE_DAMAGE)[damage]} = '{match.removeprefix('/m/')}'")
    with serving(database) as base:
        ann = Visitor(base, Cookie=f"duels={ann.cookies['duels']}")
        for _ in range(2):
            rows = {row["match"]: row for row in ann.see("/")["matches"]}
            assert rows[good.removeprefix("/m/")]["problem"] is None
            assert "cannot be read" in rows[match.removeprefix("/m/")]["problem"]
        page = ann.get("/", Accept="text/html").text
        assert page.count("cannot be read") == 1
        assert good in page
        if damage in IN_THE_LIST_ALONE:
            assert ann.see(match)["event"] == 3
            return
        for path in (match, f"{match}/events", f"{match}/record", f"{match}/review"):
            answer = ann.get(path)
            assert (answer.status_code, "cannot be read" in answer.json()["message"]) == (410, True), path
        assert "cannot be read" in ann.get(match, Accept="text/html").text
        assert ann.post(f"{match}/act", action="2", event=3).status_code == 410
        assert ann.see(good)["turn"] == "waiting"
        assert ann.start("lights", "friend")
    assert len(caplog.messages) == 1, "it is logged once, not with every visit"
    assert "cannot be read" in caplog.text
    assert match.removeprefix("/m/") not in caplog.text, "the id is a secret"


def test_the_stream_of_a_deleted_match_ends(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = tmp_path / "web.sqlite3"
    with serving(str(database)) as base:
        ann, bob, match = pair(base, "lights")
        with httpx.stream(
            "GET", f"{base}{match}/events", headers={"Cookie": f"duels={ann.cookies['duels']}"}, timeout=60
        ) as stream:
            lines = stream.iter_lines()
            while not next(lines).startswith("id: "):
                pass
            with sqlite3.connect(database) as db:
                for table in ("log", "seats", "invites", "matches"):
                    db.execute(f"DELETE FROM {table}")
            db.close()
            last = [line for line in lines if line.startswith(": ") and "still here" not in line]
        assert last == [f": {MatchNotFound()}"]
        assert ann.get(match).status_code == 404
        assert bob.post(f"{match}/act", action="1", event=2).status_code == 404
        assert ann.see("/")["matches"] == []
    assert not caplog.records


def test_entries_can_be_removed_without_a_restart(database: str, execute: Execute) -> None:
    with serving(database) as base:
        ann, _, match = pair(base, "lights")
        assert ann.act(match, "1").status_code == 204
        assert ann.see(match)["event"] == 3
        execute(f"DELETE FROM duels_log WHERE number = 3 AND match = '{match.removeprefix('/m/')}'")
        assert ann.see(match)["event"] == 2
        assert ann.act(match, "2").status_code == 204


@pytest.mark.parametrize("damage", ["truncated", "without tables", "without a table"])
def test_an_emptied_file_is_reported(tmp_path: Path, damage: str) -> None:
    database = tmp_path / "web.sqlite3"
    with serving(str(database)) as base:
        Visitor(base).start("lights", "friend")
    if damage == "truncated":
        database.write_bytes(b"")
    else:
        with sqlite3.connect(database) as db:
            for table in ("log",) if damage == "without a table" else ("log", "seats", "invites", "matches"):
                db.execute(f"DROP TABLE {table}")
        db.close()
    before = database.read_bytes()
    with pytest.raises(DuelsError, match=r"(is empty|has lost tables).*backup"), serving(str(database)):
        pass
    assert database.read_bytes() == before


def test_a_file_emptied_during_use_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = tmp_path / "web.sqlite3"
    with serving(str(database)) as base:
        ann = Visitor(base)
        ann.start("lights", "friend")
        database.write_bytes(b"")
        for answer in (ann.post("/matches", game="lights", against="friend"), ann.get("/health")):
            assert answer.status_code == 503
            assert "was moved, replaced or damaged." in answer.json()["message"]
            assert "No moves are lost" not in answer.json()["message"]
    assert "emptied" in caplog.text


def test_lost_tables_of_postgresql_are_reported(postgres: str) -> None:
    database = emptied(postgres)
    with serving(database) as base:
        ann = Visitor(base)
        match = ann.start("lights", "friend")
        with psycopg.connect(database, autocommit=True) as db:
            for table in ("log", "seats", "invites", "matches"):
                db.execute(f"DROP TABLE duels_{table} CASCADE".encode())
                assert ann.get("/health").status_code == 503
        assert "was moved, replaced or damaged." in ann.get(match).json()["message"]
    with pytest.raises(DuelsError, match=r"has lost tables: duels_matches, .*backup"), serving(database):
        pass


def test_servers_that_start_together_create_one_database(tmp_path: Path) -> None:
    database = tmp_path / "new" / "web.sqlite3"
    ready = threading.Barrier(4)

    async def start() -> None:
        store = SqliteStore(database)
        ready.wait(60)
        await store.open(lambda match: None)
        await store.check()
        await store.close()

    with ThreadPoolExecutor(4) as threads:
        for started in [threads.submit(asyncio.run, start()) for _ in range(4)]:
            started.result(60)
    assert [path.name for path in database.parent.iterdir()] == [database.name]
