"""The page of a review in a real browser: phone, keyboard, both themes, no requests."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.review_page import render_review_page
from tests.analysis.matches import random_match

axe = pytest.importorskip("axe_playwright_python.sync_playwright")
PHONE = {"width": 390, "height": 800}
MATCHES = {
    "lights": duels.start("lights").play_text("1-2", "4", "3", "5-6", "7"),
    "leap": duels.start("leap").play_text("enter", "enter", "1", "1", "2", "2", "4", "1"),
    "chain": random_match("chain", Random(1), 60),  # many dots
    "hunt": duels.start("hunt").play_text("move 3", "observe 5", "move 2", "observe 3"),
    "flip": duels.start("flip").play_text("A1+A2", "3,5", "keep A1", "A3", "4"),
}


@pytest.fixture(scope="module", params=list(MATCHES))
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / f"{request.param}.html"
    headers = {"seat1": "human", "seat2": "club", "started": "2026-01-02 03:04 UTC"}
    review = duels.review(MATCHES[request.param])
    text = render_review_page(review, headers, lambda entries: f"duels resume x.duel --at {entries}")
    path.write_text(text, encoding="utf-8")
    return path


def test_the_page_fits_a_phone(browser: Any, page_file: Path) -> None:
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce")
    page = context.new_page()
    urls: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(page_file.as_uri())
    assert page.inner_text("#title") == "The start"
    assert page.inner_text("#here code") == "duels resume x.duel --at 0"
    for key in ("ArrowRight", "ArrowRight", "m", "ArrowLeft", "End"):
        page.keyboard.press(key)
        assert page.locator("#board svg.board").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], key
    dot = page.locator(".curve .dot").last.bounding_box()
    assert dot["x"] + dot["width"] <= PHONE["width"], "the whole curve is in sight"
    last = str(page.locator("#entries button").count())
    assert page.locator("#entries [aria-current=step]").get_attribute("data-step") == last
    page.locator("#entries button").first.focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#title").startswith("1. ")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results = axe.Axe().run(page)
        assert not results.violations_count, results.generate_report()
    assert urls == [page_file.as_uri()]
    assert not wrong
    context.close()
