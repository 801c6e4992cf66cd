"""Rules compiled to dense arrays by exploring them: states are small integers, a move is a lookup.

Nothing here knows a game. The arrays are kept in the cache, under a key made from the rules' source.
"""

import hashlib
import io
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from duels.core import features as core_features
from duels.core import rules as core_rules
from duels.core.errors import DuelsError
from duels.core.features import Encoding
from duels.core.rules import Rules, Seat
from duels.solving import decisions as decisions_module
from duels.solving.decisions import Decisions
from duels.solving.store import obtain

Arrays = dict[str, NDArray[Any]]

MOST_STATES = 300_000  # more than that is no longer quick to explore, or small
MOST_ACTIONS = 1000  # the states of a game that has more can fill the memory before they are too many
MOST_TICKETS = 60  # chance is a draw of one of so many equal tickets, at most

ILLEGAL = -1
NOBODY = -1


@dataclass(frozen=True)
class Tables:
    """A game's decisions and endings as arrays; state 0 is the start, seats are 0 and 1."""

    actor: NDArray[np.int8]
    """[state] who decides; NOBODY when the game is over."""
    winner: NDArray[np.int8]
    """[state] who has won; NOBODY while the game goes on."""
    successor: NDArray[np.int32]
    """[state, action, ticket] the next state, times 2, plus 1 if the clock ticks; ILLEGAL."""
    observation: NDArray[np.int8]
    """[seat, state] what the seat is shown."""
    origin: NDArray[np.int32]
    """[state] the state, action and way of turning out by which it was first reached."""

    @property
    def states(self) -> int:
        return int(self.successor.shape[0])

    @property
    def actions(self) -> int:
        return int(self.successor.shape[1])

    @property
    def tickets(self) -> int:
        return int(self.successor.shape[2])

    @property
    def legal(self) -> NDArray[np.bool_]:
        """[state, action] whether the action is allowed."""
        return cast("NDArray[np.bool_]", self.successor[:, :, 0] != ILLEGAL)

    def rules_states(self, rules: Rules[Any, Any, Any]) -> list[Any]:
        """The rules' own states, in the order of the tables."""
        decisions = Decisions(rules)
        states = [decisions.initial]
        for parent, action, way in self.origin[1:].tolist():
            states.append(decisions.ways(states[parent], decisions.actions[action])[way].state)
        return states


def tables_of(rules: Rules[Any, Any, Any], encoding: Encoding) -> Tables:
    """The tables of `rules`, the same for every limit; from the cache if they are there."""
    unlimited = replace(cast(Any, rules), **{rules.limit: None}) if rules.limit else rules
    readers = {feature.read.__module__ for feature in encoding.features}
    sources = [sys.modules[name] for name in (type(rules).__module__, *sorted(readers), __name__)]
    key = _key_of(unlimited, [*sources, core_rules, core_features, decisions_module])
    name = f"tables-{rules.name}-{key}"
    stored = obtain(name, f"{name}.bin", lambda: _pack(compile_tables(Decisions(rules), encoding)))
    return Tables(**_unpack(stored))


def _key_of(subject: object, modules: Iterable[ModuleType]) -> str:
    """A key that changes with `subject` and with the source of `modules`."""
    digest = hashlib.sha256(repr(subject).encode())
    for module in modules:
        assert module.__file__
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()[:16]


def _pack(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    named: dict[str, Any] = {**arrays}  # newer stubs take any name for allow_pickle, which older NumPy lacks
    np.savez(buffer, **named)
    return buffer.getvalue()


def _unpack(stored: bytes) -> Arrays:
    with np.load(io.BytesIO(stored)) as arrays:
        return dict(arrays)


def compile_tables(decisions: Decisions[Any, Any, Any], encoding: Encoding) -> Arrays:
    """Explore every state that can be reached and lay the game out as arrays."""
    found = _explore(decisions)
    tickets = lcm(*found.shares)
    if tickets > MOST_TICKETS:
        raise DuelsError(f"{decisions.rules.name} has chances too fine for tables ({tickets} tickets).")
    successor = np.full((len(found.states), len(decisions.actions), tickets), ILLEGAL, np.int32)
    for state, action, ways in found.moves:
        place = 0
        for target, odds in ways:
            share = int(odds * tickets)
            successor[state, action, place : place + share] = target
            place += share
    outcomes = [decisions.rules.outcome(state) for state in found.states]
    actors = [decisions.actor(state) for state in found.states]
    shown = [
        encoding.encode(decisions.rules.view(state, seat), seat) for seat in Seat for state in found.states
    ]
    return {
        "actor": np.array([actor - 1 if actor else NOBODY for actor in actors], np.int8),
        "winner": np.array([o.winner - 1 if o and o.winner else NOBODY for o in outcomes], np.int8),
        "successor": successor,
        "observation": np.frombuffer(b"".join(shown), np.int8).reshape(len(Seat), -1, encoding.size),
        "origin": np.array(found.origin, np.int32),
    }


@dataclass
class _Found:
    """What exploring has found so far; a target is a successor as the tables hold it."""

    states: list[Any]
    origin: list[tuple[int, int, int]]
    moves: list[tuple[int, int, list[tuple[int, Fraction]]]] = field(default_factory=list)
    shares: set[int] = field(default_factory=set)


def _explore(decisions: Decisions[Any, Any, Any]) -> _Found:
    """Breadth first from the start, so that a state is numbered after the one it was reached from."""
    if len(decisions.actions) > MOST_ACTIONS:
        raise DuelsError(
            f"{decisions.rules.name} has too many actions for tables ({len(decisions.actions)})."
        )
    found = _Found([decisions.initial], [(0, 0, 0)])
    numbers = {decisions.initial: 0}
    for number, state in enumerate(found.states):  # the list grows while it is read
        if decisions.actor(state) is None:
            continue
        for action_number, action in decisions.legal(state).items():
            targets = []
            for place, way in enumerate(decisions.ways(state, action)):
                target = numbers.setdefault(way.state, len(numbers))
                if target == len(found.states):
                    found.states.append(way.state)
                    found.origin.append((number, action_number, place))
                targets.append((2 * target + way.ticks, way.odds))
                found.shares.add(way.odds.denominator)
            found.moves.append((number, action_number, targets))
        if len(found.states) > MOST_STATES:
            raise DuelsError(f"{decisions.rules.name} has too many states for tables.")
    return found
