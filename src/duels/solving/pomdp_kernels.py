"""The compiled half of `pomdp`: interpolated upper bounds, and the exact worth of concrete play.

A belief is an array of weights over the hidden states; its sum is the probability that it stands for.
"""
# mypy: disable-error-code="no-untyped-call"

from typing import Any

import numba
import numpy as np

from duels.solving.pomdp import MOST_STATES, HiddenStrategy

X = MOST_STATES
Array = np.ndarray[Any, Any]
Tables = tuple[Array, ...]
compiled = numba.njit(cache=True, boundscheck=False, fastmath={"contract", "arcp", "nsz"})


@compiled
def by_sets(place: int, belief: Array, sets: Array, order: Array) -> float:
    """Interpolate between uniform beliefs: peel the belief into the nested sets of its heaviest states."""
    count = 0
    for x in range(X):
        if belief[x] > 0.0:
            i = count
            while i > 0 and belief[order[i - 1]] < belief[x]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = x
            count += 1
    total = 0.0
    mask = 0
    for i in range(count):
        mask |= 1 << order[i]
        below = belief[order[i + 1]] if i + 1 < count else 0.0
        total += (belief[order[i]] - below) * sets[place, mask]
    return total


@compiled
def above(place: int, belief: Array, enough: float, table: Tables) -> float:
    """An upper bound at `place`, where the strategy is to act; loose where it is no more than `enough`."""
    sets, first, count, inverse, worth, gain, rest, order = table[:8]
    plain: float = by_sets(place, belief, sets, order)
    if plain <= enough or count[place] == 0:
        return plain
    best, best_share, chosen = 0.0, 0.0, -1
    for k in range(first[place], first[place] + count[place]):
        share = 1e9
        for x in range(X):
            scaled = belief[x] * inverse[k, x] if inverse[k, x] >= 0.0 else 1e9
            share = min(share, scaled)
        if share * gain[k] < best:
            best, best_share, chosen = share * gain[k], share, k
    if chosen < 0:
        return plain
    # The value is subadditive: a share of a known belief, and what is left, interpolated between sets.
    for x in range(X):
        known = best_share / inverse[chosen, x] if inverse[chosen, x] > 0.0 else 0.0
        rest[x] = max(0.0, belief[x] - known)
    split: float = best_share * worth[chosen] + by_sets(place, rest, sets, order)
    return min(plain, split)


