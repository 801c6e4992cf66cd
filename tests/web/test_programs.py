"""Programs of the operator as players at the server: each runs once and ends with the server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from duels.games import find_game
from duels.players import PLAYER_KINDS
from duels.web import opponents
from tests.players.test_program import BAD, BOTS, PYTHON
from tests.web.serving import Visitor, serving


@pytest.fixture(autouse=True)
def nobody_stays_named() -> Iterator[None]:
    before = set(PLAYER_KINDS)
    yield
    for name in set(PLAYER_KINDS) - before:
        del PLAYER_KINDS[name]
    opponents._added_players.clear()
    opponents._programs.clear()


def test_a_rematch_is_offered_against_an_equal_level() -> None:
    """Hunt offers only levels that differ; the opponent of an older match may have another name."""
    rules = find_game("hunt").rules()
    assert opponents.list_opponents(rules) == ["casual", "best"]
    previous = ("novice", "club", "best", "human")
    offered = [opponents.get_same_opponent(rules, name) for name in previous]
    assert offered == ["casual", "best", "best", "casual"]


def noting_bot(folder: Path) -> tuple[str, Path]:
    """Return a bot that records each start, and the file with these records."""
    notes, script = folder / "started", folder / "bot.py"
    noted = f"import os\nwith open({str(notes)!r}, 'a') as notes: notes.write(f'{{os.getpid()}}\\n')\n"
    script.write_text(noted + (BOTS / "bot.py").read_text())
    return f"{PYTHON} {script}", notes


def test_a_program_serves_all_matches_and_ends_with_the_server(tmp_path: Path) -> None:
    command, notes = noting_bot(tmp_path)
    opponents.register_player(f"mine=cmd:{command}")
    with serving(str(tmp_path / "web.sqlite3")) as base:
        ann = Visitor(base)
        assert "mine" in ann.get("/g/lights").json()["levels"]
        for _ in range(2):
            match = ann.start("lights", "mine")
            ann.act(match, "1")
            assert len(ann.see_when(match, "you")["log"]) == 2
            assert ann.get(f"{match}/hint").status_code == 200
        (started,) = notes.read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(started), 0)


def test_a_program_without_a_move_forfeits(tmp_path: Path) -> None:
    opponents.register_player(f"bad=cmd:{PYTHON} {BAD} die")
    with serving(str(tmp_path / "web.sqlite3")) as base:
        ann = Visitor(base)
        match = ann.start("lights", "bad")
        ann.act(match, "1")
        view = ann.see_when(match, "over")
    assert view["outcome"]["ending"] == "forfeited"
    assert view["outcome"]["won"]


def test_requests_cannot_name_programs(tmp_path: Path) -> None:
    opponents.register_player(f"mine=cmd:{PYTHON} {BAD} die")
    with serving(str(tmp_path / "web.sqlite3")) as base:
        refused = Visitor(base).post("/matches", game="lights", against=f"cmd:touch {tmp_path / 'x'}")
    assert refused.status_code == 422
    assert not (tmp_path / "x").exists()
