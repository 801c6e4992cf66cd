"""The contract of stores, equal for SQLite and PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.web.sqlite_store import SqliteStore
from duels.web.store import (
    Change,
    Claim,
    Conflict,
    Entry,
    EntryKind,
    Invite,
    NewMatch,
    Store,
    StoreUnavailable,
)
from tests.web.conftest import StoreFactory

HEADER = "duels record 2\ngame: lights\nseed: 7\n\n"
SIT = Entry(EntryKind.SIT, "Ann", Seat.ONE)
PLAY = Entry(EntryKind.PLAY, "4", Seat.ONE)
TAIL = Entry(EntryKind.PLAY, "tails")
LATER = 4e9  # seconds since 1970


def new_match(id: str = "m1", identity: str = "ann") -> NewMatch:
    return NewMatch(id, HEADER, (SIT,), {Seat.ONE: identity}, Invite(f"invite-{id}", id, Seat.TWO, LATER))


@asynccontextmanager
async def open_store(
    store_factory: StoreFactory, on_change: Callable[[str | None], None] = lambda match: None
) -> AsyncIterator[Store]:
    store = store_factory()
    await store.open(on_change)
    try:
        yield store
    finally:
        await store.close()


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_matches_persist_after_reopening(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            await store.append(Change("m1", 1, (PLAY, TAIL)))
        async with open_store(store_factory) as store:
            match = await store.find_match("m1")
            assert match
            assert match.header == HEADER
            assert match.seats == {Seat.ONE: "ann"}
            assert match.invite == Invite("invite-m1", "m1", Seat.TWO, LATER)
            assert await store.list_entries("m1") == [SIT, PLAY, TAIL]
            assert await store.list_entries("m1", 2) == [TAIL]
            assert await store.list_entries("m1", 3) == []

    run(work())


def test_missing_matches_are_not_found(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            assert await store.find_match("m2") is None
            assert await store.list_entries("m2") == []
            assert await store.find_invite("nothing") is None
            assert await store.list_matches("nobody", False, 9) == []
            await store.check()

    run(work())


def test_append_needs_the_current_length_of_the_log(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            for number in (0, 2):
                with pytest.raises(Conflict):
                    await store.append(Change("m1", number, (PLAY,)))
            with pytest.raises(Conflict):
                await store.append(Change("m2", 0, (PLAY,)))
            assert await store.list_entries("m1") == [SIT]
            assert await store.list_entries("m2") == []

    run(work())


def test_only_one_of_many_concurrent_appends_succeeds(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as one, open_store(store_factory) as two:
            await one.create(new_match())
            changes = [Change("m1", 1, (replace(PLAY, text=str(n)),)) for n in range(20)]
            tries = [(one, two)[n % 2].append(change) for n, change in enumerate(changes)]
            results = await asyncio.gather(*tries, return_exceptions=True)
            done = [n for n, result in enumerate(results) if result is None]
            assert len(done) == 1
            assert all(isinstance(result, Conflict) for n, result in enumerate(results) if n not in done)
            assert await two.list_entries("m1", 1) == [replace(PLAY, text=str(done[0]))]

    run(work())


def test_a_conflict_does_not_affect_other_writes(store_factory: StoreFactory) -> None:
    """Changes to several matches may be committed together."""

    async def work() -> None:
        async with open_store(store_factory) as store:
            for n in range(10):
                await store.create(new_match(f"m{n}"))
            tries = [store.append(Change(f"m{n}", 1 + n % 2, (PLAY,))) for n in range(10)]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert [isinstance(result, Conflict) for result in results] == [bool(n % 2) for n in range(10)]
            for n in range(10):
                assert await store.list_entries(f"m{n}", 1) == ([] if n % 2 else [PLAY])

    run(work())


def test_a_match_is_created_once(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            with pytest.raises(Conflict):
                await store.create(new_match(identity="bob"))
            match = await store.find_match("m1")
            assert match
            assert match.seats == {Seat.ONE: "ann"}

    run(work())


def test_an_invitation_is_accepted_once(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as one, open_store(store_factory) as two:
            await one.create(new_match())
            sit = Entry(EntryKind.SIT, "", Seat.TWO)
            tries = [
                store.append(Change("m1", 1, (sit,), Claim("invite-m1", who, 1.0)))
                for store, who in ((one, "bob"), (two, "eve"))
            ]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sorted(map(type, results), key=str) == sorted([type(None), Conflict], key=str)
            match = await one.find_match("m1")
            assert match
            assert match.seats[Seat.TWO] == ("bob" if results[0] is None else "eve")
            assert match.invite is None
            invite = await two.find_invite("invite-m1")
            assert invite
            assert (invite.match, invite.is_open) == ("m1", False)
            assert await two.list_entries("m1", 1) == [sit]
            with pytest.raises(Conflict):
                await one.append(Change("m1", 2, (sit,), Claim("invite-m1", "eve", 1.0)))

    run(work())


def test_invitations_expire(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            invite = await store.find_invite("invite-m1")
            assert invite
            assert invite.expires == LATER
            assert (invite.is_open, replace(invite, expires=1.0).is_open) == (True, False)
            with pytest.raises(Conflict):
                await store.append(Change("m1", 1, (SIT,), Claim("invite-m1", "bob", LATER + 1)))
            assert await store.list_entries("m1") == [SIT]

    run(work())


def test_a_rematch_and_its_entry_are_created_together(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match())
            entry = Entry(EntryKind.REMATCH, "m2", Seat.ONE)
            with pytest.raises(Conflict):
                await store.append(Change("m1", 5, (entry,), creates=new_match("m2")))
            assert await store.find_match("m2") is None
            await store.append(Change("m1", 1, (entry,), creates=new_match("m2")))
            assert await store.find_match("m2")
            with pytest.raises(Conflict):
                await store.append(Change("m1", 2, (entry,), creates=new_match("m2")))
            assert await store.list_entries("m1") == [SIT, entry]

    run(work())


def test_matches_of_an_identity_are_listed_newest_first(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            for id in ("m1", "m2", "m3"):
                await store.create(new_match(id))
            await store.create(new_match("m4", "bob"))
            await store.append(Change("m1", 1, (PLAY,)))
            matches = await store.list_matches("ann", False, 2)
            # A new entry does not move its match in the list: the entry may be hidden.
            assert [(each.id, each.seat) for each in matches] == [("m3", Seat.ONE), ("m2", Seat.ONE)]
            assert LATER > matches[0].since.timestamp() >= matches[1].since.timestamp() > 0
            assert [each.number for each in await store.list_matches("ann", False, 9)] == [1, 1, 2]
            assert await store.count_matches_since("ann", 0.0) == 3
            assert await store.count_matches_since("ann", LATER) == 0

    run(work())


def test_finished_matches_are_listed_separately(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            await store.create(new_match("m1"))
            await store.create(new_match("m2"))
            await store.create(replace(new_match("m3"), over=True, entries=()))
            sit = Entry(EntryKind.SIT, "", Seat.TWO)
            await store.append(Change("m1", 1, (sit,), Claim("invite-m1", "bob", 1.0)))
            with pytest.raises(Conflict):
                await store.append(Change("m2", 2, (PLAY,), ends_match=True))
            await store.append(Change("m1", 2, (PLAY,), ends_match=True))
            await store.append(Change("m1", 3, (Entry(EntryKind.OFFER, "rematch", Seat.ONE),)))
            listed = {
                (who, over): [(each.id, each.number) for each in await store.list_matches(who, over, 9)]
                for who in ("ann", "bob")
                for over in (False, True)
            }
            assert listed == {
                ("ann", False): [("m2", 1)],
                ("ann", True): [("m3", 0), ("m1", 4)],
                ("bob", False): [],
                ("bob", True): [("m1", 4)],
            }

    run(work())


def test_listeners_are_notified_of_writes_by_other_processes(store_factory: StoreFactory) -> None:
    async def work() -> None:
        notified = asyncio.Event()

        def notify(match: str | None) -> None:
            if match in (None, "m1"):
                notified.set()

        async with open_store(store_factory, notify) as reader, open_store(store_factory) as writer:
            await writer.create(new_match())
            number = 1
            while not notified.is_set():  # it may not have begun to listen yet
                await writer.append(Change("m1", number, (PLAY,)))
                number += 1
                await asyncio.sleep(0.05)
            assert len(await reader.list_entries("m1", 1)) == number - 1

    run(work())


def test_texts_are_stored_exactly(store_factory: StoreFactory) -> None:
    async def work() -> None:
        async with open_store(store_factory) as store:
            odd = Entry(EntryKind.SIT, "Zoë 'Drop' Table; --%s 🎲", Seat.ONE)
            await store.create(replace(new_match(), entries=(odd,)))
            assert await store.list_entries("m1") == [odd]

    run(work())


def test_a_foreign_file_is_left_alone(tmp_path: Any) -> None:
    from duels.web.site import make_store

    async def work() -> None:
        other = tmp_path / "other.sqlite3"
        with sqlite3.connect(other) as db:
            db.execute("CREATE TABLE recipes (name TEXT)")
        with pytest.raises(DuelsError, match="another program"):
            await make_store(str(other)).open(lambda match: None)
        with sqlite3.connect(other) as db:
            db.execute("PRAGMA user_version = 1")
        with pytest.raises(
            DuelsError, match="is a database of format 1; this version of duels reads format 2"
        ):
            await make_store(str(other)).open(lambda match: None)
        text = tmp_path / "letter.txt"
        text.write_text("Dear Ann, " * 100)
        with pytest.raises(StoreUnavailable, match=r"letter\.txt: file is not a database"):
            await make_store(str(text)).open(lambda match: None)

    run(work())


def test_reports_a_missing_database_in_one_line() -> None:
    from duels.web.site import make_store

    async def work() -> None:
        with pytest.raises(StoreUnavailable, match=r"^postgresql://127\.0\.0\.1/duels: ") as raised:
            await make_store("postgresql://me:secret@127.0.0.1:9/duels").open(lambda match: None)
        assert "secret" not in str(raised.value)
        assert "\n" not in str(raised.value)

    run(work())


def test_the_return_of_a_file_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        path = tmp_path / "web.sqlite3"
        async with open_store(lambda: SqliteStore(path)) as store:
            path.rename(tmp_path / "away")
            with pytest.raises(StoreUnavailable, match="was moved"):
                await store.create(new_match("m1"))
            (tmp_path / "away").rename(path)
            for id in ("m1", "m2"):
                await store.create(new_match(id))
            assert caplog.messages == [f"{path} works again."]
            # The same if a read has found the damage.
            with sqlite3.connect(path) as elsewhere:
                elsewhere.execute("ALTER TABLE log RENAME TO gone")
            with pytest.raises(StoreUnavailable, match="no such table"):
                await store.list_entries("m1")
            with sqlite3.connect(path) as elsewhere:
                elsewhere.execute("ALTER TABLE gone RENAME TO log")
            await store.create(new_match("m3"))
            assert caplog.messages == [f"{path} works again."] * 2

    run(work())


def test_constraint_errors_do_not_mark_the_file_as_failed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with open_store(lambda: SqliteStore(tmp_path / "web.sqlite3")) as store:
            await store.create(new_match("m1"))
            wrong = replace(new_match("m2"), invite=new_match("m1").invite)
            results = await asyncio.gather(
                store.create(wrong), store.create(new_match("m3")), return_exceptions=True
            )
            assert isinstance(results[0], sqlite3.IntegrityError)
            assert await store.find_match("m2") is None
            assert await store.find_match("m3"), "it was committed together with the other"
            assert caplog.messages == []

    run(work())
