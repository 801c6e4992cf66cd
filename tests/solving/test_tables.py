"""Compiled tables agree with the rules, and the cache never returns anything else."""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from duels_tictactoe.rules import TicTacToe

from duels.core.errors import DuelsError, TooLarge
from duels.core.options import option
from duels.core.rules import AnyRules, Ending, Outcome, Seat, Step
from duels.games import resolve_rules
from duels.solving import decisions as decisions_module
from duels.solving import tables as tables_module
from duels.solving.decisions import Decisions, max_decisions
from duels.solving.graph import explore
from duels.solving.tables import (
    DRAWN,
    FIRST_WON,
    ILLEGAL,
    NOBODY,
    ONGOING,
    POINTS,
    SECOND_WON,
    Tables,
    encode_result,
    load_tables,
)
from tests.outside import highcard, nim
from tests.outside.highcard import HighCard
from tests.outside.nim import Nim

pytestmark = pytest.mark.usefixtures("home")

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


def make_tables(game: str, options: dict[str, Any]) -> tuple[Any, Tables]:
    rules = resolve_rules(game, **options)
    return rules, load_tables(rules, rules.game.encoding(rules))


RULES = [
    *(resolve_rules(game, **options) for game, options in FORMS),
    TicTacToe(),
    Nim(heaps=(1, 2), roll=3),
    HighCard(cards=3),
    HighCard(max_passes=3),
]
RESULTS = {
    (Ending.WON, Seat.ONE): FIRST_WON,
    (Ending.WON, Seat.TWO): SECOND_WON,
    (Ending.DRAWN, None): DRAWN,
}


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_entry_agrees_with_the_rules(rules: AnyRules) -> None:
    encoding = rules.game.encoding(rules)
    tables = load_tables(rules, encoding)
    decisions: Decisions[Any, Any, Any] = Decisions(rules)
    states = tables.rules_states(rules)
    number = {state: index for index, state in enumerate(states)}
    assert len(number) == tables.states
    start_counts = Counter(tables.starts.tolist())
    starts = {number[transition.state]: transition.odds for transition in decisions.starts}
    assert {index: Fraction(count, len(tables.starts)) for index, count in start_counts.items()} == starts
    for index, state in enumerate(states):
        actor, outcome = decisions.actor(state), decisions.rules.outcome(state)
        assert tables.actor[index] == (NOBODY if actor is None else actor - 1)
        assert tables.result[index] == (RESULTS[outcome.ending, outcome.winner] if outcome else ONGOING)
        for seat in Seat:
            encoded = encoding.encode(decisions.rules.view(state, seat), seat)
            assert tables.observation[seat - 1, index].tobytes() == encoded
        legal = decisions.legal(state)
        assert np.flatnonzero(tables.legal[index]).tolist() == list(legal)
        for action in range(tables.actions):
            expected = [
                2 * number[transition.state] + transition.ticks
                for transition in (decisions.transitions(state, legal[action]) if action in legal else [])
                for _ in range(int(transition.odds * tables.tickets))
            ]
            assert tables.successor[index, action].tolist() == (expected or [ILLEGAL] * tables.tickets)


def test_all_limits_share_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    _, unlimited = make_tables("chain", {"cells": 4, "run": 3})

    def fail(*_: Any) -> Any:
        raise AssertionError("compiled again")

    monkeypatch.setattr(tables_module, "compile_tables", fail)
    _, limited = make_tables("chain", {"cells": 4, "run": 3, "max_boards": 2})
    assert (limited.successor == unlimited.successor).all()
    with pytest.raises(AssertionError, match="compiled again"):
        make_tables("chain", {"cells": 4, "run": 2})


def test_changed_rules_are_recompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables("lights", {})
    other = tmp_path / "decisions.py"
    other.write_text("# another source")
    monkeypatch.setattr(decisions_module, "__file__", str(other))
    make_tables("lights", {})
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_rejects_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_STATES", 100)
    with pytest.raises(DuelsError, match="too many states"):
        make_tables("lights", {})
    monkeypatch.setattr(tables_module, "MAX_STATES", 10**6)
    monkeypatch.setattr(tables_module, "MAX_ACTIONS", 12)
    with pytest.raises(DuelsError, match="too many actions"):
        make_tables("lights", {})
    monkeypatch.setattr(tables_module, "MAX_TICKETS", 1)
    with pytest.raises(DuelsError, match="too many chance outcomes"):
        make_tables("chain", {"cells": 3, "run": 3})


