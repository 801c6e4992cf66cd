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
    find_known_value,
)
from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import MAX_STATES, HiddenStrategy

X = MAX_STATES
PEELS = 3
"""The number of known beliefs to subtract from a belief before the rest is interpolated between sets."""
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
        below = belief[order[i + 1]] if i + 1 < count else 0.0
        total += (belief[order[i]] - below) * sets[place, mask]
    return total


@fast
def find_share(belief: Array, inverse: Array) -> float:
    """Return the largest multiple of a known belief within `belief`. `inverse`: its inverse weights, or 0."""
    share = 1e18
    for x in range(X):
        if inverse[x] > 0.0:
            share = min(share, belief[x] * inverse[x])
    return share


@fast
def subtract_share(rest: Array, share: float, inverse: Array) -> None:
    """Subtract a share of a known belief from `rest`."""
    for x in range(X):
        if inverse[x] > 0.0:
            rest[x] = max(0.0, rest[x] - share / inverse[x])


@fast
def interpolate_points(place: int, belief: Array, plain: float, enough: float, table: Tables) -> float:  # noqa: C901  compiled: a loop in one piece
    """Improve the bound `plain` from the sets by known beliefs. Stop once it is at most `enough`."""
    sets, first, count, _, _, inverse, masks, values, gain, order, rest, other = table
    value = plain
    paid = 0.0
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
        # The value is subadditive: split the belief into a share of a known one and the rest.
        subtract_share(rest, best_share, inverse[choice])
        paid += best_share * values[choice]
        value = min(value, paid + interpolate_sets(place, rest, sets, order))
        if value <= enough:
            break
    if nearest >= 0 and value > enough:
        other[:] = belief
        subtract_share(other, nearest_share, inverse[nearest])
        value = min(value, nearest_share * values[nearest] + interpolate_sets(place, other, sets, order))
    return value


