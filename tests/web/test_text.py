"""Invalid text is rejected in one sentence by every field, path and header, on every database."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Visitor, pair, serving

SURROGATE, NUL = "\ud800", "a\0b"
BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/review", {"record": SURROGATE}),
    ("/matches", {"match": SURROGATE, "entries": 1}),
    ("/matches", {"match": NUL, "entries": 1}),
    ("/matches", {"game": "lights", "against": "friend", "first": SURROGATE}),
    ("/matches", {"game": "lights", "against": "friend", "name": SURROGATE}),
    ("/matches", {"game": "lights", "against": NUL}),
    ("/matches", {SURROGATE: "lights"}),
    ("/practice/lights", {"seed": SURROGATE, "answer": "1"}),
    ("/practice/lights", {"seed": NUL, "answer": "1"}),
    ("/daily", {"answered": {SURROGATE: {"2026-01-01": [[NUL]]}}}),
    ("/j/token", {"name": NUL}),
)
PATHS = ("/m/%00", "/m/%00/events", "/m/a%00b/record", "/j/%00", "/g/%00", "/%00", "/practice/flip?seed=%00")


def test_rejects_text_that_cannot_be_stored_or_shown(database: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving(database) as base:
        ann, bob, match = pair(base, "lights")
        answers = [ann.post_raw(path, json.dumps(fields).encode()) for path, fields in BODIES]
        answers += [ann.post_raw(f"{match}/act", json.dumps({"event": 2, "entries": [NUL]}).encode())]
        answers += [ann.get(path) for path in PATHS]
        answers += [bob.post("/m/%00/act", action="1", event=2), bob.post("/j/%00")]
        wrong = [answer for answer in answers if answer.status_code not in (400, 404)]
        assert not wrong, [(answer.url, answer.status_code, answer.text) for answer in wrong]
        assert {answer.json()["message"].count("\n") for answer in answers} == {0}
        assert ann.act(match, "1").status_code == 204
    assert not caplog.records, "no failure of the server"


@pytest.mark.parametrize(
    ("forwarded", "status"),
    [("a:b", 400), ("somebody", 400), ("192.0.2.7", 200), ("2001:db8::7", 200), ("fe80::7%eth0", 200)],
)
def test_rejects_invalid_forwarded_addresses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, forwarded: str, status: int
) -> None:
    with serving(str(tmp_path / "web.sqlite3"), public_url="http://duels.example") as base:
        answer = Visitor(base).get("/practice", Host="duels.example", **{"X-Forwarded-For": forwarded})
    assert answer.status_code == status, answer.text
    assert status == 200 or "IP address" in answer.json()["message"]
    assert not caplog.records
