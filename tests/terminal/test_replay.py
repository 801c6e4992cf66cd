"""A replay prints exactly the screen of the original match."""

import re
import sys
from pathlib import Path
from random import Random

import pytest

from duels.core.match import Match, draw
from duels.core.rules import Seat
from duels.games import GAMES
from tests.golden.transcripts import CommandOutput, Scene, in_process
from tests.terminal.terminal import CLEAR, Terminal


def duels(folder: Path, command: str, entries: tuple[str, ...] = ()) -> CommandOutput:
    return in_process(Scene(f"duels {command}", entries, CommandOutput("", "", 0)), folder)


def person_entries(game: str, seed: int, resign_after: int) -> tuple[list[str], list[str], bool]:
    """Return the entries of two people in a random match, the chance outcomes, and whether one resigns."""
    rng = Random(seed)
    rules = GAMES[game].rules()
    words = GAMES[game].words(rules)
    match = Match.start(rules)
    typed: list[str] = []
    drawn: list[str] = []
    while actor := match.actor:
        if isinstance(actor, Seat):
            action = rng.choice(match.actions)
            entries = words.entries(match.sight(actor), action)
            if entries and len(typed) >= resign_after:
                return [*typed, "resign"], drawn, True
            typed += entries
        else:
            action = draw(match, rng)
            drawn.append(rules.format(action))
        match = match.play(actor, action)
    return typed, drawn, False


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("resign_after", [7, 10_000])
def test_a_match_of_people_is_replayed_as_it_was_played(
    game: str, seed: int, resign_after: int, tmp_path: Path
) -> None:
    typed, drawn, resigned = person_entries(game, seed, resign_after)
    chance = f'--chance "{" ".join(drawn)}"' if drawn else ""
    played = duels(tmp_path, f"play {game} {chance} --save match.duel", tuple(typed))
    replayed = duels(tmp_path, "replay match.duel")
    assert (played.exit, replayed.exit) == (0, 0)
    assert ("resigns" in played.screen) is resigned
    assert replayed.screen == played.screen


@pytest.mark.parametrize("game", GAMES)
def test_a_match_of_machines_is_replayed_as_it_was_played(game: str, tmp_path: Path) -> None:
    played = duels(tmp_path, f"play {game} --seat1 greedy --seat2 random --seed 5 --save match.duel")
    replayed = duels(tmp_path, "replay match.duel")
    assert played.screen
    assert replayed.screen == played.screen


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_for_a_seat_matches_what_the_person_saw(seed: int, tmp_path: Path) -> None:
    """The replay for a seat shows the same view as the match against a machine did."""
    entries = ("MOVE 3", "OBSERVE 5", "MOVE 3", "OBSERVE 6") * 200
    played = duels(tmp_path, f"play hunt --seat2 random --seed {seed} --save match.duel", entries)
    assert played.exit == 0
    assert "(hidden)" in played.screen
    assert duels(tmp_path, "replay match.duel --seat 1").screen == played.screen
    assert "(hidden)" not in duels(tmp_path, "replay match.duel").screen


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_replay_pages_forwards_and_backwards(tmp_path: Path) -> None:
    duels(tmp_path, "play lights --save match.duel", ("1-2", "3-4", "1", "5", "resign"))
    keys = ["\x1b[C", "\n", " ", "n", "n", "\x1b[D", "b", "\x1b[C", *["\x1b[D"] * 4, "xq"]
    with Terminal(tmp_path, "replay", tmp_path / "match.duel", "--step", NO_COLOR="1") as terminal:
        for key in keys:
            terminal.press("q stop --", key)
        assert terminal.wait() == 0
        assert terminal.echoes
    turns = [int(number) for number in re.findall(r"-- turn (\d) of 4", terminal.text)]
    assert turns == [0, 1, 2, 3, 4, 4, 3, 2, 3, 2, 1, 0, 0], "paging stops at both ends"
    assert terminal.main_screen == "", "nothing stays on the main screen"
    screens = [screen for screen in terminal.text.split(CLEAR) if "-- turn " in screen]
    assert "Turning OFF lights 3 and 4." in screens[2]
    assert "Turning OFF lights 3 and 4." not in screens[1]
    assert "Player 2 resigns." in screens[4]
    assert max(screen.count("\n") for screen in screens) < 24


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_keys_pressed_ahead_count_and_lead_to_both_ends(tmp_path: Path) -> None:
    duels(tmp_path, "play lights --save match.duel", ("1-2", "3-4", "1", "5", "resign"))
    with Terminal(tmp_path, "replay", tmp_path / "match.duel", "--step", NO_COLOR="1") as terminal:
        for keys, turn in (("\x1b[C" * 3, 3), ("\x1b[H", 0), ("\x1b[F", 4)):
            terminal.ask("q stop --")
            terminal.send(keys)
            terminal.expect(f"-- turn {turn} of 4:")
        terminal.press("q stop --", "q")
        assert terminal.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_an_unfinished_match_has_no_empty_turn(tmp_path: Path) -> None:
    duels(tmp_path, "play lights --save match.duel", ("1-2", "3-4", "quit"))
    with Terminal(tmp_path, "replay", tmp_path / "match.duel", "--step", NO_COLOR="1") as terminal:
        terminal.expect("-- turn 0 of 2:")
        terminal.send("q")
        assert terminal.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_paging_backwards_reveals_no_secret(tmp_path: Path) -> None:
    duels(tmp_path, "play hunt --save match.duel", ("MOVE 3", "OBSERVE 5", "MOVE 6", "OBSERVE 1", "quit"))
    with Terminal(tmp_path, "replay", tmp_path / "match.duel", "--step", "--seat", "2") as terminal:
        for key in ("\n", "\n", "b", "q"):
            terminal.press("q stop --", key)
        assert terminal.wait() == 0
    assert "MOVE 6" in terminal.text
    assert "MOVE 3" not in terminal.text