@fast
def decide(node: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """Return the value of the best option by upper bounds. Store its number in `hint[node]`."""
    first_option, win_masks, continue_masks, next_places, is_mirrored, mirror = (*problem[:5], problem[11])
    sets, count_at = table[0], table[2]
    order = np.empty(X, np.int64)
    left = np.empty(X)
    count = sort_states(belief, order)
    best = -1.0
    start = first_option[node]
    hinted = start + hint[node]
    for i in range(start - 1, first_option[node + 1]):
        if i == hinted:
            continue
        option = hinted if i < start else i
        place = next_places[option]
        won, plain, previous, mask = 0.0, 0.0, 0.0, 0
        for j in range(count):
            x = order[j]
            if win_masks[option] >> x & 1:
                won += belief[x]
            elif continue_masks[option] >> x & 1:
                plain += (previous - belief[x]) * sets[place, mask]
                previous = belief[x]
                mask |= 1 << (mirror[x] if is_mirrored[option] else x)
        plain += previous * sets[place, mask]
        if won + plain <= best:
            continue
        if count_at[place] and mask:
            for x in range(X):
                left[mirror[x] if is_mirrored[option] else x] = (
                    belief[x] if continue_masks[option] >> x & 1 else 0.0
                )
            plain = interpolate_points(place, left, plain, best - won, table)
        if won + plain > best:
            best = won + plain
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
def sweep_sets(problem: Tables, table: Tables, hint: Array, largest: int) -> None:
    """Tighten the bounds at uniform beliefs on up to `largest` states, for every place, last first."""
    support, sets = problem[7], table[0]
    belief = np.zeros(X)
    for place in range(support.shape[0] - 1, -1, -1):
        for mask in range(1, 1 << X):
            if mask & ~support[place]:
                continue
            size = 0
            singly = 0.0
            for x in range(X):
                belief[x] = mask >> x & 1
                if mask >> x & 1:
                    size += 1
                    singly += sets[place, 1 << x]
            value = singly if size > largest else backup(place, belief, problem, table, hint)
            sets[place, mask] = min(sets[place, mask], value)


@fast
def prune(place: int, table: Tables) -> None:
    """Remove the known beliefs of a place whose bounds follow from the others."""
    sets, first, count, _, _, inverse, masks, values, gain, order = table[:10]
    belief = np.empty(X)
    k = first[place]
    while k < first[place] + count[place]:
        last = first[place] + count[place] - 1
        saved, saved_value, mask = inverse[k].copy(), values[k], masks[k]
        for x in range(X):
            belief[x] = 1.0 / saved[x] if saved[x] > 0.0 else 0.0
        inverse[k], values[k], gain[k], masks[k] = inverse[last], values[last], gain[last], masks[last]
        count[place] -= 1
        plain = interpolate_sets(place, belief, sets, order)
        if interpolate_points(place, belief, plain, -1.0, table) > saved_value + 1e-4:
            inverse[last], values[last], gain[last], masks[last] = inverse[k], values[k], gain[k], masks[k]
            inverse[k], values[k], gain[k], masks[k] = saved, saved_value, saved_value - plain, mask
            count[place] += 1
            k += 1


@fast
def store_bound(place: int, belief: Array, value: float, table: Tables) -> bool:
    """Store the bound at a belief. Return False if the store is full."""
    sets, first, count, room, used, inverse, masks, values, gain, order = table[:10]
    if count[place] == room[place] and count[place] >= 8:
        prune(place, table)
    if 4 * count[place] >= 3 * room[place]:
        larger = max(4, 2 * room[place])
        if used[0] + larger > values.shape[0]:
            return False
        for i in range(count[place]):
            old, new = first[place] + i, used[0] + i
            inverse[new], values[new], gain[new], masks[new] = (
                inverse[old],
                values[old],
                gain[old],
                masks[old],
            )
        first[place] = used[0]
        room[place] = larger
        used[0] += larger
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
    """Tighten both bounds at a belief. Fill in, by signal, the posterior and the gap between the bounds.

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
    if low - find_known_value(place, belief, points) > LOWER_GAIN * mass:
        add_point(place, belief, problem, points, LOWER_GAIN)
    plain = interpolate_sets(place, belief, table[0], table[9])
    if interpolate_points(place, belief, plain, -1.0, table) - high > UPPER_GAIN * mass:
        return bool(store_bound(place, belief, high, table))
    return False


@fast
def explore(
    trials: int, small: float, nodes: Array, starts: Array,
    problem: Tables, table: Tables, points: Tables, hint: Array,
) -> tuple[int, int]:  # fmt: skip
    """Run trials: play the best option by upper bounds and follow the signal with the widest gap.

    Bounds are tightened on the way and again on the way back. A trial ends when the gap is below `small`.
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
        widest, start = -1.0, 0
        for i in range(nodes.shape[0]):
            gap = decide(nodes[i], starts[i], problem, table, hint)
            gap -= choose_option(nodes[i], starts[i], problem, points, choice)
            if gap > widest:
                widest, start = gap, i
        node = nodes[start]
        belief[:] = starts[start]
        length = 0
        while length < MAX_TURNS:
            decide(node, belief, problem, table, hint)
            option = first_option[node] + hint[node]
            for x in range(X):
                left = belief[x] if continue_masks[option] >> x & 1 else 0.0
                beliefs[length, mirror[x] if is_mirrored[option] else x] = left
            if beliefs[length].sum() < small:
                break
            place = next_places[option]
            places[length] = place
            added += visit(place, beliefs[length], problem, table, points, hint, posterior, gaps)
            length += 1
            signal = np.argmax(gaps)
            if gaps[signal] < small:
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
        self._small = 1e-4

    def sweep(self, largest: int) -> None:
        sweep_sets(self._problem, self._table, self._hint, largest)

    def explore(self, trials: int, responder: Controller) -> None:
        """Run trials. Lower the gap at which they end once most visits add no bound."""
        done = 0
        while done < trials:
            batch = min(200, trials - done)
            added, visited = explore(
                batch, self._small, self._nodes, self._beliefs,
                self._problem, self._table, responder.points, self._hint,
            )  # fmt: skip
            done += batch
            if added < 0.6 * visited:
                self._small *= 0.7

    def value(self) -> float:
        return float(
            sum(
                decide(node, belief, self._problem, self._table, self._hint)
                for node, belief in zip(self._nodes, self._beliefs, strict=True)
            )
        )
