"""A friend match of every game in Firefox and in WebKit. All other tests of pages use Chromium."""

import json
from collections.abc import Iterator
from random import Random

import pytest

from duels.games import GAMES
from tests.web.webdriver import Browser, path_of, two_firefoxes, two_webkits

MOST_MOVES = 12
TURN = "document.querySelector('#sentence')?.dataset.turn"
EVENT = "document.getElementById('state').dataset.event"
PRESSABLE = (
    "[...document.querySelectorAll('#board .target:not([data-mode]), #actions [data-action]')]"
    ".map((each) => each.dataset.action)"
)


@pytest.fixture(scope="module", params=[two_firefoxes, two_webkits], ids=["firefox", "webkit"])
def people(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Browser]]:
    with request.param(tmp_path_factory.mktemp("browsers")) as browsers:
        yield browsers


def invite(ann: Browser, bob: Browser, base: str, game: str) -> None:
    """Let Ann invite Bob by a link."""
    ann.go(f"{base}/g/{game}")
    ann.click("[data-play=friend]")
    link = ann.wait("document.getElementById('link')?.value")
    bob.go(link)
    bob.type("[name=name]", "Bob")
    bob.click("#sit .primary")
    for person in (ann, bob):
        person.wait(f"['you', 'other'].includes({TURN})")


def press(person: Browser, action: str) -> None:
    before = person.evaluate(EVENT)
    named = f'[data-action="{action}"]'
    person.click(f"#board .target{named} .hit, #actions {named}")
    person.wait(f"{EVENT} !== {json.dumps(before)}")


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_two_friends_play(people: list[Browser], base: str, game: str) -> None:
    ann, bob = people
    invite(ann, bob, base, game)
    rng = Random(3)
    for _ in range(MOST_MOVES):
        turns = [person.wait(f"['you', 'other', 'over'].includes({TURN}) && {TURN}") for person in people]
        if "over" in turns:
            break
        if turns.count("you") != 1:  # the event has not reached both
            continue
        press(people[turns.index("you")], rng.choice(people[turns.index("you")].evaluate(PRESSABLE)))
    if ann.evaluate(TURN) != "over":
        ann.click("[data-resign]")
        ann.click("#resign[open] [value=resign]")
    for person in people:
        person.wait(f"{TURN} === 'over'")
        assert person.evaluate("document.documentElement.hasAttribute('data-ready')")
        assert person.evaluate("document.getElementById('notice').textContent") == ""
    logs = [person.evaluate("document.querySelectorAll('#log li').length") for person in people]
    assert logs[0] == logs[1] > 0
    ann.click("[data-offer=rematch]")
    here = path_of(str(bob.evaluate("location.href")))
    bob.click("#agree-rematch")
    bob.wait(f"location.pathname !== {json.dumps(here)} || document.getElementById('rematch') !== null")
