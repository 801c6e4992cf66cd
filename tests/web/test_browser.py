"""Pages in a real browser: two people, from the first click to the review."""

import re
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Route

from duels.games import GAMES, load_record
from tests.support import duels
from tests.web.browsing import PHONE, Person, plain_text, play_out, seat_two

MAX_ACTIONS = {"chain": 6, "hunt": 8}  # then a player resigns; the other games end soon enough

HIDE = (
    "Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});"
    "document.dispatchEvent(new Event('visibilitychange'))"
)
SHOW = "delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))"
PLACES = """
() => [...document.querySelectorAll('#board, #board .hit, [data-switch], #to-resign, #entry-field')]
  .map((each) => each.getBoundingClientRect()).map(({x, y}) => [x, y])
"""
OVER = """
({x, y}) => Object.assign(
  document.querySelector('#resign [value=resign]').style, {position: 'fixed', left: `${x}px`, top: `${y}px`})
"""
AS_IT_COMES = """
() => {
  const button = document.querySelector('#offer button');
  const copy = button.cloneNode(true);
  button.replaceWith(copy);
  const [animation] = copy.getAnimations();
  animation.pause();
  const first = getComputedStyle(copy).pointerEvents;
  animation.finish();
  return [first, getComputedStyle(copy).pointerEvents];
}
"""


QUICK = [pytest.param(name, marks=() if name == "lights" else pytest.mark.slow) for name in GAMES]


@pytest.mark.parametrize("game", QUICK)
def test_two_people_play_to_the_end(ann: Person, bob: Person, game: str, tmp_path: Path) -> None:
    match = seat_two(ann, bob, game)
    tops: set[tuple[float, float]] = set()
    play_out(
        [ann, bob],
        Random(3),
        MAX_ACTIONS.get(game, 60),
        lambda _: tops.add((ann.top("#board"), bob.top("#board"))),
    )
    assert len(tops) == 1, "the board stays where it is"
    if game == "lights":  # the log is as long as the match, without a bar to scroll it
        assert ann.page.evaluate("log.scrollHeight <= log.clientHeight")
    for person in (ann, bob):  # the result is announced once
        spoken = str(person.page.text_content("#spoken")).replace("You win", "You won")
        sentences = [each.strip() for each in re.findall(r"[^.!?]+", spoken)]
        assert sentences
        assert len(sentences) == len(set(sentences)), sentences
    with ann.page.expect_download() as download:
        ann.page.click("text=Download the record")
    record = tmp_path / "match.duel"
    download.value.save_as(record)
    loaded = load_record(record.read_text(encoding="utf-8"))
    outcome = loaded.match.outcome
    assert outcome
    reason = outcome.reason.replace("Player 2", "Bob")  # Ann has told no name
    assert {person.sentence[:8].rstrip(". ") for person in (ann, bob)} == {"You won", "You lost"}
    replayed = plain_text(duels(tmp_path, "replay", record).out)
    logs = [person.data(match)["log"] for person in (ann, bob)]
    for person, log in zip((ann, bob), logs, strict=True):
        texts = [line["text"] for line in log if not line["told_next"]]
        assert all(text in entry for text, entry in zip(texts, person.log, strict=True))
    # The terminal's replay contains every number of the browser's log.
    assert set(re.findall(r"\d+", " ".join(person.log))) <= set(re.findall(r"\d+", replayed))
    entries = [[line["entry"] for line in log] for log in logs]
    assert entries[0] == entries[1], "after the end nothing is hidden"
    # A bystander may look now, and sees the same end.
    bob.context.clear_cookies()
    bob.go(match)
    assert reason in bob.sentence
    assert bob.page.locator("text=You are watching").count() == 1


def test_the_rules_lie_over_the_match(ann: Person) -> None:
    page = ann.page
    match = ann.start("hunt", "casual")
    page.click("#rules-button")
    assert "tunnel" in page.inner_text("dialog#rules")
    assert page.is_hidden("text=At the terminal")
    page.keyboard.press("Escape")
    assert page.is_hidden("#rules")
    ann.press("move 3")
    assert page.url.endswith(match)
    ann.go("/practice/lights")
    page.click("#rules-button")
    assert page.is_visible("dialog#rules >> text=last light")


