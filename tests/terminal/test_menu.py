"""The menu takes numbers, names and back, and returns after every item."""

import re
import sys
from pathlib import Path

import pytest

from duels.games import GAMES, find_game
from duels.play.library import read_record
from duels.terminal.menu import Menu
from duels.web import command
from tests.support import CommandResult, duels, lines_of

ASKED = "What would you like to do?"


def walk(folder: Path, *entries: str) -> CommandResult:
    """Enter the lines at the menu, which must not fail."""
    result = duels(folder, entered="".join(f"{entry}\n" for entry in entries))
    assert (result.code, "Traceback" in result.err) == (0, False)
    return result


def headers(folder: Path) -> list[tuple[str, str, str]]:
    """Return the game and seats of the saved matches."""
    headers = [read_record(path).headers for path in sorted((folder / "matches").glob("*.duel"))]
    return [(header["game"], header["seat1"], header["seat2"]) for header in headers]


@pytest.mark.parametrize(
    ("entries", "one", "two"),
    [
        (("1", "4", "1", "1", "resign"), "human", "casual"),
        (("play", "hunt", "", "", "resign"), "human", "casual"),
        (("PLAY", " Hunt ", " greedy", "OTHER", "resign"), "greedy", "human"),
        (("play", "hunt", "friend", "", "", "2", "resign"), "human", "human"),
        (
            ("9", "chess", "", "0", "-1", "٤", "1", "4.0", "4", "nobody", "1", "3x", "1", "resign"),
            "human",
            "casual",
        ),
    ],
)
def test_the_menu_accepts_numbers_and_names(
    entries: tuple[str, ...], one: str, two: str, tmp_path: Path
) -> None:
    result = walk(tmp_path, *entries, "quit")
    assert headers(tmp_path) == [("hunt", one, two)]
    wrong = {"9": 9}.get(entries[0], 0)
    assert len(re.findall(r"Please enter a number from 1 to \d, a name, back or quit\.", result.out)) == wrong
    assert result.out.count(ASKED) == 2, "the menu returns after the match"


def test_the_menu_starts_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "only at a terminal" in walk(tmp_path, "browser", "quit").out, "nobody could stop the server"
    serve = Menu._serve

    def at_terminal(menu: Menu) -> None:
        monkeypatch.setattr(menu._screen, "on_terminal", True)
        try:
            serve(menu)
        finally:
            monkeypatch.setattr(menu._screen, "on_terminal", False)

    monkeypatch.setattr(Menu, "_serve", at_terminal)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "duels.web.server", raising=False)
    result = walk(tmp_path, "browser", "quit")
    assert "pip install 'duels[web]'" in result.out
    assert result.out.count(ASKED) == 2, "a missing extra does not end the menu"

    served: list[dict[str, object]] = []
    monkeypatch.setattr(command.serve, "callback", lambda **options: served.append(options))
    assert walk(tmp_path, "browser", "quit").out.count(ASKED) == 2, "the menu returns when the server stops"
    assert [options["port"] for options in served] == [8321]


def test_the_menu_lists_every_item(tmp_path: Path) -> None:
    result = walk(tmp_path, "play", "lights", "quit")
    for number, name in enumerate(GAMES, start=1):
        assert f"  {number}. {name}" in result.out
    levels = ["novice", "casual", "club", "expert", "perfect"]  # lights is solved
    for number, name in enumerate([*levels, "friend"], start=1):
        assert f"  {number}. {name}" in result.out
    assert not re.search(r"^  \d\. (random|greedy)", result.out, flags=re.MULTILINE)
    assert not list(tmp_path.iterdir())


def test_the_menu_offers_only_levels_that_differ(tmp_path: Path) -> None:
    screen_text = walk(tmp_path, "play", "hunt", "quit").out
    assert (
        "Against whom? In hunt, only these levels differ: guessing decides much of it.\n"
        "  1. casual  errs often; a little better than random\n"
        "  2. best    the strongest player there is\n"
        "  3. friend" in screen_text
    )
    assert "Against whom?\n" in walk(tmp_path, "play", "flip", "quit").out


@pytest.mark.parametrize("leaving", [(), ("quit",), ("q",), ("exit",), ("play", "quit"), ("play", "lights")])
def test_every_question_of_the_menu_accepts_quit(leaving: tuple[str, ...], tmp_path: Path) -> None:
    result = walk(tmp_path, *leaving)
    assert result.out.count(ASKED) == 1


def test_back_goes_back_and_help_repeats_the_menu(tmp_path: Path) -> None:
    result = walk(tmp_path, "play", "back", "rules", "b", "help", "?", "back")
    # Two times back, two times help, and no question before the first one.
    assert result.out.count(ASKED) == 1 + 2 + 2 + 1
    assert "This is the first question. Enter quit to leave." in result.out


def test_back_returns_to_the_previous_question(tmp_path: Path) -> None:
    entries = ("play", "lights", "greedy", "back", "back", "chain", "random", "b", "club", "other")
    result = walk(tmp_path, *entries, "back", "other", "short", "resign")
    assert headers(tmp_path) == [("chain", "club", "human")]
    assert [result.out.count(question) for question in ("Which game?", "Against whom?", "Who moves")] == [
        2,
        4,
        4,
    ]


