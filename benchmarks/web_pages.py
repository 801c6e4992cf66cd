"""Bytes, longest task and layout shift of our pages, measured by Chromium on a phone four times as slow.

python benchmarks/web_pages.py    measure only the pages, and print the result as JSON
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, sync_playwright

MATCHES = ("lights", "leap", "chain", "hunt", "flip")
SETTLING = 1_500  # milliseconds, for events and their drawing
SLOWDOWN = 4
MOVES = 4
ROUNDS = 3  # the median of the longest tasks counts, and the largest shift
TRACED = ["toplevel", "disabled-by-default-devtools.timeline"]
_WATCH = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.shift += each.value;
}).observe({ type: "layout-shift", buffered: true });
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
    """Return the bytes of every page with an empty cache, its longest task in milliseconds, and its shift.

    In a match, the layout shift is the sum over the moves after the page has loaded.
    """
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
                pages = {"home": "", **{f"a match of {game}": game for game in MATCHES}}
                return [_weigh_rounds(browser, name, link, game) for name, game in pages.items()]
        finally:
            process.kill()


def _chromium() -> str | None:
    """Return the installed browser, or None for Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def _weigh_rounds(browser: Browser, name: str, link: str, game: str) -> dict[str, Any]:
    """Return the median of the longest tasks of several rounds, and the largest shift."""
    rounds = [_weigh(browser, name, link, game) for _ in range(ROUNDS)]
    longest = statistics.median(page["longest_task_ms"] for page in rounds)
    shift = max(page["layout_shift"] for page in rounds)
    return {**rounds[0], "longest_task_ms": longest, "layout_shift": shift}


def _find_longest_task(trace: bytes) -> float:
    """Return the longest task of a page's main thread, in milliseconds of CPU time."""
    events = json.loads(trace)["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [event for event in events if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main]
    longest: float = max(event.get("tdur", 0) for event in tasks)
    return round(longest / 1e3, 1)


def _weigh(browser: Browser, name: str, link: str, game: str = "") -> dict[str, Any]:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    address = link
    if game:
        page.goto(link)
        address = link + page.evaluate(_CREATE, game)
        page.goto("about:blank")
    page.add_init_script(_WATCH)
    counted = context.new_cdp_session(page)
    counted.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    counted.send("Network.enable")
    counted.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    counted.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    browser.start_tracing(page=page, categories=TRACED)
    page.goto(address)
    page.wait_for_selector("[data-ready]")  # all scripts have loaded and run
    page.wait_for_timeout(SETTLING)
    weight = sum(sizes)
    loading_shift = page.evaluate("window.shift")
    for _ in range(MOVES if game else 0):
        page.evaluate(_ACT)
        page.wait_for_timeout(SETTLING)
    longest = _find_longest_task(browser.stop_tracing())
    shift = page.evaluate("window.shift") - (loading_shift if game else 0)
    context.close()
    return {"page": name, "bytes": weight, "longest_task_ms": longest, "layout_shift": round(shift, 4)}


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print(json.dumps(weigh(str(Path(sys.executable).with_name("duels")), folder), indent=1))
