"""Hosts, origins, bodies, cookies and rate limits; and the headers of every response."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from duels.core.errors import DuelsError
from duels.web import visitors
from duels.web.request_errors import TooMany
from duels.web.settings import ServerSettings
from duels.web.sqlite_store import SqliteStore
from duels.web.visitors import RateLimit, RateLimiter, VisitorLimits, hash_cookie
from tests.web.serving import PLENTY, UNLIMITED, Visitor, pair, serving


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", "", "127.0.0.1.nip.io"]
)
def test_rejects_other_host_names(base: str, host: str) -> None:
    for path in ("/", "/health", "/static/style.css"):
        refused = httpx.get(base + path, headers={"Host": host})
        assert refused.status_code == 421
        assert "evil" not in refused.text
        assert f"This server's address is {base}. " in refused.text


def test_accepts_localhost(base: str) -> None:
    port = base.rpartition(":")[2]
    url = f"http://localhost:{port}"
    answer = httpx.post(
        f"{base}/matches", json={"game": "lights"}, headers={"Host": f"localhost:{port}", "Origin": url}
    )
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1"]
)
def test_posts_need_our_origin(base: str, origin: str | None) -> None:
    headers = {"Origin": origin} if origin else {}
    refused = httpx.post(f"{base}/matches", json={"game": "lights"}, headers=headers)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


def test_rejects_our_origin_under_another_name(base: str) -> None:
    port = base.rpartition(":")[2]
    headers = {"Origin": f"http://localhost:{port}"}
    assert httpx.post(f"{base}/matches", json={"game": "lights"}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_posts_need_json(base: str, kind: str) -> None:
    headers = {"Origin": base, "Content-Type": kind}
    assert httpx.post(f"{base}/matches", content=b"{}", headers=headers).status_code == 415


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "Invalid JSON"),
        (b"[" * 3000, "Invalid JSON"),
        (b"[]", "JSON object"),
        (b'{"game": 3}', "must be a string"),
        (b'{"seed": "7"}', "Unknown field 'seed'"),
        (b'{"game": "chess"}', "There is no game 'chess'"),
        (b'{"game": "lights", "against": "cmd:rm"}', "'against' must be novice"),
        (b'{"game": "lights", "against": "human"}', "'against' must be novice"),
        (b'{"game": "lights", "name": true}', "must be a string"),
        (b'{"match": "unknown", "entries": 2}', "No match with this id"),
        (b"\xff\xfe", "Invalid JSON"),
    ],
)
def test_rejects_unreadable_requests_in_one_line(base: str, body: bytes, why: str) -> None:
    refused = Visitor(base).post_raw("/matches", body)
    assert refused.status_code in (404, 422)
    assert why in refused.json()["message"]
    assert "\n" not in refused.json()["message"]


def test_rejects_large_bodies(base: str) -> None:
    ann = Visitor(base)
    assert ann.post("/matches", game="lights", name="x" * 5000).status_code == 413

    def slowly() -> Iterator[bytes]:
        yield b'{"game": "'
        for _ in range(20):
            yield b"x" * 1000
        yield b'"}'

    headers = {"Origin": base, "Content-Type": "application/json"}
    assert httpx.post(f"{base}/matches", content=slowly(), headers=headers).status_code == 413


def test_every_response_has_security_headers(base: str) -> None:
    ann, _, match = pair(base, "lights")
    answers = [
        ann.get(path, Accept="text/html")
        for path in ("/", match, "/nothing", "/static/match.js", f"{match}/record", "/health", "/m/x")
    ]
    answers += [ann.post("/matches"), ann.act(match, "4"), httpx.get(base, headers={"Host": "evil.example"})]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


INLINE = re.compile(r"<script(?![^>]*\ssrc=)|\son[a-z]+\s*=|\sstyle\s*=|<style|javascript:", re.IGNORECASE)
OUTSIDE = re.compile(
    r"""\s(?:src|href|action)\s*=\s*["'](?!/|#)|@import|url\((?!["']?(?:/|#|data:))""", re.IGNORECASE
)