def test_a_running_match_is_one_click_away(ann: Person, bob: Person) -> None:
    page, running = ann.page, "#running a"
    match = seat_two(ann, bob, "leap")
    with page.expect_response("**?only=turn"):
        ann.go("/")
    assert page.is_hidden("#running"), "the list of matches contains it"
    for path in ("/daily", "/practice", "/practice/lights", "/g/hunt"):
        ann.go(path)
        page.wait_for_selector(running)
        assert page.inner_text(running) == "Your turn against Bob: Quantum Leap"
        assert page.title().startswith("Your turn against Bob")
    page.click(running)
    page.wait_for_url(f"**{match}")
    assert page.is_hidden("#running"), "it is here"
    ann.press("1")
    ann.go("/daily")
    page.wait_for_selector("#running:has-text('Their turn against Bob: Quantum Leap')")
    other_match = ann.start("lights", "casual")
    assert page.is_hidden("#running"), "there is nothing new in the other match"
    ann.page.click("[data-resign]")
    ann.page.click("#resign button[value=resign]")
    ann.wait("over")
    page.click("#to-review")
    page.wait_for_selector("#review .stage svg")
    assert other_match in page.url
    assert page.is_hidden("#running"), "nobody offers a rematch"
    # Over in the meantime, and never to be shown again.
    bob.page.click("[data-resign]")
    bob.page.click("#resign button[value=resign]")
    bob.wait("over")
    with page.expect_response("**?only=turn"):
        ann.go("/daily")
    page.wait_for_function("() => localStorage.getItem('duels.running') === '{}'")
    assert page.is_hidden("#running")


def test_a_click_on_the_invitation_plays_no_move_when_the_friend_joins(ann: Person, bob: Person) -> None:
    animation = "getComputedStyle(document.getElementById('board')).animationName"
    ann.start("lights", "friend")
    assert ann.page.evaluate(animation) == "none"
    bob.page.goto(ann.page.input_value("#link"))
    bob.page.click("text=Join the match")
    ann.wait("you")
    assert ann.page.evaluate(animation) == "arrives", "it ignores the pointer for a moment"


def test_the_bar_says_that_the_friend_has_joined(ann: Person, bob: Person) -> None:
    ann.start("lights", "friend")
    link = ann.page.input_value("#link")
    ann.go("/daily")
    ann.page.wait_for_selector("#running:not(.yours):has-text('Waiting: Light Out Duel')")
    bob.page.goto(link)
    bob.page.click("text=Join the match")
    bob.wait("other")
    ann.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    ann.page.wait_for_selector("#running.yours:has-text('Your friend has joined. Your turn: Light Out Duel')")
    assert ann.page.title().startswith("Your friend has joined.")
    assert ann.data("/")["matches"][0]["against"] == "your friend"


def test_a_rematch_reaches_the_review(ann: Person, bob: Person) -> None:
    match = seat_two(ann, bob, "lights")
    ann.page.click("[data-resign]")
    ann.page.click("#resign button[value=resign]")
    for person in (ann, bob):
        person.wait("over")
    bob.page.click("[data-offer=rematch]")
    bob.page.wait_for_selector("#offer")
    ann.page.click("#to-review")
    ann.page.wait_for_selector("#running a:has-text('Rematch offered')")
    ann.page.click("#running a")
    ann.page.wait_for_url(f"**{match}")
    ann.page.click("#result >> text=Rematch")
    ann.page.wait_for_url(lambda url: "/m/" in url and match not in url)


def test_the_winner_is_lit_beside_rematch_and_review(ann: Person) -> None:
    page = ann.page
    ann.start("lights", "casual")
    assert page.locator("#player-1.to-move").count() == 1
    assert page.inner_text("#player-1") == "Player 1\nyou"
    page.click("[data-resign]")
    page.click("#resign button[value=resign]")
    ann.wait("over")
    assert page.inner_text(".won") == "casual\nbot · won"
    assert not page.locator(".to-move").count()
    assert page.locator(".headline button, .headline a").all_inner_texts() == ["Rematch", "Review"]


def test_typing_is_collapsed_until_asked_for(ann: Person) -> None:
    page = ann.page
    ann.start("leap", "casual")
    ann.wait("you")
    assert page.is_hidden("#entry-field")
    page.click("text=Type instead")
    ann.press("1")
    ann.wait("you")
    assert page.is_visible("#entry-field"), "it stays open"
    page.reload()
    assert page.is_hidden("#entry-field")
    page.keyboard.press("/")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#log li >> nth=4")


