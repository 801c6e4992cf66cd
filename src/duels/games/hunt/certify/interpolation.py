"""The compiled half of `pomdp`: upper bounds by interpolation, tightened where the bounds are far apart.

A belief is an array of weights over the hidden states. Its sum, the mass, is the probability to reach it.
"""
# mypy: disable-error-code="no-untyped-call"

from typing import NamedTuple

import numpy as np

from duels.games.hunt.certify.controller import (
    AlphaVectors,
    Controller,
    add_vector,
    apply_action,
    apply_strategy,
    choose_action,
    evaluate_vectors,
    fast,
    observe,
)
from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import MAX_STATES, ResponderProblem

MAX_SPLITS = 3
"""The number of stored beliefs to subtract from a belief before the rest is interpolated between sets."""
UPPER_GAIN, LOWER_GAIN = 1e-5, 2e-4
"""The minimum improvement of a bound, for a belief of mass one, to store it."""
MAX_TURNS = 20
"""The maximum number of turns of one trial."""


class UpperBounds(NamedTuple):
    """Upper bounds at uniform beliefs on sets of states, and at stored beliefs.

    The stored beliefs of an afterstate are a slice of the arrays from `weight_inverses` to `gains`.
    """

    set_bounds: Array
    """Bounds at uniform beliefs of mass |set|, indexed [afterstate, set]."""
    first_belief: Array
    """The start of each afterstate's slice."""
    belief_counts: Array
    """The number of stored beliefs of each afterstate."""
    capacities: Array
    """The length of each afterstate's slice."""
    used: Array
    """One number: the total length of all slices."""
    weight_inverses: Array
    """1 / weight, or 0 for weight 0, indexed [belief, state]."""
    masks: Array
    """The states with positive weight."""
    values: Array
    """The bound at each stored belief."""
    gains: Array
    """Each bound minus that from the sets: negative."""
    order: Array
    rest: Array
    nearest_rest: Array
    """Scratch arrays over the states."""


@fast
def sort_states(belief: Array, order: Array) -> int:
    """Sort the states of a belief by weight, heaviest first. Return their number."""
    count = 0
    for x in range(MAX_STATES):
        if belief[x] > 0.0:
            i = count
            while i > 0 and belief[order[i - 1]] < belief[x]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = x
            count += 1
    return count


@fast
def interpolate_sets(afterstate: int, belief: Array, bounds: UpperBounds) -> float:
    """Bound the value by interpolation between uniform beliefs on the nested sets of the heaviest states."""
    set_bounds, order = bounds.set_bounds, bounds.order
    count = sort_states(belief, order)
    total = 0.0
    mask = 0
    for i in range(count):
        mask |= 1 << order[i]
        next_weight = belief[order[i + 1]] if i + 1 < count else 0.0
        total += (belief[order[i]] - next_weight) * set_bounds[afterstate, mask]
    return total


@fast
def find_support(belief: Array) -> int:
    """Return the mask of the states with positive weight."""
    mask = 0
    for x in range(MAX_STATES):
        mask |= (belief[x] > 0.0) << x
    return mask


@fast
def find_share(belief: Array, weight_inverses: Array) -> float:
    """Return the largest multiple of a stored belief, given by its inverse weights, within `belief`."""
    share = 1e18
    for x in range(MAX_STATES):
        if weight_inverses[x] > 0.0:
            share = min(share, belief[x] * weight_inverses[x])
    return share


@fast
def subtract_share(rest: Array, share: float, weight_inverses: Array) -> None:
    """Subtract a share of a stored belief from `rest`. Rounding errors stop at 0."""
    for x in range(MAX_STATES):
        if weight_inverses[x] > 0.0:
            rest[x] = max(0.0, rest[x] - share / weight_inverses[x])


