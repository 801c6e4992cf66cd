"""The commands at any prompt, which do not change the match."""

from pathlib import Path
from random import Random

import pytest

from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games import find_game
from duels.play.library import read_record
from duels.terminal.prompts import COMMANDS, HELP
from tests.support import (
    GAME_NAMES,
    CommandResult,
    chance_of,
    duels,
    entries_for,
    lines_of,
    play_randomly,
    words_of,
)


def sample_match(name: str) -> AnyMatch:
    return play_randomly(Match.start(find_game(name).rules()), Random(8), 14)


def play(folder: Path, match: AnyMatch, lines: list[str]) -> tuple[CommandResult, Path]:
    path = folder / f"{len(list(folder.glob('*.duel')))}.duel"
    arguments = ("play", match.rules.name, "--chance", chance_of(match), "--save", path)
    return duels(folder, *arguments, entered="".join(f"{line}\n" for line in lines)), path


@pytest.mark.parametrize("name", GAME_NAMES)
def test_help_lists_every_command(name: str, tmp_path: Path) -> None:
    assert set(COMMANDS) == {line.split()[0] for line in HELP.splitlines()[1:]}
    for word in ("help", "?", " HELP "):
        result = duels(tmp_path, "play", name, entered=f"{word}\nquit\n")
        assert HELP in result.out


@pytest.mark.parametrize("name", GAME_NAMES)
def test_commands_work_at_every_prompt_and_change_nothing(name: str, tmp_path: Path) -> None:
    match = sample_match(name)
    game = find_game(name)
    lines = []
    expected: list[str] = []
    for after in match.steps():
        for entry in entries_for(after):
            assert after.previous
            assert isinstance(after.previous.actor, Seat)
            sight = after.previous.sight(after.previous.actor)
            words = words_of(match)
            lines += ["help", "Rules", " board ", "MOVES", "save", entry]
            expected += [HELP, game.card(), str(words.board(sight)), words.moves(sight)]
    result, path = play(tmp_path, match, [*lines, "quit"])
    assert result.code == 0
    assert lines_of(read_record(path).match)[: len(match.turns)] == lines_of(match)
    assert result.err.count(f"Saved: {path}\n") == len(expected) / 4
    position = 0
    for text in map(strip_ink, expected):
        position = result.out.index(text, position) + len(text)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_back_starts_an_entry_again(name: str, tmp_path: Path) -> None:
    match = sample_match(name)
    lines = []
    for after in match.steps():
        entries = entries_for(after)
        for count in range(len(entries)):
            lines += [*entries[:count], "back"]
        lines += entries
    result, path = play(tmp_path, match, [*lines, "quit"])
    assert result.code == 0
    assert lines_of(read_record(path).match)[: len(match.turns)] == lines_of(match)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_resigning_loses_at_once_at_any_prompt(name: str, tmp_path: Path) -> None:
    match = sample_match(name)
    steps = [step for step in match.steps() if entries_for(step)]
    for after in (steps[0], steps[1], steps[-1]):
        entries = entries_for(after)
        assert after.previous
        assert isinstance(after.previous.actor, Seat)
        loser = after.previous.actor
        before = [line for step in after.previous.steps() for line in entries_for(step)]
        result, path = play(tmp_path, match, [*before, *entries[:-1], "resign"])
        assert result.code == 0
        assert result.out.endswith(f"{loser.label} resigns. {loser.other.label} wins!\n")
        outcome = read_record(path).match.outcome
        assert outcome
        assert outcome.winner is loser.other
        assert path.read_text().endswith(f"\nresult: {loser.other.value} won, {loser.value} resigned\n")
        assert duels(tmp_path, "verify", path).code == 0


@pytest.mark.parametrize("name", GAME_NAMES)
def test_quit_leaves_the_match_saved(name: str, tmp_path: Path) -> None:
    match = sample_match(name)
    lines = [line for step in match.steps()[:5] for line in entries_for(step)]
    result, path = play(tmp_path, match, [*lines, "QUIT"])
    assert result.code == 0
    assert result.err == f"\nThe match is saved. Continue with: duels resume {path}\n"
    assert duels(tmp_path, "resume", path, entered="quit\n").out.startswith(result.out.removesuffix("QUIT\n"))
