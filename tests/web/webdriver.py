"""Firefox and WebKit as a person uses them, by the protocols that they speak: Marionette and WebDriver."""

import json
import os
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from glob import glob
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx
import pytest

PATIENCE = 60.0  # seconds until a test that waits in vain fails
_MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"


def require_program(program: str, package: str) -> None:
    """Skip the test if a program is missing."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed; on Debian: apt-get install {package}")


class Browser(ABC):
    """A browser with one window."""

    @abstractmethod
    def send(self, command: str, **arguments: Any) -> Any:
        """Run a WebDriver command, such as `ElementClick`, and return its value."""

    def go(self, url: str) -> None:
        self.send("Navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        return self.send("ExecuteScript", script=f"return {expression};", args=[])

    def wait(self, expression: str) -> Any:
        """Return the value of an expression as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"{expression} did not become true"
            time.sleep(0.05)
        return value

    def click(self, selector: str) -> None:
        """Click an element. Buttons that have just appeared ignore clicks at first."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.send("ElementClick", id=self._find(selector))
                return
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def type(self, selector: str, text: str) -> None:
        self.send("ElementSendKeys", id=self._find(selector), text=text)

    def _find(self, selector: str) -> str:
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        element = self.send("FindElement", using="css selector", value=selector)
        return str(next(iter(element.values())))


class Firefox(Browser):
    """Firefox, by Marionette: messages with their length in front."""

    def __init__(self, port: int) -> None:
        self._socket = _connect(port)
        self._file = self._socket.makefile("rwb")
        self._count = 0
        self._read()  # its greeting
        self.send("NewSession")

    def send(self, command: str, **arguments: Any) -> Any:
        self._count += 1
        body = json.dumps([0, self._count, f"WebDriver:{command}", arguments]).encode()
        self._file.write(b"%d:%b" % (len(body), body))
        self._file.flush()
        _, _, error, result = self._read()
        assert not error, error["message"]
        return result.get("value") if isinstance(result, dict) else result

    def _read(self) -> Any:
        length = b""
        while (letter := self._file.read(1)) != b":":
            length += letter
        return json.loads(self._file.read(int(length)))


class WebKit(Browser):
    """WebKitGTK's MiniBrowser, by WebDriver over HTTP."""

    _PATHS: ClassVar = {
        "Navigate": "/url",
        "ExecuteScript": "/execute/sync",
        "FindElement": "/element",
        "ElementClick": "/element/{id}/click",
        "ElementSendKeys": "/element/{id}/value",
    }

    def __init__(self, port: int, program: str) -> None:
        _connect(port).close()
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)
        options = {"webkitgtk:browserOptions": {"binary": program, "args": ["--automation"]}}
        session = self._post("/session", capabilities={"alwaysMatch": options})
        self._http.base_url = f"http://127.0.0.1:{port}/session/{session['sessionId']}"

    def send(self, command: str, **arguments: Any) -> Any:
        return self._post(self._PATHS[command].format(id=arguments.pop("id", "")), **arguments)

    def _post(self, path: str, **arguments: Any) -> Any:
        answer = self._http.post(path, json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]


def _connect(port: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), PATIENCE)
        except OSError:
            assert time.monotonic() < end, "the browser did not start"
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _running(*command: str, **environment: str) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextmanager
def two_firefoxes(folder: Path) -> Iterator[list[Browser]]:
    """Two people, each with a profile."""
    require_program("firefox-esr", "firefox-esr")
    with ExitStack() as open_browsers:
        browsers: list[Browser] = []
        for name in ("ann", "bob"):
            profile, port = folder / name, _free_port()
            profile.mkdir()
            (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
            command = ("firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", str(profile))
            open_browsers.enter_context(_running(*command, HOME=str(profile)))
            browsers.append(Firefox(port))
        yield browsers


@contextmanager
def two_webkits(folder: Path) -> Iterator[list[Browser]]:
    """Two people, each with a driver of their own, on a display without a screen."""
    require_program("WebKitWebDriver", "webkit2gtk-driver")
    require_program("Xvfb", "xvfb")
    (program, *_) = glob(_MINI_BROWSER)
    with ExitStack() as open_browsers:
        display = f":{_free_port()}"
        open_browsers.enter_context(_running("Xvfb", display, "-screen", "0", "1280x1000x24"))
        socket_path = Path(f"/tmp/.X11-unix/X{display[1:]}")
        end = time.monotonic() + PATIENCE
        while not socket_path.exists():
            assert time.monotonic() < end, "Xvfb did not start"
            time.sleep(0.1)
        browsers: list[Browser] = []
        for name in ("ann", "bob"):
            home, port = folder / name, _free_port()
            home.mkdir()
            environment = {"DISPLAY": display, "HOME": str(home)}
            # Containers do not allow WebKit's own sandbox.
            environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
            driver = _running("WebKitWebDriver", f"--port={port}", **environment)
            open_browsers.enter_context(driver)
            browsers.append(WebKit(port, program))
        yield browsers


def path_of(url: str) -> str:
    return urlsplit(url).path
