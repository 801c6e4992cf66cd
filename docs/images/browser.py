"""Takes the pictures of the pages that the docs show: run it, and look at them.

It needs the packages of `[dev]` and an installed Chromium.
"""

import base64
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent
GAMES = ("lights", "leap", "chain", "hunt", "flip")
QUALITY = 70
MOST_MATCHES = 20


@contextmanager
def server() -> Iterator[str]:
    """A server with nothing in it; its address."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "duels", "serve", "--port", "0", "--no-browser"]
        environment = {**os.environ, "DUELS_HOME": home, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout
            yield process.stdout.readline().removeprefix("Play at ").strip()
            process.terminate()


def opened(browser: Browser, width: int, height: int, scheme: Any) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    return context.new_page()


def save(page: Page, name: str) -> None:
    session = page.context.new_cdp_session(page)
    bottom = "document.querySelector('main').getBoundingClientRect().bottom + 28"
    size = page.evaluate(f"[document.documentElement.scrollWidth, {bottom}]")
    whole = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    asked = {"format": "webp", "quality": QUALITY, "clip": whole, "captureBeyondViewport": True}
    data = session.send("Page.captureScreenshot", asked)["data"]
    (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(data))


def begin(page: Page, base: str, game: str) -> None:
    page.goto(base)
    page.click(f"section:has(#card-{game}) [data-play='']")
    page.wait_for_selector("#sentence[data-turn=you]")


def play(page: Page, action: str) -> None:
    event = page.get_attribute("#state", "data-event")
    page.locator(f'#board .target[data-action="{action}"] .hit').click()
    page.wait_for_selector(f'#state:not([data-event="{event}"])')
    page.wait_for_selector("#sentence[data-turn=you], #sentence[data-turn=over]")


def challenged(page: Page, base: str) -> None:
    """Play chain until there is something to challenge."""
    for _ in range(MOST_MATCHES):
        begin(page, base, "chain")
        while page.get_attribute("#sentence", "data-turn") == "you":
            if page.locator("[data-action=challenge]").count():
                return
            first = page.locator("#board .target").first.get_attribute("data-action")
            play(page, first or "")
    raise SystemExit("Nobody dared anything.")


def hunting(page: Page, base: str) -> None:
    """Play hunt until the second turn; the machine may find the token before."""
    for _ in range(MOST_MATCHES):
        begin(page, base, "hunt")
        for action in ("move 3", "observe 5", "move 2"):
            if page.get_attribute("#sentence", "data-turn") == "over":
                break
            play(page, action)
        else:
            return
    raise SystemExit("The token was found too soon.")


def main() -> None:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with server() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = opened(browser, 1060, 800, "light")
        for game in GAMES:
            page.goto(f"{base}/daily/{game}", timeout=120_000)
        page.goto(base)
        save(page, "browser-home")
        page = opened(browser, 1060, 800, "dark")
        challenged(page, base)
        save(page, "browser-match")
        page = opened(browser, 360, 740, "dark")
        hunting(page, base)
        save(page, "browser-phone")
        browser.close()


if __name__ == "__main__":
    main()
