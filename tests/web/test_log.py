"""The log of a match: one voice, players' names, and `you` for its reader."""

import re
from random import Random
from xml.etree.ElementTree import Element, fromstring, tostring

import duels_liarsdice
import duels_tictactoe
import pytest

from duels.core.match import AnyMatch, Match
from duels.core.narration import Narration
from duels.core.rules import AnyRules, Seat
from duels.games import GAMES, find_game
from duels.web.match_state import MatchState, Viewer, make_play_entries
from duels.web.pages import MatchPage, Pages
from duels.web.store import Entry, EntryKind
from duels.web.views import Headline, make_json_view, make_page_view
from tests.support import play_randomly
from tests.web.serving import header_of


def make_state(match: AnyMatch, ann: str = "Ann", bob: str = "Bob") -> MatchState:
    state = MatchState("the-match", header_of(match.rules, started="2026-01-02 03:04 UTC"))
    state.add(
        (Entry(EntryKind.SIT, ann, Seat.ONE), Entry(EntryKind.SIT, bob, Seat.TWO), *make_play_entries(match))
    )
    return state


def log_lines(game: str, played: str, viewer: Viewer) -> list[str]:
    """Return the lines of the viewer's page about every entry."""
    match = Match.start(find_game(game).rules()).play_text(*played.split("; "))
    return [line["text"] for line in make_json_view(make_state(match), viewer)["log"]]


@pytest.mark.parametrize(
    ("game", "played", "ann", "bob"),
    [
        ("lights", "3-4", "You turn OFF lights 3 and 4.", "Ann turns OFF lights 3 and 4."),
        (
            "lights",
            "1-2; 3-4; 5-6; 7",
            "Bob turns OFF light 7. Bob wins by turning OFF the last light.",
            "You turn OFF light 7. You win by turning OFF the last light.",
        ),
        ("leap", "enter", "You enter at cell 1.", "Ann enters at cell 1."),
        ("leap", "enter; enter; 1", "You move to cell 2.", "Ann moves to cell 2."),
        ("chain", "3", "You observe cell 3.", "Ann observes cell 3."),
        (
            "chain",
            "3; 5; 2",
            "You observe cell 2, adjacent to cell 3.",
            "Ann observes cell 2, adjacent to cell 3.",
        ),
        (
            "chain",
            "3; 5; 2; challenge",
            "Bob challenges: a coin decides.",
            "You challenge: a coin decides.",
        ),
        (
            "chain",
            "3; 5; 2; challenge; heads",
            "Result: Heads. Observation successful! Cell 2 is now yours.",
            "Result: Heads. Observation successful! Cell 2 is now Ann's.",
        ),
        (
            "chain",
            "3; 5; 2; challenge; tails",
            "Result: Tails. Observation failed! Cell 2 reverts to unobserved.",
            "Result: Tails. Observation failed! Cell 2 reverts to unobserved.",
        ),
        (
            "chain",
            "3; 5; 2; accept",
            "Bob accepts. Observation successful! Cell 2 is now yours.",
            "You accept. Observation successful! Cell 2 is now Ann's.",
        ),
        ("hunt", "move 3", "You enter at position 3.", None),
        (
            "hunt",
            "move 3; observe 5",
            "You observe position 5. Bob's token is not there.",
            "Ann observes position 5. Your token is not there.",
        ),
        (
            "hunt",
            "move 3; observe 5; move 2; observe 3",
            "Bob observes position 3. Your token is there. Bob wins by capturing your token!",
            "You observe position 3. Ann's token is there. You win by capturing Ann's token!",
        ),
        ("flip", "A5", "", ""),
        (
            "flip",
            "A5; 3",
            "You flip tile A5 revealing a 3. New score: 3.",
            "Ann flips tile A5 revealing a 3. New score: 3.",
        ),
        (
            "flip",
            "D4+D5; 2,5",
            "You make a Quantum Flip revealing tiles D4:2 and D5:5.",
            "Ann makes a Quantum Flip revealing tiles D4:2 and D5:5.",
        ),
        (
            "flip",
            "D4+D5; 2,5; keep D4",
            "You choose 2, tile D4. New score: 2.",
            "Ann chooses 2, tile D4. New score: 2.",
        ),
    ],
)
def test_the_log_describes_an_entry_to_each_seat(game: str, played: str, ann: str, bob: str | None) -> None:
    assert log_lines(game, played, Seat.ONE)[-1] == ann
    assert log_lines(game, played, Seat.TWO)[-1:] == ([] if bob is None else [bob])


