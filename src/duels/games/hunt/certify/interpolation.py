"""The compiled half of `pomdp`: upper bounds by interpolation, tightened where the bounds are far apart.

A belief is an array of weights over the hidden states. Its sum, the mass, is the probability to reach it.
"""
# mypy: disable-error-code="no-untyped-call"

import numpy as np

from duels.games.hunt.certify.controller import (
    Controller,
    Tables,
    add_point,
    apply_strategy,
    choose_option,
    fast,
    find_stored_value,
)
from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import MAX_STATES, HiddenStrategy

X = MAX_STATES
PEELS = 3
"""The number of stored beliefs to subtract from a belief before the rest is interpolated between sets."""
UPPER_GAIN, LOWER_GAIN = 1e-5, 2e-4
"""The minimum improvement of a bound, for a belief of mass one, to store it."""
MAX_TURNS = 20
"""The maximum number of turns of one trial."""


@fast
def sort_states(belief: Array, order: Array) -> int:
    """Sort the states of a belief by weight, heaviest first. Return their number."""
    count = 0
    for x in range(X):
        if belief[x] > 0.0:
            i = count
            while i > 0 and belief[order[i - 1]] < belief[x]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = x
            count += 1
    return count


@fast
def interpolate_sets(place: int, belief: Array, sets: Array, order: Array) -> float:
    """Bound the value by interpolation between uniform beliefs on the nested sets of the heaviest states."""
    count = sort_states(belief, order)
    total = 0.0
    mask = 0
    for i in range(count):
        mask |= 1 << order[i]
        next_weight = belief[order[i + 1]] if i + 1 < count else 0.0
        total += (belief[order[i]] - next_weight) * sets[place, mask]
    return total


@fast
def find_share(belief: Array, inverse: Array) -> float:
    """Return the largest multiple of a stored belief, given by its inverse weights, within `belief`."""
    share = 1e18
    for x in range(X):
        if inverse[x] > 0.0:
            share = min(share, belief[x] * inverse[x])
    return share


@fast
def subtract_share(rest: Array, share: float, inverse: Array) -> None:
    for x in range(X):
        if inverse[x] > 0.0:
            rest[x] = max(0.0, rest[x] - share / inverse[x])


@fast
def interpolate_points(place: int, belief: Array, set_bound: float, target: float, table: Tables) -> float:  # noqa: C901  compiled: a loop in one piece
    """Improve `set_bound`, the bound from the sets, by stored beliefs. Stop once it is at most `target`."""
    sets, first, count, _, _, inverse, masks, values, gain, order, rest, nearest_rest = table
    value = set_bound
    peeled_value = 0.0
    rest[:] = belief
    nearest, nearest_share = -1, 0.0
    for peel in range(PEELS):
        mask = 0
        for x in range(X):
            if rest[x] > 0.0:
                mask |= 1 << x
        best, best_share, choice = 0.0, 0.0, -1
        for k in range(first[place], first[place] + count[place]):
            if masks[k] & ~mask:
                continue
            share = find_share(rest, inverse[k])
            if share * gain[k] < best:
                best, best_share, choice = share * gain[k], share, k
            if peel == 0 and share >= nearest_share:
                nearest, nearest_share = k, share
        if choice < 0:
            break
        # The value is subadditive: split the belief into a share of a stored one and the rest.
        subtract_share(rest, best_share, inverse[choice])
        peeled_value += best_share * values[choice]
        value = min(value, peeled_value + interpolate_sets(place, rest, sets, order))
        if value <= target:
            break
    if nearest >= 0 and value > target:
        nearest_rest[:] = belief
        subtract_share(nearest_rest, nearest_share, inverse[nearest])
        value = min(
            value, nearest_share * values[nearest] + interpolate_sets(place, nearest_rest, sets, order)
        )
    return value


