"""Agreements to stop in the browser: two visitors agree, a bot always does."""

import httpx
import pytest
from playwright.sync_api import expect

from duels.core.match import Match
from duels.core.record import format_header
from duels.core.rules import Seat
from duels.games import load_record
from duels.games.chain.rules import QuantumChain
from duels.web.decisions import decide_offer
from duels.web.match_state import MatchState, make_play_entries
from duels.web.store import Entry, EntryKind
from tests.web.browsing import Person, seat_two
from tests.web.serving import Visitor, pair

BOARD = "1234567"  # symbols in turn: no chain, and nothing to challenge


def play_boards(ann: Visitor, bob: Visitor, match: str, boards: int) -> None:
    for number, cell in enumerate(BOARD * boards):
        assert (ann, bob)[number % 2].act(match, cell).status_code == 204


def get_message(response: httpx.Response) -> str:
    return str(response.json()["message"])


def test_two_visitors_agree_to_stop(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    assert ann.see(match)["board_number"] == "Board 1"
    play_boards(ann, bob, match, 1)
    assert "stop" not in ann.see(match)["may"]
    refusal = ann.offer(match, "stop")
    assert refusal.status_code == 422
    assert get_message(refusal) == "You can agree to stop from board 3 on. This is board 2."
    for number, cell in enumerate(BOARD):
        (bob, ann)[number % 2].act(match, cell)
    for visitor in (ann, bob):
        assert visitor.see(match)["board_number"] == "Board 3"
        assert "stop" in visitor.see(match)["may"], "also on the other's turn"
    assert bob.offer(match, "stop").status_code == 204
    assert ann.see(match)["offer"] == {"what": "stop", "mine": False, "by": "Bob", "undoes_more": False}
    assert bob.offer(match, "stop", "yes").status_code == 409, "not one's own"
    assert ann.offer(match, "stop", "no").status_code == 204
    assert ann.see(match)["turn"] != "over"
    bob.offer(match, "stop")
    event = ann.see(match)["event"]
    for _ in range(2):
        assert ann.offer(match, "stop", "yes", event=event).status_code == 204
    for visitor in (ann, bob):
        view = visitor.see(match)
        assert (view["turn"], view["board_number"]) == ("over", "")
        assert (view["outcome"]["code"], view["outcome"]["won"]) == ("cut off", None)
        assert view["log"][-1]["entry"] == "stop by agreement"
        assert view["log"][-1]["text"] == "The players agreed to stop. Nobody wins."
        assert not view["log"][-1]["resigned"]
    record = load_record(ann.get(f"{match}/record").text)
    assert record.match.outcome
    assert record.match.outcome.code == "cut off"
    assert ann.get(f"{match}/review").status_code == 200
    assert ann.offer(match, "stop").status_code == 422, "it is over"


def test_both_propose_and_a_move_ends_the_proposal(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    play_boards(ann, bob, match, 2)
    bob.offer(match, "stop")
    ann.act(match, "4")
    assert ann.offer(match, "stop", "yes").status_code == 409, "it has lapsed"
    bob.offer(match, "stop")
    assert ann.offer(match, "stop").status_code == 204
    assert ann.see(match)["turn"] == "over"


@pytest.mark.parametrize("game", ["lights", "leap", "hunt", "flip"])
def test_other_games_cannot_be_stopped(base: str, game: str) -> None:
    ann, _, match = pair(base, game)
    assert ann.see(match)["board_number"] == ""
    assert "cannot agree to stop" in get_message(ann.offer(match, "stop"))


def test_a_short_match_has_three_boards(base: str) -> None:
    ann = Visitor(base)
    assert ann.see(ann.start("chain", duration="short"))["board_number"] == "Board 1 of 3"
    assert ann.see(ann.start("chain", duration="open"))["board_number"] == "Board 1"
    ann.start("lights", duration="short")
    wrong = ann.post("/matches", game="chain", duration="long")
    assert wrong.status_code == 422
    assert "'duration' must be short or open" in get_message(wrong)


def test_the_button_proposes_and_the_other_person_agrees(ann: Person, bob: Person) -> None:
    seat_two(ann, bob, "chain")
    expect(ann.page.locator("#board-number")).to_have_text("Board 1 of 3")
    for number, cell in enumerate(BOARD * 2):
        person = (ann, bob)[number % 2]
        person.wait("you")
        person.page.locator(f"#board [data-action='{cell}']").first.click()
        person.wait("other")
    ann.wait("you")
    expect(ann.page.locator("#board-number")).to_have_text("Board 3 of 3")
    ann.page.click("#to-stop")
    ann.page.click("#stop button[value='']")
    ann.page.click("#to-stop")
    ann.page.click("#stop button[value=stop]")
    expect(ann.page.locator("#offer")).to_contain_text("You proposed to stop. Waiting for an answer.")
    expect(bob.page.locator("#offer")).to_contain_text("proposes to stop. Nobody wins.")
    bob.page.click("#agree-stop")
    for person in (ann, bob):
        person.wait("over")
        expect(person.page.locator("#sentence")).to_have_text("Nobody won. The players agreed to stop.")
        expect(person.page.locator("#board-number")).to_have_count(0)
        assert person.wrong == []


@pytest.mark.parametrize("entries", [BOARD * 2, BOARD * 2 + "4"])
def test_a_bot_agrees_on_either_turn(entries: str) -> None:
    match = Match.start(QuantumChain()).play_text(*entries)
    state = MatchState("the-match", format_header(match.rules, {"seat1": "human", "seat2": "casual"}))
    state.add((Entry(EntryKind.SIT, "Ann", Seat.ONE), *make_play_entries(match)))
    change = decide_offer(state, Seat.ONE, "stop", "", state.count_events(Seat.ONE))
    assert change
    assert (change.entries, change.ends_match) == (
        (Entry(EntryKind.PLAY, "stop by agreement", Seat.ONE),),
        True,
    )
    state.add(change.entries)
    assert state.outcome
    assert state.outcome.code == "cut off"
