"""Everything works by keyboard, and the focus moves to a sensible place when its element disappears."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.web.browsing import Person, seat_two
from tests.web.serving import serving


def test_everything_works_by_keyboard(ann: Person) -> None:
    page = ann.page
    ann.go("/")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    page.locator("[data-start=leap] [data-play='']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/m/*")
    # By arrows: the first press goes to the board, the next ones from target to target.
    ann.wait("you")
    before = ann.event
    page.keyboard.press("ArrowRight")
    assert page.locator("#board .target:focus").get_attribute("data-action") == "1"
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    page.wait_for_selector(
        "#match:has(#sentence[data-turn=you]) #board .target:focus"
    )  # the keyboard stays on the board
    # By name.
    before = ann.event
    page.keyboard.press("2")
    assert page.locator("#board .target:focus").get_attribute("data-action") == "2"
    page.keyboard.press("9")
    assert "No move starts with '9'" in ann.notice
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    # As the book has it.
    ann.wait("you")
    before = ann.event
    page.keyboard.press("/")
    page.keyboard.type("99")
    page.keyboard.press("Enter")
    page.wait_for_selector("#notice:not(:empty)")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    ann.wait("you")
    page.wait_for_selector("#entry-field:focus")  # what is typed next is no move on the board
    # Escape clears a partial entry. If the field is empty, it moves the focus to the board.
    page.keyboard.type("1")
    page.keyboard.press("Escape")
    assert page.locator("#entry-field:focus").input_value() == ""
    page.keyboard.press("Escape")
    assert page.locator("#board .target:focus").count() == 1
    # Keys on the whole page can be switched off; those of the board remain.
    page.locator("#help-button").focus()
    page.keyboard.press("Enter")
    page.locator("#help input[name=keys][value=off]").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    page.locator("body").evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    page.keyboard.press("?")
    assert page.locator("#board .target:focus, #help[open]").count() == 0
    page.locator('#board .target[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#board .target:focus").count() == 1


def test_entries_at_the_book_s_questions_can_be_taken_back(ann: Person) -> None:
    ann.start("lights", "casual")
    ann.wait("you")
    page = ann.page
    first = page.text_content("#entry .prompt")
    page.keyboard.press("/")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#entry .entered:text-is('2')")
    assert page.text_content("#entry .prompt") != first
    page.keyboard.press("Escape")
    assert page.text_content("#entry .prompt") == page.text_content("#spoken") == first
    assert page.text_content("#entry .entered") == ""
    page.keyboard.press("Escape")
    assert page.locator("#board .target:focus").count() == 1


def test_the_page_does_not_refocus_the_entry_field(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "leap")
    page = ann.page

    def after(meanwhile: str) -> str:
        """Return the focused element on Ann's next turn, after she made an entry and ran `meanwhile`."""
        ann.fill_in("1")
        page.keyboard.press("Enter")
        ann.wait("other")
        page.evaluate(meanwhile)
        bob.wait("you")
        bob.press("1")
        ann.wait("you")
        return str(page.evaluate("document.activeElement.id || document.activeElement.localName"))

    assert after("") == "entry-field"
    page.evaluate("document.activeElement.blur()")  # as a click on nothing does
    bob.page.click("[data-offer=takeback]")
    page.wait_for_selector("#offer")
    assert page.evaluate("document.activeElement.localName") == "body"
    assert after("document.getElementById('help-button').focus()") == "help-button"
    assert after("document.getElementById('sentence').focus()") == "sentence", "as a click on it does"


@pytest.mark.parametrize("on", ["#entry-field", "[data-resign]", "#board .target"])
def test_the_end_of_a_match_focuses_the_result(ann: Person, on: str) -> None:
    match = ann.start("lights", "casual")
    page = ann.page
    page.click("summary")
    page.focus(on)
    page.keyboard.press({"#entry-field": "1", "[data-resign]": "Enter", "#board .target": "?"}[on])
    resigned = {"action": "resign", "event": ann.event}  # in another tab
    page.request.post(f"{ann.base}{match}/act", data=resigned, headers={"Origin": ann.base})
    ann.wait("over")
    page.keyboard.press("Escape")  # what is open by then
    page.wait_for_selector("#sentence:focus")