@pytest.mark.parametrize("game", GAMES)
def test_each_entry_is_logged_once_for_everybody(game: str) -> None:
    rules: AnyRules = find_game(game).rules()
    for seed in range(12):
        match = play_randomly(Match.start(rules), Random(seed), 60, resign=seed % 2 == 0)
        state = make_state(match)
        for viewer in (*Seat, None):
            log = make_json_view(state, viewer)["log"]
            assert len(log) == len(match.turns_known_to(viewer))
            for line in log:
                assert "Player" not in line["text"]
                assert line["text"].startswith("You ") == (
                    line["text"] != "" and line["seat"] == (viewer or 0)
                )
                assert line["text"] or line["told_next"] or line["entry"] is None
            shown_lines = MatchPage(Pages()).update(make_page_view(state, viewer)).count("<li id=")
            assert shown_lines == sum(not line["told_next"] for line in log)


def test_a_game_without_narration_is_logged_by_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.games.find_game", lambda name: duels_tictactoe.GAME)
    state = make_state(Match.start(duels_tictactoe.GAME.rules()).play_text("5"))
    html = MatchPage(Pages()).update(make_page_view(state, Seat.TWO))
    assert '<b class="p1">Ann</b>: 5</span></li>' in html


def test_plain_sentences_of_an_outside_game_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain lines stay as they are: "was" does not become "wa"."""
    text = "Player 1 was caught on cell 4 and always loses ties. You, Player 2, watch!"
    monkeypatch.setattr("duels_tictactoe.words.TicTacToeWords.narrate", lambda words, seen: Narration([text]))
    monkeypatch.setattr("duels.games.find_game", lambda name: duels_tictactoe.GAME)
    state = make_state(Match.start(duels_tictactoe.GAME.rules()).play_text("4"))
    for viewer in (*Seat, None):
        (line,) = make_json_view(state, viewer)["log"]
        assert line["text"] == text
        assert f"<span>{text}</span></li>" in MatchPage(Pages()).update(make_page_view(state, viewer))


def test_a_name_may_look_like_a_sentence() -> None:
    state = make_state(Match.start(find_game("lights").rules()).play_text("4"), ann="Dr. You", bob="You")
    page = MatchPage(Pages()).update(make_page_view(state, None))
    assert "<b>You is to move.</b>" in page
    assert '<b class="p1">Dr. You</b> turns OFF light 4.</span>' in page


def test_secret_chance_is_logged_only_for_its_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.games.find_game", lambda name: duels_liarsdice.GAME)
    state = make_state(Match.start(duels_liarsdice.GAME.rules()).play_text("3", "5", "1-2"))
    html = MatchPage(Pages()).update(make_page_view(state, Seat.TWO))
    log_lines = re.findall(r"<li id=.*?</li>", html)
    spans = [re.findall(r"<span[^>]*>(.*?)</span>", line) for line in log_lines]
    assert [re.sub("<[^>]*>", "", line) for line, *_ in spans] == ["You roll a 5.", "Ann bids one 2."]
    assert spans[0][1] == '<b class="p2">You</b> moved in secret.', "what a neighbour sees instead"


def unhidden(element: Element) -> Element:
    """Return the parts of a drawing that a neighbour sees while the token is hidden."""
    if veiled := element.attrib.pop("data-veiled", ""):
        element.set("aria-label", veiled)
    for child in list(element):
        if {"secret", "telling"} & set(child.get("class", "").split()):
            element.remove(child)
        else:
            unhidden(child)
    return element


@pytest.mark.parametrize("since", ["", "observe 7", "observe 7; move 4; observe 1"])
def test_a_spent_tunnel_can_be_hidden_from_a_neighbour(since: str) -> None:
    views = []
    for move in ("move 3", "tunnel 3"):
        played = f"move 2; observe 6; move 5; observe 7; {move}; {since}".rstrip("; ")
        match = Match.start(find_game("hunt").rules()).play_text(*played.split("; "))
        page = make_page_view(make_state(match), Seat.ONE)
        svg = tostring(unhidden(fromstring(str(page["board"]))))
        buttons = [action for action in page["actions"] if not action["on_board"]]
        views.append((svg, page["sentence"], page["prompt"], page["example"], buttons, page["may"]))
    assert views[0] == views[1]


def test_names_are_logged_unchanged() -> None:
    match = Match.start(find_game("lights").rules()).play_text("4")
    state = make_state(match, ann="[<b>]")
    (line,) = make_json_view(state, Seat.TWO)["log"]
    assert line["text"] == "[<b>] turns OFF light 4."
    html = MatchPage(Pages()).update(make_page_view(state, Seat.TWO))
    assert '<b class="p1">[&lt;b&gt;]</b> turns OFF light 4.</span></li>' in html


def test_a_resignation_names_the_player() -> None:
    assert log_lines("leap", "enter; enter; resign", Seat.TWO)[-1] == "Ann resigns. You win!"
    assert log_lines("leap", "enter; enter; resign", Seat.ONE)[-1] == "You resign. Bob wins!"


def test_after_the_end_nothing_is_hidden() -> None:
    match = Match.start(find_game("hunt").rules()).play_text("move 1", "observe 3", "tunnel 6", "observe 4")
    state = make_state(match)
    for seat, expected in (
        (Seat.ONE, ["move 1", "observe 3", None, "observe 4"]),
        (Seat.TWO, [None, "observe 3"]),
    ):
        assert [line["entry"] for line in make_json_view(state, seat)["log"]][: len(expected)] == expected
    state.add([Entry(EntryKind.PLAY, "resign", Seat.ONE)])
    for viewer in (*Seat, None):
        log = make_json_view(state, viewer)["log"]
        assert [line["entry"] for line in log] == ["move 1", "observe 3", "tunnel 6", "observe 4", "resign"]
        assert not any(line["secret"] for line in log)
    assert "(hidden)" not in MatchPage(Pages()).update(make_page_view(state, Seat.ONE))


def test_board_and_result_use_the_players_names() -> None:
    rules = find_game("flip").rules()
    playing = make_page_view(
        make_state(Match.start(rules).play_text("A1", "5"), bob="<Bartholomew the Great>"), Seat.ONE
    )
    board = str(playing["board"])
    assert ">You</text>" in board
    assert ">&lt;Bartholom…</text>" in board
    assert "&lt;Bartholomew the Great&gt; has 0 of 21 points" in board
    assert "you have 5 of 21 points" in board
    assert "A1: 5, flipped by you" in board
    assert "Player" not in board
    match = Match.start(find_game("lights").rules()).play_text("1-2", "3-4", "5-6", "7")
    for viewer, log_lines in (
        (Seat.ONE, "You lost. Bob wins by turning OFF the last light."),
        (Seat.TWO, "You won by turning OFF the last light."),
        (None, "Bob wins by turning OFF the last light."),
    ):
        assert make_page_view(make_state(match), viewer)["sentence"] == log_lines
        assert make_page_view(make_state(match, "", ""), viewer)["sentence"] == log_lines.replace(
            "Bob", "Player 2"
        )


@pytest.mark.parametrize(
    ("game", "played", "spoken"),
    [
        ("leap", "enter; enter; resign", ""),
        ("hunt", "move 1; observe 3; move 2; observe 7; move 2; observe 5", ""),
        ("chain", "1; 7; 2; accept; 6; accept; 3; accept; 5; accept; 4; accept", "You won."),
    ],
)
def test_the_result_is_announced_once(game: str, played: str, spoken: str) -> None:
    match = Match.start(find_game(game).rules()).play_text(*played.split("; "))
    assert match.outcome
    assert match.outcome.winner
    sentence = make_page_view(make_state(match), match.outcome.winner)["sentence"]
    assert sentence.startswith("You won. ")
    assert sentence.spoken == spoken, log_lines(game, played, match.outcome.winner)[-1]


def test_headlines_with_equal_text_keep_their_own_spoken_parts() -> None:
    page = MatchPage(Pages())
    view = make_page_view(make_state(Match.start(find_game("lights").rules())), Seat.ONE)
    for spoken in ("Your turn.", ""):
        view["sentence"] = Headline("Your turn.", spoken=spoken)
        assert f'data-spoken="{spoken}"' in page.update(view)


def test_a_full_board_of_chain_is_explained_to_both() -> None:
    played = ("1", "3", "4", "5", "6", "7", "2", "challenge", "heads")
    state = make_state(Match.start(find_game("chain").rules()).play_text(*played))
    why = "The full board decohered."
    assert make_json_view(state, Seat.ONE)["sentence"] == f"Bob is to move. {why}"
    instruction = "Observe a free cell to place your symbol there."
    assert make_json_view(state, Seat.TWO)["sentence"] == f"Your turn. {why} {instruction}"


def test_a_takeback_reaches_the_page_even_if_the_same_move_follows() -> None:
    state = make_state(Match.start(find_game("lights").rules()).play_text("4"))
    page = MatchPage(Pages())
    page.update(make_page_view(state, Seat.TWO))
    state.add([Entry(EntryKind.BACK, "0", Seat.ONE), Entry(EntryKind.PLAY, "4", Seat.ONE)])
    assert 'data-takebacks="1"' in page.update(make_page_view(state, Seat.TWO))
