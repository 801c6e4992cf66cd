"""A live match: saved first, and equal to the match at the prompt."""

import ast
import errno
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import duels.play
from duels.core.errors import IllegalMove
from duels.core.match import Match
from duels.core.record import dump_record
from duels.core.rules import CHANCE, Seat
from duels.games import find_game
from duels.play.journal import Journal
from duels.play.library import read_record
from duels.play.live import LiveMatch
from duels.play.new_match import MACHINE_LIMIT, MatchSetup, SettingError, add_machine_limit, seat_players
from tests.support import GAME_NAMES, HEADERS, home, lines_of, play_as_table

PEOPLE: dict[Seat, Any] = dict.fromkeys(Seat)


def live(name: str, who: dict[Seat, str], seed: str = "7", journal: Journal | None = None) -> LiveMatch:
    headers = {f"seat{seat.value}": who[seat] for seat in Seat} | {"seed": seed}
    return seat_players(Match.start(find_game(name).rules()), headers, journal)


def play_out(match: LiveMatch, rng: Random, most: int = 10_000) -> None:
    for _ in range(most):
        actor = match.match.actor
        if actor is None:
            return
        if match.person_to_move:
            match.play(actor, rng.choice(match.match.actions))
        else:
            match.play_entry(match.decide_next_entry())


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_live_match_equals_the_match_at_the_prompt(name: str) -> None:
    who = {Seat.ONE: "human", Seat.TWO: "greedy"}
    driven = live(name, who)
    play_out(driven, Random(1))
    assert lines_of(driven.match) == lines_of(play_as_table(name, who, "7", Random(1)))


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_match_continues_the_same_way_after_a_restart(name: str, tmp_path: Path) -> None:
    who = {Seat.ONE: "random", Seat.TWO: "greedy"}
    whole = live(name, who)
    play_out(whole, Random(1))
    broken = live(name, who)
    for _ in range(len(whole.match.turns)):
        broken.play_entry(broken.decide_next_entry())
        broken = seat_players(broken.match, {"seat1": "random", "seat2": "greedy", "seed": "7"})
    assert lines_of(broken.match) == lines_of(whole.match)


def test_a_failed_write_leaves_the_match_unchanged(tmp_path: Path) -> None:
    with home(tmp_path):
        rules = find_game("lights").rules()
        journal = Journal.create(tmp_path / "match.duel", Match.start(rules), HEADERS)
        match = LiveMatch(Match.start(rules), PEOPLE, mock.Mock(), journal=journal)
        match.play(Seat.ONE, rules.parse("4"))
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch.object(os, "fsync", side_effect=full), pytest.raises(OSError, match="not saved"):
            match.play(Seat.TWO, rules.parse("1"))
        assert lines_of(match.match) == ["4"] == lines_of(read_record(journal.path).match)
        with pytest.raises(IllegalMove):
            match.play(Seat.TWO, rules.parse("4"))
        match.resign(Seat.TWO)
        journal.close()
        assert lines_of(read_record(journal.path).match) == ["4", "resign"]


