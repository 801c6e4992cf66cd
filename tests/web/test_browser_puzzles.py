"""Puzzles in a real browser, and their data in local storage."""

from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from playwright.sync_api import Browser

from duels.core.rules import Seat
from duels.games import GAMES
from duels.games.flip.drawing import FlipDrawing
from duels.games.flip.rules import QuantumTiles
from tests.web.browsing import Person

PRESS = """
(action) => document.querySelector(`[data-action="${action}"] .hit`)
  .dispatchEvent(new MouseEvent("click", {bubbles: true}))
"""
ANSWERED = "#puzzle[data-done] #graded"


def test_an_answered_puzzle_stays_answered(ann: Person) -> None:
    ann.go("/daily/lights")
    pressed = ann.pressable[:2]
    ann.page.evaluate(f"actions => actions.forEach({PRESS})", pressed)
    ann.page.wait_for_selector(ANSWERED)
    assert ann.page.get_attribute(".target.chosen", "data-action") == pressed[0], "the first answer counts"
    first = ann.page.inner_text("#puzzle")
    assert "Find the best move" not in first
    ann.go("/daily/lights")
    ann.page.wait_for_selector(ANSWERED)
    before = ann.page.locator("#before")
    assert before.is_visible()
    assert ann.page.inner_text("#puzzle").replace(before.inner_text(), "").split() == first.split()
    ann.go("/daily/leap")
    assert ann.page.is_hidden("#before")


def test_a_puzzle_describes_events_that_the_board_does_not_show(ann: Person) -> None:
    rules = QuantumTiles()
    state = rules.parse_state("...../.4.../..5../...2e/..... 6,5 01 2")
    assert FlipDrawing(rules).recap(rules.sight(state, Seat.TWO)) == "Shown and face down: D5 is a 5."
    seeds = (f"/practice/flip?seed={seed}" for seed in range(100))
    path, recap = next((path, recap) for path in seeds if (recap := ann.data(path)["unshown"]))
    ann.go(path)
    assert recap in ann.page.inner_text(".log")


def test_home_uses_the_servers_day_and_the_visitors_time(browser: Browser, base: str) -> None:
    days = set()
    ahead = Person(browser, base, timezone_id="Pacific/Kiritimati")  # its date and ...
    behind = Person(browser, base, timezone_id="Pacific/Niue")  # ... this one's are never the same
    for person in (ahead, behind):
        person.go("/daily")
        day = person.page.get_attribute("#daily", "data-date")
        person.page.evaluate(
            "day => localStorage.setItem('duels.daily', JSON.stringify({[day]: {leap: true}}))", day
        )
        person.go("/")
        person.page.wait_for_selector("#today-marks .right[data-game=leap]")
        person.start("leap", "casual")
        person.go("/")
        assert person.page.inner_text("time").endswith(("just now", " min ago"))
        person.page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=3))
        person.go("/")
        days.add(person.page.inner_text("time"))  # Nov 17
        person.close()
    assert len(days) == 2


def test_ignores_invalid_data_in_local_storage(ann: Person) -> None:
    for broken in ("{", "null", "7"):
        ann.go("/")
        ann.page.evaluate("kept => localStorage.setItem('duels.daily', kept)", broken)
        ann.go("/daily")
        assert ann.page.inner_text("#share") == "Not yet."
    day = ann.page.get_attribute("#daily", "data-date")
    ann.page.evaluate(
        "day => localStorage.setItem('duels.daily', JSON.stringify({[day]: {leap: true}}))", day
    )
    ann.go("/daily")
    ann.page.wait_for_selector(f"#share:has-text('duels daily {day}: ·■··· 1/5')")
    picture = f"/picture/daily.png?result={day}.-1---.0"
    assert ann.page.locator("[data-picture]").get_attribute("href") == picture


def test_the_answers_can_be_shared_after_the_last_puzzle(ann: Person) -> None:
    page = ann.page
    ann.go("/daily/lights")
    others = {game: False for game in GAMES if game not in ("lights", "leap")}
    save = "([day, answers]) => localStorage.setItem('duels.daily', JSON.stringify({[day]: answers}))"
    day = page.get_attribute("#puzzle", "data-date")
    page.evaluate(save, [day, others])
    page.evaluate(PRESS, ann.pressable[0])
    page.wait_for_selector(ANSWERED)
    assert page.is_hidden("[data-share-line]"), "leap is open"
    page.evaluate(save, [day, {**others, "leap": True}])
    ann.go("/daily/lights")
    page.click("[data-share-line]")
    page.wait_for_selector("#notice:has-text('Copied')")