def test_one_click_starts_a_match_and_the_next_moves(ann: Person) -> None:
    ann.go("/")
    assert ann.page.locator(".board-link svg.board").count() == len(GAMES)
    ann.page.click("[data-start=lights] [data-play='']")
    ann.page.wait_for_url("**/m/*")
    ann.press("4")
    assert ann.log[0] == "You turn OFF light 4."


def test_the_browser_remembers_the_opponent(ann: Person) -> None:
    ann.start("lights", "expert")
    ann.go("/")
    assert ann.page.input_value("[data-start=chain] select") == "expert"
    ann.page.click("[data-start=leap] [data-play='']")
    ann.page.wait_for_selector("#players:has-text('expert')")


def test_settings_come_before_what_starts_a_match(ann: Person) -> None:
    ann.go("/g/chain")
    order = ann.page.locator("#start input, #start select, #start button")
    assert order.first.get_attribute("name") == "name"
    assert order.last.get_attribute("data-play") == "friend"
    tops = [ann.top(f"#start {each}") for each in ("[name=name]", "[value=chance]", "[data-play='']")]
    assert tops == sorted(tops)


def test_a_quantum_flip_is_picked_tile_by_tile(ann: Person) -> None:
    page = ann.page
    ann.start("flip", "casual")
    question = ann.sentence
    page.click("[data-switch='Quantum Flip']")
    assert ann.sentence == "Quantum Flip. Pick the first of two on the board."
    page.keyboard.press("Escape")
    assert ann.sentence == question
    page.click("[data-switch='Quantum Flip']")
    ann.target("A1").click()
    assert ann.sentence == "Quantum Flip. A1 picked. Now pick A2 or B1."
    assert page.text_content("#spoken") == ann.sentence
    named = "all => all.map((each) => each.getAttribute('aria-label'))"
    tiles = page.locator("#board .target:not([data-mode])")
    assert tiles.evaluate_all(named)[:3] == ["Put back A1", "Pick A2", "A3 cannot be picked now"]
    ann.target("E5").click()
    assert "E5 cannot be picked now. Pick A2 or B1" in ann.notice
    before = ann.event
    ann.target("B1").click()
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    assert ann.pressable == ["keep A1", "keep B1"]
    assert "You make a Quantum Flip revealing tiles A1:" in ann.log[0]
    assert ann.sentence.startswith("Your turn. Keep one")


def test_every_event_and_click_is_announced(ann: Person) -> None:
    page = ann.page
    ann.start("lights", "casual")
    ann.press("1-2")
    ann.wait("you")
    page.wait_for_selector("#spoken:has-text('Your turn')")
    spoken = page.inner_text("#spoken")
    assert "casual" in spoken
    page.locator('#board .cell[data-cell="1"]').click()
    assert "Light 1 is off. Your turn." in ann.notice
    targets = page.locator("#board .target")
    assert all(targets.nth(i).get_attribute("aria-label") for i in range(targets.count()))
    cells = page.locator("#board .cell")
    assert all(cells.nth(i).get_attribute("aria-label") for i in range(cells.count()))


def test_hint_takeback_resignation_rematch_and_review(ann: Person) -> None:
    page = ann.page
    ann.start("lights", "casual")
    page.click("[data-hint]")
    page.wait_for_selector("#hint:has-text('Press Hint again for advice.')")
    assert not page.locator("#board .target.hinted").count()
    page.click("[data-hint]")
    page.wait_for_selector("#hint:has-text('to win')")
    assert page.locator("#board .target.hinted").count()
    ann.press("4")
    ann.wait("you")
    assert not page.inner_text("#hint")
    before = ann.event
    page.click("[data-offer=takeback]")
    page.wait_for_selector(f'#state:not([data-event="{before}"])')
    assert ann.log == []
    assert "Taken back." in page.inner_text("#spoken")
    ann.press("1")
    ann.wait("you")
    page.click("[data-resign]")
    page.click("text=Keep playing")
    assert ann.turn == "you"
    page.click("[data-resign]")
    page.click("#resign button[value=resign]")
    ann.wait("over")
    over = page.url
    page.click("#to-review")
    page.wait_for_selector("#review .stage svg.board")
    assert page.locator("svg.board").count() == 1
    assert page.inner_text("#review [aria-current] .cost") == "blunder", "where she lost the match"
    assert "blunder" in page.inner_text("#review header")
    assert page.is_hidden("text=given away"), "the sums are under details"
    page.click("#review .entries [data-step='0']")
    page.click("#review [aria-label='Next entry']")
    assert page.inner_text("#review .step-title") == "1. You: 1"
    page.locator('#review .band[data-step="2"]').click()
    assert page.inner_text("#review .step-title").startswith("2. casual: ")
    assert page.locator("[name=against]:checked").input_value() == "casual", "whom she had met"
    page.locator("[name=against]:checked").press("ArrowRight")
    assert page.inner_text("#review .step-title").startswith("2. "), "the arrows choose"
    page.set_viewport_size(PHONE)  # there the board is above the list of entries
    page.locator('#review .entries [data-step="2"]').click()
    assert 0 <= ann.top("#review .stage") - page.evaluate("scrollY") < PHONE["height"] / 2, (
        "its board is in sight"
    )
    page.click("text=Continue from here")
    page.wait_for_url(lambda url: "/m/" in url and not url.startswith(over))
    assert len(ann.log) == 2
    assert "club" in page.inner_text("#player-2")
    page.goto(over)
    page.click("[data-offer=rematch]")
    page.wait_for_url(lambda url: "/m/" in url and url != over)
    assert "casual" in page.inner_text("#player-1")


