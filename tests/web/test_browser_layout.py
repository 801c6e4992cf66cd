"""Every page: no sideways scrolling on a phone, large targets, WCAG 2.2 AA, both themes."""

from collections.abc import Callable
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from duels.games import GAMES
from tests.web.browsing import PHONE, Person, seat_two
from tests.web.serving import Visitor

LEAST = 44  # pixels, the smallest side of a button
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"label-content-name-mismatch": {"enabled": True}},  # newer versions have it on
}
PRESSED = (
    "button, .button, .board-link, .game h2 a, nav a, summary, .brand, input[name=name], .link, "
    "select, #entry-field, textarea, .choice label, .hit"
)
MEASURED = f"""
() => [...document.querySelectorAll('{PRESSED}')]
  .filter((each) => each.checkVisibility() && !each.closest('[data-mode]:not(svg)'))
  .map((each) => [each.outerHTML.slice(0, 90), each.getBoundingClientRect()])
  .map(([html, box]) => [html, Math.min(box.width, box.height)])
"""
LEAST_LETTERS = 12  # pixels, of letters on boards
LETTERS = """
() => [...document.querySelectorAll('.board text')]
  .map((each) => [parseFloat(getComputedStyle(each).fontSize), each.ownerSVGElement])
  .map(([size, svg]) => size * svg.clientWidth / svg.viewBox.baseVal.width)
"""
CONTRASTS = """
() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  // The opacity of a shape's fill, through all its groups.
  const opacity = (shape, root) => {
    let all = Number(getComputedStyle(shape).fillOpacity);
    for (let each = shape; each !== root; each = each.parentElement)
      all *= Number(getComputedStyle(each).opacity);
    return all;
  };
  const card = parse(getComputedStyle(document.querySelector(".board").closest(".card")).backgroundColor);
  const measured = [];
  for (const text of document.querySelectorAll(".board text")) {
    const { x, y, width, height } = text.getBoundingClientRect();
    const covers = (shape) => {
      const box = shape.getBoundingClientRect();
      const middle = y + height / 2;
      return box.x <= x + 1 && box.y <= middle && box.right >= x + width - 1 && box.bottom >= middle;
    };
    const before = (shape) => shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    let ground = card;
    for (const shape of text.ownerSVGElement.querySelectorAll("rect, circle, ellipse")) {
      const { fill } = getComputedStyle(shape);
      if (fill === "none" || !before(shape) || !covers(shape)) continue;
      const share = opacity(shape, text.ownerSVGElement);
      ground = parse(fill).slice(0, 3).map((c, i) => c * share + ground[i] * (1 - share));
    }
    measured.push([text.textContent, ratio(parse(getComputedStyle(text).fill), ground)]);
  }
  return measured;
}
"""
CUT_PLATES = """
() => [...document.querySelectorAll(".plate :is(b, small)")]
  .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)
"""
LEAST_CONTRAST = 4.5  # of letters, by WCAG 2 AA
MORE_CONTRAST = 7.0  # by WCAG 2 AAA, if the reader asks for it
NOTE_ANIMATIONS = """
() => {
  window.noted = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, {duration}) {
    const heights = frames.map(({transform}) => parseFloat(transform.split(",")[1]));
    window.noted.push([this.dataset.key, heights, duration]);
    return animate.call(this, frames, {duration});
  };
}
"""


def match_of(game: str) -> Callable[[Person], None]:
    def begin(person: Person) -> None:
        person.start(game, "casual")
        person.wait("you")

    return begin


def at(path: str) -> Callable[[Person], None]:
    return lambda person: person.go(path)


def observing(person: Person) -> None:
    match_of("hunt")(person)
    person.press("move 3")


def picking(person: Person) -> None:
    match_of("flip")(person)
    person.page.click("[data-switch]")
    person.target("A1").click()


def keeping(person: Person) -> None:
    picking(person)
    person.press("A2")


def challenged(person: Person) -> None:
    match_of("chain")(person)
    for _ in range(30):
        if person.wait("you", "over") == "over":
            match_of("chain")(person)
        elif person.page.locator("#actions [data-action=challenge]").count():
            return
        person.press(person.pressable[0])
    raise AssertionError("nothing to challenge")


