"""Traffic between a real browser and the server: broken connections, and no secrets."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error

from duels.games import load_record
from tests.web.browsing import Person, seat_two
from tests.web.proxy import Proxy, proxied
from tests.web.serving import serving

LARGEST_PAGE = 60 << 10


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """A server that browsers reach only through a proxy."""
    with proxied() as between, serving(str(tmp_path / "web.sqlite3"), public_url=between.url) as address:
        between.to = int(address.rsplit(":", 1)[1])
        yield between


class NetworkLog:
    """Everything that the server sends to a page, from the browser's own log."""

    def __init__(self, person: Person) -> None:
        self._session = person.context.new_cdp_session(person.page)
        self._session.send("Network.enable")
        self._requests: list[str] = []
        self._events: list[str] = []
        self.bytes = 0
        self._session.on("Network.responseReceived", self._note_response)
        self._session.on(
            "Network.eventSourceMessageReceived", lambda event: self._events.append(event["data"])
        )
        self._session.on("Network.loadingFinished", self._count_bytes)

    def _note_response(self, event: dict[str, Any]) -> None:
        # Scripts and styles are the same for everybody, and come in any order.
        if "/static/" not in event["response"]["url"]:
            self._requests.append(event["requestId"])

    def _count_bytes(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]

    @property
    def texts(self) -> list[str]:
        """The bodies of responses, including streams."""
        bodies = []
        for request in self._requests:
            try:
                bodies.append(self._session.send("Network.getResponseBody", {"requestId": request})["body"])
            except Error as error:  # of a page that was left, or of a stream that is still open
                if not re.search("No data found|No resource", str(error)):
                    raise
        return bodies + self._events


def play_secret_moves(browser: Browser, base: str, hidden: tuple[str, str]) -> tuple[list[str], str, str]:
    """Return the data sent to Bob during Ann's secret moves, the record, and the page after the end."""
    ann, bob = Person(browser, base), Person(browser, base)
    match = seat_two(ann, bob, "hunt")
    log = NetworkLog(bob)
    bob.go(match)
    bob.wait("other")
    for move, person, names in (
        (hidden[0], ann, "observe 4"),
        ("move 1", bob, "observe 4"),
        (hidden[1], ann, "observe 5"),
        ("move 2", bob, "observe 5"),
    ):
        person.wait("you")
        person.press(move)
        person.press(names)
    ann.wait("you")
    bob.wait("other")
    sent = log.texts
    ann.page.click("[data-resign]")
    ann.page.click("#resign button[value=resign]")
    bob.wait("over")
    record = bob.page.evaluate("fetch(location.href + '/record').then((answer) => answer.text())")
    for person in (ann, bob):
        person.close()
    return [text.replace(match.removeprefix("/m/"), "ID") for text in sent], record, match


def test_no_secret_of_the_other_seat_is_sent(browser: Browser, base: str) -> None:
    near, record, _ = play_secret_moves(browser, base, ("move 7", "move 6"))
    far, other_record, _ = play_secret_moves(browser, base, ("tunnel 6", "move 7"))
    assert near == far, "Bob's browser can tell where Ann went"
    assert len(near) > 5
    for text, sent in ((record, near), (other_record, far)):
        seed = load_record(text).headers["seed"]
        assert len(seed) >= 8
        assert not [body for body in sent if seed in body]
    assert {"move 7", "tunnel 6"} <= set(record.split("\n")) | set(other_record.split("\n"))


def test_pages_are_small_and_load_nothing_from_other_sites(browser: Browser, base: str) -> None:
    person = Person(browser, base)
    urls: list[str] = []
    person.page.on("request", lambda request: urls.append(request.url))
    match = person.start("flip", "casual")
    for path in ("/", "/g/flip", "/review", "/daily", match):
        person.page.goto("about:blank")
        person.context.new_cdp_session(person.page).send("Network.clearBrowserCache")
        log = NetworkLog(person)
        person.page.goto(base + path)
        person.page.wait_for_selector("[data-ready]")  # all scripts have run
        assert 0 < log.bytes <= LARGEST_PAGE, (path, log.bytes)
    assert not [url for url in urls if not url.startswith((base, "about:"))]
    person.close()