def test_a_double_click_plays_one_move(ann: Person) -> None:
    ann.start("hunt")
    ann.target("move 3").scroll_into_view_if_needed()
    where = ann.target("move 3").bounding_box()
    assert where
    x, y = where["x"] + where["width"] / 2, where["y"] + where["height"] / 2
    ann.page.mouse.move(x, y)
    for clicks in (1, 2, 3):
        ann.page.mouse.down(click_count=clicks)
        ann.page.mouse.up(click_count=clicks)
        ann.page.wait_for_selector("#board [data-action='observe 3']", state="attached")
    assert ann.sentence == "Your turn. Name any position. The other token is off the grid."
    assert len(ann.log) == 1, "where she went, and nothing else"


def test_a_double_click_asks_or_resigns_once(ann: Person) -> None:
    page = ann.page
    ann.start("chain", "casual")
    ann.wait("you")

    def double_click(on: str) -> None:
        """Double-click as fast as possible, on the page's button and on the dialog's button over it."""
        where = page.locator(on).bounding_box()
        assert where
        page.mouse.dblclick(where["x"] + where["width"] / 2, where["y"] + where["height"] / 2)

    where = page.locator("#to-resign").bounding_box()
    assert where
    page.evaluate(OVER, where)
    double_click("#to-resign")
    assert page.is_visible("#resign"), "the question is asked, and not answered"
    assert ann.turn == "you"
    page.evaluate(
        "Promise.all(document.querySelector('#resign button').getAnimations().map((each) => each.finished))"
    )
    double_click("#resign [value=resign]")
    ann.wait("over")
    assert not page.is_visible("#resign")


def test_an_offer_keeps_the_current_selection(ann: Person, bob: Person) -> None:
    page = ann.page

    def pick() -> None:
        """Pick the first of two tiles, and answer the first of the book's questions too."""
        page.click("[data-switch='Quantum Flip']")
        ann.target("C1").click()
        ann.fill_in("Q")
        page.keyboard.press("Enter")
        page.wait_for_selector("#entry .entered:text-is('Q')")

    def offered(button: str) -> tuple[bool, str, str]:
        """Return Ann's selection, entry and question after Bob has pressed a button."""
        before = ann.event
        bob.page.click(button)
        page.wait_for_selector(f'#state:not([data-event="{before}"])')
        picked = ann.sentence.startswith("Quantum Flip. C1 picked.")
        return picked, page.inner_text("#entry .entered"), page.inner_text("#entry .prompt")

    seat_two(ann, bob, "flip")
    ann.press("A1")
    bob.press("A2")
    ann.wait("you")
    page.locator("[data-switch]").focus()
    offered("[data-offer=takeback]")
    assert page.evaluate("document.activeElement.dataset.switch") == "Quantum Flip", "no tile"
    offered("text=Withdraw")
    pick()
    as_it_is = (True, "Q", "Enter the coordinates of the first tile:")
    before = [person.page.evaluate(PLACES) for person in (ann, bob)]
    assert offered("[data-offer=takeback]") == as_it_is
    for person, places in zip((ann, bob), before, strict=True):
        person.page.wait_for_selector("#offer")
        assert person.page.evaluate(PLACES) == places, "what a finger aims at stays where it is"
    assert page.evaluate(AS_IT_COMES) == ["none", "auto"], "nor does an answer come under it"
    # The first event of a stream brings the whole table.
    page.evaluate(f"{HIDE}; {SHOW}")
    assert offered("text=Withdraw") == as_it_is
    page.reload()
    pick()
    assert offered("[data-offer=takeback]") == as_it_is
    page.click("[data-resign]")
    bob.page.click("[data-resign]")
    bob.page.click("#resign button[value=resign]")
    ann.wait("over")
    assert not page.is_visible("#resign"), "there is nothing left to ask"