def test_pages_have_no_inline_code_and_load_nothing_from_other_sites(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    ann.act(match, "4")
    bob.act(match, "resign")
    waiting = ann.start("leap", "friend")
    invite = re.sub(".*/j/", "/j/", ann.see(waiting)["invite"]["link"])
    paths = [
        "/",
        "/g/chain",
        match,
        f"{match}/review",
        waiting,
        invite,
        "/daily",
        "/daily/chain",
        "/review",
        "/no",
    ]
    for path in paths:
        page = bob.get(path, Accept="text/html").text
        assert page.startswith("<!doctype html>"), path
        assert not INLINE.findall(page), path
        assert not OUTSIDE.findall(page), path


def test_static_files_are_cached_by_browsers(base: str) -> None:
    ann = Visitor(base)
    page = ann.get("/", Accept="text/html").text
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        answer = ann.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert ann.get("/static/../app.py").status_code == 404
    assert ann.get("/static/%2e%2e%2fapp.py").status_code == 404


def test_names_are_escaped(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("lights", "friend", name='<b onclick="x">Ann</b>')
    bob = Visitor(base)
    invite = re.sub(".*/j/", "/j/", ann.see(match)["invite"]["link"])
    page = bob.get(invite, Accept="text/html").text
    assert "<b onclick" not in page
    assert "&lt;b onclick" in page


def test_the_cookie_is_sent_only_to_this_server(base: str) -> None:
    ann = Visitor(base)
    assert "set-cookie" not in ann.get("/").headers, "nothing is left with somebody who only looks"
    answer = ann.post("/matches", game="lights", against="random")
    cookie = answer.headers["set-cookie"]
    value, *attributes = cookie.split("; ")
    assert re.fullmatch(r"duels=[A-Za-z0-9_-]{43}", value), cookie
    assert sorted(attributes) == ["HttpOnly", "Max-Age=31536000", "Path=/", "SameSite=lax"]
    assert "set-cookie" not in ann.post("/matches", game="lights", against="random").headers


def test_only_the_hash_of_a_cookie_is_stored(tmp_path: Path) -> None:
    file = tmp_path / "web.sqlite3"
    with serving(str(file)) as base:
        ann = Visitor(base)
        ann.start("lights", "random")
        value = ann.cookies["duels"]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert value.encode() not in stored
    assert b"lights" in stored


def test_with_tls_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    with serving(str(tmp_path / "web.sqlite3"), public_url="https://duels.example") as base:
        headers = {"Host": "duels.example", "Origin": "https://duels.example", "Accept": "application/json"}
        answer = httpx.post(f"{base}/matches", json={"game": "lights", "against": "friend"}, headers=headers)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-duels=")
        assert cookie.endswith("; Secure")
        assert answer.headers["strict-transport-security"]
        jar = {"Cookie": cookie.partition(";")[0]}
        view = httpx.get(base + answer.json()["url"], headers={**headers, **jar}).json()
        assert view["invite"]["link"].startswith("https://duels.example/j/")
        assert not view["invite"]["alone"]
        assert httpx.get(base).status_code == 421, "the proxy's name is the only one"


@pytest.mark.parametrize("cookies", ["{ours}; duels=other", "duels=other; a=b; {ours}"])
def test_a_cookie_of_another_server_with_our_name_does_not_take_the_seat(base: str, cookies: str) -> None:
    ann, _, match = pair(base, "hunt")
    header = cookies.format(ours=f"duels={ann.cookies['duels']}")
    answer = httpx.get(base + match, headers={"Cookie": header, "Accept": "application/json"})
    assert answer.json()["seat"] == 1


def test_an_invented_cookie_has_no_identity(base: str) -> None:
    ann, _, match = pair(base, "hunt")
    for value in ("", "x", "x" * 43, "é" * 43, "x" * 5000):
        headers = [(b"cookie", b"duels=" + value.encode()), (b"accept", b"application/json")]
        answer = httpx.get(base + match, headers=headers)
        assert answer.status_code in (404, 431)
    assert ann.see(match)["seat"] == 1


def test_unknown_and_forbidden_look_alike(base: str) -> None:
    _, _, match = pair(base, "hunt")
    eve = Visitor(base)
    for path in ("", "/events", "/record", "/review", "/hint"):
        for accept in ("application/json", "text/html"):
            response = eve.get(match + path, Accept=accept)
            nowhere = eve.get(f"/m/{'A' * 22}{path}", Accept=accept)
            assert response.status_code == nowhere.status_code == 404
            assert response.text == nowhere.text


def test_rate_limits_are_enforced_with_a_message(tmp_path: Path) -> None:
    limits = VisitorLimits(RateLimit(3, 0.001), RateLimit(2, 0.001), PLENTY, PLENTY, streams=2)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        ann = Visitor(base)
        match = ann.start("lights", "random")  # as somebody unknown
        for _ in range(2):
            ann.start("lights", "random")
        refused = ann.post("/matches", game="lights", against="random")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert "Too many requests" in refused.json()["message"]
        statuses = [ann.act(match, "9", 1).status_code for _ in range(4)]
        assert statuses == [422, 422, 422, 429]
        with ann.watching(match) as one, ann.watching(match) as two:
            one.next()
            two.next()
            assert ann.get(f"{match}/events").status_code == 429
        Visitor(base).start("lights", "random")  # the limit does not affect other visitors


def test_rate_limits_new_matches(tmp_path: Path) -> None:
    limits = VisitorLimits(PLENTY, PLENTY, PLENTY, PLENTY, matches_a_day=3)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        ann = Visitor(base)
        for _ in range(3):
            ann.start("lights", "random")
        assert ann.post("/matches", game="lights", against="random").status_code == 429


def test_rate_limits_include_rematches(tmp_path: Path) -> None:
    limits = VisitorLimits(PLENTY, PLENTY, PLENTY, PLENTY, matches_a_day=3)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        ann, bob, match = pair(base, "lights")
        ann.start("lights", "random")
        ann.start("lights", "random")
        ann.act(match, "resign")
        assert bob.offer(match, "rematch").status_code == 204
        assert ann.offer(match, "rematch", "yes").status_code == 429
    with serving(str(tmp_path / "few.sqlite3"), limits=VisitorLimits(PLENTY, RateLimit(2, 0.001))) as base:
        ann = Visitor(base)
        match = ann.start("lights", "random")  # as somebody unknown
        for status in (204, 204, 429):
            ann.act(match, "resign", ann.see_when(match, "you")["event"])
            assert ann.offer(match, "rematch").status_code == status
            match = f"/m/{ann.see(match)['rematch']}"
        ann, bob, match = pair(base, "lights")
        ann.act(match, "resign")
        for answer in ("", "no", "", "no"):  # an offer that was withdrawn creates no match
            assert ann.offer(match, "rematch", answer).status_code == 204


def test_rejected_requests_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("duels.web.visitors.time.monotonic", lambda: now)
    buckets = RateLimiter(VisitorLimits(act=RateLimit(10, 1), address_factor=2))

    def granted(who: str) -> bool:
        try:
            buckets.take("act", visitors.Visitor(who, "an address"))
        except TooMany:
            return False
        return True

    assert sum(granted("ann") for _ in range(100)) == 10
    assert sum(granted("bob") for _ in range(100)) == 10, "of the same address, which has 20"
    assert not granted("eve")
    now = 1.0
    assert [granted(who) for who in ("ann", "ann", "eve", "eve")] == [True, False, True, False]


def test_each_address_has_its_own_limit(tmp_path: Path) -> None:
    limits = VisitorLimits(PLENTY, RateLimit(1, 0.001), PLENTY, PLENTY, address_factor=3)
    with serving(str(tmp_path / "web.sqlite3"), limits=limits) as base:
        statuses = [
            Visitor(base).post("/matches", game="lights", against="random").status_code for _ in range(4)
        ]
        assert statuses == [201, 201, 201, 429], "newcomers share the address's limit, and no narrower one"


def test_seeds_are_never_sent_before_the_end(base: str) -> None:
    ann, bob, match = pair(base, "flip")
    ann.act(match, "A1")
    everything = [
        ann.get(match).text,
        ann.get(f"{match}/record").text,
        ann.get(match, Accept="text/html").text,
    ]
    with bob.watching(match) as events:
        everything.append(events.next_text()[1])
    with bob.watching(match, form="") as events:
        everything.append(events.next_text()[1])
    bob.act(match, "resign")
    seed = re.findall("^seed: (.+)$", ann.get(f"{match}/record").text, re.MULTILINE)[0]
    assert len(seed) >= 32
    assert not [text for text in everything if seed in text]


def test_a_seat_never_gets_the_others_secrets(base: str) -> None:
    """Everything that Bob is sent in a match of hunt, searched for what is Ann's."""
    ann, bob, match = pair(base, "hunt", name="Ann")
    got: list[str] = []
    with bob.watching(match) as data, bob.watching(match, form="") as pages:
        for events in (data, pages):
            got.append(events.next_text()[1])
        for action in ("tunnel 3", "observe 6"):
            assert ann.act(match, action).status_code == 204
            got += [bob.get(match).text, bob.get(match, Accept="text/html").text]
            got += [bob.get(f"{match}/record").text, bob.act(match, "banana", 2).text]
        for events in (data, pages):
            got.append(events.next_text()[1])
        got.append(bob.get("/").text)
    ours = (ann.cookies["duels"], hash_cookie(ann.cookies["duels"]), "tunnel 3\n", "TUNNEL 3<")
    assert not [secret for secret in ours for text in got if secret in text]
    bob.act(match, "resign")
    record = bob.get(f"{match}/record").text
    assert "tunnel 3\n" in record, "after the end it is no secret"
    seed = re.findall("^seed: (.+)$", record, re.MULTILINE)[0]
    assert not [text for text in got if seed in text]


@pytest.mark.parametrize(
    "url", ["duels.example", "https://", "ftp://x", "https://x/path", "https://x:0", "http://u@x"]
)
def test_rejects_public_urls_that_are_not_origins(url: str) -> None:
    with pytest.raises(DuelsError, match="--public-url"):
        ServerSettings("x", public_url=url)


def test_plain_http_omits_headers_that_need_tls(tmp_path: Path) -> None:
    with serving(str(tmp_path / "web.sqlite3"), addresses=("192.168.1.5",)) as base:
        ann = Visitor(base)
        port = base.rpartition(":")[2]
        nearby = ann.get("/health", Host=f"192.168.1.5:{port}")
        assert nearby.status_code == 200
        assert "cross-origin-opener-policy" not in nearby.headers
        assert ann.get("/health").headers["cross-origin-opener-policy"] == "same-origin"
        # A phone can read a code where it can open its link.
        assert "<svg" in ann.see(ann.start("leap", "friend"))["invite"]["qr"]


def test_origins_omit_the_default_port() -> None:
    assert ServerSettings("x", public_url="https://Duels.example:443/").origins == {"https://duels.example"}
    assert "http://[::1]:9" in ServerSettings("x", port=9).origins
    everywhere = ServerSettings("x", port=9, host="0.0.0.0", addresses=("192.168.1.5",))
    assert everywhere.link == "http://192.168.1.5:9"
    assert "http://0.0.0.0:9" not in everywhere.origins, "nobody opens that"
    assert UNLIMITED.act is PLENTY


def test_programs_get_rejections_in_json(base: str) -> None:
    ann = Visitor(base)
    refused = [
        ann.get("/", Host="duels.example"),
        ann.post_raw("/matches", b"{}", Origin="https://elsewhere.example"),
        ann.post_raw("/matches", b"{}", **{"Content-Type": "text/plain"}),
        ann.post_raw("/matches", b" " * 5000),
    ]
    assert [answer.status_code for answer in refused] == [421, 403, 415, 413]
    assert all(answer.json()["message"] for answer in refused)
    assert not ann.get("/", Host="duels.example", Accept="text/html").text.startswith("{")


def test_missing_pages_and_failures_get_one_line(
    base: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ann = Visitor(base)
    for answer in (ann.get("/nowhere"), ann.post("/health"), ann.get("/matches")):
        assert (answer.status_code, answer.json()) == (404, {"message": "Page not found. Check the address."})

    async def fail(self: SqliteStore) -> None:
        raise ZeroDivisionError("of ours")

    with monkeypatch.context() as broken:
        broken.setattr(SqliteStore, "check", fail)
        failed = ann.get("/health")
    assert failed.status_code == 500
    assert "No moves are lost" in failed.json()["message"]
    assert "of ours" not in failed.text
    assert "ZeroDivisionError" in caplog.text, "the log has the cause"
    assert ann.get("/health").json()["ok"] is True
