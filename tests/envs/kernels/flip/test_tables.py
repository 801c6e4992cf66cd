"""The tables of Quantum Flip say what its rules say: over all sets, bags and standings of a small board."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from duels import vector
from duels.core.rules import Seat
from duels.envs import dice
from duels.envs.engine import MatchEngine
from duels.envs.kernels.flip import batch as kernel
from duels.envs.kernels.flip.tables import (
    BAG,
    BEGIN_AT,
    CODE,
    DRAWN,
    LEFT_AT,
    LIFTED,
    PAIRED,
    ROW,
    ROW_BITS,
    WAYS,
    WAYS_BITS,
    WON,
    flip_tables,
    standing_of,
)
from duels.games.flip.rules import Drawn, Flip, Keep, QuantumFlip, QuantumTiles, State

BOARDS: list[dict[str, Any]] = [
    {"side": 1, "values": 1, "copies": 1, "target": 1},
    {"side": 2, "values": 1, "copies": 4, "target": 1},
    {"side": 2, "values": 2, "copies": 2, "target": 3},
    {"side": 3, "values": 9, "copies": 1, "target": 23},
    {"side": 4, "values": 8, "copies": 2, "target": 9},
    {"side": 5, "values": 1, "copies": 25, "target": 13},
    {"target": 38},
    {},
]
SMALL = QuantumTiles(side=3, values=3, copies=3, target=7)


def sets_of(rules: QuantumTiles) -> list[int]:
    """Sets of tiles that are face down: all of a small board, some of a large one."""
    tiles = rules.side**2
    rng = Random(tiles)
    return list(range(1 << tiles)) if tiles < 10 else [rng.randrange(1 << tiles) for _ in range(300)]


@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_the_kth_tile_and_the_kth_pair(options: dict[str, Any]) -> None:
    rules = QuantumTiles(**options)
    tables = flip_tables(rules)
    for down in sets_of(rules):
        tiles = "".join("." if down >> tile & 1 else "1" for tile in range(rules.side**2))
        actions = rules.actions(State(tiles, (0, 0), (True, True), Seat.ONE))
        upper, lower = down & tables.upper, down << ROW_BITS >> tables.lower_shift
        pairs = int(tables.pairs_in[0][upper]) + int(tables.pairs_in[1][lower])
        found: list[Any] = []
        for k in range(down.bit_count()):
            begun = int(tables.tile_at[0][(down << ROW_BITS & tables.half_mask) + k])
            found.append(Flip(tables.tile_at[1][(down >> tables.half_shift) * ROW + begun]))
        for k in range(pairs):
            begun = int(tables.pair_at[0][upper * tables.pair_columns + k])
            pair = tables.pair_at[1][lower * tables.pair_columns + begun]
            first, second = (tile[pair] for tile in tables.pair_tiles)
            assert tables.pair_sets[pair] == tables.tile_sets[first] + tables.tile_sets[second]
            found.append(QuantumFlip(first, second))
        assert tuple(found) == actions
    for tile in range(rules.side**2):
        assert tables.tile_sets[tile] == 1 + (1 << tile + ROW_BITS)


def test_every_bag_gives_tiles_by_their_odds() -> None:
    rules, tables = SMALL, flip_tables(SMALL)
    codes = {tables.first_code + value: value for value in range(1, rules.values + 1)}
    for held in product(range(rules.copies + 1), repeat=rules.values):
        gone = "".join(str(value) * (rules.copies - left) for value, left in enumerate(held, 1))
        state = State(gone + "." * sum(held), (0, 0), (True, True), Seat.ONE, (8,))
        number = sum(left * (rules.copies + 1) ** value for value, left in enumerate(held))
        row = number << ROW_BITS
        turned = tables.drawn[row : row + sum(held)]
        _same_odds(rules, state, [(codes[tile & CODE],) for tile in turned])
        for code in codes:
            assert tables.drawn[row + code] == code
            assert tables.taken[code] == 0
        for tile in turned:
            left = ((row + (sum(held) << LEFT_AT)) - int(tables.taken[tile])) >> ROW_BITS
            after = list(held)
            after[codes[tile & CODE] - 1] -= 1
            assert left & BAG >> ROW_BITS == sum(
                count * (rules.copies + 1) ** value for value, count in enumerate(after)
            )
            assert left >> LEFT_AT - ROW_BITS == sum(after)
        for unknown in range(3):
            ways = int(tables.two_ways[(number << WAYS_BITS) + unknown])
            numbers = tables.two_drawn[ways >> BEGIN_AT :][: ways & WAYS]
            drawn = [tuple(map(int, tables.two_codes[:, n])) for n in numbers]
            if unknown == 0:
                assert drawn == [(0, 0)]
                assert tables.two_taken[numbers] == [0]
            elif unknown == 1:
                # Whichever of the two it is.
                assert [codes[one] for one, _ in drawn] == [codes[tile & CODE] for tile in turned]
                assert all(one == two for one, two in drawn)
                assert (tables.two_taken[numbers] == tables.taken[turned]).all()
            elif sum(held) > 1:
                both = State(state.tiles, (0, 0), (True, True), Seat.ONE, (7, 8))
                _same_odds(rules, both, [(codes[one], codes[two]) for one, two in drawn])
                for n, pair in zip(numbers, drawn, strict=True):
                    assert tables.two_taken[n] == sum(tables.taken[DRAWN + code] for code in pair)


def _same_odds(rules: QuantumTiles, state: State, drawn: list[tuple[int, ...]]) -> None:
    """Equal shares of the tickets, in the order in which the rules list what can come."""
    counts = Counter(drawn)
    if not drawn:
        return
    assert drawn == sorted(drawn)
    odds = dict(zip(rules.actions(state), rules.odds(state), strict=True))
    assert {Drawn(values): Fraction(count, len(drawn)) for values, count in counts.items()} == odds


def test_every_standing_after_every_tile() -> None:
    rules, tables = SMALL, flip_tables(SMALL)
    for one, two, mover, *quantum in product(range(7), range(7), Seat, (True, False), (True, False)):
        number = ((one * tables.scores + two) << 3) + ((mover - 1) << 2) + (quantum[1] << 1) + quantum[0]
        row = number << ROW_BITS
        for value in range(1, rules.values + 1):
            state = State("." * 9, (one, two), (quantum[0], quantum[1]), mover, (0,))
            after = rules.apply(state, Drawn((value,))).state
            _same_standing(rules, int(tables.standing[row + tables.first_code + value]), after)
        lifted = State("abc......", (one, two), (quantum[0], quantum[1]), mover, (0, 1), True)
        kept = rules.apply(lifted, Keep(0)).state
        paired = int(tables.standing[row + PAIRED])
        assert paired > 0
        assert paired & LIFTED
        assert not paired & (WON[0] | WON[1])
        _same_standing(rules, int(tables.standing[paired % (1 << 32) + tables.first_code + 1]), kept)


def _same_standing(rules: QuantumTiles, found: int, state: State) -> None:
    scores, mover, quantum = standing_of(np.array([found]), flip_tables(rules).scores)
    assert (tuple(scores[:, 0]), mover[0] + 1, tuple(quantum[:, 0])) == (
        state.scores,
        state.mover,
        state.quantum,
    )
    outcome = rules.outcome(state)
    won = outcome.winner - 1 if outcome and outcome.winner else None
    assert [bool(found & flag) for flag in WON] == [won == 0, won == 1]
    assert (found < 0) == (outcome is None and state.quantum[state.mover - 1])
    assert not found & LIFTED


@pytest.mark.parametrize("how", ["one by one", "arrays", "compiled"])
@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_rollouts_are_matches(options: dict[str, Any], how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, seed, steps, count = QuantumTiles(**options), 5, 70, 4
    monkeypatch.setattr(kernel, "_FEW", count if how == "one by one" else 0)
    batch = vector.make(rules, count, seed, compiled=how == "compiled")
    tally = batch.rollout(steps - 40).wins + batch.rollout(40).wins
    for env in range(count):
        engine, stream, wins = MatchEngine(rules), dice.stream(seed, env), [0, 0]
        for _ in range(steps):
            chance, bits = dice.roll(stream)
            stream = dice.advance(stream)
            legal = engine.mask().nonzero()[0]
            engine.step(int(legal[dice.pick(bits, len(legal))]), chance)
            if engine.actor < 0:
                wins[engine.result] += 1
                engine.reset(0)
        assert tally[env].tolist() == wins
        assert batch.masks()[env].tolist() == engine.mask().tolist()
        for seat in (0, 1):
            assert batch.observe(seat)[env].tolist() == engine.observe(seat).tolist()


@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_steps_are_the_same_one_by_one_as_arrays_and_compiled(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = QuantumTiles(**options)
    arrays, few, quick = (
        vector.make(rules, 6, seed=7, compiled=compiled) for compiled in (False, False, True)
    )
    for step in range(60):
        told = []
        for batch in (arrays, few, quick):
            monkeypatch.setattr(kernel, "_FEW_STEPPED", 6 if batch is few else 0)
            actions = batch.sample()
            if step % 7 == 6:  # an action that a random player does not take so often
                actions = np.array([np.flatnonzero(mask)[-1] for mask in batch.masks()])
            told.append([actions, *batch.step(actions), batch.observe(), batch.masks()])
        for same in zip(*told, strict=True):
            assert all(np.array_equal(same[0], other) for other in same)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_what_is_kept_from_step_to_step_is_what_would_be_written_anew(
    options: dict[str, Any], compiled: bool
) -> None:
    if compiled:
        pytest.importorskip("numba")
    batch = vector.make(QuantumTiles(**options), 70, seed=3, compiled=compiled, copy=False)
    rng = np.random.default_rng(0)
    for step in range(40):
        batch.step(batch.sample(), rng.random(70) < 0.7 if step % 9 == 4 else None)
        if step % 9 == 8:
            batch.restart(rng.random(70) < 0.3)
        if step == 30:
            batch.rollout(3)
        anew = pickle.loads(pickle.dumps(batch))
        assert np.array_equal(batch.observe(), anew.observe())
        assert np.array_equal(batch.masks(), anew.masks())