def test_a_failed_resignation_is_not_repeated_after_the_end(ann: Person) -> None:
    page = ann.page
    match = ann.start("lights", "casual")
    page.route("**/act", lambda route: route.fulfill(status=503, json={"message": "Not now."}))
    page.click("[data-resign]")
    page.click("#resign button[value=resign]")
    ann.saw("Not now.")
    page.click("[data-resign]")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    resigned = {"action": "resign", "event": ann.event}  # in another tab
    page.request.post(f"{ann.base}{match}/act", data=resigned, headers={"Origin": ann.base})
    ann.wait("over")
    page.click("#to-review")
    page.wait_for_selector("#review")
    assert f"{ann.base}{match}/review" in sent
    assert f"{ann.base}{match}/act" not in sent


def test_two_people_agree_on_takebacks_and_rematches(ann: Person, bob: Person) -> None:
    ann.page.clock.install()
    seat_two(ann, bob, "leap")
    ann.press("1")
    focused = "document.activeElement.id || document.activeElement.localName"
    ann.page.click("[data-offer=takeback]")
    ann.page.wait_for_selector("#offer")
    assert ann.page.evaluate(focused) == "withdraw-takeback", (
        "the focus moves to the button that replaces the pressed one"
    )
    bob.page.wait_for_selector("#offer")
    assert "asks to take back a move." in str(bob.page.text_content("#spoken"))
    bob.page.click("text=Decline")
    for person, text in ((ann, "The takeback was declined."), (bob, "You declined the takeback.")):
        person.page.wait_for_selector(f"text={text}")
        assert str(person.page.text_content("#spoken")).startswith(text)
    ann.page.click("[data-offer=takeback]")
    bob.page.wait_for_selector("#offer")
    assert bob.page.title().startswith("Takeback requested")
    ann.page.click("text=Withdraw")
    ann.page.wait_for_selector("#tools [data-offer=takeback]")
    assert ann.page.evaluate(focused) == "sentence", "not on what asks again"
    bob.page.wait_for_selector("#offers:not(:has(#offer))", state="attached")
    ann.page.click("#tools [data-offer=takeback]")
    ann.page.wait_for_selector("text=You asked to take back a move.")
    bob.page.click("text=Agree")
    ann.saw("Taken back.")
    ann.wait("you")
    bob.wait("other")
    assert len(ann.log) == len(bob.log) == 2, "both have entered, and nothing else remains"
    assert bob.page.evaluate(focused) == "sentence", "there is nothing to press for him"
    ann.press("1")
    ann.page.click("[data-offer=takeback]")
    bob.page.wait_for_selector("#offer")
    bob.press("1")  # which is no answer
    ann.saw("Your takeback request has expired.")
    bob.page.click("[data-resign]")  # on her turn
    bob.page.click("#resign button[value=resign]")
    assert bob.wait("over")
    assert bob.sentence == "You lost. You resign."
    # The title of a hidden tab announces an offer.
    ann.wait("over")
    ann.page.evaluate(HIDE)
    bob.page.click("[data-offer=rematch]")
    bob.page.wait_for_selector("text=You offered a rematch.")
    ann.page.clock.fast_forward(20_000)
    ann.page.wait_for_function("() => document.title.startsWith('Rematch offered')")
    ann.page.evaluate(SHOW)
    over = bob.page.url
    tab = ann.new_page()
    tab.goto(over)
    tab.wait_for_selector("#offer")
    ann.page.click("text=Agree")
    tab.wait_for_selector("#rematch")
    assert tab.text_content("#spoken") == "The rematch has started.", "the result was announced before"
    tab.close()
    for person in (ann, bob):
        person.page.wait_for_url(lambda url: "/m/" in url and url != over)
    assert ann.page.url == bob.page.url
    assert ann.wait("you", "other") == "other", "seats are swapped"
    # A hidden tab closes its stream, but its title still says whose turn it is.
    requests: list[str] = []
    ann.page.on("request", lambda request: requests.append(request.url))
    ann.page.evaluate(HIDE)
    bob.press("1")
    assert not ann.page.title().startswith("Your turn")
    ann.page.clock.fast_forward(60_000)
    ann.page.wait_for_function("() => document.title.startsWith('Your turn')")
    assert [url for url in requests if "/static/" not in url] == [f"{ann.page.url}?only=turn"]
    # Then a takeback may be asked.
    bob.page.click("[data-offer=takeback]")
    bob.page.wait_for_selector("#offer")
    ann.page.clock.fast_forward(60_000)
    ann.page.wait_for_function("() => document.title.startsWith('Takeback requested')")