def with_long_name(person: Person) -> None:
    inviting(person)
    link = person.page.input_value("#link").removeprefix(person.base)
    assert Visitor(person.base).post(link, name="W" * 30).status_code == 200
    person.page.wait_for_selector("text=WWW")


def home(person: Person) -> None:
    with_long_name(person)
    person.go("/")


def inviting(person: Person) -> None:
    person.start("leap", "friend")


def invited(person: Person) -> None:
    inviting(person)
    link = person.page.input_value("#link")
    person.context.clear_cookies()
    person.page.goto(link)


def reviewed(person: Person) -> None:
    match_of("lights")(person)
    person.press("1")
    person.wait("you")
    person.page.click("[data-resign]")
    person.page.click("#resign button[value=resign]")
    person.wait("over")
    person.page.click("#to-review")
    person.page.wait_for_selector("#review .stage svg")


def handed_in(person: Person) -> None:
    reviewed(person)
    record = person.page.evaluate(
        "fetch(location.pathname.replace('review', 'record')).then((answer) => answer.text())"
    )
    person.go("/review")
    person.page.fill("textarea", record)
    person.page.click("#upload .primary")
    person.page.wait_for_selector("#review .stage svg")


def helped(person: Person) -> None:
    person.go("/")
    person.page.click("#help-button")


def graded(person: Person) -> None:
    person.go("/practice/lights")
    person.page.locator("#board .target .hit").first.click()
    person.page.wait_for_selector("#graded:not(:empty)")
    assert person.sentence.startswith("Answered. ")
    assert person.page.locator("#board .target.chosen").count() == 1
    assert person.page.locator("#board .target.right").count()
    assert not person.page.locator("#board .target:not(.chosen, .right)").count()


PAGES: dict[str, Callable[[Person], None]] = {
    "home": home,
    "match of flip": match_of("flip"),
    "inviting": inviting,
    "long name": with_long_name,
    "match of lights": match_of("lights"),
    "match of leap": match_of("leap"),
    "match of chain": match_of("chain"),
    "challenged": challenged,
    "match of hunt": match_of("hunt"),
    "observing": observing,
    "picking": picking,
    "keeping": keeping,
    "invited": invited,
    "reviewed": reviewed,
    "handed in": handed_in,
    "game": at("/g/hunt"),
    "help": helped,
    "daily": at("/daily"),
    "puzzle": at("/daily/leap"),
    "practice": at("/practice"),
    "graded": graded,
    "handing in": at("/review"),
    "missing": at("/nothing"),
}
QUICK = [
    pytest.param(name, marks=() if name in ("home", "match of flip") else pytest.mark.slow) for name in PAGES
]


@pytest.mark.parametrize("name", QUICK)
def test_pages_fit_a_phone_in_both_themes(browser: Browser, base: str, name: str) -> None:
    person = Person(browser, base, viewport=PHONE)
    PAGES[name](person)
    page = person.page
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = [(html, size) for html, size in page.evaluate(MEASURED) if size < LEAST]
    assert not small
    assert all(size >= LEAST_LETTERS for size in page.evaluate(LETTERS))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page, options=RULES)
        assert not results.violations_count, results.generate_report()
    person.close()


@pytest.mark.parametrize("game", GAMES)
def test_letters_on_boards_have_contrast(browser: Browser, base: str, game: str) -> None:
    person = Person(browser, base)
    match_of(game)(person)
    person.press(person.pressable[-1])
    person.wait("you", "over")
    wishes: list[tuple[Literal["no-preference", "more"], float]]
    wishes = [("no-preference", LEAST_CONTRAST), ("more", MORE_CONTRAST)]
    schemes: list[Literal["light", "dark"]] = ["light", "dark"]
    for contrast, least in wishes:
        for scheme in schemes:
            person.page.emulate_media(color_scheme=scheme, contrast=contrast)
            measured = person.page.evaluate(CONTRASTS)
            assert measured
            assert not [(text, ratio) for text, ratio in measured if ratio < least], (contrast, scheme)
    person.close()


