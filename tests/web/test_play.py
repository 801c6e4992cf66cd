"""Matches over HTTP and their reviews, with a real server and two visitors."""

import re
from random import Random
from typing import Any

import httpx
import pytest

from duels.core.rules import AnySight
from duels.games import GAMES, load_record
from duels.players import PLAYER_KINDS, PlayerKind
from tests.web.serving import Visitor, pair

GAME_NAMES = tuple(GAMES)


def play_out(match: str, ann: Visitor, bob: Visitor, seed: int, most: int = 20) -> None:
    """Play at random until the end; after so many actions the player to move resigns."""
    rng = Random(seed)
    for number in range(most + 2):
        for visitor in (ann, bob):
            view = visitor.see(match)
            if view["turn"] == "over":
                return
            if view["turn"] == "you":
                action = rng.choice(view["actions"])["action"] if number < most else "resign"
                answer = visitor.act(match, action, view["event"])
                assert answer.status_code == 204, answer.text
    raise AssertionError("it is over by now")


@pytest.mark.parametrize("game", GAME_NAMES)
def test_two_people_play_to_the_end_and_both_see_it(base: str, game: str) -> None:
    ann, bob, match = pair(base, game)
    with ann.watching(match) as at_ann, bob.watching(match) as at_bob:
        play_out(match, ann, bob, 3)
        ends = []
        for events in (at_ann, at_bob):
            number = 0
            while True:
                before, (number, view) = number, events.next()
                assert number > before
                if view["turn"] == "over":
                    break
            ends.append(view)
    assert ends[0]["outcome"]["code"] == ends[1]["outcome"]["code"]
    assert ends[0] == ann.see(match)
    record = ann.get(f"{match}/record").text
    assert record == bob.get(f"{match}/record").text
    loaded = load_record(record)
    assert loaded.match.outcome
    assert loaded.match.outcome.code == ends[0]["outcome"]["code"]
    assert loaded.headers["seed"]


@pytest.mark.parametrize("game", GAME_NAMES)
def test_a_person_plays_a_bot_to_the_end(base: str, game: str) -> None:
    ann = Visitor(base)
    match = ann.start(game, "novice", first="you")
    rng = Random(1)
    for _ in range(40):
        view = ann.see_when(match, "you", "over")
        if view["turn"] == "over":
            break
        assert ann.act(match, rng.choice(view["actions"])["action"], view["event"]).status_code == 204
    else:
        view = ann.see_when(match, "you", "over")
        if view["turn"] == "you":
            assert ann.act(match, "resign", view["event"]).status_code == 204
    loaded = load_record(ann.get(f"{match}/record").text)
    assert loaded.match.over
    assert loaded.headers["seat1"] == "novice"