def test_a_lesson_goes_on_after_the_right_answer(ann: Person) -> None:
    page = ann.page
    ann.start("hunt", "casual")
    ann.go("/lesson/hunt")
    assert page.locator(".badge").all_text_contents() == ["1", "2", "3"]
    assert "Only you see it." in page.inner_text(".meanings")
    page.evaluate(PRESS, "tunnel 4")
    page.wait_for_selector("#graded.bad:has-text('Keep the tunnel')")
    page.evaluate(PRESS, "move 4")
    page.wait_for_selector("#graded.good")
    page.keyboard.press("Enter")  # on Next
    assert ann.sentence.startswith("Step 2 of 3.")
    page.evaluate(PRESS, "observe 1")
    page.click("#next button")
    page.evaluate(PRESS, "tunnel 1")
    page.click("text=Back to your match")
    page.wait_for_selector("#state")


@pytest.mark.parametrize("game", GAMES)
def test_the_numbers_of_a_lesson_are_visible_on_a_phone(ann: Person, game: str) -> None:
    page = ann.page
    page.set_viewport_size({"width": 360, "height": 640})
    ann.go(f"/lesson/{game}")
    boxes = list(filter(None, (badge.bounding_box() for badge in page.locator(".badge").all())))
    assert boxes
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    for one, two in combinations(boxes, 2):
        apart = max(abs(one[axis] - two[axis]) for axis in ("x", "y"))
        assert apart >= one["width"], "no number hides another"


def test_hints_and_the_next_step_come_into_view_on_a_phone(ann: Person) -> None:
    page = ann.page
    page.set_viewport_size({"width": 360, "height": 640})
    ann.start("flip", "casual")
    ann.wait("you")
    page.click("#lesson-offer button")
    page.click("[data-hint]")
    page.wait_for_selector("#hint:not(:empty)")
    assert bottom_of(ann, "#hint") <= 640
    ann.go("/lesson/flip")
    page.evaluate(PRESS, "C3")
    page.wait_for_selector("#next:visible")
    assert bottom_of(ann, "#next") <= 640


def bottom_of(person: Person, selector: str) -> float:
    """Return the bottom of an element on the screen, in pixels."""
    box = person.page.locator(selector).bounding_box()
    assert box
    return box["y"] + box["height"]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_lesson_offer_covers_nothing(ann: Person, width: int) -> None:
    page = ann.page
    page.set_viewport_size({"width": width, "height": 800})
    ann.start("flip", "casual")
    page.wait_for_selector("#lesson-offer:visible")
    assert "Reach exactly 21 points." in page.inner_text("#lesson-offer")
    offer = page.locator("#lesson-offer").bounding_box()
    assert offer
    assert offer["y"] >= bottom_of(ann, "#state")


def test_the_lesson_is_offered_before_the_first_match_only(ann: Person) -> None:
    page = ann.page
    for game in ("leap", "chain"):
        ann.start(game, "casual")
        page.wait_for_selector("#lesson-offer:visible")
        ann.wait("you")
        ann.press(ann.pressable[0])
        assert page.is_hidden("#lesson-offer"), "she plays"
        ann.start(game, "casual")
        page.wait_for_selector("[data-ready]")
        assert page.is_hidden("#lesson-offer")
        ann.go(f"/g/{game}")
        page.click("text=Lesson")
        page.wait_for_selector("#puzzle .board")


def test_the_lesson_is_offered_when_the_friend_has_joined(ann: Person, bob: Person) -> None:
    ann.start("chain", "friend")
    ann.page.wait_for_selector("[data-ready]")
    assert ann.page.is_hidden("#lesson-offer"), "the invitation is more important"
    bob.go(ann.page.input_value("#link").removeprefix(ann.base))
    bob.page.click("text=Join the match")
    for person in (ann, bob):
        person.page.wait_for_selector("#lesson-offer:visible")
    ann.page.click("[data-resign]")
    ann.page.click("#resign [value=resign]")
    ann.page.wait_for_selector("[data-offer=rematch]")
    assert bob.wait("over")
    assert bob.page.is_hidden("#lesson-offer")


def test_practice_gives_hints_in_stages(ann: Person) -> None:
    page = ann.page
    ann.go("/practice/lights")
    page.click("[data-hint]")
    page.wait_for_selector("#hint:has-text('Press Hint again for advice.')")
    assert "nim-sum" not in page.inner_text("#hint").lower()
    assert not page.locator(".hinted").count()
    page.click("[data-hint]")
    page.wait_for_selector("#hint:has-text('to win')")
    assert "nim-sum" not in page.inner_text("#hint").lower()
    advised = page.get_attribute(".hinted >> nth=0", "data-action")
    page.evaluate(PRESS, advised)
    page.wait_for_selector("#graded.good")
    assert page.is_hidden("#hint")
    assert not page.locator(".hinted").count()
