"""People at real browsers: each has a separate context, which records errors."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize

PATIENCE = 20_000  # milliseconds until a test that waits in vain fails
PHONE: ViewportSize = {"width": 360, "height": 740}
DESK: ViewportSize = {"width": 1200, "height": 900}
PRESSABLE = "#board .target:not([data-mode]), #actions [data-action]"


class Person:
    """A person with a browser."""

    def __init__(self, browser: Browser, base: str, **context: Any) -> None:
        self.base = base
        settings: dict[str, Any] = {"viewport": DESK, "reduced_motion": "reduce", **context}
        self.context: BrowserContext = browser.new_context(**settings)
        self.context.set_default_timeout(PATIENCE)
        self.wrong: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))
        return page

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" and not text.startswith("Failed to load resource"):  # a refusal is no error
            self.wrong.append(text)

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    def start(self, game: str, against: str = "casual") -> str:
        """Start a match like the page's buttons. Return its address."""
        self.go(f"/g/{game}")
        return self.begin(against)

    def begin(self, against: str) -> str:
        """Start the match that this page offers."""
        if against == "friend":
            self.page.click("[data-play=friend]")
        else:
            self.page.select_option("[data-start] select", against)
            self.page.click("[data-play='']")
        self.page.wait_for_url("**/m/*")
        self.page.wait_for_selector("#state")
        return self.page.url.removeprefix(self.base)

    def wait(self, *turns: str) -> str:
        """Wait for one of these turns. Return it."""
        self.page.wait_for_selector(", ".join(f"#sentence[data-turn={turn}]" for turn in turns))
        return self.turn

    @property
    def turn(self) -> str:
        return self.page.get_attribute("#sentence", "data-turn") or ""

    @property
    def event(self) -> int:
        return int(self.page.get_attribute("#state", "data-event") or -1)

    @property
    def sentence(self) -> str:
        return self.page.inner_text("#sentence")

    @property
    def notice(self) -> str:
        return self.page.inner_text("#notice")

    @property
    def log(self) -> list[str]:
        return self.page.locator("#log li").all_inner_texts()

    def top(self, selector: str) -> float:
        """Return the top of an element on the page, in pixels."""
        box = self.page.locator(selector).bounding_box()
        assert box
        return box["y"] + float(self.page.evaluate("scrollY"))

    def data(self, path: str) -> Any:
        """Return the JSON data of a path for this person."""
        return self.page.request.get(self.base + path, headers={"Accept": "application/json"}).json()

    @property
    def pressable(self) -> list[str]:
        """The actions that a press can play."""
        cells = self.page.locator(PRESSABLE)
        return [cells.nth(number).get_attribute("data-action") or "" for number in range(cells.count())]

    def target(self, action: str) -> Locator:
        """Return the element to press for an action."""
        named = f'[data-action="{action}"]'
        return self.page.locator(f"#board .target{named} .hit, #actions {named}")

    def press(self, action: str) -> None:
        """Play an action by a click and wait until it is played."""
        before = self.event
        self.target(action).click()
        self.page.wait_for_selector(f'#state:not([data-event="{before}"])')

    def fill_in(self, entry: str) -> None:
        """Write an answer to the rule book's question into the field, which is collapsed at first."""
        self.page.evaluate("document.getElementById('typing').open = true")
        self.page.fill("#entry-field", entry)

    def saw(self, text: str) -> None:
        self.page.wait_for_selector(f"#notice:has-text({text!r})")

    def close(self) -> None:
        self.context.close()
        assert not self.wrong


def seat_two(ann: Person, bob: Person, game: str) -> str:
    """Let Ann invite Bob by a link. Return the address of their match."""
    match = ann.start(game, "friend")
    bob.page.goto(ann.page.input_value("#link"))
    bob.page.fill("[name=name]", "Bob")
    bob.page.click("text=Join the match")
    bob.page.wait_for_url("**/m/*")
    ann.wait("you", "other")
    return match


def play_out(
    people: list[Person], rng: Random, most: int, each: Callable[[Person], None] = lambda _: None
) -> None:
    """Play at random, by clicks, until the end; after so many actions the player to move resigns."""
    for number in range(most + 1):
        turns = [person.wait("you", "other", "over") for person in people]
        if "over" in turns:
            return
        for person in people:
            person.page.wait_for_selector("#sentence[data-turn=you], #sentence[data-turn=other]")
        person = next(person for person in people if person.turn == "you")
        each(person)
        if number == most:
            person.page.click("[data-resign]")
            person.page.click("#resign button[value=resign]")
        else:
            person.press(rng.choice(person.pressable))
        settle(people)


def settle(people: list[Person]) -> None:
    """Wait until all pages show the same moment: one player is to move, or the match is over for all."""
    while True:
        turns = {person.turn for person in people}
        if turns in ({"you", "other"}, {"over"}):
            return
        people[0].page.wait_for_timeout(20)


def plain_text(text: str) -> str:
    return re.sub(r"\s+", " ", text)
