"""Rules compiled to dense arrays: states are small integers, and a move is a lookup.

The arrays are cached on disk, under a key made from the rules' source.
"""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duels.core import features as core_features
from duels.core import rules as core_rules
from duels.core.errors import DuelsError, TooLarge
from duels.core.features import Encoding
from duels.core.rules import AnyRules, Ending, Outcome, Seat
from duels.solving import decisions as decisions_module
from duels.solving.decisions import Decisions, Transition, max_decisions
from duels.solving.store import load_or_build, make_cache_key

Arrays = dict[str, NDArray[Any]]

MAX_STATES = 300_000  # more states take too long and too much memory
MAX_ACTIONS = 1000  # more actions can fill the memory before there are too many states
MAX_TICKETS = 60  # a chance outcome is drawn from this many equally likely tickets
MAX_STARTS = 100_000  # tickets before the first decision, which need only one small table
# The rules' own bound includes chance nodes and is often too high: try games up to this factor above it.
BOUND_SLACK = 2

ILLEGAL = -1
NOBODY = -1

# The results of states. A match that a limit cuts off is ONGOING: the limit is not part of the tables.
ONGOING = -1
FIRST_WON = 0
SECOND_WON = 1
DRAWN = 2

_ENDINGS = (Outcome.cut(""), *(Outcome.win(seat, "") for seat in Seat), Outcome.draw(""))
POINTS: NDArray[np.float32] = np.array(
    [[float(2 * ending.score(seat) - 1) for seat in Seat] for ending in _ENDINGS], np.float32
)
"""The points of a result, from -1 (lost) to 1 (won), indexed [result + 1, seat]."""


def encode_result(outcome: Outcome | None) -> int:
    """Return the result code of an outcome. Raises DuelsError for a concession."""
    if outcome is None or outcome.ending is Ending.CUT_OFF:
        return ONGOING
    if outcome.ending is Ending.DRAWN:
        return DRAWN
    if outcome.ending is Ending.WON and outcome.winner:
        return outcome.winner - 1
    raise DuelsError(f"Rules must not return the outcome '{outcome.code}': only matches have it.")


def get_state_result(decisions: Decisions[Any, Any, Any], state: Any) -> int:
    """Return the result of a state by the rules without their limit.

    Raises DuelsError if the game is over without a result.
    """
    result = encode_result(decisions.rules.outcome(state))
    if (result == ONGOING) is (decisions.actor(state) is None):
        raise DuelsError(f"{decisions.rules.name} ends without a result, although no limit is set.")
    return result


@dataclass(frozen=True)
class Tables:
    """A game's decisions and endings as arrays; seats are 0 and 1."""

    actor: NDArray[np.int8]
    """The player to move in each state, or NOBODY if the game is over."""
    result: NDArray[np.int8]
    """The result of each state: ONGOING, FIRST_WON, SECOND_WON or DRAWN."""
    starts: NDArray[np.int32]
    """The first state for each of the equally likely tickets."""
    successor: NDArray[np.int32]
    """The next state times 2, plus 1 if the clock ticks, indexed [state, action, ticket]; or ILLEGAL."""
    observation: NDArray[np.int8]
    """Observations, indexed [seat, state, element]."""
    origin: NDArray[np.int32]
    """The state, action and transition by which each state was first reached; -1 for a first state."""

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.successor.shape[0])

    @property
    def actions(self) -> int:
        """The number of actions."""
        return int(self.successor.shape[1])

    @property
    def tickets(self) -> int:
        """The number of equally likely chance outcomes after a move."""
        return int(self.successor.shape[2])

    @property
    def legal(self) -> NDArray[np.bool_]:
        """Whether an action is legal, indexed [state, action]."""
        return cast("NDArray[np.bool_]", self.successor[:, :, 0] != ILLEGAL)

    def rules_states(self, rules: AnyRules) -> list[Any]:
        """Return the rules' states, in the order of the tables."""
        decisions = Decisions(rules)
        states: list[Any] = []
        for parent, action, index in self.origin.tolist():
            transitions = (
                decisions.transitions(states[parent], decisions.actions[action])
                if parent >= 0
                else decisions.starts
            )
            states.append(transitions[index].state)
        return states


def load_tables(rules: AnyRules, encoding: Encoding) -> Tables:
    """Return the tables of `rules`, from the cache on disk if possible. They do not depend on the limit.

    Raises TooLarge if the game is too large for tables.
    """
    check_table_size(rules)
    decisions = Decisions(rules)
    sources = list(_sources(rules, encoding))
    if None in sources:  # rules typed in at a prompt have no source file to make a key from
        return Tables(**compile_tables(decisions, encoding))
    layout = [(feature.name, feature.values, feature.count) for feature in encoding.features]
    key = make_cache_key((decisions.rules, layout), [source for source in sources if source])
    name = f"tables-{rules.name}-{key}"
    stored = load_or_build(name, f"{name}.bin", lambda: _pack(compile_tables(decisions, encoding)))
    return Tables(**_unpack(stored))