def test_pages_recover_from_cut_connections(browser: Browser, base: str, proxy: Proxy) -> None:
    ann, bob = Person(browser, proxy.url), Person(browser, proxy.url)
    seat_two(ann, bob, "lights")
    proxy.cut()
    for person in (ann, bob):
        person.page.wait_for_selector("#connection-lost")
    # Two moves are chosen while the server is down. The last one is marked, and is played once.
    before = ann.event
    marked = "all => all.map((each) => each.dataset.action)"
    for move in ("1-2", "1"):
        with ann.page.expect_event("requestfailed", lambda request: request.method == "POST"):
            ann.target(move).click()
        assert ann.page.locator(".waiting").evaluate_all(marked) == [move]
    message = "The server cannot be reached. Try again in a moment."
    assert message in bob.page.request.get(f"{base}/static/post.js").text()
    bob.page.evaluate("text => (document.getElementById('notice').textContent = text)", message)
    proxy.mend()
    bob.page.wait_for_selector("#notice:empty", state="attached")
    ann.page.wait_for_selector(f'#state:not([data-event="{before}"])')
    ann.page.wait_for_selector(".waiting", state="detached")
    bob.wait("you")
    bob.press("4")
    ann.wait("you")
    assert ann.log == ["You turn OFF light 1.", "Bob turns OFF light 4."]
    assert not ann.notice
    for person in (ann, bob):
        assert len(person.log) == 2
        person.page.wait_for_selector("#connection-lost", state="hidden")
        person.close()


def test_a_move_made_after_a_takeback_is_kept(browser: Browser, proxy: Proxy) -> None:
    ann = Person(browser, proxy.url)
    ann.start("lights", "casual")
    ann.press("1")
    ann.wait("you")
    before, move = ann.event, ann.pressable[0]
    proxy.cut()
    ann.page.wait_for_selector("#connection-lost")
    for pressed in (ann.page.locator("[data-offer=takeback]"), ann.target(move)):
        with ann.page.expect_event("requestfailed", lambda request: request.method == "POST"):
            pressed.click()
    proxy.mend()
    ann.page.wait_for_selector(f'#state:not([data-event="{before}"])')
    ann.wait("you", "over")
    assert sum(line.startswith("You ") for line in ann.log) == 2
    ann.close()


@pytest.mark.slow
def test_pages_recover_from_stalled_connections(browser: Browser, proxy: Proxy) -> None:
    """A connection stalls without an error. The page repeats the request and reopens the stream."""
    ann, bob = Person(browser, proxy.url), Person(browser, proxy.url)
    seat_two(ann, bob, "lights")
    for person in (ann, bob):
        person.context.set_default_timeout(90_000)  # a browser may use six dead connections one by one
    proxy.stall()
    ann.press("1-2")
    bob.page.evaluate("window.dispatchEvent(new Event('online'))")
    bob.wait("you")
    bob.press("4")
    ann.wait("you")
    for person in (ann, bob):
        assert len(person.log) == 2
        person.close()


@pytest.mark.slow
def test_the_page_reports_an_unreachable_server(browser: Browser, tmp_path: Path) -> None:
    with serving(str(tmp_path / "web.sqlite3")) as address:
        ann = Person(browser, address)
        ann.start("lights", "casual")
    ann.page.wait_for_selector("#connection-lost")
    ann.target("1").click()
    ann.saw("The server cannot be reached")
    ann.close()


def test_static_files_of_different_releases_are_not_mixed(browser: Browser, base: str) -> None:
    person = Person(browser, base)
    urls: list[str] = []
    person.page.on("request", lambda request: urls.append(request.url))
    person.start("lights", "casual")
    versions = {re.sub(r".*\?", "", url) for url in urls if "/static/" in url}
    assert len(versions) == 1
    person.close()
