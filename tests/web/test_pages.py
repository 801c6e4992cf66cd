"""Pages beside the match: records, continued matches, puzzles, and the visitor's matches at home."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from duels.core.game import Game
from duels.core.record import SECRET_HEADERS
from duels.core.rules import AnyRules, Seat
from duels.games import GAMES, load_record
from duels.web import puzzles
from duels.web.puzzles import Puzzles
from duels.web.workers import WorkerPool
from tests.web.serving import Visitor, pair


def test_before_the_end_a_seat_downloads_its_own_copy(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    ann.act(match, "move 3")
    ann.act(match, "observe 5")
    copy = load_record(bob.get(f"{match}/record").text)
    assert copy.seat == 2
    assert not set(SECRET_HEADERS) & set(copy.headers)
    assert "move 3" not in bob.get(f"{match}/record").text


def test_a_copy_of_an_open_game_can_be_resumed_at_the_terminal(base: str, tmp_path: Path) -> None:
    from duels.play.journal import Journal

    ann, bob, match = pair(base, "flip")
    ann.act(match, "A1")
    bob.act(match, "B2+B3")
    file = tmp_path / "evening.duel"
    file.write_text(ann.get(f"{match}/record").text)
    assert not set(SECRET_HEADERS) & set(load_record(file.read_text()).headers)
    journal, record = Journal.reopen(file)
    journal.close()
    assert len(record.match.turns) == 4
    assert record.headers["seed"]


def test_a_finished_match_can_be_continued_from_any_board(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    ann.act(match, "4")
    bob.act(match, "1-2")
    assert ann.post("/matches", match=match.removeprefix("/m/"), entries=1).status_code == 422, (
        "the match is not over"
    )
    ann.act(match, "resign")
    response = ann.post("/matches", match=match.removeprefix("/m/"), entries=2, against="random")
    assert response.status_code == 201
    view = ann.see(response.json()["url"])
    assert [line["entry"] for line in view["log"]] == ["4", "1-2"]
    assert view["turn"] == "you"
    assert view["seat"] == 1


@pytest.mark.parametrize(("against", "then"), [("novice", "novice"), ("friend", "casual")])
def test_continuing_keeps_the_opponent(base: str, against: str, then: str) -> None:
    if against == "friend":
        ann, _, match = pair(base, "lights")
    else:
        ann = Visitor(base)
        match = ann.start("lights", against)
    ann.act(match, "resign")
    response = ann.post("/matches", match=match.removeprefix("/m/"), entries=0)
    assert ann.see(response.json()["url"])["players"][1]["kind"] == then


def test_inherited_entries_are_attributed_to_their_players(base: str) -> None:
    ann, bob, match = pair(base, "lights", name="Ann")
    ann.act(match, "1")
    bob.act(match, "2")
    ann.act(match, "resign")
    on = {"match": match.removeprefix("/m/"), "entries": 2, "against": "novice"}
    again = ann.post("/matches", **on, name="Ann").json()["url"]
    ann.act(again, "3")
    view = ann.see_when(again, "you")
    texts = [line["text"] for line in view["log"]]
    assert texts[:3] == [
        "Player 1 turns OFF light 1.",
        "Player 2 turns OFF light 2.",
        "You turn OFF light 3.",
    ]
    assert texts[3].startswith("novice turns OFF")
    assert [line["earlier"] for line in view["log"]] == [True, True, False, False]
    note = "The first 2 lines are from the match that this one continues."
    assert note in ann.get(again, Accept="text/html").text
    # A player who takes back an inherited turn and replays it owns the new turn.
    for _ in range(2):
        assert ann.offer(again, "takeback").status_code == 204
    ann.act(again, "7")
    assert ann.see_when(again, "you")["log"][0]["text"] == "You turn OFF light 7."
    assert note not in ann.get(again, Accept="text/html").text
    ann.act(again, "resign")
    assert ann.get(f"{again}/review").json()["names"] == ["Ann", "novice"]
    third = ann.post("/matches", **{**on, "match": again.removeprefix("/m/")}, name="Ann").json()["url"]
    ann.act(third, "resign")
    review = ann.get(f"{third}/review").json()
    titles = [step["title"].partition(":")[0] for step in review["steps"]]
    theirs = ["The start", "1. Player 1", "2. Player 2"]
    assert titles == [*theirs, "3. You resigned"], "those of others are not hers"
    assert "first 2 entries come from another match" in review["account"][0]
    assert review["account"][1].startswith("Given away: you ")
    given_up, opening = review["moments"][2], review["opening"]
    assert review["loss"] == {"1": given_up["loss"], "2": 0}, "she answers for what she decided"
    assert opening == given_up["before"]
    assert f"{100 * opening:.1f} after entry 2" in review["account"][2]
    assert (review["level"], review["levels"][:2]) == ("novice", ["novice", "casual"]), "as before"


def test_puzzles_are_graded_and_not_stored(base: str) -> None:
    ann = Visitor(base)
    today = ann.get("/daily").json()["date"]
    puzzle = ann.get("/daily/lights").json()
    assert all(" OFF light" in line for line in puzzle["seen"]), "what happened last"
    assert 1 <= len(puzzle["seen"]) <= 3
    answers = [ann.post("/daily/lights", answer=a["action"], date=today).json() for a in puzzle["actions"]]
    assert {answer["right"] for answer in answers} == {True, False}
    right = [a["action"] for a, answer in zip(puzzle["actions"], answers, strict=True) if answer["right"]]
    assert all(answer["answers"] == right for answer in answers), "a page marks them on the board"
    assert ann.post("/daily/lights", answer="4", date="2001-01-01").status_code == 409
    assert ann.post("/daily/lights", answer="banana", date=today).status_code == 422
    data = ann.post("/daily", answered={today: [True, False, True, True, True], "x": 3}).json()
    assert data["text"].startswith(f"duels daily {today}: ■□■■■ 4/5")
    first, again = (ann.get("/practice/chain?seed=one&aim=0.4").json() for _ in range(2))
    assert first == again
    action = first["actions"][0]["action"]
    graded = ann.post("/practice/chain", answer=action, seed="one", aim="0.4", skill={}).json()
    assert 0 <= graded["skill"]["aim"] <= 1
    assert not ann.cookies


def test_home_says_which_boards_are_todays(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ready: list[str] = []

    def get_daily_board(puzzles: Puzzles, game: Game) -> str:
        rules: AnyRules = game.rules()
        board = game.drawing(rules).draw(rules.sight(rules.initial(), Seat.ONE))
        return board if game.name in ready else ""

    monkeypatch.setattr(Puzzles, "get_daily_board", get_daily_board)
    ann = Visitor(base)
    for name in GAMES:
        assert ann.get("/", Accept="text/html").text.count(">Today's puzzle<") == len(ready)
        assert ann.get("/daily", Accept="text/html").text.count('<svg class="board') == len(ready)
        ready.append(name)
    assert ann.get("/", Accept="text/html").text.count(">Today's puzzle<") == len(GAMES)


@pytest.mark.parametrize(
    "path", ["/", "/g/hunt", "/daily", "/daily/leap", "/practice", "/practice/lights", "/review"]
)
def test_every_route_has_a_page_and_data(base: str, path: str) -> None:
    ann = Visitor(base)
    page = ann.get(path, Accept="text/html,application/xhtml+xml")
    assert page.headers["content-type"].startswith("text/html")
    assert page.text.startswith("<!doctype html>")
    assert ann.get(path).json()


def test_home_lists_the_visitors_matches(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    ann.act(match, "4")
    anns, bobs = (visitor.get("/").json()["matches"] for visitor in (ann, bob))
    since = anns[0].pop("since")
    assert datetime.fromisoformat(since) <= datetime.now(UTC)
    assert since in ann.get("/", Accept="text/html").text
    assert anns == [
        {
            "match": match.removeprefix("/m/"),
            "game": "lights",
            "title": "Light Out Duel",
            "against": "Bob",
            "turn": "other",
            "won": None,
            "over": False,
            "problem": None,
        }
    ]
    assert bobs[0]["turn"] == "you"
    assert Visitor(base).get("/").json()["matches"] == []
    ann.start("lights", "friend")
    waiting = ann.get("/").json()["matches"][0]
    assert (waiting["against"], waiting["turn"]) == ("a friend", "waiting")
    assert "not joined yet" in ann.get("/", Accept="text/html").text


def test_home_lists_matches_with_the_visitor_to_move_first(base: str) -> None:
    ann, _bob, theirs = pair(base, "lights")
    ann.act(theirs, "4")
    own_match = ann.start("leap")
    for _ in range(9):  # more than are shown of those that are over
        match = ann.start("lights")
        assert ann.act(match, "resign").status_code == 204
    home = ann.get("/").json()
    listed = home["matches"]
    assert [f"/m/{each['match']}" for each in listed[:2]] == [own_match, theirs]
    assert [each["turn"] for each in listed] == ["you", "other", *["over"] * 8]
    # The others are reached by a link.
    address = "/?matches=all"
    every = ann.get(address).json()
    assert [each["turn"] for each in every["matches"]] == ["you", "other", *["over"] * 9]
    assert (home["more"], every["more"]) == (True, False)
    pages = [ann.get(path, Accept="text/html").text for path in ("/", address)]
    assert [f'href="{address}"' in page for page in pages] == [True, False]


def test_tomorrows_puzzles_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    days = [date(2026, 5, 1), date(2026, 5, 2)]
    requested: list[date] = []

    class Calendar(date):
        @classmethod
        def today(cls) -> "Calendar":
            return cls.fromordinal(days[0].toordinal())

    def describe_daily(game: Game, day: date) -> tuple[str, dict[str, object]]:
        requested.append(day)
        if len(requested) == len(GAMES):
            days.pop(0)
        return "", {}

    async def watch() -> None:
        workers = WorkerPool()
        looking = Puzzles(workers)
        looking.start()
        while len(requested) < 2 * len(GAMES):
            await asyncio.sleep(0.01)
        await looking.stop()
        workers.close()

    for name in ("_START_DELAY", "_DATE_CHECK_INTERVAL"):
        monkeypatch.setattr(puzzles, name, 0.0)
    monkeypatch.setattr(puzzles, "date", Calendar)
    monkeypatch.setattr(puzzles, "_describe_daily", describe_daily)
    asyncio.run(asyncio.wait_for(watch(), 20))
    assert [day.day for day in requested] == [1] * len(GAMES) + [2] * len(GAMES)


def test_counts_a_long_streak(base: str) -> None:
    ann = Visitor(base)
    data = ann.get("/daily").json()
    today = date.fromisoformat(data["date"])
    days = [(today - timedelta(days=back)).isoformat() for back in reversed(range(data["most_days"]))]
    answer = ann.post("/daily", answered={day: [False] * len(GAMES) for day in days})
    assert answer.status_code == 200, answer.text
    assert answer.json()["streak"] == data["most_days"]