CHANGES: dict[str, Callable[[Path], object]] = {
    "removed": lambda path: path.unlink(),
    "replaced": lambda path: (path.rename(path.with_suffix(".old")), path.write_text("another file")),
    "cut": lambda path: os.truncate(path, 20),
    "added to": lambda path: path.open("a").write("1\n"),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("back", [False, True])
def test_a_file_changed_by_others_is_left_alone(how: str, back: bool, tmp_path: Path) -> None:
    messages: list[str] = []
    with home(tmp_path):
        rules = find_game("lights").rules()
        path = tmp_path / "match.duel"
        journal = Journal.create(path, Match.start(rules), HEADERS, messages.append)
        match = LiveMatch(Match.start(rules), PEOPLE, mock.Mock(), journal=journal)
        match.play(Seat.ONE, rules.parse("4"))
        match.play(Seat.TWO, rules.parse("1"))
        CHANGES[how](path)
        theirs = path.read_bytes() if path.exists() else None
        if back:
            taken = match.find_takeback(Seat.TWO)
            assert taken
            match.take_back(taken)
        else:
            match.play(Seat.ONE, rules.parse("7"))
        beside = tmp_path / "match-2.duel"
        assert messages == [f"{path} was changed by another program. The match continues in {beside}."]
        match.play(match.match.actor, rules.parse("6"))  # type: ignore[arg-type]
        journal.close()
        assert journal.path == beside
        assert beside.read_text() == dump_record(match.match, HEADERS)
        assert (path.read_bytes() if path.exists() else None) == theirs


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_valid_records_can_be_extended_and_taken_back(tmp_path: Path, data: st.DataObject) -> None:
    """The file holds the match in memory, with any blank lines, comments, line ends or version before."""
    name = data.draw(st.sampled_from(GAME_NAMES))
    rng = data.draw(st.randoms(use_true_random=False))
    first = live(name, {Seat.ONE: "human", Seat.TWO: "human"})
    play_out(first, rng, data.draw(st.integers(0, 6)))
    if first.match.over:
        return
    text = dump_record(first.match, HEADERS if data.draw(st.booleans()) else {})
    head, _, body = text.partition("\n\n")
    lines = [line for entry in body.splitlines() for line in _dressed(entry, data)]
    text = f"{head}\n\n" + "".join(f"{line}\n" for line in lines)
    text += data.draw(st.sampled_from(["", "\n", "\n\n", "  \n", "# a comment\n"]))
    text = text.replace("record 2", data.draw(st.sampled_from(["record 1", "record 2"])))
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / "any.duel"
    path.write_bytes(text.replace("\n", data.draw(st.sampled_from(["\n", "\r\n"]))).encode())
    # A record without a seed gets one for its further chance outcomes.
    seeded = mock.patch("duels.play.journal.make_seed", return_value="any")
    with home(tmp_path), mock.patch.object(os, "fsync"), seeded:
        journal, record = Journal.reopen(path)
        match = seat_players(record.match, record.headers, journal)
        assert lines_of(match.match) == lines_of(first.match)
        for _ in range(data.draw(st.integers(1, 8))):
            actor = match.match.actor
            back = match.find_takeback(data.draw(st.sampled_from(Seat)))
            if back and data.draw(st.booleans()):
                match.take_back(back)
            elif actor is not None:
                action = (
                    match.decide_next_entry().action if actor is CHANCE else rng.choice(match.match.actions)
                )
                match.play(actor, action)
        journal.close()
        loaded = read_record(path)
        assert lines_of(loaded.match) == lines_of(match.match)
        assert loaded.match.outcome == match.match.outcome


def _dressed(entry: str, data: st.DataObject) -> list[str]:
    """An entry as other programs may write it."""
    spaced = data.draw(st.sampled_from([entry, f" {entry} ", entry.upper()]))
    return [*data.draw(st.sampled_from([[], ["# a comment"]])), spaced]


def test_a_record_without_a_seed_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "seedless.duel"
    path.write_text("duels record 2\ngame: chain\n\n3\n5\n4\nchallenge\n")
    with home(tmp_path):
        journal, record = Journal.reopen(path)
        match = seat_players(record.match, record.headers, journal)
        match.play_entry(coin := match.decide_next_entry())
        journal.close()
        (seed,) = (line for line in path.read_text().splitlines() if line.startswith("seed: "))
        assert seed == f"seed: {record.headers['seed']}"
        again = seat_players(match.match.after(4), read_record(path).headers)
        assert again.decide_next_entry() == coin


def test_records_are_private(tmp_path: Path) -> None:
    with home(tmp_path / "new"):
        path = tmp_path / "new" / "matches" / "match.duel"
        Journal.create(path, Match.start(find_game("hunt").rules()), HEADERS).close()
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0


def test_a_match_can_be_played_without_locks(tmp_path: Path) -> None:
    messages: list[str] = []
    none = OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    with home(tmp_path), mock.patch("fcntl.flock", side_effect=none):
        path = tmp_path / "match.duel"
        Journal.create(path, Match.start(find_game("lights").rules()), HEADERS, messages.append).close()
        Journal.reopen(path, messages.append)[0].close()
    assert (
        messages
        == [f"{path}: files cannot be locked here. Do not play this match in two programs at once."] * 2
    )
    assert sorted(file.name for file in tmp_path.iterdir() if file.suffix == ".duel") == ["match.duel"]


def test_bots_play_under_a_limit() -> None:
    assert MACHINE_LIMIT == 50, "as docs/rulings.md says"
    chain = find_game("chain")
    assert MatchSetup(chain.rules(), "random", "random").rules == chain.rules(max_boards=MACHINE_LIMIT)
    assert MatchSetup(chain.rules(), "human", "random").rules == chain.rules()
    assert add_machine_limit(chain.rules(cells=5, max_boards=2)) == chain.rules(cells=5, max_boards=2)
    assert add_machine_limit(find_game("lights").rules()) == find_game("lights").rules()


@pytest.mark.parametrize(("setting", "text"), [("seed", "a\0b"), ("chance", "4")])
def test_errors_about_settings_name_no_command_line_options(setting: str, text: str) -> None:
    """The terminal calls it --seed, a page something else."""
    settings: dict[str, Any] = {setting: text}
    with pytest.raises(SettingError) as raised:
        MatchSetup(find_game("chain").rules(), **settings)
    assert raised.value.setting == setting
    assert "--" not in str(raised.value)


def test_play_does_not_mention_the_command_line() -> None:
    """Its messages are shown in a browser too."""
    for module in Path(duels.play.__file__).parent.glob("*.py"):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        mentions = [
            text for text in texts if isinstance(text, str) and re.search(r"--[a-z]|\bduels (?!record)", text)
        ]
        assert mentions == [], module