@fast
def interpolate_beliefs(
    afterstate: int, belief: Array, set_bound: float, target: float, bounds: UpperBounds
) -> float:
    """Improve `set_bound`, the bound from the sets, by stored beliefs. Stop once it is at most `target`."""
    rest, nearest_rest = bounds.rest, bounds.nearest_rest
    first, count = bounds.first_belief[afterstate], bounds.belief_counts[afterstate]
    value = set_bound
    split_value = 0.0
    rest[:] = belief
    nearest, nearest_share = -1, 0.0
    for split in range(MAX_SPLITS):
        mask = find_support(rest)
        best, best_share, choice = 0.0, 0.0, -1
        for k in range(first, first + count):
            if bounds.masks[k] & ~mask:
                continue
            share = find_share(rest, bounds.weight_inverses[k])
            if share * bounds.gains[k] < best:
                best, best_share, choice = share * bounds.gains[k], share, k
            if split == 0 and share >= nearest_share:
                nearest, nearest_share = k, share
        if choice < 0:
            break
        # The value is subadditive: split the belief into a share of a stored one and the rest.
        subtract_share(rest, best_share, bounds.weight_inverses[choice])
        split_value += best_share * bounds.values[choice]
        value = min(value, split_value + interpolate_sets(afterstate, rest, bounds))
        if value <= target:
            break
    if nearest >= 0 and value > target:
        nearest_rest[:] = belief
        subtract_share(nearest_rest, nearest_share, bounds.weight_inverses[nearest])
        rest_bound = interpolate_sets(afterstate, nearest_rest, bounds)
        value = min(value, nearest_share * bounds.values[nearest] + rest_bound)
    return value


@fast
def bound_node(
    node: int, belief: Array, problem: ResponderProblem, bounds: UpperBounds, best_actions: Array
) -> float:
    """Return the upper bound of a node. Store its best action, counted from 0, in `best_actions[node]`."""
    set_bounds, mirror = bounds.set_bounds, problem.mirror
    order = np.empty(MAX_STATES, np.int64)
    remaining = np.empty(MAX_STATES)
    count = sort_states(belief, order)
    best = -1.0
    start = problem.first_action[node]
    previous_best = start + best_actions[node]
    for i in range(start - 1, problem.first_action[node + 1]):
        if i == previous_best:
            continue
        action = previous_best if i < start else i
        afterstate, is_mirrored = problem.afterstates[action], problem.is_mirrored[action]
        won, bound, previous_weight, mask = 0.0, 0.0, 0.0, 0
        for j in range(count):
            x = order[j]
            if problem.win_masks[action] >> x & 1:
                won += belief[x]
            elif problem.continue_masks[action] >> x & 1:
                bound += (previous_weight - belief[x]) * set_bounds[afterstate, mask]
                previous_weight = belief[x]
                mask |= 1 << (mirror[x] if is_mirrored else x)
        bound += previous_weight * set_bounds[afterstate, mask]
        if won + bound <= best:
            continue
        if bounds.belief_counts[afterstate] and mask:
            apply_action(action, belief, problem, remaining)
            bound = interpolate_beliefs(afterstate, remaining, bound, best - won, bounds)
        if won + bound > best:
            best = won + bound
            best_actions[node] = action - start
    return best


@fast
def back_up(
    afterstate: int, belief: Array, problem: ResponderProblem, bounds: UpperBounds, best_actions: Array
) -> float:
    """Back up the upper bound at a belief by one exact round."""
    next_belief, posterior = np.empty(MAX_STATES), np.empty(MAX_STATES)
    total: float = apply_strategy(afterstate, belief, problem, next_belief)
    for observation in range(problem.observation_probs.shape[1]):
        node = problem.next_nodes[afterstate, observation]
        if node >= 0 and observe(afterstate, observation, next_belief, problem, posterior) > 0.0:
            total += bound_node(node, posterior, problem, bounds, best_actions)
    return total


@fast
def sweep_sets(problem: ResponderProblem, bounds: UpperBounds, best_actions: Array, max_size: int) -> None:
    """Tighten the bounds at uniform beliefs on up to `max_size` states, for every afterstate, last first."""
    support, set_bounds = problem.support, bounds.set_bounds
    belief = np.zeros(MAX_STATES)
    for afterstate in range(support.shape[0] - 1, -1, -1):
        for mask in range(1, 1 << MAX_STATES):
            if mask & ~support[afterstate]:
                continue
            size = 0
            value = 0.0
            for x in range(MAX_STATES):
                belief[x] = mask >> x & 1
                if mask >> x & 1:
                    size += 1
                    value += set_bounds[afterstate, 1 << x]
            if size <= max_size:
                value = back_up(afterstate, belief, problem, bounds, best_actions)
            set_bounds[afterstate, mask] = min(set_bounds[afterstate, mask], value)