def test_repeated_late_and_out_of_turn_requests(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    event = ann.see(match)["event"]
    assert bob.act(match, "4").status_code == 409, "it is not Bob's turn"
    assert ann.act(match, "4", event).status_code == 204
    assert ann.act(match, "4", event).status_code == 204, "it is done already"
    late = ann.act(match, "5", event)
    assert late.status_code == 409, "Ann's page is old"
    assert late.json()["message"].startswith("Another of your moves was played first.")
    assert ann.act(match, "5", event + 50).status_code == 409, "nobody was ever shown that"
    refused = bob.act(match, "4")
    assert refused.status_code == 422
    assert "'4' is not allowed now; allowed: 1, 2, 3, 5, 6, 7" in refused.json()["message"]
    assert "Cannot read" in bob.act(match, "banana").json()["message"]
    before = bob.see(match)["event"] - 1
    old = bob.act(match, "1-2", before).json()["message"]
    assert old.startswith("The match has changed in the meantime."), "by Ann's move"
    assert bob.act(match, "1-2").status_code == 204
    assert ann.act(match, "4", event).status_code == 204, "and it stays done"
    assert len(load_record(ann.get(f"{match}/record").text).match.turns) == 2


def test_the_turn_can_be_requested_alone(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    turns = [visitor.get(f"{match}?only=turn").json() for visitor in (ann, bob)]
    assert [(each["turn"], each["offer"]) for each in turns] == [("you", None), ("other", None)]
    assert [each["against"] for each in turns] == ["Bob", "your friend"]
    assert Visitor(base).get(f"{match}?only=turn").status_code == 404
    ann.act(match, "resign")
    assert ann.offer(match, "rematch").status_code == 204
    turns = [visitor.get(f"{match}?only=turn").json() for visitor in (ann, bob, Visitor(base))]
    assert [(each["turn"], each["offer"]) for each in turns] == [
        ("over", offer) for offer in (None, "rematch", None)
    ]


def test_accepts_the_books_entries(base: str) -> None:
    ann, _, match = pair(base, "lights")
    event = ann.see(match)["event"]
    response = ann.post(f"{match}/act", entries=["2"], event=event)
    assert response.status_code == 200
    assert response.json() == {"prompt": "Enter the number of the first light to turn OFF:"}
    refused = ann.post(f"{match}/act", entries=["2", "7"], event=event)
    assert refused.status_code == 422
    assert ann.post(f"{match}/act", entries=["2", "3"], event=event).status_code == 204
    assert ann.post(f"{match}/act", entries=["2", "3"], event=event).status_code == 204, "it is done already"
    assert ann.post(f"{match}/act", entries=["2", "4"], event=event).status_code == 409
    assert [line["entry"] for line in ann.see(match)["log"]] == ["3-4"]


def test_streams_continue_after_a_cut(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    with bob.watching(match) as events:
        number, _ = events.next()
    ann.act(match, "4")
    with bob.watching(match, last=number) as events:
        again, view = events.next()
        assert again == number + 1
        assert view["turn"] == "you"
        bob.act(match, "1")
        assert events.next()[0] == number + 2


def test_the_first_player_can_be_chosen(base: str) -> None:
    ann = Visitor(base)
    assert ann.see(ann.start("lights", "friend", first="me"))["seat"] == 1
    assert ann.see(ann.start("lights", "friend", first="you"))["seat"] == 2
    seats = {ann.see(ann.start("lights", "friend", first="chance"))["seat"] for _ in range(24)}
    assert seats == {1, 2}
    assert ann.post("/matches", game="lights", against="friend", first="nobody").status_code == 422


def test_rejects_moves_before_both_players_joined(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("leap", "friend", name="Ann")
    view = ann.see(match)
    assert view["turn"] == "waiting"
    assert view["actions"] == []
    assert ann.act(match, "enter", view["event"]).status_code == 409
    link = view["invite"]["link"]
    bob = Visitor(base)
    invitation = bob.get(link[link.index("/j/") :]).json()
    assert invitation["by"] == "Ann"
    assert not bob.cookies, "nothing is made by looking"
    assert bob.post(link[link.index("/j/") :], name=" B\n o b ").status_code == 200
    view = ann.see(match)
    assert view["players"][1]["name"] == "B o b"
    assert [line["entry"] for line in view["log"]] == ["enter", "enter"], "tokens enter without a question"
    assert view["turn"] == "you"


def test_spectators_can_watch_games_without_secrets(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    eve = Visitor(base)
    ann.act(match, "4")
    view = eve.see(match)
    assert view["seat"] is None
    assert view["actions"] == []
    assert view["may"] == []
    assert [line["entry"] for line in view["log"]] == ["4"]
    assert eve.act(match, "5", view["event"]).status_code == 404
    assert eve.offer(match, "takeback").status_code == 404
    assert eve.get(f"{match}/record").status_code == 404, "after the end"
    assert bob.act(match, "resign").status_code == 204
    assert eve.get(f"{match}/record").status_code == 200


def test_a_resignation_may_cross_the_others_move(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    ann.act(match, "4")
    event = ann.see(match)["event"]
    bob.act(match, "1")
    assert ann.act(match, "5", event).status_code == 409, "a move is for the position that was shown"
    assert [ann.act(match, "resign", event).status_code for _ in range(2)] == [204, 204], "sent twice"
    assert ann.see(match)["outcome"]["code"] == "2 won, 1 resigned"


def test_hunt_has_no_spectators_before_the_end(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    eve = Visitor(base)
    unknown = eve.get("/m/AAAAAAAAAAAAAAAAAAAAAA")
    for path in (match, f"{match}/events", f"{match}/record", f"{match}/review", f"{match}/hint"):
        refused = eve.get(path)
        assert (refused.status_code, refused.text) == (404, unknown.text)
        assert "No match with this id, or you cannot watch it yet" in unknown.text, "true of both"
        assert _fixed(refused) == _fixed(unknown)
    assert eve.act(match, "move 3", 2).text == unknown.text
    ann.act(match, "resign")
    assert eve.see(match)["turn"] == "over"
    page = eve.get(match).text.lower()
    assert "s token is off the grid" in page
    assert "your" not in page, "they look on"
    watched = eve.see(match)
    for player in (ann, bob):
        view = player.see(match)
        assert view["text"] == watched["text"], "after the end nothing is hidden from anybody"
        assert _unnamed(view["board"]) == _unnamed(watched["board"])
        assert "your token is off the grid" in view["board"]
    assert bob.get(f"{match}/review").status_code == 200


def _unnamed(board: str) -> str:
    return re.sub(r' aria-label="[^"]*"', "", board)


def _fixed(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "date"}


def test_hunt_does_not_reveal_when_the_other_moves(base: str) -> None:
    ann, bob, match = pair(base, "hunt")
    bob.start("lights", "friend")  # a match that is written to moves to no other place in his list
    before, record, home = (bob.get(path).content for path in (match, f"{match}/record", "/"))
    assert ann.act(match, "tunnel 3").status_code == 204
    assert bob.get(match).content == before
    assert bob.get(f"{match}/record").content == record
    assert bob.get("/").content == home
    ann.act(match, "observe 5")
    view = bob.see(match)
    assert [line["entry"] for line in view["log"]] == [None, "observe 5"]
    assert "3" not in "".join(line["text"] for line in view["log"])


def test_hints_are_for_the_players_own_turn_against_a_bot(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("flip", "random")
    assert ann.get(f"{match}/hint").json()["text"].startswith("Flip any unseen tile (")
    match = ann.start("lights", "random")
    hint = ann.get(f"{match}/hint").json()
    assert "4" in hint["actions"]
    assert "100.0% to win" in hint["text"]
    look, move, theory = hint["stages"]
    assert "groups of equal length" in look
    assert "100.0% to win" in move
    assert "nim-sum" in theory
    ann, _, match = pair(base, "lights")
    assert ann.get(f"{match}/hint").status_code == 422


def test_reviews_are_available_after_the_end(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("lights", "random")
    assert ann.get(f"{match}/review").status_code == 422
    ann.act(match, "1")
    ann.see_when(match, "you", "over")
    ann.act(match, "resign")
    review = ann.get(f"{match}/review").json()
    assert review["moments"][0]["mark"] == "blunder"
    assert len(review["steps"]) == len(review["moments"]) + 1
    record = ann.get(f"{match}/record").text
    posted = ann.post("/review", record=record).json()
    assert posted["moments"] == review["moments"]


@pytest.mark.parametrize(("game", "played"), [("leap", "A1 B1"), ("chain", "A4 B1 A5 Baccept B7")])
def test_a_review_addresses_its_reader(base: str, game: str, played: str) -> None:
    ann, bob, match = pair(base, game, name="Ann <A.>")
    for each in (*played.split(), "Aresign"):
        assert {"A": ann, "B": bob}[each[0]].act(match, each[1:]).status_code == 204
    reviews = {who: each.get(f"{match}/review").json() for who, each in (("Ann <A.>", ann), ("Bob", bob))}
    assert reviews["Ann <A.>"]["heading"].startswith("You resign.")
    assert reviews["Bob"]["heading"].startswith("Ann <A.> resigns.")
    reviews[""] = Visitor(base).get(f"{match}/review").json()
    assert [reviews[who]["you"] for who in reviews] == [1, 2, None]
    for reader, review in reviews.items():
        sentences = [step["title"].partition(". ")[2] for step in review["steps"][1:]]
        titles = [each.removesuffix(" resigned").partition(":")[0] for each in sentences]
        names = ["You" if name == reader else name for name in ("Ann <A.>", "Bob")]
        assert set(titles) == set(names)
        assert review["account"][0].startswith("Given away: ")
        assert review["legend"].startswith("A point is one percent of a win.")
        steps = (step["text"] for step in review["steps"][1:])
        texts = " ".join((review["heading"], review["chance"], *review["account"], *steps))
        assert not re.search(r"\bPlayer [12]\b", texts)
        assert bool(re.search(r"\byour?\b", texts, re.IGNORECASE)) is bool(reader)
        assert "Ann <A.>" not in "".join(step["board"] for step in review["steps"])


def test_games_with_equal_titles_have_distinct_names(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("chain", "friend")
    link = ann.see(match)["invite"]["link"]
    for path in ("/", match, link[link.index("/j/") :]):
        page = re.sub("<[^>]*>", "", ann.get(path, accept="text/html").text)
        assert re.search(r"Quantum Duel: four in a row (\(chain\)|chain\b)", page), path


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("nothing", "not a duels record"),
        ("duels record 2\ngame: lights\noptions: lights=900\n\n4\n", "unusual options"),
        ("duels record 2\ngame: lights\n\n9\n", "line 4"),
        ("duels record 2\ngame: hunt\n\nmove 3\n", "once it is over"),
        ("x" * (256 * 1024 + 1), "At most 256 KB"),
    ],
)
def test_rejects_invalid_records_in_one_line(base: str, record: str, why: str) -> None:
    refused = Visitor(base).post("/review", record=record)
    assert refused.status_code == 422
    assert why in refused.json()["message"]


@pytest.mark.parametrize("moved", [(), ("move 3",)])
def test_a_player_can_resign_on_the_others_turn(base: str, moved: tuple[str, ...]) -> None:
    ann, bob, match = pair(base, "hunt", name="Ann")
    for action in moved:  # Bob does not learn of it
        ann.act(match, action)
    pages = [visitor.get(match, Accept="text/html") for visitor in (ann, bob, Visitor(base))]
    assert ["data-resign" in page.text for page in pages] == [True, True, False]
    event = bob.see(match)["event"]
    answers = [bob.act(match, "resign", event) for _ in range(2)]
    assert [(answer.status_code, answer.text) for answer in answers] == [(204, ""), (204, "")], "sent twice"
    assert ann.see(match)["sentence"] == "You won. Bob resigns."
    assert bob.see(match)["sentence"] == "You lost. You resign."
    assert [line["entry"] for line in bob.see(match)["log"]] == [*moved, "resign 2"]
    assert ann.get(f"{match}/record").text.endswith(
        "resign 2\n# Player 2 resigns.\nresult: 1 won, 2 resigned\n"
    )
    review = ann.get(f"{match}/review").json()
    assert review["steps"][-1]["title"].endswith("Bob resigned")
    assert ann.act(match, "resign").status_code == 409, "it is over"


class Moody:
    """Fails the first time."""

    calls = 0

    def choose(self, sight: AnySight, rng: Random) -> Any:
        Moody.calls += 1
        if Moody.calls == 1:
            raise RuntimeError("not now")
        return sight.actions[0]


def test_a_failed_bot_is_retried_when_a_visitor_opens_the_match(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        PLAYER_KINDS, "moody", PlayerKind("moody", "fails once", lambda rules, progress: Moody())
    )
    ann = Visitor(base)
    match = ann.start("lights", "moody", first="me")
    ann.act(match, "4")
    while ann.see(match)["turn"] != "you":
        pass
    assert Moody.calls == 2
    assert [line["entry"] for line in ann.see(match)["log"]] == ["4", "1"]
