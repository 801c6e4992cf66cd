"""A wrong entry at any prompt of any game gets one helpful line and changes nothing."""

import io
import re
import sys
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duels.core.match import AnyMatch, Match
from duels.core.rules import Seat
from duels.core.words import Question, strip_ink
from duels.games import find_game
from duels.play.library import read_record
from duels.terminal import screen
from duels.terminal.prompts import COMMAND_ALIASES, COMMANDS
from duels.terminal.screen import format_echo
from tests.support import (
    GAME_NAMES,
    advance,
    all_rules,
    chance_of,
    command,
    decisions,
    duels,
    entries_for,
    finish,
    has_question,
    lines_of,
    play_randomly,
    words_of,
)

NASTY = (
    *("", " ", "\t", "abc", "x y z", "1.5", "1e3", "-1", "+1", "0", "8", "22", "1_0", "1\t2", "9" * 1000),
    *("٣", "３", "²", "Ⅳ", "१२", "4\u200b", "\ufeff4", "\x00", "\x1b[2J", "\x07", "\x7f", "\x85", "\u2028"),
    *("\ue000", "\ue001X\ue000", "\U0001f600", "é", "ＡＢ", "ı", "ſtay", "\ud800", "\u202e4", "'", '"', "%s"),
    *("yes", "no", "challenge", "accept", "heads", "tails", "enter", "MOVE 9", "MOVE", "TUNNEL -1", "stay"),
    *("OBSERVE", "OBSERVE 0", "observe 4 5", "Q", "F", "A0", "F1", "A6", "A1+A2", "keep A1", "4,5", "1-3"),
    *("3 5", "quit!", "undo 2", "resign now", "--help", "; rm -rf .", "../../etc", "{0}", "A" * 1000),
)
# Valid entries of all games. Most of them are wrong at any given prompt.
NOTATION = tuple(
    sorted({rules.format(a) for rules in all_rules() for a in (*rules.all_actions(), *rules.all_outcomes())})
)
LINE = st.text(st.characters(exclude_characters="\r\n"), max_size=60)
ENTRIES = st.one_of(st.sampled_from(NASTY), st.sampled_from(NOTATION), LINE, st.floats().map(str))
SLOW_START = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=200)


def enter(match: AnyMatch, path: tuple[str, ...], entry: str) -> tuple[Question | None, Any]:
    """Return the next question after `path` and `entry`, or the action that they make."""
    assert isinstance(match.actor, Seat)
    dialogue = words_of(match).ask(match.sight(match.actor))
    advance(dialogue, path)
    try:
        return dialogue.send(entry), None
    except StopIteration as end:
        return None, end.value


def accepted(match: AnyMatch, path: tuple[str, ...], entry: str) -> bool:
    question, _ = enter(match, path, entry)
    return question is None or not question.notice


def refused_there(match: AnyMatch, path: tuple[str, ...], entry: str) -> bool:
    """Return whether the entry is rejected and the same question follows.

    (A refused pair of lights goes back to the choice of action: see the transcripts.)
    """
    assert isinstance(match.actor, Seat)
    asked_now = advance(words_of(match).ask(match.sight(match.actor)), path)
    question, _ = enter(match, path, entry)
    return question is not None and bool(question.notice) and question.prompt == asked_now.prompt


def offered(name: str, notice: str) -> list[str]:
    """Return the entries that a rejection lists as allowed."""
    sentence = re.split(r"(?<=[.!]) (?=[A-Z])", notice)[-1]
    if sentence in ("Please choose a different tile.", "Please choose another tile."):
        return []  # the book's own sentence; the board shows the tiles that are left
    if "MOVE" in sentence:
        moves = re.findall(r"\d+", sentence.split("STAY")[0].split("TUNNEL")[0])
        spent = ["TUNNEL 1"] if "TUNNEL" in sentence else []
        return [f"MOVE {cell}" for cell in moves] + spent + ["STAY"] * ("STAY" in sentence)
    if "OBSERVE" in sentence:
        return [f"OBSERVE {cell}" for cell in re.findall(r"\d+", sentence)]
    if sentence == "Enter 1 for one light or 2 for two adjacent lights.":
        return ["1"]  # 2 is rejected only after it is chosen
    if re.fullmatch(r"Please enter a coordinate from A1 to [A-I][1-9]\.", sentence):
        return []
    assert re.match(r"(Please )?(enter|choose) |The first of two ", sentence, flags=re.IGNORECASE), notice
    words = re.findall(r"\b(?:\d+|[A-I]\d|Q|F|yes|no)\b", sentence)
    assert words, f"{notice!r} does not say what is allowed in {name}"
    return words


