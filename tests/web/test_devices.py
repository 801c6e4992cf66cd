"""One seat on several devices, invitations that are withdrawn, presence, and the score of rematches."""

from pathlib import Path
from random import Random

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.web import presence, service
from duels.web.presence import Presence
from duels.web.sqlite_store import SqliteStore
from tests.support import play_randomly
from tests.web.browsing import Person, seat_two
from tests.web.serving import Process, Visitor, pair, serving
from tests.web.test_indistinguishable import make_state


def link_of(visitor: Visitor, match: str) -> str:
    """Return the token of a new link to the visitor's seat."""
    answer = visitor.post(f"{match}/device")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["link"]).partition("/device#")[2]


def test_a_link_gives_another_device_the_same_seat(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    ann.act(match, "move 3")
    phone = Visitor(base)
    assert phone.get(match).status_code == 404
    assert phone.post("/device", token=link_of(ann, match)).json()["url"] == match
    assert ann.post(f"{match}/device").json()["has_devices"]
    assert phone.see(match) == ann.see(match)
    assert phone.act(match, "observe 5").status_code == 204
    assert bob.see(match)["turn"] == "you"
    (listed,) = phone.get("/").json()["matches"]
    assert (listed["match"], listed["turn"]) == (match.removeprefix("/m/"), "other")
    # Only the first device may give the seat away or take it back.
    assert phone.post(f"{match}/device").status_code == 422
    assert phone.post(f"{match}/device", remove=True).status_code == 422
    assert ann.post(f"{match}/device", remove=True).status_code == 204
    assert not ann.post(f"{match}/device").json()["has_devices"]
    assert phone.get(match).status_code == 404
    assert phone.get("/").json()["matches"] == []


def test_a_link_works_once(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    token = link_of(ann, match)
    assert Visitor(base).post("/device", token=token).status_code == 200
    assert Visitor(base).post("/device", token=token).status_code == 404
    replaced = link_of(ann, match)
    assert bob.post("/device", token=link_of(ann, match)).status_code == 422, "Bob has a seat of his own"
    assert Visitor(base).post("/device", token=replaced).status_code == 404, "a new link replaces the last"
    removed = link_of(ann, match)
    ann.post(f"{match}/device", remove=True)
    for token in (removed, "", "x", f"{match.removeprefix('/m/')}.x", removed.partition(".")[2]):
        assert Visitor(base).post("/device", token=token).status_code == 404, token


def test_a_link_expires(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, _, match = pair(base, "lights")
    monkeypatch.setattr(service, "DEVICE_LINK_LIFETIME", 0.0)
    token = link_of(ann, match)
    assert Visitor(base).post("/device", token=token).status_code == 404


def test_strangers_get_no_link(base: str) -> None:
    _, _, match = pair(base, "lights")
    for more in ({}, {"remove": True}):
        assert Visitor(base).post(f"{match}/device", **more).status_code == 404


def test_devices_follow_into_the_rematch(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    phone = Visitor(base)
    phone.post("/device", token=link_of(ann, match))
    ann.act(match, "resign")
    phone.offer(match, "rematch")
    bob.offer(match, "rematch", "yes")
    again = f"/m/{ann.see(match)['rematch']}"
    assert phone.see(again)["seat"] == ann.see(again)["seat"] == 2


def test_a_token_is_in_no_log_and_not_in_the_database(tmp_path: Path) -> None:
    database = tmp_path / "web.sqlite3"
    with Process(str(database), tmp_path, options=("--log-addresses",)) as server:
        ann, _, match = pair(server.base, "hunt")
        token = link_of(ann, match)
        secret = token.partition(".")[2]
        written = [path.read_bytes() for path in tmp_path.glob("web.sqlite3*")]
        assert not [content for content in written if secret.encode() in content]
        phone = Visitor(server.base)
        assert phone.get("/device").status_code == 200
        assert phone.post("/device", token=token).status_code == 200
        assert Visitor(server.base).post("/device", token=token).status_code == 404
        server.end()
        log = server.log.read_text()
    assert "POST /device" in log
    assert secret not in log


def test_an_older_database_gets_the_tables(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "web.sqlite3"
    with serving(str(path)):
        pass
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE devices")
        db.execute("DROP TABLE device_links")
    db.close()
    with serving(str(path)) as base:
        ann, _, match = pair(base, "hunt")
        assert Visitor(base).post("/device", token=link_of(ann, match)).status_code == 200


def test_an_invitation_can_be_withdrawn(base: str) -> None:
    ann, bob = Visitor(base), Visitor(base)
    match = ann.start("hunt", "friend")
    path = ann.see(match)["invite"]["link"].removeprefix(base)
    assert bob.post(f"{match}/withdraw").status_code == 404, "only the player who invited"
    assert ann.post(f"{match}/withdraw").status_code == 204
    assert bob.get(path).status_code == 404
    assert bob.post(path, name="Bob").status_code == 404
    assert ann.see(match)["invite"] is None
    assert "withdrawn" in ann.see(match)["sentence"]
    assert ann.get("/?matches=all").json()["matches"] == []


def test_a_match_that_somebody_joined_cannot_be_withdrawn(base: str) -> None:
    ann, _, match = pair(base, "lights")
    assert ann.post(f"{match}/withdraw").status_code == 409
    assert ann.act(match, "4").status_code == 204


def test_rematches_swap_seats_and_count_wins(base: str) -> None:
    ann, bob, match = pair(base, "lights", name="Ann")
    scores = []
    for loser in (ann, ann, bob):
        other = bob if loser is ann else ann
        first = ann.see(match)["seat"]
        assert loser.act(match, "resign").status_code == 204
        loser.offer(match, "rematch")
        other.offer(match, "rematch", "yes")
        match = f"/m/{ann.see(match)['rematch']}"
        assert ann.see(match)["seat"] == 3 - first
        page = ann.get(match, Accept="text/html").text
        scores.append(
            [page.partition(f'id="player-{seat}"')[2].partition('class="wins">')[2][0] for seat in (1, 2)]
        )
    # The first of each match is the seat that moves first: Bob, Ann, Bob.
    assert scores == [["1", "0"], ["0", "2"], ["2", "1"]]


def test_a_short_absence_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(presence, "_GRACE_PERIOD", 0.0)
    changes: list[str] = []

    async def come_and_go() -> None:
        players = Presence(changes.append)
        with players.hold("m", Seat.ONE):
            with players.hold("m", Seat.ONE):
                pass
            assert players.is_here("m", Seat.ONE)
            assert not players.is_here("m", Seat.TWO)
        assert players.is_here("m", Seat.ONE), "until it is clear that no stream follows"
        with players.hold("m", Seat.ONE):
            pass
        assert changes == ["m"]
        while len(changes) < 2:
            await asyncio.sleep(0)
        assert not players.is_here("m", Seat.ONE)

    asyncio.run(asyncio.wait_for(come_and_go(), 20))
    assert changes == ["m", "m"]


def test_the_stream_of_another_process_may_be_open_with_postgresql_alone() -> None:
    postgres_store = pytest.importorskip("duels.web.postgres_store")
    assert not SqliteStore.serves_other_processes
    assert postgres_store.PostgresStore.serves_other_processes


def test_each_player_learns_whether_the_other_is_here(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "hunt")
    for person in (ann, bob):
        person.page.wait_for_selector(".presence:has-text('online')")
    assert ann.page.locator("#player-2 .presence").count() == 1
    assert ann.page.locator("#player-1 .presence").count() == 0


def test_presence_does_not_depend_on_what_a_player_does(base: str) -> None:
    """Bob's stream gets the same presence whether Ann moves in secret or not, and no event."""
    received = []
    for moves in (False, True):
        ann, bob, match = pair(base, "hunt")
        with ann.watching(match, form=""), bob.watching(match, form="") as events:
            events.next_text()
            assert events.next_line("event") == "presence"
            assert events.next_line("data") == "here"
            if moves:
                assert ann.act(match, "move 3").status_code == 204
            assert ann.act(match, "resign").status_code == 204
            received.append(events.next_line("event", "id"))
    assert received[0] == received[1] == "3", "the next event is the resignation"


def test_spectators_and_programs_get_no_presence(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    with ann.watching(match, form=""):
        for visitor, form in ((Visitor(base), ""), (bob, "?format=json")):
            with visitor.watching(match, form=form) as events:
                events.next_text()
                assert ann.act(match, "1" if form == "" else "resign").status_code == 204
                assert events.next_line("event", "id").isdigit()


@pytest.mark.parametrize("game", ["hunt", "flip"])
def test_the_score_is_not_told_by_hidden_entries(game: str) -> None:
    rules, rng = find_game(game).rules(), Random(2)
    for _ in range(10):
        match = play_randomly(Match.start(rules), rng, rng.randrange(1, 8))
        if not match.over:
            assert make_state(match).wins == dict.fromkeys(Seat, 0)


def test_a_player_continues_on_another_device_and_removes_it(ann: Person, bob: Person) -> None:
    match = ann.start("lights", "casual")
    ann.page.click("[data-device]")
    ann.page.wait_for_selector("#device[open]")
    link = ann.page.input_value("#device input")
    assert ann.page.is_hidden("#device [value=remove]"), "there is no other device"
    ann.page.click("#device >> text=Copy")
    ann.page.wait_for_selector("#device #notice:has-text('Copied.')")  # above the backdrop
    ann.page.click("#device >> text=Close")
    bob.page.goto(link)
    assert bob.page.url.endswith("/device"), "the token is not in the address"
    bob.page.click("[data-continue]")
    bob.page.wait_for_url(f"**{match}")
    assert bob.wait("you") == "you"
    ann.page.click("[data-device]")
    ann.page.click("#device [value=remove]")
    ann.saw("Your other devices have no access any more.")
    bob.page.reload()
    assert bob.page.locator("text=You are watching").count() == 1


def test_a_waiting_player_withdraws_in_the_browser(ann: Person) -> None:
    ann.start("leap", "friend")
    ann.page.click("[data-withdraw]")
    ann.page.wait_for_selector("h1:has-text('Five short')")
    assert ann.page.locator("#own-matches").count() == 0
    assert ann.page.evaluate("localStorage.getItem('duels.running')") == "{}", "no bar leads back"


@pytest.mark.parametrize("value", [1, "yes", None, [], {}])
def test_the_field_remove_must_be_true_or_false(base: str, value: object) -> None:
    refused = Visitor(base).post("/m/a/device", remove=value)
    assert (refused.status_code, refused.json()["message"]) == (422, "'remove' must be true or false.")
