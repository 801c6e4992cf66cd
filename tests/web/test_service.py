"""The service and its streams without HTTP: cases that are hard to cause from outside."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from duels.core.rules import Seat
from duels.games import find_game, load_record
from duels.web.decisions import MoveRequest, decide_move, decide_offer, make_match
from duels.web.match_state import MatchState, make_play_entries
from duels.web.pages import EventStream
from duels.web.request_errors import RequestError
from duels.web.service import MatchService
from duels.web.sqlite_store import SqliteStore
from duels.web.store import Change, Entry, EntryKind
from duels.web.views import make_json_view
from duels.web.workers import WorkerPool
from tests.web.serving import header_of
from tests.web.test_load import make_long_record


def test_the_number_of_offers_in_a_log_is_limited() -> None:
    rules = find_game("lights").rules()
    state = MatchState("a-match", header_of(rules))
    state.add((Entry(EntryKind.SIT, "Ann", Seat.ONE), Entry(EntryKind.SIT, "Bob", Seat.TWO)))
    state.add(Entry(EntryKind.PLAY, line, seat) for line, seat in (("1", Seat.ONE), ("2", Seat.TWO)))
    offers = [Entry(EntryKind.OFFER, "takeback 1", Seat.TWO), Entry(EntryKind.REFUSE, "takeback", Seat.ONE)]
    assert decide_offer(state, Seat.TWO, "takeback", "", state.count_events(Seat.TWO))
    state.add(offers * 2_500)
    with pytest.raises(RequestError, match="No more offers"):
        decide_offer(state, Seat.TWO, "takeback", "", state.count_events(Seat.TWO))
    assert decide_move(state, Seat.ONE, MoveRequest(state.count_events(Seat.ONE), "3")), "the match continues"


class Counting(SqliteStore):
    """A store that counts how often it reads a log."""

    reads = 0

    async def list_entries(self, match: str, after: int = 0) -> list[Entry]:
        self.reads += 1
        return await super().list_entries(match, after)


def test_a_match_has_a_limit_at_which_a_player_can_resign() -> None:
    """Every page shows all entries, so a long match would delay everybody else."""
    match = load_record(make_long_record(1_901)).match
    seat = match.actor
    assert isinstance(seat, Seat)
    state = MatchState("the-match", header_of(match.rules))
    state.add(Entry(EntryKind.SIT, "", seat) for seat in Seat)
    state.add(make_play_entries(match))
    event = state.count_events(seat)
    action = match.rules.format(match.actions[0])
    with pytest.raises(RequestError, match=r"is full \(1,900 entries\)"):
        decide_move(state, seat, MoveRequest(event, action))
    change = decide_move(state, seat, MoveRequest(event, "resign"))
    assert change
    assert change.ends_match


def test_a_list_of_matches_reads_only_changed_matches(tmp_path: Path) -> None:
    async def work() -> None:
        store, elsewhere = Counting(tmp_path / "web.sqlite3"), SqliteStore(tmp_path / "web.sqlite3")
        matches = MatchService(store, WorkerPool())
        await matches.open()
        await elsewhere.open(lambda match: None)
        rules = find_game("lights").rules()
        both = make_match(rules, {}, {Seat.ONE: ("ann", ""), Seat.TWO: ("bob", "")})
        alone = make_match(rules, {}, {Seat.ONE: ("ann", "")})  # it waits for a guest
        for made in (both, alone):
            await store.create(made)

        async def numbers() -> dict[str, int]:
            listed = await matches.list_matches("ann", False, 9)
            return {kept.id: state.number for kept, state in listed if state}

        for _ in range(2):
            assert await numbers() == {both.id: 2, alone.id: 1}
        assert store.reads == 2
        # Entries of another process count, even if this process has not read them yet.
        await elsewhere.append(Change(both.id, 2, (Entry(EntryKind.PLAY, "4", Seat.ONE),)))
        assert await numbers() == {both.id: 3, alone.id: 1}
        assert store.reads == 3
        await elsewhere.close()
        await matches.close()

    asyncio.run(work())


def test_matches_and_streams_are_freed_without_garbage_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.web.service._MAX_CACHED", 1)

    async def work() -> None:
        store = SqliteStore(tmp_path / "web.sqlite3")
        matches = MatchService(store, WorkerPool())
        await matches.open()
        seats = {Seat.ONE: ("ann", ""), Seat.TWO: ("bob", "")}
        one, two = (make_match(find_game("hunt").rules(), {}, seats) for _ in range(2))
        for made in (one, two):
            await store.create(made)
        await matches.change(
            one.id, "ann", lambda state, seat: decide_move(state, seat, MoveRequest(2, "move 3"))
        )

        async def produce(last: int | None) -> tuple[int, str]:
            state, viewer = await matches.get(one.id, "ann")
            return state.count_events(viewer), str(make_json_view(state, viewer))

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        stream = EventStream(produce, partial(matches.hub.subscribe, one.id), lambda: False)
        await stream({}, receive, send)
        freed: list[weakref.ref[Any]] = [weakref.ref(stream), weakref.ref(matches._cache[one.id])]
        del stream
        await matches.get(two.id, "ann")  # and forget the other
        await asyncio.sleep(0)
        assert list(matches._cache) == [two.id]
        assert [each() for each in freed] == [None, None]
        await matches.close()

    gc.disable()
    try:
        asyncio.run(work())
    finally:
        gc.enable()


def test_hidden_events_do_not_delay_pings() -> None:
    sent: list[bytes] = []

    async def watch() -> None:
        wakes: list[Callable[[], object]] = []

        async def produce(last: int | None) -> None:
            return None  # every event is hidden

        @contextmanager
        def watching(wake: Callable[[], object]) -> Iterator[None]:
            wakes.append(wake)
            yield

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(3600)
            return {}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        stream = EventStream(produce, watching, lambda: len(sent) > 2, ping_interval=0.1)
        following = asyncio.ensure_future(stream({}, receive, send))
        while not following.done():
            await asyncio.sleep(0.01)
            wakes[0]()

    asyncio.run(asyncio.wait_for(watch(), 30))
    assert len(sent) == 4, "the head, how to come back, a ping, the end"