@st.composite
def prompts(draw: st.DrawFn) -> tuple[AnyMatch, AnyMatch, tuple[str, ...]]:
    """Draw any prompt of any game: a decision, the match after it, and the entries made so far."""
    match = draw(decisions())
    assert isinstance(match.actor, Seat)
    after = match.play(match.actor, draw(st.sampled_from(match.actions)))
    entries = entries_for(after)
    return match, after, entries[: draw(st.integers(0, len(entries) - 1))]


@SLOW_START
@given(prompts(), st.lists(ENTRIES, min_size=1, max_size=4))
def test_a_wrong_entry_is_refused_with_help_and_changes_nothing(
    prompt: tuple[AnyMatch, AnyMatch, tuple[str, ...]], wrong: list[str]
) -> None:
    match, after, path = prompt
    refused = [entry for entry in wrong if refused_there(match, path, entry)]
    dialogue = words_of(match).ask(match.sight(match.actor))  # type: ignore[arg-type]
    question = advance(dialogue, path)
    for entry in refused:
        again = dialogue.send(entry)
        assert again.prompt == question.prompt
        assert again.secret == question.secret
        check_notice(match, path, again.notice)
    # The next questions are the same as without the wrong entry.
    assert finish(dialogue, entries_for(after)[len(path) :]) == last_action(after)


def last_action(match: AnyMatch) -> Any:
    assert match.last
    return match.last.action


def check_notice(match: AnyMatch, path: tuple[str, ...], notice: str) -> None:
    assert notice
    assert notice.isprintable(), "one line without control characters"
    assert len(notice) < 400 + 4 * len(match.actions)
    for entry in offered(match.rules.name, notice):
        assert accepted(match, path, entry), f"{notice!r} offers {entry!r}, which is refused"


@SLOW_START
@given(prompts(), ENTRIES)
def test_every_accepted_entry_is_a_legal_action(
    prompt: tuple[AnyMatch, AnyMatch, tuple[str, ...]], entry: str
) -> None:
    match, _, path = prompt
    question, action = enter(match, path, entry)
    assert question or action in match.actions


@SLOW_START
@given(prompts(), st.sampled_from([" ", "   ", "\t", "\x1c", "\xa0"]))
def test_case_and_surrounding_spaces_do_not_matter(
    prompt: tuple[AnyMatch, AnyMatch, tuple[str, ...]], space: str
) -> None:
    match, after, _ = prompt
    for change in (str.lower, str.upper, str.swapcase, lambda entry: space + entry + space):
        dialogue = words_of(match).ask(match.sight(match.actor))  # type: ignore[arg-type]
        next(dialogue)
        assert finish(dialogue, [change(entry) for entry in entries_for(after)]) == last_action(after)


def short_match(name: str, rng: Random) -> AnyMatch:
    """A whole match, resigned if it gets long."""
    match = play_randomly(Match.start(find_game(name).rules()), rng, 40)
    while match.actor is not None and not (isinstance(match.actor, Seat) and has_question(match)):
        match = play_randomly(match, rng, 1)
    return match.resign(match.actor) if isinstance(match.actor, Seat) else match


def annoyed(match: AnyMatch, rng: Random) -> tuple[list[str], list[str]]:
    """Return the lines that play `match`, mixed with wrong ones, and the text that the wrong ones add."""
    lines, added = [], []
    for after in match.steps():
        entries, before = entries_for(after), after.previous
        assert before
        for place, entry in enumerate(entries):
            for _ in range(rng.randrange(3)):
                guess = rng.choice([*NASTY, *NOTATION]).replace("\ud800", "")
                question, _action = enter(before, entries[:place], guess)
                if not refused_there(before, entries[:place], guess):
                    continue
                if question and guess.strip().lower() not in (*COMMANDS, *COMMAND_ALIASES):
                    lines.append(guess)
                    added.append(strip_ink(f"{format_echo(guess)}\n{question.notice}\n{question.prompt}"))
            lines.append(entry)
    return lines, added