def test_a_hidden_tab_polls_less_and_less(ann: Person) -> None:
    page = ann.page
    page.clock.install()
    ann.start("lights", "friend")
    held: list[Route] = []
    page.route(re.compile("only=turn"), lambda route: held.append(route))

    def look_after(milliseconds: int) -> Route:
        page.clock.fast_forward(milliseconds // 2)
        assert not held
        page.clock.fast_forward(milliseconds)
        while not held:
            page.wait_for_timeout(10)
        return held.pop()

    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))  # however long this test takes
    page.evaluate(HIDE)
    look = look_after(5_000)
    # The page is shown and hidden again while a request is pending: only one stream remains.
    page.evaluate(SHOW)
    page.evaluate(HIDE)
    look.continue_()
    pauses = (5_000, 20_000, 60_000, 300_000)
    for pause in pauses:
        page.evaluate("document.title = ''")
        look_after(pause).continue_()
        page.wait_for_function("() => document.title")
    # After the end a rematch may be offered soon, or never.
    for pause in (300_000, *pauses):
        page.evaluate("document.title = ''")
        look_after(pause).fulfill(json={"turn": "over", "offer": None})
        page.wait_for_function("() => document.title")
    page.clock.fast_forward(900_000)
    assert not held
    page.evaluate(SHOW)
    page.evaluate(HIDE)
    look_after(5_000).fulfill(status=404)
    page.clock.fast_forward(900_000)
    assert not held


def test_links_can_be_copied_without_tls(ann: Person) -> None:
    ann.context.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    ann.go("/")
    ann.page.fill("[name=name]", "Ann")
    ann.page.click("[data-start=leap] [data-play=friend]")
    ann.page.wait_for_selector("#player-1:has-text('Ann')")
    assert ann.page.locator("#invite .qr").count() == 0, "no phone can open the link"
    ann.page.click("text=Copy the link")
    ann.saw("Copied.")
    # If the browser forbids this too, the page shows the link for copying by hand.
    ann.page.evaluate("document.execCommand = () => false")
    ann.page.click("text=Copy the link")
    ann.page.wait_for_selector("#copy-dialog[open]")
    assert ann.page.evaluate("getSelection().toString()") == ann.page.input_value("#link")


