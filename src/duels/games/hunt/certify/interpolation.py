"""The compiled half of `pomdp`: upper bounds by interpolation, tightened where good play is unclear.

A belief is an array of weights over the hidden states; its sum is the probability that it stands for.
"""
# mypy: disable-error-code="no-untyped-call"

import numpy as np

from duels.games.hunt.certify.controller import Controller, Tables, act, add, choose, fast, known
from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import MOST_STATES, HiddenStrategy

X = MOST_STATES
PEELS = 3
"""How many known beliefs are peeled off a belief before the rest is interpolated between sets."""
UPPER_GAIN, LOWER_GAIN = 1e-5, 2e-4
"""How much tighter, for a belief of mass one, a bound must get to be kept."""
LONGEST = 20
"""Turns of one trial."""


@fast
def arrange(belief: Array, order: Array) -> int:
    """List the states of a belief, heaviest first; returns how many there are."""
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
def by_sets(place: int, belief: Array, sets: Array, order: Array) -> float:
    """Interpolate between uniform beliefs: peel the belief into the nested sets of its heaviest states."""
    count = arrange(belief, order)
    total = 0.0
    mask = 0
    for i in range(count):
        mask |= 1 << order[i]
        below = belief[order[i + 1]] if i + 1 < count else 0.0
        total += (belief[order[i]] - below) * sets[place, mask]
    return total


@fast
def share_of(belief: Array, inverse: Array) -> float:
    """How much of a known belief there is in `belief`; `inverse` holds its inverse weights, 0 for none."""
    share = 1e18
    for x in range(X):
        if inverse[x] > 0.0:
            share = min(share, belief[x] * inverse[x])
    return share


@fast
def take(rest: Array, share: float, inverse: Array) -> None:
    """Take a share of a known belief off `rest`."""
    for x in range(X):
        if inverse[x] > 0.0:
            rest[x] = max(0.0, rest[x] - share / inverse[x])


@fast
def by_points(place: int, belief: Array, plain: float, enough: float, table: Tables) -> float:  # noqa: C901  compiled: a loop in one piece
    """Interpolate by known beliefs as well; `plain` is what sets alone give. Loose below `enough`."""
    sets, first, count, _, _, inverse, masks, worth, gain, order, rest, other = table
    value = plain
    paid = 0.0
    rest[:] = belief
    nearest, nearest_share = -1, 0.0
    for peel in range(PEELS):
        mask = 0
        for x in range(X):
            if rest[x] > 0.0:
                mask |= 1 << x
        best, best_share, chosen = 0.0, 0.0, -1
        for k in range(first[place], first[place] + count[place]):
            if masks[k] & ~mask:
                continue
            share = share_of(rest, inverse[k])
            if share * gain[k] < best:
                best, best_share, chosen = share * gain[k], share, k
            if peel == 0 and share >= nearest_share:
                nearest, nearest_share = k, share
        if chosen < 0:
            break
        # The value is subadditive: a share of a known belief, and what is left.
        take(rest, best_share, inverse[chosen])
        paid += best_share * worth[chosen]
        value = min(value, paid + by_sets(place, rest, sets, order))
        if value <= enough:
            break
    if nearest >= 0 and value > enough:
        other[:] = belief
        take(other, nearest_share, inverse[nearest])
        value = min(value, nearest_share * worth[nearest] + by_sets(place, other, sets, order))
    return value


