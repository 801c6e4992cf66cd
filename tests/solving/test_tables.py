"""Compiled tables are the rules, and the cache never gives anything else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duels.core.errors import DuelsError
from duels.core.rules import Seat
from duels.games import GAMES
from duels.solving import decisions as decisions_module
from duels.solving import tables as tables_module
from duels.solving.decisions import Decisions
from duels.solving.tables import ILLEGAL, NOBODY, Tables, tables_of

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lights", {}),
    ("lights", {"lights": 3}),
    ("leap", {}),
    ("chain", {"cells": 5, "run": 3}),
    ("chain", {"cells": 4, "run": 3, "max_boards": 3}),
    ("hunt", {"cells": 3}),
    ("hunt", {"cells": 3, "max_turns": 5}),
    ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}),
]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUELS_HOME", str(tmp_path))


def made(game: str, options: dict[str, Any]) -> tuple[Any, Tables]:
    rules = GAMES[game].rules(**options)
    return rules, tables_of(rules, GAMES[game].encoding(rules))


@pytest.mark.parametrize(("game", "options"), FORMS)
def test_every_entry_is_what_the_rules_say(game: str, options: dict[str, Any]) -> None:
    rules, tables = made(game, options)
    decisions: Decisions[Any, Any, Any] = Decisions(rules)
    encoding = GAMES[game].encoding(rules)
    states = tables.rules_states(rules)
    number = {state: place for place, state in enumerate(states)}
    assert len(number) == tables.states
    assert states[0] == rules.initial()
    for place, state in enumerate(states):
        actor, outcome = decisions.actor(state), decisions.rules.outcome(state)
        assert tables.actor[place] == (NOBODY if actor is None else actor - 1)
        assert tables.winner[place] == (outcome.winner - 1 if outcome and outcome.winner else NOBODY)
        for seat in Seat:
            shown = encoding.encode(decisions.rules.view(state, seat), seat)
            assert tables.observation[seat - 1, place].tobytes() == shown
        legal = decisions.legal(state)
        assert np.flatnonzero(tables.legal[place]).tolist() == list(legal)
        for action in range(tables.actions):
            expected = [
                2 * number[way.state] + way.ticks
                for way in (decisions.ways(state, legal[action]) if action in legal else [])
                for _ in range(int(way.odds * tables.tickets))
            ]
            assert tables.successor[place, action].tolist() == (expected or [ILLEGAL] * tables.tickets)


def test_one_table_for_every_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    _, unlimited = made("chain", {"cells": 4, "run": 3})

    def fail(*_: Any) -> Any:
        raise AssertionError("compiled again")

    monkeypatch.setattr(tables_module, "compile_tables", fail)
    _, limited = made("chain", {"cells": 4, "run": 3, "max_boards": 2})
    assert (limited.successor == unlimited.successor).all()
    with pytest.raises(AssertionError, match="compiled again"):
        made("chain", {"cells": 4, "run": 2})


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_cache_is_computed_again(tmp_path: Path, damage: bytes | None) -> None:
    _, good = made("lights", {})
    (stored,) = (tmp_path / "cache").iterdir()
    content = stored.read_bytes()
    stored.write_bytes(content[:-40] + bytes(40) if damage is None else damage)
    _, again = made("lights", {})
    assert (again.successor == good.successor).all()
    assert stored.read_bytes() == content


def test_rules_that_change_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made("lights", {})
    other = tmp_path / "decisions.py"
    other.write_text("# another source")
    monkeypatch.setattr(decisions_module, "__file__", str(other))
    made("lights", {})
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DUELS_HOME", str(tmp_path / "file"))
    _, tables = made("lights", {})
    assert tables.states == 222


def test_too_many_states_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MOST_STATES", 100)
    with pytest.raises(DuelsError, match="too many states"):
        made("lights", {})
    monkeypatch.setattr(tables_module, "MOST_STATES", 10**6)
    monkeypatch.setattr(tables_module, "MOST_ACTIONS", 12)
    with pytest.raises(DuelsError, match="too many actions"):
        made("lights", {})
    monkeypatch.setattr(tables_module, "MOST_TICKETS", 1)
    with pytest.raises(DuelsError, match="too fine"):
        made("chain", {"cells": 3, "run": 3})