def test_results_are_encoded_from_outcomes() -> None:
    endings = {
        ONGOING: Outcome.cut("too long"),
        FIRST_WON: Outcome.win(Seat.ONE, "won"),
        SECOND_WON: Outcome.win(Seat.TWO, "won"),
        DRAWN: Outcome.draw("drawn"),
    }
    for result, outcome in endings.items():
        assert encode_result(outcome) == result
        for seat in Seat:
            assert POINTS[result + 1, seat - 1] == 2 * outcome.score(seat) - 1
    for ending in set(Ending) - {outcome.ending for outcome in endings.values()}:
        with pytest.raises(DuelsError, match=f"outcome '1 won, 2 {ending.value}'"):
            encode_result(Outcome(ending, Seat.ONE))


@pytest.mark.parametrize(
    ("game", "options"),
    [
        *FORMS,
        ("lights", {"lights": 1}),
        ("leap", {"goal": 1}),
        ("leap", {"goal": 40}),
        ("chain", {}),
        ("chain", {"cells": 1, "run": 1}),
        ("chain", {"cells": 6, "run": 2}),
        ("hunt", {"cells": 1}),
        ("hunt", {"cells": 1, "max_turns": 1}),
        ("hunt", {"cells": 2, "max_turns": 7}),
        ("flip", {"side": 2, "values": 1, "copies": 4, "target": 2}),
        ("flip", {"side": 1, "values": 1, "copies": 1, "target": 1}),
    ],
)
def test_rules_state_the_maximum_number_of_states(game: str, options: dict[str, Any]) -> None:
    rules = resolve_rules(game, **options)
    most, unlimited = rules.max_states(), max_decisions(rules)
    assert most
    assert unlimited
    assert len(explore(rules)) <= most
    assert make_tables(game, options)[1].states <= unlimited <= most


def test_rejects_by_the_stated_maximum_without_exploring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "_explore", None)
    with pytest.raises(TooLarge, match=r"lights has too many states for tables: up to 2\^26"):
        make_tables("lights", {"lights": 25})
    with pytest.raises(TooLarge, match="flip has too many states"):
        make_tables("flip", {})


def test_rejects_too_many_initial_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MAX_STARTS", 2)
    with pytest.raises(TooLarge, match="too many ways to begin"):
        load_tables(Nim(roll=3), nim.GAME.encoding(Nim(roll=3)))


def test_a_change_in_any_module_of_the_rules_invalidates_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is a folder here; a helper that the rules import is one of its files."""
    package = tmp_path / "outside_package"
    package.mkdir()
    for name in ("__init__", "helper"):
        (package / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    game = replace(nim.GAME, package="outside_package")
    monkeypatch.setattr(Nim, "game", game)
    __import__("outside_package")
    encoding = nim.GAME.encoding(Nim())
    for text in ("", "", "SIZE = 3"):
        (package / "helper.py").write_text(text)
        load_tables(Nim(), encoding)
    assert len(list((tmp_path / "cache").iterdir())) == 2
    del sys.modules["outside_package"]


def test_rules_without_a_file_are_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nim, "__file__", None)
    monkeypatch.setattr(tables_module, "load_or_build", None)
    assert load_tables(Nim(), nim.GAME.encoding(Nim())).states == 8


# -- limits that tables cannot do without ----------------------------------------------------------


@dataclass(frozen=True)
class DoubleTime(HighCard):
    def apply(self, state: highcard.State, action: str) -> Step[highcard.State]:
        step = super().apply(state, action)
        return Step(replace(step.state, passes=2 * step.state.passes), step.events)


@dataclass(frozen=True)
class Impatient(HighCard):
    """Is cut off without a limit."""

    def outcome(self, state: highcard.State) -> Outcome | None:
        return Outcome.cut("enough") if state.end else None


@dataclass(frozen=True)
class Stillborn(Nim):
    heaps: tuple[int, ...] = option((0,), minimum=0)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (DoubleTime(), "advances by 2 in one move"),
        (Impatient(), "ends without a result, although no limit is set"),
        (Stillborn(), "can be over before the first move"),
    ],
)
def test_rejects_rules_that_tables_cannot_represent(rules: AnyRules, why: str) -> None:
    with pytest.raises(DuelsError, match=why):
        load_tables(rules, highcard.GAME.encoding(HighCard()))
