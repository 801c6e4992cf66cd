"""Records round-trip, and a seat's copy holds no hidden information."""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duels.core.errors import DuelsError, RecordError
from duels.core.match import AnyMatch, Match
from duels.core.record import HEADERS, SECRET_HEADERS, dump_record
from duels.core.rules import Ending, Outcome, Seat
from duels.games import find_game, load_record
from duels.games.hunt.rules import Collided, Observed, QuantumHunt
from tests.support import OPTIONS, all_matches, duels, lines_of, matches, play_randomly

FULL = {
    "seat1": "human",
    "seat2": "greedy",
    "seed": "a secret seed",
    "chance": "4 2,5",
    "started": "2026-01-02 03:04 UTC",
}
HUNT = ("hunt",)
IN_FILES = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


read = load_record


@settings(deadline=None)
@given(matches(), st.sampled_from([{}, FULL, {"seed": "1"}]))
def test_a_record_round_trips(match: AnyMatch, headers: dict[str, str]) -> None:
    text = dump_record(match, headers)
    record = read(text)
    assert record.match.rules == match.rules
    assert lines_of(record.match) == lines_of(match)
    assert record.match.state == match.state
    assert record.match.outcome == match.outcome
    assert [turn.events for turn in record.match.turns] == [turn.events for turn in match.turns]
    assert {key: record.headers[key] for key in record.headers if key in HEADERS} == headers
    assert dump_record(record.match, record.headers) == text


@settings(deadline=None)
@given(matches())
def test_letter_case_and_spaces_do_not_matter(match: AnyMatch) -> None:
    head, entries = dump_record(match).split("\n\n", 1)
    lines, result = entries.splitlines(), []
    if match.outcome:
        result = [lines.pop()]
        lines.pop()  # the comment above it
    shouted = "".join(f"  {line.upper()} \n" for line in lines) + "".join(f"{line}\n" for line in result)
    assert lines_of(read(f"{head}\n\n{shouted}").match) == lines_of(match)


@settings(deadline=None)
@given(matches(), st.sampled_from(Seat))
def test_a_seats_copy_loads_with_the_same_view(match: AnyMatch, seat: Seat) -> None:
    copy = dump_record(match, FULL, seat)
    record = read(copy)
    assert record.seat is seat
    assert record.match.sight(seat) == match.sight(seat)
    assert record.match.outcome == match.outcome
    assert dump_record(record.match, record.headers, seat) == copy, "a copy's copy is the copy"
    for secret in SECRET_HEADERS:
        assert FULL[secret] not in copy
        assert f"\n{secret}:" not in copy


@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize(("cells", "turns"), [(2, 6), (3, 4), (3, 5)])
def test_indistinguishable_matches_have_the_same_copy(seat: Seat, cells: int, turns: int) -> None:
    """All matches of a small hunt, sorted by what the seat knows: one copy for each kind, byte for byte."""
    copies: dict[Any, set[str]] = {}
    for number, match in enumerate(all_matches(Match.start(QuantumHunt(cells)), turns)):
        headers = {**FULL, "seed": str(number), "chance": str(number)}
        copies.setdefault(match.sight(seat), set()).add(dump_record(match, headers, seat))
    assert len(copies) > 20
    assert all(len(alike) == 1 for alike in copies.values())
    assert len(set.union(*copies.values())) == len(copies), "and the copy tells all that the seat knows"


@settings(deadline=None)
@given(matches(HUNT), st.sampled_from(Seat))
def test_a_copy_names_no_hidden_cell(match: AnyMatch, seat: Seat) -> None:
    entries = dump_record(match, FULL, seat).split("\n\n", 1)[1].splitlines()
    assert len(entries) == len(match.turns_known_to(seat)) + 2 * match.over
    for entry, turn in zip(entries, match.turns, strict=False):
        hidden = turn.actor is not seat and entry.startswith(("move", "tunnel"))
        assert not hidden
        assert (entry == "?") == turn.hidden_from(seat)


@pytest.mark.parametrize("wrong", [0, False, True, 3, "1"])
def test_rejects_a_copy_for_an_invalid_seat(wrong: object) -> None:
    match = Match.start(find_game("hunt").rules()).play_text("move 3", "observe 5", "move 6")
    with pytest.raises(DuelsError, match="A seat must be"):
        dump_record(match, FULL, wrong)  # type: ignore[arg-type]


@IN_FILES
@given(matches(), st.sampled_from(Seat))
def test_shared_files_verify_and_replay_like_the_original(match: AnyMatch, seat: Seat) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        original, copy = folder / "original.duel", folder / "copy.duel"
        original.write_text(dump_record(match, FULL))
        option = ("--seat", str(seat.value))
        shared = duels(folder, "share", original, *option)
        assert shared.code == 0
        copy.write_text(shared.out)
        assert shared.out == dump_record(match, FULL, seat)
        assert duels(folder, "verify", copy).code == 0
        replayed = duels(folder, "replay", original, *option)
        assert replayed.code == 0
        assert duels(folder, "replay", copy, *option).out == replayed.out
        assert duels(folder, "replay", copy).out == replayed.out, "a copy is always shown as its seat saw it"
        for command in ("replay", "share"):
            refused = duels(folder, command, copy, "--seat", str(seat.other.value))
            assert (refused.code, refused.out) == (1, "")
            assert f"holds only what {seat.label} saw" in refused.err


