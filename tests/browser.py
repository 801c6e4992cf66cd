"""The browser of this machine, if it has one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def running_browser() -> Iterator["Browser"]:
    """Chromium. Without one, tests that need it are skipped; on CI its absence is a failure."""
    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, _NAMES)), None)
    if not browser_path:
        missing = f"There is no Chromium here: none of {', '.join(_NAMES)} is on the path."
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that containers do not give; the pages are our own.
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        yield browser
        browser.close()