def test_the_token_can_be_hidden_from_a_neighbour(ann: Person) -> None:
    page = ann.page
    ann.start("hunt", "casual")
    assert page.get_attribute("#entry-field", "placeholder") == "m 4 or t 4"
    page.click("text=Hide my token")
    hits = page.locator("#board .target.secret .hit")
    assert hits.count()
    assert {hit.evaluate("each => getComputedStyle(each).pointerEvents") for hit in hits.all()} == {"none"}
    for entry in ("move 9", "move 99", "nothing"):
        ann.fill_in(entry)
        page.keyboard.press("Enter")
        ann.saw("This move is not allowed. Show your token")
    page.click("text=Show my token")
    ann.press("move 3")
    assert page.get_attribute("#entry-field", "placeholder") == "o 4"
    page.click("text=Hide my token")
    token = page.locator("#board [data-key=token-1]")
    assert token.is_hidden()
    assert page.inner_text("#log") == "You moved in secret."
    assert page.text_content("#spoken") == "Your token is hidden."
    page.dblclick("[data-veil]")
    assert token.is_hidden(), "shown and hidden again, however quickly"
    assert page.locator("#log b.p1:visible").inner_text() == "You", "in the colour of every other line"
    named = "all => all.map((each) => each.getAttribute('aria-label')).join()"
    assert "your token" not in page.locator("#board [aria-label]").evaluate_all(named)
    page.reload()
    page.wait_for_selector("text=Show my token")
    assert token.is_hidden(), "after a reload too"
    marks = page.locator("#board .target .telling")
    assert marks.count()
    assert all(mark.is_hidden() for mark in marks.all()), "all cells that can be named look the same"
    page.click("[data-hint]")
    ann.saw("Your token is hidden")
    assert not page.inner_text("#hint")
    page.click("text=Show my token")
    assert token.is_visible()
    assert "your token" in page.locator("#board [aria-label]").evaluate_all(named)
    assert page.inner_text("#log") == "You enter at position 3."
    assert ann.notice == ""
    page.click("text=Hide my token")
    page.click("[data-resign]")
    page.click("#resign button[value=resign]")
    ann.wait("over")
    assert token.is_visible()
    labels = page.locator("#board [aria-label]").evaluate_all(named)
    assert "Position 3: your token" in labels
    assert "your tunnel is left" in labels, "nothing is hidden now"
    assert "casual's token is off the grid" in labels, "nor is the other's"


def test_two_tabs_of_one_seat_stay_in_sync(ann: Person) -> None:
    match = ann.start("lights", "casual")
    other = ann.new_page()
    other.goto(ann.base + match)
    # The first tab is put to sleep: it closes its stream, and misses what happens.
    ann.page.evaluate(HIDE)
    other.locator('#board .target[data-action="1-2"] .hit').click()
    other.wait_for_selector("#match:has(#sentence[data-turn=you]) #log-2")
    assert ann.event < int(other.get_attribute("#state", "data-event") or 0)
    # The tab shows an old position, and a message says so after a click.
    ann.target("1").click()
    ann.saw("Another of your moves was played first")
    ann.page.evaluate(SHOW)
    ann.page.wait_for_selector("#log-2")
    assert ann.log == other.locator("#log li").all_inner_texts()


def test_unsupported_browsers_get_a_message(browser: Browser, base: str) -> None:
    without = browser.new_context(java_script_enabled=False)
    page = without.new_page()
    page.goto(base)
    assert "need JavaScript" in page.inner_text("noscript")
    without.close()
    old = browser.new_context()
    page = old.new_page()
    page.route(
        "**/page.js*",
        lambda route: route.fulfill(body="a syntax that is new ?? ??=", content_type="text/javascript"),
    )
    page.goto(base)
    page.wait_for_selector("#not-loaded")
    assert "too old" in page.inner_text("#not-loaded")
    old.close()


def test_a_new_visitors_double_click_starts_one_match(ann: Person) -> None:
    posted: list[str] = []
    ann.page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    ann.go("/")
    ann.page.locator("[data-start=lights] [data-play='']").dblclick()
    ann.page.wait_for_url("**/m/*")
    assert ann.wait("you") == "you"
    assert len(posted) == 1


def test_a_rejected_record_removes_the_previous_review(ann: Person) -> None:
    ann.page.clock.install()
    ann.go("/review")
    ann.page.fill("[name=record]", "duels record 2\ngame: lights\n\n4\n")
    ann.page.click("#upload button")
    ann.page.wait_for_selector("#review .stage svg.board")
    ann.page.fill("[name=record]", "nothing")
    ann.page.click("#upload button")
    ann.saw("not a duels record")
    assert ann.page.locator("#review").count() == 0
    ann.page.clock.fast_forward(60_000)
    assert ann.notice == "", "the message disappears after a while"


def test_a_review_scrolls_its_list_only_to_an_entry_out_of_sight(bob: Person) -> None:
    page = bob.page
    bob.go("/review")
    record = Path(__file__).parents[1] / "fixtures" / "records" / "hunt-won-by-1.duel"
    page.fill("[name=record]", record.read_text(encoding="utf-8"))
    page.click("#upload button:has-text('Review')")
    page.wait_for_selector("#review .stage svg.board")
    assert page.inner_text("#review [aria-current] .number") == "3"
    scrolled = "document.querySelector('.entries ol').scrollTop"
    assert page.evaluate(scrolled) == 0
    page.locator("#review [data-step]").nth(3).focus()
    page.keyboard.press("End")
    assert page.evaluate(scrolled) > 0