def test_focus_does_not_jump_to_a_move_when_an_offer_ends(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "lights")
    ann.wait("you")
    ann.press("4")
    bob.wait("you")
    bob.press("1")
    ann.wait("you")
    page = ann.page

    def after(answer: Callable[[], None], on: str) -> str:
        """Return the focused element after Bob's offer has disappeared, whose button had Ann's focus."""
        bob.page.click("[data-offer=takeback]:not([data-answer])")
        page.wait_for_selector("#offer")
        page.focus(on)
        answer()
        page.wait_for_selector("#offer", state="detached")
        return str(page.evaluate("document.activeElement.id || document.activeElement.dataset.action"))

    decline = "[data-answer=no]"
    assert after(lambda: bob.page.click("#offer [data-answer=no]"), decline) == "sentence"
    assert after(lambda: page.click(decline), decline) == "sentence"
    ann.fill_in("7")
    assert after(lambda: page.click(decline), decline) == "entry-field"


def test_buttons_beside_the_board_are_reached_by_arrows_and_letters(ann: Person, bob: Person) -> None:
    focused = "document.activeElement.dataset.action ?? document.activeElement.dataset.switch"
    seat_two(ann, bob, "chain")
    for person, cell in ((ann, "4"), (bob, "1"), (ann, "5")):
        person.wait("you")
        person.press(cell)
    page = bob.page
    page.wait_for_selector("#actions [data-action=challenge]")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "challenge"
    keys = ("ArrowRight", "c", "a", "y", "n", "ArrowLeft")
    for key, action in zip(keys, ("accept", "challenge") * 3, strict=True):
        page.keyboard.press(key)
        assert page.evaluate(focused) == action, key
    before = bob.event
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    bob.start("flip", "casual")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "A1"
    page.keyboard.press("q")
    assert page.evaluate(focused) == "Quantum Flip"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused).startswith("E"), "the row above the button"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "Quantum Flip"


def test_an_enter_pressed_twice_does_not_challenge(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "chain")
    page = bob.page
    for person, key in ((ann, "4"), (bob, "1"), (ann, "5")):
        person.wait("you")
        person.page.keyboard.press(key)
        person.page.keyboard.press("Enter")
    page.wait_for_selector("#actions [data-action=challenge]")
    assert page.evaluate("document.activeElement.id") == "sentence"
    before = bob.event
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.action") == "challenge"
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    assert bob.log[-1].startswith("You accept.")
    assert page.locator("#board .target:focus").count() == 1, "from the buttons back to the board"


NOTE_ACTIONS = """
() => {
  window.sent = [];
  const send = window.fetch;
  window.fetch = (path, options) => {
    window.sent.push(JSON.parse(options.body).action);
    return send(path, options);
  };
}
"""


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_pressed_twice_or_held_plays_once(ann: Person, key: str) -> None:
    page = ann.page
    page.clock.install()
    ann.start("hunt")
    page.evaluate(NOTE_ACTIONS)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.keyboard.press("3")
    page.keyboard.down(key)
    page.wait_for_selector("#board .target[data-action='observe 3']:focus")
    page.clock.run_for(1000)
    page.keyboard.down(key)  # held down, it repeats
    page.keyboard.up(key)
    assert page.evaluate("sent") == ["move 3"]
    page.keyboard.press(key)  # at the same moment
    assert page.evaluate("sent") == ["move 3"]
    page.clock.run_for(1000)
    page.keyboard.press(key)
    assert page.evaluate("sent") == ["move 3", "observe 3"]


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_pressed_twice_or_held_switches_a_mode_once(ann: Person, key: str) -> None:
    page = ann.page
    page.clock.install()
    ann.start("flip", "casual")
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    switch = page.locator("[data-switch]")
    switch.press(key)
    page.keyboard.press(key)  # at the same moment
    assert switch.get_attribute("aria-pressed") == "true"
    page.clock.run_for(1000)
    page.keyboard.down(key)
    page.clock.run_for(1000)
    page.keyboard.down(key)  # held down, it repeats
    page.keyboard.up(key)
    assert switch.get_attribute("aria-pressed") == "false"


def test_a_button_that_has_the_keyboard_says_what_it_does(browser: Browser, tmp_path: Path) -> None:
    with serving(str(tmp_path / "web.sqlite3"), pause=1.0) as base:
        ann = Person(browser, base)
        ann.start("lights", "casual")
        ann.press("1-2")
        ann.page.locator("[data-offer=takeback]").focus()  # while the machine thinks
        ann.wait("you")
        tools = ann.page.locator("#tools button:visible").all()
        does = ["hint", "offer", "resign"]
        assert [tool.evaluate("each => Object.keys(each.dataset)[0]") for tool in tools] == does
        assert [tool.inner_text() for tool in tools] == ["Hint", "Take back", "Resign"]
        assert ann.page.locator("#tools :focus").inner_text() == "Take back", "the keyboard stays"
        ann.close()
