"""Verification of flip's oracle by independent methods.

Backward induction uses the rules and the whole board, without the abstraction and its bounds.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from duels.core.match import Match, play_through
from duels.core.rules import CHANCE, Seat
from duels.games.flip.abstraction import ROUNDING, SCALE
from duels.games.flip.grid import count_max_pairs, count_sure_turns, find_shape, list_tiles, make_grid
from duels.games.flip.rules import Action, QuantumFlip, QuantumTiles, State
from duels.games.flip.table import Table, solve
from duels.games.flip.values import MOVER, NEVER, compute_value, make_tables
from duels.solving.check import check_self_play
from duels.solving.graph import backward_induction, explore
from duels.solving.oracle import Check, Progress, no_progress

if TYPE_CHECKING:  # the oracle imports this module
    from duels.games.flip.oracle import FlipOracle

TINY_BOARDS = (
    QuantumTiles(side=2, values=2, copies=2, target=3),
    QuantumTiles(side=2, values=4, copies=1, target=5),
)
SMALL_BOARD = QuantumTiles(side=3, values=3, copies=3, target=8)
LOOKUP_INTERVAL = 499  # `verify` checks every 499th stored state
FLOAT_TOLERANCE = 1e-9


def verify(
    oracle: "FlipOracle",
    make_oracle: "Callable[[QuantumTiles, Progress], FlipOracle]",
    progress: Progress = no_progress,
) -> Iterator[Check]:
    """Run all checks of an oracle. Some use oracles for smaller boards."""
    table = oracle.table
    yield check_solution(table, progress)
    yield check_lookups(table, LOOKUP_INTERVAL, progress)
    yield check_endings(oracle)
    yield check_pairing(4, 3, progress)
    for tiny in TINY_BOARDS:
        yield check_all_positions(make_oracle(tiny, progress), progress)
    yield check_late_positions(make_oracle(SMALL_BOARD, progress), 100, progress)
    yield check_late_positions(oracle, 10, progress)
    yield check_self_play(oracle.rules, oracle, 600, progress)


def check_solution(table: Table, progress: Progress = no_progress) -> Check:
    """Solve the abstraction again and compare every stored value."""
    solved_again = solve(table.abstraction, progress)
    differing = sum(a != b for a, b in zip(solved_again, table.stored_values, strict=True))
    return Check(
        "the table equals a table solved now",
        not differing,
        f"{len(solved_again):,} stored values, {differing} differ",
    )


def check_lookups(table: Table, interval: int = 1, progress: Progress = no_progress) -> Check:
    """Check that every `interval`th stored value is a backup of the values after it."""
    tables = make_tables(table.abstraction, table.stored_values, 1)
    worst, count = 0.0, 0
    for count, (row, code, score, index) in enumerate(table.abstraction.iter_stored_states(), 1):
        if count % interval == 0:
            progress(f"looking up states, {count / len(table.stored_values):.0%}")
            looked_up = compute_value(tables, row, code, score, NEVER, MOVER)
            worst = max(worst, abs(table.stored_values[index] / SCALE - looked_up))
    return Check(
        "states looked up follow from the states after them",
        worst <= 2 * ROUNDING + FLOAT_TOLERANCE,
        f"{count // interval:,} states, largest difference {worst:.1e}, rounding explains {2 * ROUNDING:.1e}",
    )


def check_endings(oracle: "FlipOracle") -> Check:
    """Compare the value of a match without decisions with the sum over its endings."""
    rules = oracle.rules
    start = replace(rules.initial(), quantum=(False, False))
    sight = rules.sight(start, Seat.ONE)
    (finding,) = oracle.findings(sight)
    counted = finding.data["1"]["hits"] + finding.data["2"]["passes"]
    value = oracle.value(sight)
    return Check(
        "counting every end gives the value of a match without Quantum Flips",
        value.low - FLOAT_TOLERANCE <= counted <= value.high + FLOAT_TOLERANCE,
        f"{counted:.6f} counted, {value.low:.6f} to {value.high:.6f} by the table",
    )


def check_pairing(side: int, turns: int, progress: Progress = no_progress) -> Check:
    """Check the pairing argument against every sequence of flips on every board of this size."""
    grid, lasts = make_grid(side), _make_brute_force(side)
    claims = refuted = 0
    for unknown in range(1 << side**2):
        if unknown % 256 == 0:
            progress(f"{unknown:,} of {1 << side**2:,} boards tried")
        shape = find_shape(grid, unknown, count_max_pairs(grid, unknown), -1)
        for holder_moves in (True, False):
            for has_rival in (True, False):
                # Tiles can run out on a board this small; in the game they cannot.
                sure = min(count_sure_turns(shape.pairs, shape.spare, holder_moves, has_rival), turns)
                if sure and unknown.bit_count() > 2 * turns + has_rival:
                    claims += 1
                    refuted += not lasts(unknown, sure, holder_moves, has_rival)
    return Check(
        f"the pairing argument holds on every {side}x{side} board",
        not refuted,
        f"{claims:,} claims tried out in every way, {refuted} refuted",
    )


def _make_brute_force(side: int) -> Callable[[int, int, bool, bool], bool]:
    """Return a brute-force check that a holder always finds a pair.

    Its arguments are the unknown tiles, the number of the holder's turns, whether the holder moves, and
    whether the opponent has a Quantum Flip.
    """
    grid = make_grid(side)

    @cache
    def lasts(unknown: int, turns_left: int, holder_moves: bool, has_rival: bool) -> bool:
        if holder_moves:
            if not count_max_pairs(grid, unknown):
                return False
            if turns_left == 1:
                return True
            return any(
                lasts(unknown & ~(1 << tile), turns_left - 1, False, has_rival)
                for tile in list_tiles(unknown)
            )
        removals = [(1 << tile, has_rival) for tile in list_tiles(unknown)]
        if has_rival:
            removals += [
                (1 << a | 1 << b, False) for a, b in grid.pairs if unknown >> a & 1 and unknown >> b & 1
            ]
        return all(lasts(unknown & ~tiles, turns_left, True, keeps_rival) for tiles, keeps_rival in removals)

    return lasts


def check_all_positions(oracle: "FlipOracle", progress: Progress = no_progress) -> Check:
    """Check every decision on a tiny board."""
    rules = oracle.rules
    states = [
        state for state in explore(rules, progress=progress).states if isinstance(rules.actor(state), Seat)
    ]
    where = f"everywhere on a {rules.side}x{rules.side} board of 1 to {rules.values}"
    return _check_states(oracle, where, states, progress)


def check_late_positions(oracle: "FlipOracle", count: int, progress: Progress = no_progress) -> Check:
    """Check late positions of random matches with a Quantum Flip left."""
    rules, rng = oracle.rules, Random(2)
    states: list[State] = []
    while len(states) < count:
        match = next(
            match
            for match in play_through(
                Match.start(rules), rng, lambda match, _: _choose_action(match.actions, rng)
            )
            if match.over or is_late(rules, match.state)
        )
        if not match.over and True in match.state.quantum:
            states.append(match.state)
    why_wide = "on so few tiles a Quantum Flip often finds no two neighbours" if rules.side < 4 else ""
    where = f"on late positions of the {rules.side}x{rules.side} board"
    return _check_states(oracle, where, states, progress, why_wide)


def is_late(rules: QuantumTiles, state: State) -> bool:
    """Return whether the position is close enough to the end for backward induction."""
    if rules.actor(state) is CHANCE:
        return False
    room = 2 * (rules.target - 1) - sum(state.scores)
    return sum(not tile.isdigit() for tile in state.tiles) <= 5 or room <= (3, 3, 1)[sum(state.quantum)]


def _choose_action(actions: tuple[Action, ...], rng: Random) -> Action:
    """Choose at random, but Quantum Flips about as rarely as people do."""
    flips = [action for action in actions if not isinstance(action, QuantumFlip)]
    return rng.choice(flips if rng.random() < 0.9 else actions)


def _check_states(
    oracle: "FlipOracle", where: str, states: list[State], progress: Progress, why_wide: str = ""
) -> Check:
    outside, widest = compare(oracle, states, progress)
    return Check(
        f"brute force agrees {where}",
        not outside,
        f"{len(states):,} positions, {outside} outside their bounds, the widest of which is ± {widest:.6f}"
        + (f": {why_wide}" if why_wide else ""),
    )


def compare(oracle: "FlipOracle", states: list[State], progress: Progress = no_progress) -> tuple[int, float]:
    """Return the number of states with a bound that excludes the true value, and the widest error."""
    rules, outside, widest = oracle.rules, 0, 0.0
    graph = explore(rules, states, progress)
    exact_values = backward_induction(graph)

    def exact(state: State, seat: Seat) -> Fraction:
        value = exact_values[graph.state_numbers[state]]
        return value if seat is Seat.ONE else 1 - value

    for i, state in enumerate(states):
        progress(f"{i:,} of {len(states):,} positions compared")
        seat = state.mover
        verdict = oracle.judge(rules.sight(state, seat))
        claims = [(verdict.value, exact(state, seat))]
        for judged in verdict.actions:
            successor = rules.apply(state, judged.action).state
            claims.append((judged.value, exact(successor, seat)))
            claims.append((oracle.value(rules.sight(successor, seat)), exact(successor, seat)))
        outside += any(
            not value.low - FLOAT_TOLERANCE <= true <= value.high + FLOAT_TOLERANCE for value, true in claims
        )
        widest = max(widest, verdict.value.error)
    return outside, widest
