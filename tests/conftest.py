"""Shared fixtures: only the games of this package, and a separate home folder."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.browser import running_browser

SOURCES = Path(__file__).parent.parent / "src"


def pytest_configure() -> None:
    """Prepare this process: drop old compiled code, and restore signals for child processes."""
    _drop_old_code()
    _let_children_hear()


def _let_children_hear() -> None:
    """Restore the usual effect of ignored signals, as under `nohup`, in child processes.

    A program inherits what is ignored, but not a handler. This process still takes no notice of them.
    """
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTSTP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _drop_old_code() -> None:
    """Drop compiled code that is older than a module of its package, or than any that is compiled.

    Numba checks only the module of the called function, not the modules of the functions that this one calls.
    So tests would continue to use outdated code.
    """
    shared = [module for module in SOURCES.rglob("*.py") if b"numba" in module.read_bytes()]
    for index in SOURCES.rglob("__pycache__/*.nbi"):
        with suppress(FileNotFoundError):  # another worker was quicker
            modules = (*index.parent.parent.glob("*.py"), *shared)
            if any(module.stat().st_mtime > index.stat().st_mtime for module in modules):
                index.unlink()


@pytest.fixture(scope="session", autouse=True)
def no_games_of_others() -> None:
    """An author has a game of their own in the same environment; tests of installed games start processes."""
    with mock.patch("importlib.metadata.entry_points", return_value=()):
        from duels.games import list_installed_games

        assert list_installed_games() == ()  # and remembered


@pytest.fixture(scope="session", autouse=True)
def no_home_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use a temporary home instead of the user's. All workers share computed tables."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with mock.patch.dict(os.environ, {"DUELS_HOME": str(shared / "duels")}):
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser for one module: while it runs, other tests could not use event loops in this thread."""
    with running_browser() as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures of long attacks."""
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    attacks = [dict(report.user_properties)["attack"] for report in reports if report.user_properties]
    if attacks:
        from tests.attack.figures import together

        terminalreporter.section("attacks")
        terminalreporter.write(together([json.loads(text) for text in attacks]))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty home folder of this test's own."""
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))
    return tmp_path