@fast
def copy_bound(source: int, destination: int, bounds: UpperBounds) -> None:
    """Copy a stored belief and its bound to another index."""
    bounds.weight_inverses[destination] = bounds.weight_inverses[source]
    bounds.masks[destination] = bounds.masks[source]
    bounds.values[destination] = bounds.values[source]
    bounds.gains[destination] = bounds.gains[source]


@fast
def prune(afterstate: int, bounds: UpperBounds) -> None:
    """Remove the stored beliefs of an afterstate whose bounds follow from the others."""
    belief = np.empty(MAX_STATES)
    first, counts = bounds.first_belief[afterstate], bounds.belief_counts
    k = first
    while k < first + counts[afterstate]:
        last = first + counts[afterstate] - 1
        inverses, value, mask = bounds.weight_inverses[k].copy(), bounds.values[k], bounds.masks[k]
        for x in range(MAX_STATES):
            belief[x] = 1.0 / inverses[x] if inverses[x] > 0.0 else 0.0
        copy_bound(last, k, bounds)
        counts[afterstate] -= 1
        set_bound = interpolate_sets(afterstate, belief, bounds)
        if interpolate_beliefs(afterstate, belief, set_bound, -1.0, bounds) > value + 1e-4:
            copy_bound(k, last, bounds)
            bounds.weight_inverses[k], bounds.values[k] = inverses, value
            bounds.gains[k], bounds.masks[k] = value - set_bound, mask
            counts[afterstate] += 1
            k += 1


@fast
def store_bound(afterstate: int, belief: Array, value: float, bounds: UpperBounds) -> bool:
    """Store the bound at a belief. Return False if the store is full."""
    first, counts, capacities, used = (
        bounds.first_belief,
        bounds.belief_counts,
        bounds.capacities,
        bounds.used,
    )
    if counts[afterstate] == capacities[afterstate] and counts[afterstate] >= 8:
        prune(afterstate, bounds)
    if 4 * counts[afterstate] >= 3 * capacities[afterstate]:
        new_capacity = max(4, 2 * capacities[afterstate])
        if used[0] + new_capacity > bounds.values.shape[0]:
            return False
        for i in range(counts[afterstate]):
            copy_bound(first[afterstate] + i, used[0] + i, bounds)
        first[afterstate] = used[0]
        capacities[afterstate] = new_capacity
        used[0] += new_capacity
    mass = belief.sum()
    k = first[afterstate] + counts[afterstate]
    bounds.masks[k] = 0
    # Tiny weights are dropped: interpolation leaves them to the sets, so the bound stays valid.
    for x in range(MAX_STATES):
        inverse = mass / belief[x] if belief[x] > 1e-9 * mass else 0.0
        bounds.weight_inverses[k, x] = inverse
        bounds.masks[k] |= (inverse > 0.0) << x
    bounds.values[k] = value / mass
    bounds.gains[k] = (value - interpolate_sets(afterstate, belief, bounds)) / mass
    counts[afterstate] += 1
    return True


@fast
def tighten(
    afterstate: int, belief: Array, problem: ResponderProblem, bounds: UpperBounds, vectors: AlphaVectors,
    best_actions: Array, posteriors: Array, gaps: Array,
) -> bool:  # fmt: skip
    """Tighten both bounds at a belief. Fill in each observation's posterior and gap between the bounds.

    Return whether an upper bound was added.
    """
    next_belief = np.empty(MAX_STATES)
    choice = np.zeros(2, np.int64)
    high: float = apply_strategy(afterstate, belief, problem, next_belief)
    low = high
    for observation in range(problem.observation_probs.shape[1]):
        gaps[observation] = 0.0
        node, posterior = problem.next_nodes[afterstate, observation], posteriors[observation]
        if node >= 0 and observe(afterstate, observation, next_belief, problem, posterior) > 0.0:
            upper = bound_node(node, posterior, problem, bounds, best_actions)
            lower = choose_action(node, posterior, problem, vectors, choice)
            high += upper
            low += lower
            gaps[observation] = upper - lower
    mass = belief.sum()
    if low - evaluate_vectors(afterstate, belief, vectors) > LOWER_GAIN * mass:
        add_vector(afterstate, belief, problem, vectors, LOWER_GAIN)
    set_bound = interpolate_sets(afterstate, belief, bounds)
    if interpolate_beliefs(afterstate, belief, set_bound, -1.0, bounds) - high > UPPER_GAIN * mass:
        return bool(store_bound(afterstate, belief, high, bounds))
    return False