@compiled
def decide(node: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """The best option by upper bounds; its number is left in `hint[node]`."""
    first_option, wins, stays, goes = problem[:4]
    left = table[8]
    best = -1.0
    start = first_option[node]
    hinted = start + hint[node]
    for i in range(start - 1, first_option[node + 1]):
        option = hinted if i < start else i
        won = 0.0
        for x in range(X):
            bit = 1 << x
            won += belief[x] if wins[option] & bit else 0.0
            left[x] = belief[x] if stays[option] & bit else 0.0
        value = won + above(goes[option], left, best - won, table)
        if value > best:
            best = value
            hint[node] = option - start
    return best


@compiled
def act(place: int, belief: Array, problem: Tables, moved: Array) -> float:
    """Let the strategy move: fills `moved` with the states that go on, returns what is caught."""
    kernel, caught, moves = problem[4], problem[5], problem[8]
    moved[:] = 0.0
    row = kernel[place]
    for x in range(X):
        if belief[x] > 0.0:
            for z in range(X):
                moved[z] += belief[x] * moves[row, x, z]
    won = 0.0
    for z in range(X):
        if caught[place] >> z & 1:
            won += moved[z]
            moved[z] = 0.0
    return won


@compiled
def backup(place: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """The bound at a belief by one exact round: the strategy acts, the responder sees and decides."""
    kernel, then, signals = problem[4], problem[7], problem[9]
    moved = np.empty(X)
    told = np.empty(X)
    total: float = act(place, belief, problem, moved)
    row = kernel[place]
    for signal in range(signals.shape[1]):
        node = then[place, signal]
        if node < 0:
            continue
        mass = 0.0
        for x in range(X):
            told[x] = moved[x] * signals[row, signal, x]
            mass += told[x]
        if mass > 0.0:
            total += decide(node, told, problem, table, hint)
    return total


@compiled
def tighten_sets(place: int, problem: Tables, table: Tables, hint: Array, largest: int) -> None:
    """Tighten the bound of one place at every uniform belief on up to `largest` states."""
    support = problem[6][place]
    sets = table[0]
    belief = np.zeros(X)
    for mask in range(1, 1 << X):
        if mask & ~support:
            continue
        size = 0
        singly = 0.0
        for x in range(X):
            bit = mask >> x & 1
            belief[x] = bit
            if bit:
                size += 1
                singly += sets[place, 1 << x]
        value = singly if size > largest else backup(place, belief, problem, table, hint)
        sets[place, mask] = min(sets[place, mask], value)


@compiled
def sweep_sets(problem: Tables, table: Tables, hint: Array, largest: int) -> None:
    """Tighten the bound of every place at uniform beliefs on up to `largest` states."""
    for place in range(problem[6].shape[0]):
        tighten_sets(place, problem, table, hint, largest)


@compiled
def remember(place: int, belief: Array, value: float, table: Tables, room: Array, used: Array) -> None:
    """Keep the bound at one belief; forgotten silently when the store is full."""
    sets, first, count, inverse, worth, gain, _, order = table[:8]
    if count[place] == room[place]:
        larger = max(2, 2 * room[place])
        if used[0] + larger > worth.shape[0]:
            return
        for i in range(count[place]):
            inverse[used[0] + i] = inverse[first[place] + i]
            worth[used[0] + i] = worth[first[place] + i]
            gain[used[0] + i] = gain[first[place] + i]
        first[place] = used[0]
        room[place] = larger
        used[0] += larger
    mass = belief.sum()
    k = first[place] + count[place]
    for x in range(X):
        inverse[k, x] = mass / belief[x] if belief[x] > 1e-12 * mass else -1.0
    worth[k] = value / mass
    gain[k] = (value - by_sets(place, belief, sets, order)) / mass
    count[place] += 1


@compiled
def tighten(
    place: int, belief: Array, problem: Tables, table: Tables, hint: Array, room: Array, used: Array
) -> None:
    """Tighten the bound of a place that play has met at the belief it was met with."""
    known = above(place, belief, -1.0, table)
    value = backup(place, belief, problem, table, hint)
    if known - value > 1e-3 * belief.sum():
        remember(place, belief, value, table, room, used)


@compiled
def explore(
    trials: int,
    seed: int,
    start_nodes: Array,
    start_beliefs: Array,
    problem: Tables,
    table: Tables,
    hint: Array,
    room: Array,
    used: Array,
) -> None:
    """Play the responder's seemingly best options; tighten the bounds at the beliefs on the way, and back."""
    first_option, _, stays, goes, kernel, _, _, then, _, signals = problem
    longest = 25
    np.random.seed(seed)
    places = np.zeros(longest, np.int64)
    beliefs = np.zeros((longest, X))
    moved = np.empty(X)
    told = np.zeros((signals.shape[1], X))
    for _ in range(trials):
        ticket = np.random.random() * start_beliefs.sum()
        k = 0
        while ticket > start_beliefs[k].sum() and k + 1 < start_nodes.shape[0]:
            ticket -= start_beliefs[k].sum()
            k += 1
        node = start_nodes[k]
        belief = start_beliefs[k] / start_beliefs[k].sum()
        length = 0
        while length < longest:
            decide(node, belief, problem, table, hint)
            option = first_option[node] + hint[node]
            for x in range(X):
                if not stays[option] >> x & 1:
                    belief[x] = 0.0
            mass = belief.sum()
            if mass < 1e-12:
                break
            belief /= mass
            place = goes[option]
            tighten(place, belief, problem, table, hint, room, used)
            places[length] = place
            beliefs[length] = belief
            length += 1
            act(place, belief, problem, moved)
            told[:] = 0.0
            for signal in range(signals.shape[1]):
                if then[place, signal] >= 0:
                    told[signal] = moved * signals[kernel[place], signal]
            total = told.sum()
            # Half of the plays that would end here go on: late beliefs need bounds as well.
            if total < 1e-9 or (np.random.random() > total and np.random.random() < 0.5):
                break
            ticket = np.random.random() * total
            signal = 0
            while signal + 1 < signals.shape[1] and ticket > told[signal].sum():
                ticket -= told[signal].sum()
                signal += 1
            if told[signal].sum() <= 0.0:
                break
            belief = told[signal] / told[signal].sum()
            node = then[place, signal]
        for i in range(length - 1, -1, -1):
            tighten(places[i], beliefs[i], problem, table, hint, room, used)


@compiled
def worth_of_random_options(problem: Tables, rounds: int) -> Array:
    """What a responder wins, by node and state, that picks among its options at random, within `rounds`."""
    first_option, wins, stays, goes, kernel, caught, support, then, moves, signals = problem
    nodes = first_option.shape[0] - 1
    at_node = np.zeros((nodes, X))
    at_place = np.zeros((support.shape[0], X))
    for _ in range(rounds):
        for place in range(support.shape[0]):
            row = kernel[place]
            for x in range(X):
                total = 0.0
                if support[place] >> x & 1:
                    for z in range(X):
                        chance = moves[row, x, z]
                        if chance == 0.0:
                            continue
                        if caught[place] >> z & 1:
                            total += chance
                            continue
                        for signal in range(signals.shape[1]):
                            if then[place, signal] >= 0:
                                total += chance * signals[row, signal, z] * at_node[then[place, signal], z]
                at_place[place, x] = total
        for node in range(nodes):
            options = first_option[node + 1] - first_option[node]
            for x in range(X):
                total = 0.0
                for option in range(first_option[node], first_option[node + 1]):
                    if wins[option] >> x & 1:
                        total += 1.0
                    elif stays[option] >> x & 1:
                        total += at_place[goes[option], x]
                at_node[node, x] = total / options if options else 0.0
    return at_node


@compiled
def follow(
    node: int, belief: Array, depth: int, problem: Tables, table: Tables, hint: Array, ends: Array
) -> float:
    """What the seemingly best options win in fact, `depth` turns followed exactly, then at random."""
    first_option, wins, stays, goes, kernel, _, _, then, _, signals = problem
    if depth == 0:
        return float((belief * ends[node]).sum())
    decide(node, belief, problem, table, hint)
    option = first_option[node] + hint[node]
    total = 0.0
    left = np.zeros(X)
    for x in range(X):
        total += belief[x] if wins[option] >> x & 1 else 0.0
        left[x] = belief[x] if stays[option] >> x & 1 else 0.0
    place = goes[option]
    moved = np.empty(X)
    total += act(place, left, problem, moved)
    for signal in range(signals.shape[1]):
        told = moved * signals[kernel[place], signal]
        if then[place, signal] >= 0 and told.sum() > 0.0:
            total += follow(then[place, signal], told, depth - 1, problem, table, hint, ends)
    return total


class Interpolation:
    """Upper bounds for every place and belief, tightened in place; starts from certain victory."""

    def __init__(self, problem: HiddenStrategy, most_points: int = 2_000_000) -> None:
        p = problem
        self._problem: Tables = (
            p.first_option, p.wins, p.stays, p.goes, p.kernel, p.caught, p.support, p.then, p.moves, p.signals
        )  # fmt: skip
        places = len(p.kernel)
        sizes = np.array([mask.bit_count() for mask in range(1 << X)], float)
        self._table: Tables = (
            np.tile(sizes, (places, 1)),
            np.zeros(places, np.int64),
            np.zeros(places, np.int64),
            np.zeros((most_points, X)),
            np.zeros(most_points),
            np.zeros(most_points),
            np.zeros(X),
            np.zeros(X + 1, np.int64),
            np.zeros(X),
        )
        self._room = np.zeros(places, np.int64)
        self._used = np.zeros(1, np.int64)
        self._hint = np.zeros(len(p.first_option), np.int64)
        self._nodes = np.array([node for node, _ in p.start])
        self._beliefs = np.array([belief for _, belief in p.start])

    def sweep(self, largest: int) -> None:
        sweep_sets(self._problem, self._table, self._hint, largest)

    def explore(self, trials: int, seed: int) -> None:
        explore(
            trials, seed, self._nodes, self._beliefs,
            self._problem, self._table, self._hint, self._room, self._used,
        )  # fmt: skip

    def value(self) -> float:
        return float(
            sum(
                decide(node, belief, self._problem, self._table, self._hint)
                for node, belief in zip(self._nodes, self._beliefs, strict=True)
            )
        )

    def follow(self, depth: int) -> float:
        ends = worth_of_random_options(self._problem, 30)
        return float(
            sum(
                follow(node, belief, depth, self._problem, self._table, self._hint, ends)
                for node, belief in zip(self._nodes, self._beliefs, strict=True)
            )
        )