def test_forced_colours_are_those_of_the_system(browser: Browser, base: str) -> None:
    person = Person(browser, base, forced_colors="active")
    match_of("leap")(person)
    page = person.page
    fills = page.locator(".board text").evaluate_all("all => all.map((each) => getComputedStyle(each).fill)")
    system = page.evaluate(
        "['CanvasText', 'GrayText', 'LinkText'].map((name) => { document.body.style.color = name;"
        " return getComputedStyle(document.body).color; })"
    )
    assert set(fills) <= set(system)
    border = "getComputedStyle(document.querySelector('.plate.to-move')).borderTopWidth"
    assert page.evaluate(border) == "4px"
    person.close()


def test_on_a_phone_the_log_stays_and_the_entry_field_is_visible(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "flip")
    ann.press("A1")
    bob.wait("you")
    top = bob.top("#log")
    bob.press("A2")
    ann.wait("you")
    assert bob.top("#log") == top, "it stays where it is when the buttons are gone"
    ann.press("A3")
    bob.wait("you")
    page = bob.page
    page.keyboard.press("/")
    page.keyboard.type("zz")
    ann.page.click("[data-offer=takeback]")
    page.wait_for_selector("#offer")
    page.keyboard.press("Enter")
    page.wait_for_selector("#notice:not(:empty)")
    field, offer, notice = (
        page.locator(selector).bounding_box() for selector in ("#entry-field", "#offers", "#notice")
    )
    assert field
    assert offer
    assert notice
    assert notice["y"] + notice["height"] < field["y"]
    assert field["y"] + field["height"] < offer["y"]
    question, button = (page.locator(f"#offer {name}").first.bounding_box() for name in ("p", "button"))
    assert question
    assert button
    assert question["x"] == button["x"] >= 12, "the offer has a margin"


def test_on_a_phone_no_plate_is_cut_off(ann: Person, bob: Person) -> None:
    match = seat_two(ann, bob, "chain")
    for person in (ann, bob):
        assert person.page.evaluate(CUT_PLATES) == []
    ann.page.click("[data-resign]")
    ann.page.click("#resign button[value=resign]")
    bob.wait("over")
    bob.page.click("[data-offer=rematch]")
    ann.page.click("#agree-rematch")
    for person in (ann, bob):
        person.page.wait_for_url(lambda url: "/m/" in url and match not in url)
        person.page.wait_for_selector(".wins")
        person.page.wait_for_selector(".presence:not(:empty)")
        assert person.page.evaluate(CUT_PLATES) == []


def test_the_bar_of_a_running_match_covers_no_part_of_a_page_without_title(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "chain")
    page = ann.page
    for width, height in ((1280, 800), (360, 640)):
        page.set_viewport_size({"width": width, "height": height})
        ann.go("/daily")
        page.wait_for_selector("#running:visible")
        bar, title, pages = (page.locator(name).bounding_box() for name in ("#running", "h1", "header nav"))
        assert bar
        assert title
        assert pages
        if width > height:
            assert bar["y"] + bar["height"] <= title["y"]
            assert bar["x"] + bar["width"] <= pages["x"]
        else:
            assert (bar["x"], bar["width"], bar["y"] + bar["height"]) == (0, width, height)


def test_theme_and_motion_follow_the_readers_settings(browser: Browser, base: str) -> None:
    person = Person(browser, base, color_scheme="light", reduced_motion="no-preference")
    page = person.page
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    moving = "getComputedStyle(document.querySelector('.glow')).transitionDuration"
    person.start("lights", "casual")
    light = page.evaluate(colour)
    assert page.evaluate(moving) == "0.22s"
    page.click("#help-button")
    page.check("#help input[name=theme][value=dark]")
    page.check("#help input[name=motion][value=off]")
    page.click("#help >> text=Close")
    page.reload()
    assert page.evaluate(colour) != light
    assert page.evaluate(moving) == "0s"
    person.close()


@pytest.mark.parametrize(("motion", "flies"), [("no-preference", True), ("reduce", False)])
def test_a_token_flies_in_an_arc_unless_motion_is_reduced(
    browser: Browser, base: str, motion: str, flies: bool
) -> None:
    person = Person(browser, base, reduced_motion=motion)
    person.start("leap", "casual")
    person.wait("you")
    person.page.evaluate(NOTE_ANIMATIONS)
    person.press("1")
    noted = person.page.evaluate("window.noted")
    assert bool(noted) is flies
    for key, heights, duration in noted:
        assert key.startswith("token-")
        assert duration <= 250
        assert min(heights) < min(heights[0], heights[-1])
    person.close()