@pytest.mark.parametrize("name", GAME_NAMES)
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_match_full_of_wrong_entries_is_the_same_match(name: str, seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    match = short_match(name, rng)
    lines, added = annoyed(match, rng)
    transcripts = []
    for entered in ([line for after in match.steps() for line in entries_for(after)], lines):
        path = tmp_path / f"{rng.random()}.duel"
        play = ("play", name, "--chance", chance_of(match), "--save", path)
        result = duels(tmp_path, *play, entered="".join(f"{line}\n" for line in entered))
        assert result.code == 0, result.err
        assert result.err == f"\nRecord: {path}\nReview it with: duels review {path}\n"
        assert lines_of(read_record(path).match) == lines_of(match)
        transcripts.append(result.out)
    # A wrong entry adds itself, one line and the question to the screen, and nothing else.
    clean, full = transcripts
    assert all(text in full for text in added)
    assert len(full) == len(clean) + sum(map(len, added))


@pytest.mark.parametrize("name", GAME_NAMES)
def test_the_end_of_input_at_every_prompt_saves_the_match(name: str, tmp_path: Path) -> None:
    match = play_randomly(Match.start(find_game(name).rules()), Random(5), 14)
    needed = [len(entries_for(after)) for after in match.steps()]
    decided = next(filter(None, needed))  # the number of lines of the first decision
    lines = [line for after in match.steps() for line in entries_for(after)]
    for count in range(len(lines) + (not match.over)):
        path = tmp_path / f"{count}.duel"
        text = "".join(f"{line}\n" for line in lines[:count])
        result = duels(tmp_path, "play", name, "--chance", chance_of(match), "--save", path, entered=text)
        assert result.code == 130
        if count < decided:
            assert result.err == "\nNothing was played, so nothing was saved.\n"
            assert not path.exists()
            continue
        assert result.err == f"\nThe match is saved. Continue with: duels resume {path}\n"
        saved = lines_of(read_record(path).match)
        complete = [end for end in range(len(needed) + 1) if sum(needed[:end]) <= count]
        assert saved[: len(needed)] == lines_of(match)[: complete[-1]]


@pytest.mark.parametrize("name", GAME_NAMES)
def test_the_command_survives_long_and_undecodable_input(name: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    megabyte = b"9" * 1_000_000
    nasty = [entry.encode("utf-8", "surrogatepass") for entry in NASTY]
    wrong = [b"\xff\xfe", b"\x00\x00", b"\xc3(", megabyte, b"move " + megabyte, *nasty]
    wrong = [w for w in wrong if not harmless(name, w)]
    entered = b"\n".join(wrong) + b"\nquit\n"
    result = command(tmp_path, "play", name, "--save", path, entered=entered)
    assert result.returncode == 0, result.stderr[-2000:]
    assert b"Traceback" not in result.stderr
    assert len(result.stdout) < 400 * len(wrong) + 10_000
    assert b"Nothing was played" in result.stderr, "no entry counted as a decision"
    assert not path.exists()
    assert strip_ink(result.stdout.decode()) == result.stdout.decode(), "the output has no ink marks"


def harmless(name: str, entry: bytes) -> bool:
    """Return whether the first prompt of a game accepts the entry."""
    match = Match.start(find_game(name).rules())
    while not has_question(match):
        match = match.play(match.actor, match.actions[0])  # type: ignore[arg-type]
    text = entry.decode("utf-8", "replace")
    return accepted(match, (), text) or text.strip().lower() in (*COMMANDS, *COMMAND_ALIASES)


def test_an_endless_line_counts_as_the_end_of_input(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    with mock.patch.object(screen, "_MAX_ENTRY", 1 << 20):
        result = duels(tmp_path, "play", "lights", "--save", path, entered="1\n4\n" + "0" * (2 << 20))
        assert duels(tmp_path, entered="0" * (2 << 20)).code == 0, "the menu is left"
    assert result.code == 130, "the same as at the end of the input"
    assert result.err.startswith("\nThe line is too long: an entry can have at most 1 MB.\n")
    assert lines_of(read_record(path).match) == ["4"]


def test_undecodable_input_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"1\n4\n"), encoding="utf-16")
    question = Question("> ")
    with mock.patch.object(sys, "stdin", stream), pytest.raises(EOFError):
        screen.Screen().ask(question)
    assert "The input is not valid utf-16 text." in capsys.readouterr().err