@fast
def decide(node: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """The best option by upper bounds; its number is left in `hint[node]`."""
    first_option, wins, stays, goes, turned, mirror = (*problem[:5], problem[11])
    sets, count_at = table[0], table[2]
    order = np.empty(X, np.int64)
    left = np.empty(X)
    count = arrange(belief, order)
    best = -1.0
    start = first_option[node]
    hinted = start + hint[node]
    for i in range(start - 1, first_option[node + 1]):
        if i == hinted:
            continue
        option = hinted if i < start else i
        place = goes[option]
        won, plain, previous, mask = 0.0, 0.0, 0.0, 0
        for j in range(count):
            x = order[j]
            if wins[option] >> x & 1:
                won += belief[x]
            elif stays[option] >> x & 1:
                plain += (previous - belief[x]) * sets[place, mask]
                previous = belief[x]
                mask |= 1 << (mirror[x] if turned[option] else x)
        plain += previous * sets[place, mask]
        if won + plain <= best:
            continue
        if count_at[place] and mask:
            for x in range(X):
                left[mirror[x] if turned[option] else x] = belief[x] if stays[option] >> x & 1 else 0.0
            plain = by_points(place, left, plain, best - won, table)
        if won + plain > best:
            best = won + plain
            hint[node] = option - start
    return best


@fast
def backup(place: int, belief: Array, problem: Tables, table: Tables, hint: Array) -> float:
    """The bound at a belief by one exact round: the strategy acts, the responder sees and decides."""
    kernel, then, signals = problem[5], problem[8], problem[10]
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


@fast
def sweep_sets(problem: Tables, table: Tables, hint: Array, largest: int) -> None:
    """Tighten every place, the last first, at uniform beliefs on up to `largest` states."""
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
    """Forget the known beliefs of a place at which the others do as well."""
    sets, first, count, _, _, inverse, masks, worth, gain, order = table[:10]
    belief = np.empty(X)
    k = first[place]
    while k < first[place] + count[place]:
        last = first[place] + count[place] - 1
        kept, kept_worth, mask = inverse[k].copy(), worth[k], masks[k]
        for x in range(X):
            belief[x] = 1.0 / kept[x] if kept[x] > 0.0 else 0.0
        inverse[k], worth[k], gain[k], masks[k] = inverse[last], worth[last], gain[last], masks[last]
        count[place] -= 1
        plain = by_sets(place, belief, sets, order)
        if by_points(place, belief, plain, -1.0, table) > kept_worth + 1e-4:
            inverse[last], worth[last], gain[last], masks[last] = inverse[k], worth[k], gain[k], masks[k]
            inverse[k], worth[k], gain[k], masks[k] = kept, kept_worth, kept_worth - plain, mask
            count[place] += 1
            k += 1


@fast
def remember(place: int, belief: Array, value: float, table: Tables) -> bool:
    """Keep the bound at one belief; False when the store is full."""
    sets, first, count, room, used, inverse, masks, worth, gain, order = table[:10]
    if count[place] == room[place] and count[place] >= 8:
        prune(place, table)
    if 4 * count[place] >= 3 * room[place]:
        larger = max(4, 2 * room[place])
        if used[0] + larger > worth.shape[0]:
            return False
        for i in range(count[place]):
            old, new = first[place] + i, used[0] + i
            inverse[new], worth[new], gain[new], masks[new] = inverse[old], worth[old], gain[old], masks[old]
        first[place] = used[0]
        room[place] = larger
        used[0] += larger
    mass = belief.sum()
    k = first[place] + count[place]
    masks[k] = 0
    # What is left out here is left to the sets when a belief is interpolated: nothing is lost.
    for x in range(X):
        inverse[k, x] = mass / belief[x] if belief[x] > 1e-9 * mass else 0.0
        masks[k] |= (inverse[k, x] > 0.0) << x
    worth[k] = value / mass
    gain[k] = (value - by_sets(place, belief, sets, order)) / mass
    count[place] += 1
    return True


@fast
def visit(
    place: int, belief: Array, problem: Tables, table: Tables, points: Tables, hint: Array,
    told: Array, apart: Array,
) -> bool:  # fmt: skip
    """Tighten both bounds at a belief; fills in, by signal, the belief it leaves and how far they are apart.

    Returns whether an upper bound was added.
    """
    kernel, then, signals = problem[5], problem[8], problem[10]
    moved = np.empty(X)
    chosen = np.zeros(2, np.int64)
    high: float = act(place, belief, problem, moved)
    low = high
    row = kernel[place]
    for signal in range(signals.shape[1]):
        apart[signal] = 0.0
        if then[place, signal] < 0:
            continue
        told[signal] = moved * signals[row, signal]
        if told[signal].sum() > 0.0:
            at_most = decide(then[place, signal], told[signal], problem, table, hint)
            at_least = choose(then[place, signal], told[signal], problem, points, chosen)
            high += at_most
            low += at_least
            apart[signal] = at_most - at_least
    mass = belief.sum()
    if low - known(place, belief, points) > LOWER_GAIN * mass:
        add(place, belief, problem, points, LOWER_GAIN)
    plain = by_sets(place, belief, table[0], table[9])
    if by_points(place, belief, plain, -1.0, table) - high > UPPER_GAIN * mass:
        return bool(remember(place, belief, high, table))
    return False


@fast
def explore(
    trials: int, small: float, nodes: Array, starts: Array,
    problem: Tables, table: Tables, points: Tables, hint: Array,
) -> tuple[int, int]:  # fmt: skip
    """Play the seemingly best options to where the bounds are furthest apart; tighten there and coming back.

    A trial goes on while they are apart by more than `small`. Returns bounds added and beliefs visited.
    """
    first_option, _, stays, goes, turned, _, _, _, then, _, signals, mirror, _ = problem
    told = np.zeros((signals.shape[1], X))
    apart = np.zeros(signals.shape[1])
    chosen = np.zeros(2, np.int64)
    places = np.zeros(LONGEST, np.int64)
    met = np.zeros((LONGEST, X))
    belief = np.zeros(X)
    added, visited = 0, 0
    for _ in range(trials):
        widest, start = -1.0, 0
        for i in range(nodes.shape[0]):
            gap = decide(nodes[i], starts[i], problem, table, hint)
            gap -= choose(nodes[i], starts[i], problem, points, chosen)
            if gap > widest:
                widest, start = gap, i
        node = nodes[start]
        belief[:] = starts[start]
        length = 0
        while length < LONGEST:
            decide(node, belief, problem, table, hint)
            option = first_option[node] + hint[node]
            for x in range(X):
                left = belief[x] if stays[option] >> x & 1 else 0.0
                met[length, mirror[x] if turned[option] else x] = left
            if met[length].sum() < small:
                break
            place = goes[option]
            places[length] = place
            added += visit(place, met[length], problem, table, points, hint, told, apart)
            length += 1
            signal = np.argmax(apart)
            if apart[signal] < small:
                break
            belief[:] = told[signal]
            node = then[place, signal]
        for i in range(length - 2, -1, -1):
            added += visit(places[i], met[i], problem, table, points, hint, told, apart)
        visited += max(0, 2 * length - 1)
    return added, visited


class Interpolation:
    """Upper bounds for every place and belief, tightened in place; starts from certain victory."""

    def __init__(self, problem: HiddenStrategy, most_points: int = 1_000_000) -> None:
        self._problem = problem.tables
        places = len(problem.kernel)
        sizes = np.array([mask.bit_count() for mask in range(1 << X)], float)
        self._table: Tables = (
            np.tile(sizes, (places, 1)),
            np.zeros(places, np.int64),
            np.zeros(places, np.int64),
            np.zeros(places, np.int64),
            np.zeros(1, np.int64),
            np.zeros((most_points, X)),
            np.zeros(most_points, np.int64),
            np.zeros(most_points),
            np.zeros(most_points),
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
        """Trials with a finer and finer eye: what is left apart counts once it is seen nowhere larger."""
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
