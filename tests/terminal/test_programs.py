"""Programs as players of `duels play` and `duels resume`. A record never starts a program."""

from pathlib import Path

import pytest

from tests.arena.model_server import serving
from tests.players.test_program import BAD, GOOD, PYTHON
from tests.support import duels

SHELL = f"cmd:{GOOD['shell']}"


def test_two_programs_play_and_the_record_has_their_names(tmp_path: Path) -> None:
    record = tmp_path / "a.duel"
    result = duels(tmp_path, "play", "lights", "--seat1", SHELL, "--seat2", SHELL, "--save", str(record))
    assert result.code == 0
    text = record.read_text()
    assert "seat1: program bot.sh\n" in text
    assert "seat2: program bot.sh (2)\n" in text
    assert "result: " in text
    assert str(Path(GOOD["shell"].split()[1]).parent) not in text


def test_a_program_without_a_move_forfeits(tmp_path: Path) -> None:
    record = tmp_path / "a.duel"
    program = f"cmd:{PYTHON} {BAD} die"
    result = duels(tmp_path, "play", "lights", "--seat1", "random", "--seat2", program, "--save", str(record))
    assert result.code == 0
    assert "program bad_bot.py gave no move in 3 attempts; the last was crashed" in result.err
    assert record.read_text().endswith("forfeit\n# Player 2 forfeits.\nresult: 1 won, 2 forfeited\n")


def unfinished(tmp_path: Path, seat2: str) -> Path:
    record = tmp_path / "b.duel"
    record.write_text(f"duels record 2\ngame: lights\nseat1: human\nseat2: {seat2}\nseed: 1\n\n1\n")
    return record


def test_resume_needs_the_program_again(tmp_path: Path) -> None:
    record = unfinished(tmp_path, "program bot.sh")
    result = duels(tmp_path, "resume", str(record))
    assert result.code == 1
    assert "Seat 2 was 'program bot.sh', but the record does not say how to start it" in result.err
    result = duels(tmp_path, "resume", str(record), "--seat2", SHELL, entered="quit\n")
    assert (result.code, record.read_text().count("\n2\n")) == (0, 1)
    assert "seat2: program bot.sh\n" in record.read_text()


def test_a_built_in_player_cannot_be_replaced(tmp_path: Path) -> None:
    record = unfinished(tmp_path, "club")
    result = duels(tmp_path, "resume", str(record), "--seat2", SHELL)
    assert (result.code, "the record has club at seat 2. Leave out --seat2." in result.err) == (1, True)
    result = duels(tmp_path, "resume", str(record), "--seat2", "random")
    assert (result.code, "must be a program or a model" in result.err) == (2, True)


@pytest.mark.parametrize("who", ["cmd:touch {}", "CMD:touch {}", "program touch {}", "model:gpt"])
def test_nothing_in_a_record_is_ever_run(who: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    record = unfinished(tmp_path, who.format(trace))
    result = duels(tmp_path, "resume", str(record))
    assert result.code == 1
    assert not trace.exists()


def test_an_empty_command_is_wrong_usage(tmp_path: Path) -> None:
    result = duels(tmp_path, "play", "lights", "--seat2", "cmd:")
    assert (result.code, "cmd: needs a command" in result.err) == (2, True)


def test_a_notice_says_that_another_program_plays(tmp_path: Path) -> None:
    record = unfinished(tmp_path, "program other.py")
    result = duels(tmp_path, "resume", str(record), "--seat2", SHELL, entered="quit\n")
    assert result.code == 0
    assert "'program bot.sh' replaces 'program other.py' at seat 2" in result.err
    record = unfinished(tmp_path, "program bot.sh (2)")
    result = duels(tmp_path, "resume", str(record), "--seat2", SHELL, entered="quit\n")
    assert (result.code, "replaces" in result.err) == (0, False)


def test_a_torn_record_can_be_branched(tmp_path: Path) -> None:
    record = unfinished(tmp_path, "club")
    record.write_text(record.read_text() + "3\n5-")
    result = duels(tmp_path, "resume", str(record), "--at", "1", entered="quit\n")
    assert (result.code, "the last line is incomplete and was left out: '5-'" in result.err) == (0, True)
    assert record.read_text().endswith("3\n5-")  # the old record is unchanged


def test_a_model_plays_at_a_seat(tmp_path: Path) -> None:
    record = tmp_path / "a.duel"
    words = ("play", "lights", "--seat1", "random", "--seat2", "model:well", "--save", str(record))
    result = duels(tmp_path, *words)
    assert (result.code, "A model needs an address: add --base-url URL" in result.err) == (1, True)
    with serving() as server:
        result = duels(tmp_path, *words, "--base-url", server.url)
        assert (result.code, server.requests_by_model["well"] > 0) == (0, True)
        assert "seat2: model well\n" in record.read_text()
        assert server.url not in record.read_text()
        record = unfinished(tmp_path, "model well")
        result = duels(tmp_path, "resume", str(record))
        assert "Add --seat2 model:NAME --base-url URL" in result.err
        again = ("resume", str(record), "--seat2", "model:well", "--base-url", server.url)
        assert duels(tmp_path, *again, entered="quit\n").code == 0
        assert len(record.read_text().split("\n\n")[1].splitlines()) == 2


def test_an_unreachable_model_loses_no_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.terminal.game_options._MODEL_TIMEOUT", 0.0)
    record = unfinished(tmp_path, "model down")
    with serving() as server:
        result = duels(tmp_path, "resume", str(record), "--seat2", "model:down", "--base-url", server.url)
    assert (result.code, "'down' gave no reply: status 500, 'out of order'" in result.err) == (1, True)
    (notice,) = (
        line for line in result.err.splitlines() if "The match is saved. Continue with: duels resume" in line
    )
    assert notice.endswith("--seat2 model:NAME --base-url URL")
    assert "result" not in record.read_text()