def check_table_size(rules: AnyRules) -> None:
    """Raise TooLarge if the rules' own bound is far above MAX_STATES, or if there are too many actions."""
    bound = max_decisions(rules)
    if bound is not None and bound > BOUND_SLACK * MAX_STATES:
        raise TooLarge(f"{rules.name} has too many states for tables: up to 2^{(bound - 1).bit_length()}.")
    actions = len(rules.all_actions())
    if actions > MAX_ACTIONS:
        raise TooLarge(f"{rules.name} has too many actions for tables ({actions}).")


def _sources(rules: AnyRules, encoding: Encoding) -> Iterator[Path | None]:
    """Yield the files that the tables depend on, in a fixed order; None for code without a file."""
    own_modules = (__name__, core_rules.__name__, core_features.__name__, decisions_module.__name__)
    readers = {feature.read.__module__ for feature in encoding.features}
    for name in (type(rules).__module__, *sorted(readers), *own_modules):
        file = getattr(sys.modules.get(name), "__file__", None)
        yield Path(file) if file else None
    package = getattr(sys.modules.get(rules.game.package), "__path__", ())
    for folder in package:  # rules may import other modules of their package
        yield from sorted(Path(folder).glob("*.py"))


def _pack(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    named: dict[str, Any] = {**arrays}  # newer stubs take any name for allow_pickle, which older NumPy lacks
    np.savez(buffer, **named)
    return buffer.getvalue()


def _unpack(stored: bytes) -> Arrays:
    with np.load(io.BytesIO(stored)) as arrays:
        return dict(arrays)


def compile_tables(decisions: Decisions[Any, Any, Any], encoding: Encoding) -> Arrays:
    """Explore all reachable states and return the arrays of `Tables`. Raises TooLarge."""
    exploration = _explore(decisions)
    tickets = lcm(*exploration.denominators)
    if tickets > MAX_TICKETS:
        raise TooLarge(f"{decisions.rules.name} has too many chance outcomes for tables ({tickets} tickets).")
    successor = np.full((len(exploration.states), len(decisions.actions), tickets), ILLEGAL, np.int32)
    for state, action, targets in exploration.moves:
        successor[state, action] = _expand_tickets(targets, tickets)
    starts = [
        (exploration.state_numbers[transition.state], transition.odds) for transition in decisions.starts
    ]
    tickets = lcm(*(odds.denominator for _, odds in starts))
    if tickets > MAX_STARTS:
        raise TooLarge(f"{decisions.rules.name} has too many ways to begin for tables ({tickets} tickets).")
    actors = [decisions.actor(state) for state in exploration.states]
    results = [get_state_result(decisions, state) for state in exploration.states]
    observations = [
        encoding.encode(decisions.rules.view(state, seat), seat)
        for seat in Seat
        for state in exploration.states
    ]
    return {
        "actor": np.array([actor - 1 if actor else NOBODY for actor in actors], np.int8),
        "result": np.array(results, np.int8),
        "starts": np.array(_expand_tickets(starts, tickets), np.int32),
        "successor": successor,
        "observation": np.frombuffer(b"".join(observations), np.int8).reshape(len(Seat), -1, encoding.size),
        "origin": np.array(exploration.origin, np.int32),
    }


def _expand_tickets(targets: list[tuple[int, Fraction]], tickets: int) -> list[int]:
    return [target for target, odds in targets for _ in range(int(odds * tickets))]


@dataclass
class _Exploration:
    """The states and moves so far. A target is a successor in the encoding of the tables."""

    states: list[Any] = field(default_factory=list)
    state_numbers: dict[Any, int] = field(default_factory=dict)
    origin: list[tuple[int, int, int]] = field(default_factory=list)
    moves: list[tuple[int, int, list[tuple[int, Fraction]]]] = field(default_factory=list)
    denominators: set[int] = field(default_factory=lambda: {1})

    def add(self, transition: Transition[Any], origin: tuple[int, int, int]) -> int:
        number = self.state_numbers.setdefault(transition.state, len(self.states))
        if number == len(self.states):
            self.states.append(transition.state)
            self.origin.append(origin)
        return number


def _explore(decisions: Decisions[Any, Any, Any]) -> _Exploration:
    """Explore the states breadth first, so that a state's number is higher than its origin's."""
    name = decisions.rules.name
    exploration = _Exploration()
    for index, transition in enumerate(decisions.starts):
        exploration.add(transition, (-1, 0, index))
    for number, state in enumerate(exploration.states):  # the list grows during the loop
        if decisions.actor(state) is None:
            continue
        for action_number, action in decisions.legal(state).items():
            targets = []
            for index, transition in enumerate(decisions.transitions(state, action)):
                if transition.ticks not in (0, 1):
                    raise TooLarge(
                        f"The clock of {name} advances by {transition.ticks} in one move; tables allow 1."
                    )
                target = exploration.add(transition, (number, action_number, index))
                targets.append((2 * target + transition.ticks, transition.odds))
                exploration.denominators.add(transition.odds.denominator)
            exploration.moves.append((number, action_number, targets))
        if len(exploration.states) > MAX_STATES:
            raise TooLarge(f"{name} has too many states for tables.")
    return exploration


@lru_cache(maxsize=16)
def get_tables(rules: AnyRules) -> "GameTables":
    """Return the tables of `rules`, cached in the process. Raises TooLarge if the game is too large."""
    check_table_size(rules)  # first, because a game without declared features is explored to find them
    return GameTables(rules, load_tables(rules, rules.game.encoding(rules)))


@lru_cache(maxsize=64)
def has_tables(rules: AnyRules) -> bool:
    """Return whether the game is small enough for tables."""
    try:
        get_tables(rules)
    except DuelsError:
        return False
    return True


class GameTables:
    """A game's tables and arrays derived from them."""

    def __init__(self, rules: AnyRules, tables: Tables) -> None:
        self.rules = rules
        self.tables = tables
        self.legal = tables.legal.astype(np.int8)
        self.counts = tables.legal.sum(axis=1, dtype=np.int64)
        self.successor = tables.successor.ravel()

    def __reduce__(self) -> tuple[Any, ...]:
        return get_tables, (self.rules,)  # a pickle loads the shared tables instead of copying them

    @cached_property
    def choices(self) -> NDArray[np.int16]:
        """The k-th legal action, or 0 after the last one, indexed [state, k]."""
        # 16 bits: more numbers fit into the CPU cache.
        order = np.argsort(~self.tables.legal, axis=1, kind="stable")[:, : int(self.counts.max())]
        return np.where(np.arange(order.shape[1]) < self.counts[:, None], order, 0).astype(np.int16)

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Whether an action is hidden from the other seat, indexed [state, action]."""
        decisions = Decisions(self.rules)
        hidden = np.zeros(self.legal.shape, np.bool_)
        for index, state in enumerate(self.tables.rules_states(self.rules)):
            for number, action in decisions.legal(state).items():
                hidden[index, number] = decisions.hides(state, action)
        return hidden

    @cached_property
    def observation_groups(self) -> NDArray[np.intp]:
        """A number for each state, equal for states that the player to move cannot distinguish."""
        actor = np.maximum(self.tables.actor, 0)
        observations = self.tables.observation[actor, np.arange(self.tables.states)]
        rows = np.column_stack([actor, observations])
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()

    def probabilities(self, table: ArrayLike) -> NDArray[np.float64]:
        """Return a policy's probabilities of legal actions, indexed [state, action].

        `table` contains the action of each state, or probabilities indexed [state, action]. Raises DuelsError
        if it is not a policy.
        """
        tables, policy = self.tables, np.asarray(table)
        decisions = tables.actor != NOBODY
        if policy.shape == (tables.states,) and policy.dtype.kind in "iu":
            policy = policy[:, None] == np.arange(tables.actions)
        if policy.shape != (tables.states, tables.actions) or policy.dtype.kind not in "biuf":
            raise DuelsError(
                f"A policy must be a table of {tables.states} states, "
                f"with the number of an action or {tables.actions} probabilities for each. "
                "With a limit, it may be one such table for each clock reading."
            )
        odds = np.where(tables.legal, policy, 0).astype(np.float64)
        totals = odds.sum(axis=1, keepdims=True)
        if not ((policy[decisions] >= 0).all() and np.allclose(totals[decisions], 1)):
            raise DuelsError("A policy's probabilities of the legal actions must sum to 1 in every state.")
        odds[decisions] /= totals[decisions]
        return odds

    def check_no_peeking(self, odds: NDArray[np.float64]) -> None:
        """Raise DuelsError if probabilities differ between states with the same observation."""
        decisions = self.tables.actor != NOBODY
        odds = odds[decisions]
        _, example, group = np.unique(
            self.observation_groups[decisions], return_index=True, return_inverse=True
        )
        if (odds != odds[example[group]]).any():
            raise DuelsError(
                "This policy acts on secrets: it distinguishes states with the same observation."
            )
