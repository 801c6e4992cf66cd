"""Previews of links, the installed app, and the tab: what others see of a match, and what they must not."""

import re
from datetime import date
from pathlib import Path
from random import Random
from struct import unpack

import pytest

from duels.core.match import Match
from duels.games import GAMES, find_game
from duels.web import pictures
from duels.web.pictures import Preview
from duels.web.views import draw_preview, make_preview
from tests.support import play_randomly
from tests.web.browsing import Person, seat_two
from tests.web.serving import Visitor, pair, serving
from tests.web.test_indistinguishable import make_state

TAG = re.compile(r'<meta (?:property|name)="([^"]+)" content="([^"]*)"')


def tags_of(visitor: Visitor, path: str) -> dict[str, str]:
    return dict(TAG.findall(visitor.get(path, Accept="text/html").text))


def size_of(visitor: Visitor, path: str) -> tuple[int, int]:
    """Return the width and height of a PNG."""
    answer = visitor.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), path
    assert answer.content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = unpack(">II", answer.content[16:24])
    return width, height


def test_pages_that_are_shared_have_a_title_a_text_and_a_picture(base: str) -> None:
    ann, _, match = pair(base, "lights", name="Ann")
    ann.act(match, "resign")
    stranger = Visitor(base)
    for path in ("/", "/daily", "/g/flip", match):
        tags = tags_of(stranger, path)
        assert tags["og:title"]
        assert tags["og:description"] == tags["description"] != ""
        assert tags["og:image"].startswith(f"{base}/")
        assert size_of(stranger, tags["og:image"].removeprefix(base)) == (1200, 630)
    assert tags["og:description"] == "Bob won. Ann resigns.", "the result of a shared match"


def test_a_preview_shortens_only_text_that_does_not_fit() -> None:
    cut = ["…" in pictures.draw_preview(Preview("A title", letters * "m", "")) for letters in range(1, 91)]
    assert cut == sorted(cut), "a shorter text is never cut off where a longer one is not"
    assert cut[-1]
    for game in GAMES.values():
        assert "…" not in pictures.draw_preview(Preview(game.title, f"{game.summary}.", ""))


def test_a_shared_result_of_the_day_has_its_own_preview(base: str) -> None:
    ann = Visitor(base)
    today = ann.get("/daily").json()["date"]
    result = ann.post("/daily", answered={today: [True, False, True, True, True]}).json()["result"]
    tags = tags_of(ann, f"/daily?result={result}")
    assert tags["og:title"] == "4 of 5 right"
    picture = tags["og:image"].removeprefix(base)
    assert size_of(ann, picture) == (1200, 630)
    assert ann.get(picture).content != ann.get("/picture/daily.png").content
    for nothing in ({}, {today: [None] * 5}):
        assert ann.post("/daily", answered=nothing).json()["result"] == "", "nothing to share"
    some = ann.post("/daily", answered={today: [None, True, None, False, None]}).json()
    assert (some["text"], some["result"]) == (f"duels daily {today}: ·■·□· 1/5", f"{today}.-1-0-.0")
    assert tags_of(ann, f"/daily?result={some['result']}")["og:title"] == "1 of 5 right"
    for wrong in ("x", "2026-01-01.2.1", "2026-01-01.111111.1", "2026-01-01.1.<"):
        assert tags_of(ann, f"/daily?result={wrong}") == tags_of(ann, "/daily")


def test_a_link_to_a_result_is_shared_only_if_others_can_open_it(tmp_path: Path) -> None:
    day = {date.today().isoformat(): [True]}
    with serving(str(tmp_path / "web.sqlite3"), addresses=("192.0.2.7",)) as base:
        data = Visitor(base).post("/daily", answered=day).json()
        assert data["link"].endswith(f"/daily?result={data['result']}")
    with serving(str(tmp_path / "web.sqlite3")) as base:
        assert Visitor(base).post("/daily", answered=day).json()["link"] == ""


def test_the_preview_of_an_invitation_names_the_friend_and_no_token(base: str) -> None:
    ann = Visitor(base)
    link = ann.see(ann.start("hunt", "friend", name="Ann"))["invite"]["link"]
    path = link.removeprefix(base)
    tags = tags_of(Visitor(base), path)
    assert tags["og:title"] == "Ann invites you to Quantum Duel: the hunt"
    token = path.removeprefix("/j/")
    assert not [value for value in tags.values() if token in value]
    assert tags["og:image"] == f"{base}/picture/hunt.png"


@pytest.mark.parametrize("game", GAMES)
def test_a_preview_shows_what_spectators_may_know(game: str) -> None:
    """In games with hidden information, nothing but the game until the match is over."""
    rules = find_game(game).rules()
    rng = Random(5)
    start = make_state(Match.start(rules))
    for _ in range(10):
        match = play_randomly(Match.start(rules), rng, rng.randrange(1, 12))
        one, two = (make_state(match, seed=seed) for seed in ("7", "8"))
        if match.over:
            continue
        assert draw_preview(one) == draw_preview(two), "the seed decides the hidden tiles of flip"
        if rules.has_hidden_information:
            assert make_preview(one) == make_preview(start)
            assert draw_preview(one) == draw_preview(start)


def test_a_player_cannot_see_or_share_more_by_the_picture(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    before = bob.get(f"{match}/picture.png").content
    ann.act(match, "move 3")
    assert ann.get(f"{match}/picture.png").content == bob.get(f"{match}/picture.png").content == before
    assert Visitor(base).get(f"{match}/picture.png").status_code == 404
    ann.act(match, "resign")
    assert Visitor(base).get(f"{match}/picture.png").content != before


def test_the_app_can_be_installed(base: str) -> None:
    ann = Visitor(base)
    page = ann.get("/", Accept="text/html").text
    (address,) = re.findall(r'<link rel="manifest" href="([^"]+)"', page)
    manifest = ann.get(address).json()
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
    for icon in manifest["icons"]:
        width, height = size_of(ann, icon["src"])
        assert f"{width}x{height}" == icon["sizes"]
    assert ann.get("/picture/icon-7.png").status_code == 404
    assert ann.get("/picture/nothing.png").status_code == 404


def test_the_tab_says_whose_turn_it_is(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "lights")
    for person in (ann, bob):
        person.page.evaluate("document.querySelector('link[rel=icon]').dataset.checked = ''")
    icons = 'link[rel=icon][data-checked][href*="icon{}.svg"]'
    for mover, other in ((ann, bob), (bob, ann)):
        mover.wait("you")
        other.wait("other")
        assert mover.page.title().startswith("Your turn · ")
        assert other.page.title().startswith("Their turn · ")
        assert mover.page.locator(icons.format("-turn")).count() == 1
        assert other.page.locator(icons.format("")).count() == 1
        mover.press("1" if mover is ann else "3")
