"""Killed servers, two servers for one match, a lost database, a full disk."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from duels.games import load_record
from duels.web.decisions import decide_bot_move
from duels.web.opponents import ProgramPool
from tests.support import COMMAND, environment
from tests.web.serving import Process, Visitor, pair, serving

KILL = """
import os, signal
from duels.web.sqlite_store import SqliteStore
append = SqliteStore.append
async def killed(self, change):
    if any(entry.text == "3-4" for entry in change.entries):
        {before}
        await append(self, change)
        {after}
    else:
        await append(self, change)
SqliteStore.append = killed
"""
DIE = "os.kill(os.getpid(), signal.SIGKILL)"


def list_log(visitor: Visitor, match: str) -> list[str]:
    return [line["entry"] for line in visitor.see(match)["log"]]


@pytest.mark.parametrize("when", ["before the write", "after the write", "after the answer"])
def test_a_killed_server_neither_loses_nor_repeats_moves(tmp_path: Path, when: str) -> None:
    database = str(tmp_path / "web.sqlite3")
    broken = KILL.format(
        before=DIE if when == "before the write" else "pass",
        after=DIE if when == "after the write" else "pass",
    )
    with Process(database, tmp_path, before=broken) as first:
        ann, bob, match = pair(first.base, "lights")
        event = ann.see(match)["event"]
        if when == "after the answer":
            assert ann.act(match, "3-4", event).status_code == 204
            first.kill()
        else:
            with pytest.raises(httpx.TransportError):
                ann.act(match, "3-4", event)
            first.wait()
    port = int(first.base.rpartition(":")[2])
    with Process(database, tmp_path, port=port) as second:
        assert second.base == first.base
        assert list_log(bob, match) == ([] if when == "before the write" else ["3-4"])
        assert ann.act(match, "3-4", event).status_code == 204, "the page repeats the unanswered request"
        assert list_log(ann, match) == list_log(bob, match) == ["3-4"]
        assert bob.act(match, "1").status_code == 204
        assert second.end() == 0


def test_the_next_visitor_continues_after_a_killed_server(tmp_path: Path) -> None:
    database = str(tmp_path / "web.sqlite3")
    with serving(database, pause=3600.0) as base:
        ann = Visitor(base)
        match = ann.start("chain", "novice", first="me")
        ann.act(match, "4")
        assert ann.see(match)["turn"] == "other"
        cookie = ann.cookies["duels"]
    with serving(database) as base:
        returning = Visitor(base, Cookie=f"duels={cookie}")
        view = returning.see_when(match, "you")
        returning.act(match, "resign", view["event"])
        record = load_record(returning.get(f"{match}/record").text)
    header = record_header(record.headers)
    expected = decide_bot_move("x", 0, header, ["4"], ProgramPool().get_player).entries
    assert [line["entry"] for line in view["log"]][1:] == [entry.text for entry in expected]


def record_header(headers: Any) -> str:
    from duels.core.record import format_header
    from duels.games import find_game

    return format_header(find_game("chain").rules(), headers)


def test_two_servers_race_at_one_match(database: str, tmp_path: Path) -> None:
    """If both servers get the same requests at once, one move is played, and both show it."""
    with Process(database, tmp_path) as one, Process(database, tmp_path) as two:
        ann, bob, match = pair(one.base, "lights")
        connections = {
            visitor: [visitor, Visitor(two.base, Cookie=f"duels={visitor.cookies['duels']}")]
            for visitor in (ann, bob)
        }
        with ThreadPoolExecutor(8) as pool:
            for turn in range(3):
                first_server, second_server = connections[(ann, bob)[turn % 2]]
                view = first_server.see(match)
                assert view["turn"] == "you"
                event = view["event"]
                actions = [action["action"] for action in view["actions"]][:4] * 2
                posts = [
                    pool.submit((first_server, second_server)[n % 2].act, match, action, event)
                    for n, action in enumerate(actions)
                ]
                statuses = [post.result().status_code for post in posts]
                played = [action for action, status in zip(actions, statuses, strict=True) if status == 204]
                assert len(set(played)) == 1, "one action is played, and only its requests succeed"
                assert set(statuses) <= {204, 409}
                assert list_log(first_server, match)[-1] == played[0]
                assert list_log(first_server, match) == list_log(second_server, match)
                assert len(list_log(first_server, match)) == turn + 1


def test_a_move_at_one_server_reaches_the_other(database: str, tmp_path: Path) -> None:
    with serving(database) as one, serving(database) as two:
        ann, bob, match = pair(one, "lights")
        away = Visitor(two, Cookie=f"duels={bob.cookies['duels']}")
        with away.watching(match) as events:
            assert events.next()[1]["turn"] == "other"
            ann.act(match, "4")
            assert events.next()[1]["turn"] == "you"


@pytest.mark.slow
def test_two_servers_agree_on_a_bots_move(database: str, tmp_path: Path) -> None:
    with serving(database) as one, serving(database) as two:
        for game in ("chain", "leap", "flip"):
            ann = Visitor(one)
            match = ann.start(game, "novice", first="you")
            other = Visitor(two, Cookie=f"duels={ann.cookies['duels']}")
            for _ in range(30):
                view = ann.see_when(match, "you", "over")
                if view["turn"] == "over":
                    break
                ann.act(match, view["actions"][0]["action"], view["event"])
                other.see(match)
            assert ann.see_when(match, "you", "over") == other.see_when(match, "you", "over")


def test_reports_a_lost_database_and_its_return(tmp_path: Path) -> None:
    file = tmp_path / "web.sqlite3"
    with serving(str(file)) as base:
        ann, bob, match = pair(base, "lights")
        assert ann.get("/health").json()["ok"] is True
        aside = tmp_path / "aside.sqlite3"
        file.rename(aside)
        refused = ann.act(match, "4", ann.see(match)["event"])
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert "cannot reach its database" in refused.json()["message"]
        assert ann.get("/health").status_code == 503
        aside.rename(file)
        assert ann.act(match, "4").status_code == 204
        assert list_log(bob, match) == ["4"]


def test_a_database_that_restarts_loses_nothing(postgres: str) -> None:
    from tests.web.conftest import emptied

    database = emptied(postgres)
    with serving(database) as base:
        ann, bob, match = pair(base, "lights")
        with bob.watching(match) as events:
            events.next()
            drop_connections(database)
            while ann.act(match, "4", 2).status_code == 503:
                pass
            assert events.next()[1]["turn"] == "you"


def drop_connections(database: str) -> None:
    import psycopg

    with psycopg.connect(database, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = current_database() AND backend_type = 'client backend'"
        )


def test_reports_a_full_disk_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    from duels.web import sqlite_store

    connections: list[sqlite3.Connection] = []
    connect = sqlite_store._connect

    def connect_and_note(path: Path) -> sqlite3.Connection:
        connections.append(connect(path))
        return connections[-1]

    monkeypatch.setattr(sqlite_store, "_connect", connect_and_note)
    with serving(str(tmp_path / "web.sqlite3")) as base:
        ann, bob, match = pair(base, "lights")
        (pages,) = connections[0].execute("PRAGMA page_count").fetchone()
        connections[0].execute(f"PRAGMA max_page_count = {pages}")  # as on a full disk
        responses = [ann.post("/matches", game="lights", against="friend", name="x" * 30) for _ in range(40)]
        assert responses[-1].status_code == 503
        assert ann.get("/health").status_code == 200, "what is there can still be written"
        connections[0].execute("PRAGMA query_only = 1")  # as if there was no room at all
        assert ann.get("/health").status_code == 503
        connections[0].execute("PRAGMA query_only = 0")
        before = list_log(ann, match)
        connections[0].execute("PRAGMA max_page_count = 1000000")
        assert ann.act(match, "4").status_code == 204
        assert list_log(bob, match) == [*before, "4"]


# -- starting ----------------------------------------------------------------------------------------


def serve(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "serve", "--no-browser", *arguments],
        capture_output=True,
        text=True,
        env=environment(home),
        timeout=60,
        check=False,
    )


def test_reports_a_taken_port_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as blocker:
        blocker.bind(("127.0.0.1", 0))
        blocker.listen()
        port = blocker.getsockname()[1]
        result = serve(tmp_path, "--port", str(port))
    assert result.returncode == 1
    assert result.stderr.startswith(f"duels: port {port} is in use, ")
    assert result.stderr.count("\n") == 1


def test_reports_an_unavailable_database_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for database, why in (
        (tmp_path / "file" / "web.sqlite3", "Not a directory"),
        (tmp_path, "is a folder"),
        ("postgresql://127.0.0.1:9/duels", "refused"),
    ):
        result = serve(tmp_path, "--port", "0", "--database", str(database))
        assert result.returncode == 1
        error = [line for line in result.stderr.splitlines() if line.startswith("duels: ")]
        assert len(error) == 1, result.stderr
        assert why in error[0]
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--player", "champion"], "--player must be NAME=PLAYER"),
        (["--player", "casual=expert"], "the name 'casual' is taken"),
        (["--player", "me=human"], "is a person"),
        (["--player", "me=bar"], "--player me: There is no player 'bar'; there are random, "),
        (["--player", "x=banana"], "There is no player 'banana'"),
        (["--player", "x=cmd:"], "cmd: needs a command"),
        (["--player", "x=cmd:no-such-bot"], "the program 'no-such-bot' was not found"),
        (["--player", "x=model:gpt"], "only in duels arena"),
        (["--public-url", "duels.example"], "--public-url must be an address without a path"),
        (["--host", "192.0.2.77"], "no such address"),
        (["--database", ""], "--database must be a file"),
    ],
)
def test_reports_wrong_options_in_one_line(tmp_path: Path, arguments: list[str], why: str) -> None:
    from tests.support import duels

    result = duels(tmp_path, "serve", "--no-browser", "--port", "0", *arguments)
    assert result.code == 1
    assert why in result.err


def test_names_the_missing_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['starlette'] = None\nfrom duels.terminal.commands import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "serve", "--port", "0"],
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "pip install 'duels[web]'" in result.stderr


def test_help_lists_every_option_with_examples(tmp_path: Path) -> None:
    from tests.support import duels

    text = duels(tmp_path, "serve", "--help").out
    for option in ("--host", "--port", "--database", "--lan", "--public-url", "--player", "--no-browser"):
        assert option in text
    assert "duels serve --lan" in text
