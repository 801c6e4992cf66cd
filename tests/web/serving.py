"""A real server on the loopback, and visitors who use it like a browser."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from duels.core.record import format_header
from duels.core.rules import AnyRules
from duels.web.server import Server
from duels.web.settings import ServerSettings
from duels.web.visitors import RateLimit, VisitorLimits

PLENTY = RateLimit(1e9, 1e9)
UNLIMITED = VisitorLimits(PLENTY, PLENTY, PLENTY, PLENTY, 1, *[10**6] * 6)


class Visitor:
    """A visitor with a browser: a cookie and the usual headers."""

    def __init__(self, base: str, **headers: str) -> None:
        self.base = base
        self._http = httpx.Client(
            base_url=base, headers={"Origin": base, "Accept": "application/json", **headers}, timeout=60
        )

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._send("GET", path, headers=headers)

    def post(self, path: str, **data: Any) -> httpx.Response:
        return self._send("POST", path, json=data)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request. Like a browser, send it again if the server has just closed the idle connection."""
        try:
            return self._http.request(method, path, **options)
        except httpx.RemoteProtocolError:
            return self._http.request(method, path, **options)

    def post_raw(self, path: str, content: bytes, **headers: str) -> httpx.Response:
        return self._http.post(path, content=content, headers={"Content-Type": "application/json", **headers})

    def request(self, method: str, path: str, content: bytes | None = None) -> httpx.Response:
        headers = {} if content is None else {"Content-Type": "application/json"}
        return self._http.request(method, path, content=content, headers=headers)

    def start(self, game: str, against: str = "random", **more: Any) -> str:
        """Start a match. Return its address."""
        answer = self.post("/matches", game=game, against=against, **more)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["url"])

    def see(self, match: str) -> dict[str, Any]:
        answer = self.get(match)
        assert answer.status_code == 200, answer.text
        view: dict[str, Any] = answer.json()
        return view

    def act(self, match: str, action: str, event: int | None = None) -> httpx.Response:
        event = self.see(match)["event"] if event is None else event
        return self.post(f"{match}/act", action=action, event=event)

    def offer(self, match: str, what: str, answer: str = "", event: int | None = None) -> httpx.Response:
        event = self.see(match)["event"] if event is None else event
        return self.post(f"{match}/offer", offer=what, answer=answer, event=event)

    @contextmanager
    def watching(self, match: str, last: int | None = None, form: str = "?format=json") -> Iterator["Events"]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(last)} if last is not None else {})
        with self._http.stream("GET", f"{match}/events{form}", headers=headers) as stream:
            assert stream.status_code == 200, stream.read()
            yield Events(stream.iter_lines())

    def see_when(self, match: str, *turns: str) -> dict[str, Any]:
        """Return the match as soon as it is one of these turns. Like a browser, reopen a closed stream."""
        try:
            return self._wait_for(match, turns)
        except httpx.RemoteProtocolError:
            return self._wait_for(match, turns)

    def _wait_for(self, match: str, turns: tuple[str, ...]) -> dict[str, Any]:
        with self.watching(match) as events:
            while True:
                _, view = events.next()
                if view["turn"] in turns:
                    return view

    @property
    def cookies(self) -> httpx.Cookies:
        return self._http.cookies

    def close(self) -> None:
        self._http.close()


class Events:
    """The events of a stream."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def next(self) -> tuple[int, dict[str, Any]]:
        """Return the number and the data of the next event."""
        number, data = self.next_text()
        return number, json.loads(data)

    def next_text(self) -> tuple[int, str]:
        """Return the number and the raw lines of the next event."""
        number = None
        data: list[str] = []
        for line in self._lines:
            name, _, value = line.partition(": ")
            if name == "id":
                number = int(value)
            elif name == "data":
                data.append(value)
            elif data and number is not None:
                return number, "\n".join(data)
        raise EOFError("the stream has ended")

    def next_line(self, *names: str) -> str:
        """Return the value of the next line with one of these names."""
        for line in self._lines:
            name, _, value = line.partition(": ")
            if name in names:
                return value
        raise EOFError("the stream has ended")


def free_socket() -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    return listening


@contextmanager
def serving(database: str, **settings: Any) -> Iterator[str]:
    """Run a server in a thread of this process. Yields its address."""
    listening = free_socket()
    options = {"pause": 0.0, "prepare_puzzles": False, "limits": UNLIMITED, **settings}
    server_settings = ServerSettings(database=database, port=listening.getsockname()[1], **options)
    ready = threading.Event()
    server = Server(server_settings, listening, ready.set)
    problems: list[BaseException] = []

    def run() -> None:
        try:
            server.run()
        except BaseException as problem:
            problems.append(problem)
        finally:
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60)
    if problems:
        raise problems[0]
    try:
        yield f"http://127.0.0.1:{server_settings.port}"
    finally:
        server.stop()
        thread.join(60)
        assert not thread.is_alive()


class Process:
    """A server in a separate process, which can be killed."""

    def __init__(
        self,
        database: str,
        home: Path,
        port: int = 0,
        before: str = "",
        limits: str = "UNLIMITED",
        options: tuple[str, ...] = (),
    ) -> None:
        """`before` runs first in the process: it may plant a fault."""
        program = (
            f"import sys\n{before}\n"
            "from duels.web import command, settings\n"
            "from functools import partial\n"
            "from duels.terminal.signals import install_signal_handlers\n"
            "install_signal_handlers()\n"
            "from tests.web.serving import *\n"
            f"quick = dict(pause=0.0, prepare_puzzles=False, limits={limits})\n"
            "settings.ServerSettings = partial(settings.ServerSettings, **quick)\n"
            f"command.serve(['--port', '{port}', '--no-browser', '--database', {database!r}, *{options!r}])\n"
        )
        environment = {**os.environ, "DUELS_HOME": str(home), "PYTHONUNBUFFERED": "1"}
        self.log = home / "log"
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line.startswith("Play at "), line
        self.base = line.removeprefix("Play at ").strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(60)

    def wait(self) -> int:
        return self._process.wait(60)

    def end(self) -> int:
        self._process.terminate()
        return self.wait()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self._process.stdout:
            self._process.stdout.close()


def pair(base: str, game: str, **more: Any) -> tuple[Visitor, Visitor, str]:
    """Seat two people at a match. Return them and its address."""
    ann, bob = Visitor(base), Visitor(base)
    match = ann.start(game, "friend", **more)
    link = ann.see(match)["invite"]["link"]
    path = link[link.index("/j/") :]
    assert bob.get(path).status_code == 200
    answer = bob.post(path, name="Bob")
    assert answer.status_code == 200, answer.text
    return ann, bob, match


def header_of(rules: AnyRules, **headers: str) -> str:
    return format_header(rules, {"seat1": "human", "seat2": "human", "seed": "7", **headers})