@IN_FILES
@given(matches(HUNT, resign=False))
def test_replays_reveal_nothing_hidden_from_the_seat(match: AnyMatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "hunt.duel"
        path.write_text(dump_record(match, FULL))
        for seat in Seat:
            out = duels(folder, "replay", path, "--seat", str(seat.value)).out
            assert hidden_entries(match, seat) == out.count("(hidden)")
            own = [
                line for turn, line in zip(match.turns, lines_of(match), strict=True) if turn.actor is seat
            ]
            assert entered(out) == {line.upper() for line in own} | observations(match)
        out = duels(folder, "replay", path).out
        if match.over:
            assert entered(out) == {line.upper() for line in lines_of(match)}
        else:
            assert entered(out) == observations(match), "unfinished: a bystander sees no secret of either"


def entered(out: str) -> set[str]:
    entries = {line.removeprefix("Enters: ") for line in out.splitlines() if line.startswith("Enters: ")}
    return entries - {"(hidden)"}


def observations(match: AnyMatch) -> set[str]:
    return {line.upper() for line in lines_of(match) if line.startswith("observe")}


def hidden_entries(match: AnyMatch, seat: Seat) -> int:
    return sum(turn.hidden_from(seat) for turn in match.turns_known_to(seat))


def test_a_collision_is_restored_from_either_seats_copy() -> None:
    match = Match.start(QuantumHunt()).play_text("tunnel 7", "observe 5", "move 7", "observe 4")
    for seat in Seat:
        record = read(dump_record(match, seat=seat))
        assert record.match.events_seen_by(seat)[-2:] == (Observed(Seat.TWO, 4, False), Collided(Seat.TWO, 7))
    with pytest.raises(RecordError, match="line 10: the result"):
        read(dump_record(match, seat=Seat.ONE).replace("result: 1 won", "result: 2 won"))


def test_records_keep_options() -> None:
    for name, (_, options) in OPTIONS.items():
        match = play_randomly(Match.start(find_game(name).rules(**options)), Random(0), 3)
        text = dump_record(match)
        assert "options: " + " ".join(f"{key}={value}" for key, value in options.items()) in text
        assert read(text).match.rules.options() == options


def test_default_options_need_no_line() -> None:
    assert dump_record(Match.start(find_game("lights").rules())) == "duels record 2\ngame: lights\n\n"


def test_the_result_is_a_code_with_a_comment() -> None:
    match = Match.start(find_game("lights").rules(lights=1)).play_text("1")
    text = dump_record(match)
    assert text.endswith("1\n# Player 1 wins by turning OFF the last light.\nresult: 1 won\n")
    assert read(text.replace("by turning", "because of turning")).match.outcome == match.outcome


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("resign", "2 won, 1 resigned"),
        ("forfeit", "2 won, 1 forfeited"),
        ("resign 2", "1 won, 2 resigned"),  # while it is not their turn
    ],
)
def test_the_result_names_the_player_who_gave_up(entry: str, code: str) -> None:
    match = Match.start(find_game("chain").rules()).play_text("3", "5", entry)
    text = dump_record(match)
    assert text.endswith(f"\n{entry}\n# {match.outcome.reason}\nresult: {code}\n")  # type: ignore[union-attr]
    assert read(text).match.outcome == match.outcome
    assert read(text.replace("\nresign\n", "\nresign 1\n")).match.turns == match.turns, "it is their turn"


def test_the_result_names_the_limit() -> None:
    rules = find_game("hunt").rules(max_turns=1)
    match = Match.start(rules).play_text("move 1", "observe 2")
    assert match.outcome == Outcome(Ending.CUT_OFF)
    assert dump_record(match).endswith("\nresult: cut off\n")


VERSION_1 = """\
duels record 1
game: hunt
options: max_turns=9
seat1: human

tunnel 7
observe 5
move 7
observe 4
"""


@pytest.mark.parametrize(
    "sentence", ["Player 1 wins! Player 2's token destabilized in collision.", "Reworded."]
)
def test_version_1_results_accept_any_sentence(sentence: str) -> None:
    record = read(f"{VERSION_1}result: {sentence}\n")
    assert record.version == 1
    assert record.match.outcome == Outcome(Ending.WON, Seat.ONE)
    assert dump_record(record.match, record.headers).startswith("duels record 2\n")


def test_rejects_a_version_1_result_of_an_unfinished_match() -> None:
    with pytest.raises(RecordError, match="line 9: the result"):
        read(VERSION_1.rsplit("observe 4", 1)[0] + "result: Player 1 wins!\n")


def test_a_version_1_copy_is_loaded_as_finished() -> None:
    match = Match.start(find_game("hunt").rules()).play_text("tunnel 7", "observe 5", "move 7", "observe 4")
    copy = dump_record(match, seat=Seat.ONE).replace("record 2", "record 1")
    copy = copy.replace("result: 1 won", "result: Player 1 wins! Player 2's token destabilized in collision.")
    assert read(copy).match.outcome == match.outcome