@fast
def run_trials(
    trials: int, min_gap: float,
    problem: ResponderProblem, bounds: UpperBounds, vectors: AlphaVectors, best_actions: Array,
) -> tuple[int, int]:  # fmt: skip
    """Run trials: take the best action by upper bounds and follow the observation with the widest gap.

    Bounds are tightened on the way and again on the way back. A trial ends when the gap is below `min_gap`.
    Return the number of bounds added and of beliefs visited.
    """
    start_nodes, start_beliefs = problem.start_nodes, problem.start_beliefs
    observation_count = problem.observation_probs.shape[1]
    posteriors = np.zeros((observation_count, MAX_STATES))
    gaps = np.zeros(observation_count)
    choice = np.zeros(2, np.int64)
    afterstates = np.zeros(MAX_TURNS, np.int64)
    beliefs = np.zeros((MAX_TURNS, MAX_STATES))
    belief = np.zeros(MAX_STATES)
    added, visited = 0, 0
    for _ in range(trials):
        widest_gap, start = -1.0, 0
        for i in range(start_nodes.shape[0]):
            gap = bound_node(start_nodes[i], start_beliefs[i], problem, bounds, best_actions)
            gap -= choose_action(start_nodes[i], start_beliefs[i], problem, vectors, choice)
            if gap > widest_gap:
                widest_gap, start = gap, i
        node = start_nodes[start]
        belief[:] = start_beliefs[start]
        length = 0
        while length < MAX_TURNS:
            bound_node(node, belief, problem, bounds, best_actions)
            action = problem.first_action[node] + best_actions[node]
            apply_action(action, belief, problem, beliefs[length])
            if beliefs[length].sum() < min_gap:
                break
            afterstate = problem.afterstates[action]
            afterstates[length] = afterstate
            added += tighten(
                afterstate, beliefs[length], problem, bounds, vectors, best_actions, posteriors, gaps
            )
            length += 1
            observation = np.argmax(gaps)
            if gaps[observation] < min_gap:
                break
            belief[:] = posteriors[observation]
            node = problem.next_nodes[afterstate, observation]
        for i in range(length - 2, -1, -1):
            added += tighten(
                afterstates[i], beliefs[i], problem, bounds, vectors, best_actions, posteriors, gaps
            )
        visited += max(0, 2 * length - 1)
    return added, visited


class Interpolation:
    """Upper bounds for every afterstate and belief, tightened in place. They start at 1, a certain win."""

    def __init__(self, problem: ResponderProblem, max_beliefs: int = 1_000_000) -> None:
        self.problem = problem
        afterstate_count = len(problem.kernels)
        sizes = np.array([mask.bit_count() for mask in range(1 << MAX_STATES)], float)
        self.bounds = UpperBounds(
            set_bounds=np.tile(sizes, (afterstate_count, 1)),
            first_belief=np.zeros(afterstate_count, np.int64),
            belief_counts=np.zeros(afterstate_count, np.int64),
            capacities=np.zeros(afterstate_count, np.int64),
            used=np.zeros(1, np.int64),
            weight_inverses=np.zeros((max_beliefs, MAX_STATES)),
            masks=np.zeros(max_beliefs, np.int64),
            values=np.zeros(max_beliefs),
            gains=np.zeros(max_beliefs),
            order=np.zeros(MAX_STATES, np.int64),
            rest=np.zeros(MAX_STATES),
            nearest_rest=np.zeros(MAX_STATES),
        )
        self.best_actions = np.zeros(len(problem.first_action), np.int64)
        self._min_gap = 1e-4

    def sweep(self, max_size: int) -> None:
        sweep_sets(self.problem, self.bounds, self.best_actions, max_size)

    def run_trials(self, trials: int, responder: Controller) -> None:
        """Run trials. Lower the gap at which they end once most visits add no bound."""
        finished = 0
        while finished < trials:
            batch = min(200, trials - finished)
            added, visited = run_trials(
                batch, self._min_gap, self.problem, self.bounds, responder.vectors, self.best_actions
            )
            finished += batch
            if added < 0.6 * visited:
                self._min_gap *= 0.7

    def value(self) -> float:
        return float(
            sum(
                bound_node(node, belief, self.problem, self.bounds, self.best_actions)
                for node, belief in zip(self.problem.start_nodes, self.problem.start_beliefs, strict=True)
            )
        )