@pytest.mark.parametrize(("length", "limit"), [("", 3), ("short", 3), ("1", 3), ("open", None), ("2", None)])
def test_a_first_match_of_chain_has_up_to_three_boards(
    length: str, limit: int | None, tmp_path: Path
) -> None:
    result = walk(tmp_path, "play", "chain", "casual", "", length, "resign")
    assert "How long?\n  1. short  up to 3 boards, a good first match\n" in result.out
    (path,) = (tmp_path / "matches").glob("*.duel")
    assert read_record(path).match.rules.limit_value == limit
    assert "How long?" not in walk(tmp_path, "play", "hunt", "casual", "", "resign").out


def test_a_coin_decides_who_is_player_1_with_a_notice(tmp_path: Path) -> None:
    messages = set()
    for number in range(40):
        folder = tmp_path / str(number)
        result = walk(folder, "play", "lights", "greedy", "coin", "resign")
        ((one, two),) = re.findall(r"Player 1: (.*)\. Player 2: (.*)\.\n", result.err)
        messages.add(one)
        assert headers(folder) == [("lights", one, two)]
    assert messages == {"human", "greedy"}


def test_there_is_nothing_to_resume_or_review_at_first(tmp_path: Path) -> None:
    first = walk(tmp_path)
    assert not re.search(r"^  \d\. (resume|review)", first.out, flags=re.MULTILINE)
    walk(tmp_path, "play", "chain", "greedy", "", "", "4", "quit")
    later = walk(tmp_path, "resume", "resign", "review", "quit")
    assert "resume    continue your match of chain" in later.out
    offer = "review    see why you won or lost your last match of chain"
    assert later.out.count(offer) == 2
    assert later.out.count("You have observed cell 4") == later.out.count("observe: 4") != 0
    assert later.out.count(ASKED) == 3


def test_a_match_is_reviewed_once_it_is_over(tmp_path: Path) -> None:
    walk(tmp_path, "play", "lights", "greedy", "", "resign", "play", "chain", "greedy", "", "", "4", "quit")
    result = walk(tmp_path, "review", "quit")
    assert "see why you won or lost your last match of lights" in result.out
    assert "lights: " in result.out


def test_the_menu_continues_after_an_error(tmp_path: Path) -> None:
    """The external player of the match is not available."""
    walk(tmp_path, "play", "hunt", "greedy", "", "MOVE 3", "quit")
    (path,) = (tmp_path / "matches").glob("*.duel")
    path.write_text(path.read_text().replace("greedy", "nobody"))
    result = walk(tmp_path, "resume", "rules", "hunt")
    assert f"{path}: " in result.out
    assert find_game("hunt").card() in result.out
    assert result.out.count(ASKED) == 3


def test_practice_returns_to_the_menu(tmp_path: Path) -> None:
    result = walk(tmp_path, "practice", "lights", "quit", "quit")
    assert result.out.count(ASKED) == 2


def test_an_interrupted_match_is_saved_and_returns_to_the_menu(tmp_path: Path) -> None:
    result = walk(tmp_path, "play", "lights", "greedy", "", "1-2")
    (path,) = (tmp_path / "matches").glob("*.duel")
    assert lines_of(read_record(path).match)[0] == "1-2"
    assert "The match is saved." in result.err


@pytest.mark.parametrize(("game", "plays"), [("lights", "perfect"), ("hunt", "best")])
@pytest.mark.parametrize("question", ["best", "perfect"])
def test_the_strongest_player_has_two_names(game: str, plays: str, question: str, tmp_path: Path) -> None:
    walk(tmp_path, "play", game, question, "me", "resign")
    (path,) = (tmp_path / "matches").glob("*.duel")
    assert f"seat2: {plays}\n" in path.read_text()


def test_all_unfinished_matches_can_be_resumed(tmp_path: Path) -> None:
    walk(tmp_path, "play", "hunt", "casual", "", "MOVE 3", "quit")
    walk(tmp_path, "play", "lights", "friend", "Ann", "Bob", "", "4-5", "quit")
    elsewhere = tmp_path / "Elsewhere.duel"
    duels(tmp_path, "play", "leap", "--save", elsewhere, entered="1\nquit\n")
    result = walk(
        tmp_path, "resume", "back", "resume", str(elsewhere), "resign", "resume", "2", "resign", "quit"
    )
    assert "resume    continue one of your unfinished matches" in result.out
    assert "hunt against casual, 1 entry" in result.out
    assert "lights between two people, 1 entry" in result.out
    assert "resume    continue your match of lights" in result.out
    results = [path for path in (tmp_path / "matches").glob("*.duel") if read_record(path).match.over]
    assert [path.name[16:] for path in results] == ["hunt.duel"]
    assert read_record(elsewhere).match.over


@pytest.mark.parametrize(
    ("entries", "options"),
    [
        (("lights", "0", "x", "12"), {"lights": 12}),
        (("leap", "back", "leap", "100"), {"goal": 100}),
        (("flip", "3", "3", "", "", "3", "3", "3", "6"), {"side": 3, "values": 3, "copies": 3, "target": 6}),
        (("chain", "", "3"), {"run": 3, "max_boards": 3}),
    ],
)
def test_the_menu_has_variants(entries: tuple[str, ...], options: dict[str, int], tmp_path: Path) -> None:
    walk(tmp_path, "variant", *entries, "casual", "", *["short"] * (entries[0] == "chain"), "resign")
    (path,) = (tmp_path / "matches").glob("*.duel")
    rules = read_record(path).match.rules
    assert {name: rules.options()[name] for name in options} == options
