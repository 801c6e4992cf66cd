"""Bytes and script time of our pages, measured by Chromium."""

import os
import shutil
import subprocess
from typing import Any

from playwright.sync_api import Browser, sync_playwright

MATCHES = ("lights", "leap", "chain", "hunt", "flip")
SETTLING = 1_500  # milliseconds, for events and their drawing
_WATCH_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.longest = Math.max(window.longest, each.duration);
}).observe({ type: "longtask", buffered: true });
"""
_CREATE = """
async (game) => {
  const made = await fetch("/matches", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ game, against: "random" }),
  });
  return (await made.json()).url;
}
"""
_ACT = """
async () => {
  const address = location.pathname;
  const seen = await (await fetch(address, { headers: { Accept: "application/json" } })).json();
  if (!seen.actions.length) return;
  await fetch(`${address}/act`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ action: seen.actions[0].action, event: seen.event }),
  });
}
"""


def weigh(duels: str, home: str) -> list[dict[str, Any]]:
    """Return the bytes of every page with an empty cache and its longest task in milliseconds."""
    command = [duels, "serve", "--port", "0", "--no-browser"]
    environment = {**os.environ, "DUELS_HOME": home, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            assert process.stdout
            link = process.stdout.readline().removeprefix("Play at ").strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
                pages = [_weigh(browser, "home", link)]
                return [*pages, *(_weigh(browser, f"a match of {game}", link, game) for game in MATCHES)]
        finally:
            process.kill()


def _chromium() -> str | None:
    """Return the installed browser, or None for Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def _weigh(browser: Browser, name: str, link: str, game: str = "") -> dict[str, Any]:
    context = browser.new_context()
    page = context.new_page()
    address = link
    if game:
        page.goto(link)
        address = link + page.evaluate(_CREATE, game)
        page.goto("about:blank")
    page.add_init_script(_WATCH_TASKS)
    counted = context.new_cdp_session(page)
    counted.send("Network.enable")
    counted.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    counted.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address)
    page.wait_for_selector("[data-ready]")  # all scripts have loaded and run
    page.wait_for_timeout(SETTLING)
    weight = sum(sizes)
    if game:
        page.evaluate(_ACT)
        page.wait_for_timeout(SETTLING)
    longest = page.evaluate("window.longest")
    context.close()
    return {"page": name, "bytes": weight, "longest_task_ms": longest}