@fast
def decide(node: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """Return the value of the best option by upper bounds. Store its number in `hint[node]`."""
    first_option, win_masks, continue_masks, next_places, is_mirrored, mirror = (*problem[:5], problem[11])
    sets, count_at = table[0], table[2]
    order = np.empty(X, np.int64)
    remaining = np.empty(X)
    count = sort_states(belief, order)
    best = -1.0
    start = first_option[node]
    hinted = start + hint[node]
    for i in range(start - 1, first_option[node + 1]):
        if i == hinted:
            continue
        option = hinted if i < start else i
        place = next_places[option]
        won, set_bound, previous, mask = 0.0, 0.0, 0.0, 0
        for j in range(count):
            x = order[j]
            if win_masks[option] >> x & 1:
                won += belief[x]
            elif continue_masks[option] >> x & 1:
                set_bound += (previous - belief[x]) * sets[place, mask]
                previous = belief[x]
                mask |= 1 << (mirror[x] if is_mirrored[option] else x)
        set_bound += previous * sets[place, mask]
        if won + set_bound <= best:
            continue
        if count_at[place] and mask:
            for x in range(X):
                remaining[mirror[x] if is_mirrored[option] else x] = (
                    belief[x] if continue_masks[option] >> x & 1 else 0.0
                )
            set_bound = interpolate_points(place, remaining, set_bound, best - won, table)
        if won + set_bound > best:
            best = won + set_bound
            hint[node] = option - start
    return best


@fast
def backup(place: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """Back up the upper bound at a belief by one exact round."""
    kernel, next_nodes, signals = problem[5], problem[8], problem[10]
    next_belief = np.empty(X)
    posterior = np.empty(X)
    total: float = apply_strategy(place, belief, problem, next_belief)
    row = kernel[place]
    for signal in range(signals.shape[1]):
        node = next_nodes[place, signal]
        if node < 0:
            continue
        mass = 0.0
        for x in range(X):
            posterior[x] = next_belief[x] * signals[row, signal, x]
            mass += posterior[x]
        if mass > 0.0:
            total += decide(node, posterior, problem, table, hint)
    return total


@fast
def sweep_sets(problem: Tables, table: Tables, hint: Array, max_size: int) -> None:
    """Tighten the bounds at uniform beliefs on up to `max_size` states, for every place, last first."""
    support, sets = problem[7], table[0]
    belief = np.zeros(X)
    for place in range(support.shape[0] - 1, -1, -1):
        for mask in range(1, 1 << X):
            if mask & ~support[place]:
                continue
            size = 0
            singles_bound = 0.0
            for x in range(X):
                belief[x] = mask >> x & 1
                if mask >> x & 1:
                    size += 1
                    singles_bound += sets[place, 1 << x]
            value = singles_bound if size > max_size else backup(place, belief, problem, table, hint)
            sets[place, mask] = min(sets[place, mask], value)


@fast
def copy_bound(source: int, destination: int, table: Tables) -> None:
    inverse, masks, values, gain = table[5:9]
    inverse[destination], masks[destination] = inverse[source], masks[source]
    values[destination], gain[destination] = values[source], gain[source]


@fast
def prune(place: int, table: Tables) -> None:
    """Remove the stored beliefs of a place whose bounds follow from the others."""
    sets, first, count, _, _, inverse, masks, values, gain, order = table[:10]
    belief = np.empty(X)
    k = first[place]
    while k < first[place] + count[place]:
        tail = first[place] + count[place] - 1
        saved, saved_value, mask = inverse[k].copy(), values[k], masks[k]
        for x in range(X):
            belief[x] = 1.0 / saved[x] if saved[x] > 0.0 else 0.0
        copy_bound(tail, k, table)
        count[place] -= 1
        set_bound = interpolate_sets(place, belief, sets, order)
        if interpolate_points(place, belief, set_bound, -1.0, table) > saved_value + 1e-4:
            copy_bound(k, tail, table)
            inverse[k], values[k], gain[k], masks[k] = saved, saved_value, saved_value - set_bound, mask
            count[place] += 1
            k += 1


@fast
def store_bound(place: int, belief: Array, value: float, table: Tables) -> bool:
    """Store the bound at a belief. Return False if the store is full."""
    sets, first, count, capacity, used, inverse, masks, values, gain, order = table[:10]
    if count[place] == capacity[place] and count[place] >= 8:
        prune(place, table)
    if 4 * count[place] >= 3 * capacity[place]:
        new_capacity = max(4, 2 * capacity[place])
        if used[0] + new_capacity > values.shape[0]:
            return False
        for i in range(count[place]):
            copy_bound(first[place] + i, used[0] + i, table)
        first[place] = used[0]
        capacity[place] = new_capacity
        used[0] += new_capacity
    mass = belief.sum()
    k = first[place] + count[place]
    masks[k] = 0
    # Tiny weights are dropped: interpolation leaves them to the sets, so the bound stays valid.
    for x in range(X):
        inverse[k, x] = mass / belief[x] if belief[x] > 1e-9 * mass else 0.0
        masks[k] |= (inverse[k, x] > 0.0) << x
    values[k] = value / mass
    gain[k] = (value - interpolate_sets(place, belief, sets, order)) / mass
    count[place] += 1
    return True


@fast
def visit(
    place: int, belief: Array, problem: Tables, table: Tables, points: Tables, hint: Array,
    posterior: Array, gaps: Array,
) -> bool:  # fmt: skip
    """Tighten both bounds at a belief. Fill in each signal's posterior and gap between the bounds.

    Return whether an upper bound was added.
    """
    kernel, next_nodes, signals = problem[5], problem[8], problem[10]
    next_belief = np.empty(X)
    choice = np.zeros(2, np.int64)
    high: float = apply_strategy(place, belief, problem, next_belief)
    low = high
    row = kernel[place]
    for signal in range(signals.shape[1]):
        gaps[signal] = 0.0
        if next_nodes[place, signal] < 0:
            continue
        posterior[signal] = next_belief * signals[row, signal]
        if posterior[signal].sum() > 0.0:
            upper = decide(next_nodes[place, signal], posterior[signal], problem, table, hint)
            lower = choose_option(next_nodes[place, signal], posterior[signal], problem, points, choice)
            high += upper
            low += lower
            gaps[signal] = upper - lower
    mass = belief.sum()
    if low - find_stored_value(place, belief, points) > LOWER_GAIN * mass:
        add_point(place, belief, problem, points, LOWER_GAIN)
    set_bound = interpolate_sets(place, belief, table[0], table[9])
    if interpolate_points(place, belief, set_bound, -1.0, table) - high > UPPER_GAIN * mass:
        return bool(store_bound(place, belief, high, table))
    return False


@fast
def explore(
    trials: int, min_gap: float, nodes: Array, starts: Array,
    problem: Tables, table: Tables, points: Tables, hint: Array,
) -> tuple[int, int]:  # fmt: skip
    """Run trials: play the best option by upper bounds and follow the signal with the widest gap.

    Bounds are tightened on the way and again on the way back. A trial ends when the gap is below `min_gap`.
    Return the number of bounds added and of beliefs visited.
    """
    first_option, _, continue_masks, next_places, is_mirrored, _, _, _, next_nodes, _, signals, mirror, _ = (
        problem
    )
    posterior = np.zeros((signals.shape[1], X))
    gaps = np.zeros(signals.shape[1])
    choice = np.zeros(2, np.int64)
    places = np.zeros(MAX_TURNS, np.int64)
    beliefs = np.zeros((MAX_TURNS, X))
    belief = np.zeros(X)
    added, visited = 0, 0
    for _ in range(trials):
        widest_gap, start = -1.0, 0
        for i in range(nodes.shape[0]):
            gap = decide(nodes[i], starts[i], problem, table, hint)
            gap -= choose_option(nodes[i], starts[i], problem, points, choice)
            if gap > widest_gap:
                widest_gap, start = gap, i
        node = nodes[start]
        belief[:] = starts[start]
        length = 0
        while length < MAX_TURNS:
            decide(node, belief, problem, table, hint)
            option = first_option[node] + hint[node]
            for x in range(X):
                remaining = belief[x] if continue_masks[option] >> x & 1 else 0.0
                beliefs[length, mirror[x] if is_mirrored[option] else x] = remaining
            if beliefs[length].sum() < min_gap:
                break
            place = next_places[option]
            places[length] = place
            added += visit(place, beliefs[length], problem, table, points, hint, posterior, gaps)
            length += 1
            signal = np.argmax(gaps)
            if gaps[signal] < min_gap:
                break
            belief[:] = posterior[signal]
            node = next_nodes[place, signal]
        for i in range(length - 2, -1, -1):
            added += visit(places[i], beliefs[i], problem, table, points, hint, posterior, gaps)
        visited += max(0, 2 * length - 1)
    return added, visited


class Interpolation:
    """Upper bounds for every place and belief, tightened in place. They start at 1, a certain win."""

    def __init__(self, problem: HiddenStrategy, max_points: int = 1_000_000) -> None:
        self._problem = problem.tables
        places = len(problem.kernel)
        sizes = np.array([mask.bit_count() for mask in range(1 << X)], float)
        self._table: Tables = (
            np.tile(sizes, (places, 1)),
            np.zeros(places, np.int64),
            np.zeros(places, np.int64),
            np.zeros(places, np.int64),
            np.zeros(1, np.int64),
            np.zeros((max_points, X)),
            np.zeros(max_points, np.int64),
            np.zeros(max_points),
            np.zeros(max_points),
            np.zeros(X, np.int64),
            np.zeros(X),
            np.zeros(X),
        )
        self._hint = np.zeros(len(problem.first_option), np.int64)
        self._nodes = np.array([node for node, _ in problem.start])
        self._beliefs = np.array([belief for _, belief in problem.start])
        self._min_gap = 1e-4

    def sweep(self, max_size: int) -> None:
        sweep_sets(self._problem, self._table, self._hint, max_size)

    def explore(self, trials: int, responder: Controller) -> None:
        """Run trials. Lower the gap at which they end once most visits add no bound."""
        finished = 0
        while finished < trials:
            batch = min(200, trials - finished)
            added, visited = explore(
                batch, self._min_gap, self._nodes, self._beliefs,
                self._problem, self._table, responder.points, self._hint,
            )  # fmt: skip
            finished += batch
            if added < 0.6 * visited:
                self._min_gap *= 0.7

    def value(self) -> float:
        return float(
            sum(
                decide(node, belief, self._problem, self._table, self._hint)
                for node, belief in zip(self._nodes, self._beliefs, strict=True)
            )
        )
