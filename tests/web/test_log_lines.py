"""The log of a server is empty as long as all is well, and never contains entries, names or cookies."""

import sys
from pathlib import Path

import pytest

from tests.web.serving import Process, Visitor, pair

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="ends the server by a signal")
START = "Press Ctrl-C to end the server. Matches are saved.\n"


def visit(base: str) -> list[str]:
    """Play, watch, ask and make mistakes. The words that no log may contain."""
    ann, bob, match = pair(base, "lights", name="Zebedee")
    with bob.watching(match) as events:
        events.next()
        assert ann.act(match, "3-4").status_code == 204
        assert ann.act(match, "9").status_code == 409
        assert bob.act(match, "9").status_code == 422
    assert bob.act(match, "resign").status_code == 204
    assert ann.get(f"{match}/review").status_code == 200
    solo = ann.start("leap", "novice")
    ann.see_when(solo, "you")
    assert ann.get(f"{solo}/hint").status_code == 200
    for path, status in (("/", 200), ("/practice/lights", 200), ("/nowhere", 404), ("/m/%00", 400)):
        assert Visitor(base).get(path).status_code == status
    return ["Zebedee", "3-4", *(person.cookies["duels"] for person in (ann, bob))]


def test_nothing_is_logged_as_long_as_all_is_well(tmp_path: Path) -> None:
    with Process(str(tmp_path / "web.sqlite3"), tmp_path) as server:
        visit(server.base)
        assert server.end() == 0
    assert server.log.read_text() == START


def test_log_lines_contain_addresses_only_on_request(tmp_path: Path) -> None:
    with Process(str(tmp_path / "web.sqlite3"), tmp_path, options=("--log-addresses",)) as server:
        words = visit(server.base)
        server.end()
    log = server.log.read_text()
    assert "127.0.0.1" in log
    assert not [word for word in words if word in log]
