"""Flip's levels for many games at once: they decide by observations, in compiled code.

A test compares them with the players of the same names. One decision in a thousand needs a search: then those
players decide. Needs the extra `fast`.
"""

from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding, number_actions
from duels.core.rules import Seat
from duels.games.flip import abstraction, bounds, grid, values
from duels.games.flip.bounds import MAX_WIDTH, Interval, Position, judge
from duels.games.flip.features import features
from duels.games.flip.oracle import FlipOracle, grade
from duels.games.flip.rules import QuantumTiles, State
from duels.games.flip.values import SLOTS, Tables
from duels.players.levels import LevelPlayer, temper
from duels.solving.oracles import get_oracle

Bytes = NDArray[np.int8]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_SIDE = 5
"""The largest side for compiled code: memo keys of larger boards exceed 64 bits."""


class FlipLevels:
    """A level at one seat of every game. It has no memory: it decides by the observation alone."""

    def __init__(self, rules: QuantumTiles, share: float, envs: int = 1) -> None:
        encoding = Encoding(features(rules))
        slices = {feature.name: encoding.find_slice(feature.name) for feature in encoding.features}
        self._rules, self._share = rules, share
        self._action_numbers = number_actions(rules)
        self._tiles, self._face_count = rules.side**2, len(rules.faces)
        self._scores = slices["my_score"], slices["other_score"]
        self._quantum = np.array([slices["my_quantum"].start, slices["other_quantum"].start])
        self._lifted, self._choosing = slices["lifted"], slices["choosing"].start

    @staticmethod
    def fits(rules: QuantumTiles) -> bool:
        """Return whether these levels support the rules and Numba is installed."""
        return find_spec("numba") is not None and rules.side <= MAX_SIDE

    def begin(self, env_mask: Flags) -> None:
        """Do nothing: the level has no memory."""

    def on_actions(self, movers: Any, actions: Any, seats: Any, env_mask: Flags) -> None:
        """Do nothing: the level has no memory."""

    def odds(self, observations: Bytes, masks: Bytes, seats: Any, env_mask: Flags) -> Floats:
        """Return the level's probabilities, indexed [game of `env_mask`, action]."""
        faces, scores, held, lifted = self._read(observations)
        odds = np.zeros((len(observations), len(self._action_numbers)))
        _compile()(_make_arrays(self._rules), faces, scores, held, lifted, self._share, odds)
        for i in np.flatnonzero(odds[:, 0] < 0):
            odds[i] = self._search(observations[i], faces[i], held[i], lifted[i])
        return odds

    def _read(self, observations: Bytes) -> tuple[Any, ...]:
        faces = observations[:, : self._tiles * self._face_count].reshape(-1, self._face_count).argmax(axis=1)
        lifted = np.full((len(observations), 2), -1)
        (choosing,) = observations[:, self._choosing].nonzero()
        if len(choosing):
            lifted[choosing] = observations[choosing, self._lifted].nonzero()[1].reshape(-1, 2)
        my_scores = observations[:, self._scores[0]].argmax(axis=1)
        # `take` keeps the rows contiguous; otherwise `judge` would be compiled a second time.
        held = observations.take(self._quantum, axis=1)
        return faces.reshape(-1, self._tiles), my_scores, held, lifted

    def _search(self, observation: Bytes, faces: Any, held: Any, lifted: Any) -> Floats:
        """Return the probabilities of the level's player, which searches; indexed [action]."""
        my_score, other_score = (int(observation[columns].argmax()) for columns in self._scores)
        state = State(
            "".join(self._rules.faces[face] for face in faces),
            (my_score, other_score),
            (bool(held[0]), bool(held[1])),
            Seat.ONE,
            tuple(int(tile) for tile in lifted if tile >= 0),
            bool(lifted[0] >= 0),
        )
        player = LevelPlayer(get_oracle(self._rules), self._share)
        odds = np.zeros(len(self._action_numbers))
        for action, chance in player.odds(self._rules.sight(state, Seat.ONE)).items():
            odds[self._action_numbers[action]] = chance
        return odds


def _mix_levels(t: Any, faces: Any, scores: Any, held: Any, lifted: Any, share: float, odds: Any) -> None:
    """Write a level's probabilities into `odds`, indexed [position, action].

    In positions that need a search, write -1 for action 0. Numba compiles this with the functions it calls.
    """
    for i in range(len(faces)):
        my_flip, other_flip, pair = held[i, 0] != 0, held[i, 1] != 0, (lifted[i, 0], lifted[i, 1])
        all_lows, all_highs = np.full((2, odds.shape[1]), -1.0)
        min_value, max_value = judge(t, faces[i], scores[i], my_flip, other_flip, pair, all_lows, all_highs)
        legal = [action for action in range(len(all_lows)) if all_lows[action] >= 0]
        lows, highs = [all_lows[action] for action in legal], [all_highs[action] for action in legal]
        low, high = max(min_value, max(lows)), min(max_value, max(highs))
        if high - low > MAX_WIDTH:
            odds[i, 0] = -1.0
            continue
        numbers, best, weights = grade(lows, highs, low, high)
        value = max([numbers[k] for k in range(len(legal)) if weights[k] > 0])
        value = min(max(value, low), high)
        losses = [0.0 if best[k] else max(0.0, value - numbers[k]) for k in range(len(legal))]
        tempered = temper(losses, best, weights, share)
        for k in range(len(legal)):
            odds[i, legal[k]] = tempered[k]


def _remember(t: Tables, key: int, low: float, high: float) -> None:
    """Replace `remember` in compiled code: write to an array."""
    entry = t.memo[key % SLOTS]
    entry[0], entry[1], entry[2] = key, low, high


def _narrow(t: Tables, pos: Position, steps: int) -> Interval:
    """Replace `narrow` in compiled code, which never calls it."""
    return 0.0, 1.0


@lru_cache(maxsize=1)
def _compile() -> Any:
    from duels.solving.compiling import compile_functions

    functions: dict[str, Any] = {
        name: function
        for module in (abstraction, grid, values, bounds)
        for name, function in vars(module).items()
        if isinstance(function, FunctionType)
    }
    functions |= {"remember": _remember, "narrow": _narrow, "grade": grade, "temper": temper}
    return compile_functions(functions | {"mix_levels": _mix_levels}, ("mix_levels",))["mix_levels"]


@lru_cache(maxsize=8)
def _make_arrays(rules: QuantumTiles) -> Tables:
    """Return the tables of the rules' oracle for compiled code."""
    oracle = get_oracle(rules)
    assert isinstance(oracle, FlipOracle)
    tables = oracle.tables
    codes = np.full((max(tables.codes) + 1, len(tables.codes[0])), -1)
    codes[list(tables.codes)] = list(tables.codes.values())
    inner, neighbours, pairs = (np.array(part) for part in tables.grid[2:])
    return tables._replace(
        rows=np.array(tables.rows),
        nobody_rows=np.array(tables.nobody_rows),
        holder_rows=np.array(tables.holder_rows),
        leaves=_pad(tables.leaves),
        terms=_pad(tables.terms),
        codes=codes,
        stored_values=np.frombuffer(tables.stored_values, np.uint16),
        memo=np.full((SLOTS, 3), -1.0),
        look_ahead_cache=0,
        grid=tables.grid._replace(inner=inner, neighbours=neighbours, pairs=pairs),
    )


def _pad(rows: Any) -> NDArray[np.int64]:
    padded = np.zeros((len(rows), max(map(len, rows)), len(rows[0][0])), np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded
