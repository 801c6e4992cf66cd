"""A concrete best responder: a finite-state controller of alpha vectors, by point-based value iteration.

An alpha vector belongs to an afterstate. For every observation it has an action and a successor vector. Its
values, one per hidden state, are an exact backup of values that some play achieves, starting from 0. So the
controller wins at least these values: they are lower bounds.
"""
# mypy: disable-error-code="no-untyped-call"

from typing import NamedTuple

import numpy as np

from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import ResponderProblem
from duels.solving.compiling import cached_njit

fast = cached_njit(nogil=True, boundscheck=False, fastmath={"contract", "arcp", "nsz"})


class AlphaVectors(NamedTuple):
    """The alpha vectors of a controller. Those of an afterstate form a linked list; -1 is its end."""

    first_vector: Array
    """The first vector of each afterstate."""
    next_vector: Array
    """The next vector of the same afterstate."""
    afterstates: Array
    """The afterstate of each vector."""
    beliefs: Array
    """The belief at which a vector is backed up, indexed [vector, state]."""
    values: Array
    """Values, indexed [vector, state]."""
    actions: Array
    """The responder's action, indexed [vector, observation]."""
    successors: Array
    """The next vector, indexed [vector, observation]."""
    size: Array
    """One number: how many vectors there are."""


@fast
def apply_strategy(afterstate: int, belief: Array, problem: ResponderProblem, next_belief: Array) -> float:
    """Let the strategy move. Fill `next_belief` with the unfinished states; return the mass of collisions."""
    transition_probs, state_count = problem.transition_probs, len(problem.states)
    next_belief[:] = 0.0
    kernel = problem.kernels[afterstate]
    for x in range(state_count):
        if belief[x] > 0.0:
            for z in range(state_count):
                next_belief[z] += belief[x] * transition_probs[kernel, x, z]
    won = 0.0
    for z in range(state_count):
        if problem.collision_masks[afterstate] >> z & 1:
            won += next_belief[z]
            next_belief[z] = 0.0
    return won


@fast
def observe(
    afterstate: int, observation: int, next_belief: Array, problem: ResponderProblem, posterior: Array
) -> float:
    """Fill `posterior` with the belief after an observation. Return its mass."""
    observation_probs, kernel = problem.observation_probs, problem.kernels[afterstate]
    mass = 0.0
    for x in range(len(problem.states)):
        posterior[x] = next_belief[x] * observation_probs[kernel, observation, x]
        mass += posterior[x]
    return mass


@fast
def apply_action(action: int, belief: Array, problem: ResponderProblem, remaining: Array) -> float:
    """Fill `remaining` with the states against which play continues. Return their mass."""
    mirror, mask, is_mirrored = problem.mirror, problem.continue_masks[action], problem.is_mirrored[action]
    mass = 0.0
    for x in range(len(problem.states)):
        weight = belief[x] if mask >> x & 1 else 0.0
        remaining[mirror[x] if is_mirrored else x] = weight
        mass += weight
    return mass


@fast
def choose_action(
    node: int, belief: Array, problem: ResponderProblem, vectors: AlphaVectors, choice: Array
) -> float:
    """Return the best value of a node over all vectors. Store its action and vector in `choice`."""
    state_count, next_vector, values = len(problem.states), vectors.next_vector, vectors.values
    remaining = np.empty(state_count)
    best = -1.0
    for action in range(problem.first_action[node], problem.first_action[node + 1]):
        won = 0.0
        for x in range(state_count):
            if problem.win_masks[action] >> x & 1:
                won += belief[x]
        if won + apply_action(action, belief, problem, remaining) <= best:
            continue
        k = vectors.first_vector[problem.afterstates[action]]
        while k >= 0:
            value = won
            for x in range(state_count):
                value += remaining[x] * values[k, x]
            if value > best:
                best = value
                choice[0] = action
                choice[1] = k
            k = next_vector[k]
    return best


@fast
def back_up_vector(i: int, problem: ResponderProblem, vectors: AlphaVectors) -> None:  # noqa: C901  compiled: a loop in one piece
    """Choose actions again at the belief of vector `i` and back up its values."""
    transition_probs, observation_probs = problem.transition_probs, problem.observation_probs
    values, actions, successors = vectors.values, vectors.actions, vectors.successors
    afterstate, state_count = vectors.afterstates[i], len(problem.states)
    kernel = problem.kernels[afterstate]
    next_belief, posterior = np.empty(state_count), np.empty(state_count)
    continuation = np.zeros(state_count)
    choice = np.zeros(2, np.int64)
    apply_strategy(afterstate, vectors.beliefs[i], problem, next_belief)
    for observation in range(observation_probs.shape[1]):
        node = problem.next_nodes[afterstate, observation]
        if node < 0:
            continue
        if observe(afterstate, observation, next_belief, problem, posterior) > 0.0:
            choose_action(node, posterior, problem, vectors, choice)
            actions[i, observation] = choice[0]
            successors[i, observation] = choice[1]
        action, k = actions[i, observation], successors[i, observation]
        if action < 0:
            continue
        for z in range(state_count):
            if problem.win_masks[action] >> z & 1:
                continuation[z] += observation_probs[kernel, observation, z]
            elif problem.continue_masks[action] >> z & 1:
                x = problem.mirror[z] if problem.is_mirrored[action] else z
                continuation[z] += observation_probs[kernel, observation, z] * values[k, x]
    collisions = problem.collision_masks[afterstate]
    for x in range(state_count):
        total = 0.0
        if problem.support[afterstate] >> x & 1:
            for z in range(state_count):
                total += transition_probs[kernel, x, z] * (1.0 if collisions >> z & 1 else continuation[z])
        values[i, x] = total


@fast
def back_up_vectors(problem: ResponderProblem, vectors: AlphaVectors, vector_mask: Array) -> None:
    """Back up the vectors in a mask, the newest first."""
    for i in range(vectors.size[0] - 1, -1, -1):
        if vector_mask[i]:
            back_up_vector(i, problem, vectors)


@fast
def evaluate_vectors(afterstate: int, belief: Array, vectors: AlphaVectors) -> float:
    """Return the value of the best vector at a belief: a lower bound."""
    best = 0.0
    k = vectors.first_vector[afterstate]
    while k >= 0:
        best = max(best, (belief * vectors.values[k]).sum())
        k = vectors.next_vector[k]
    return best


@fast
def add_vector(
    afterstate: int, belief: Array, problem: ResponderProblem, vectors: AlphaVectors, gain: float
) -> None:
    """Add a vector at `belief` if it improves the value there by more than `gain`."""
    i = vectors.size[0]
    if i == vectors.next_vector.shape[0]:
        return
    mass = belief.sum()
    vectors.afterstates[i] = afterstate
    vectors.beliefs[i] = belief / mass
    vectors.actions[i] = -1
    vectors.successors[i] = -1
    back_up_vector(i, problem, vectors)
    if (belief * vectors.values[i]).sum() - evaluate_vectors(afterstate, belief, vectors) > gain * mass:
        vectors.next_vector[i] = vectors.first_vector[afterstate]
        vectors.first_vector[afterstate] = i
        vectors.size[0] += 1


@fast
def add_vectors(
    problem: ResponderProblem, vectors: AlphaVectors, reach: Array,
    min_reach: float, min_branch_reach: float, gain: float,
) -> None:  # fmt: skip
    """Add vectors at reached beliefs, and at successors of every action at often reached nodes."""
    state_count = len(problem.states)
    next_belief, posterior, remaining = np.empty(state_count), np.empty(state_count), np.empty(state_count)
    choice = np.zeros(2, np.int64)
    for i in range(vectors.size[0]):
        mass = reach[i].sum()
        if mass < min_reach:
            continue
        vectors.beliefs[i] = reach[i] / mass
        afterstate = vectors.afterstates[i]
        apply_strategy(afterstate, reach[i], problem, next_belief)
        for observation in range(problem.observation_probs.shape[1]):
            node = problem.next_nodes[afterstate, observation]
            if node < 0:
                continue
            mass = observe(afterstate, observation, next_belief, problem, posterior)
            if mass < min_reach:
                continue
            begin, end = problem.first_action[node], problem.first_action[node + 1]
            if mass < min_branch_reach:
                choose_action(node, posterior, problem, vectors, choice)
                begin, end = choice[0], choice[0] + 1
            for action in range(begin, end):
                if apply_action(action, posterior, problem, remaining) > 0.2 * mass:
                    add_vector(problem.afterstates[action], remaining, problem, vectors, gain)


@fast
def propagate_reach(  # noqa: C901  compiled: a loop in one piece
    roots: Array, root_beliefs: Array, rounds: int,
    problem: ResponderProblem, vectors: AlphaVectors, reach: Array,
) -> None:  # fmt: skip
    """Compute how often play from `roots` reaches each vector within `rounds` rounds."""
    observation_probs, state_count = problem.observation_probs, len(problem.states)
    vector_count = vectors.size[0]
    reach[:vector_count] = 0.0
    current, following = np.zeros((vector_count, state_count)), np.zeros((vector_count, state_count))
    active, next_active = np.zeros(vector_count, np.int64), np.zeros(vector_count, np.int64)
    is_listed = np.zeros(vector_count, np.bool_)
    next_belief = np.zeros(state_count)
    active_count = 0
    for r in range(roots.shape[0]):
        current[roots[r]] += root_beliefs[r]
        if not is_listed[roots[r]]:
            is_listed[roots[r]] = True
            active[active_count] = roots[r]
            active_count += 1
    for _ in range(rounds):
        for a in range(active_count):
            is_listed[active[a]] = False
        next_count = 0
        for a in range(active_count):
            i = active[a]
            belief = current[i]
            afterstate = vectors.afterstates[i]
            kernel = problem.kernels[afterstate]
            if belief.sum() > 1e-9:
                reach[i] += belief
                apply_strategy(afterstate, belief, problem, next_belief)
                for observation in range(observation_probs.shape[1]):
                    action, k = vectors.actions[i, observation], vectors.successors[i, observation]
                    if problem.next_nodes[afterstate, observation] < 0 or action < 0:
                        continue
                    for z in range(state_count):
                        mass = next_belief[z] * observation_probs[kernel, observation, z]
                        if mass > 0.0 and problem.continue_masks[action] >> z & 1:
                            following[k, problem.mirror[z] if problem.is_mirrored[action] else z] += mass
                            if not is_listed[k]:
                                is_listed[k] = True
                                next_active[next_count] = k
                                next_count += 1
            belief[:] = 0.0
        current, following = following, current
        active, next_active = next_active, active
        active_count = next_count


class Controller:
    """A responder to `problem`. The strategy in `problem` may change in place between calls."""

    def __init__(self, problem: ResponderProblem, max_vectors: int = 300_000) -> None:
        self.problem = problem
        state_count = len(problem.states)
        afterstates = np.nonzero(problem.support)[0]
        self.initial_count = len(afterstates)
        max_vectors += self.initial_count
        observations = problem.observation_probs.shape[1]
        self.vectors = AlphaVectors(
            first_vector=np.full(len(problem.kernels), -1),
            next_vector=np.full(max_vectors, -1),
            afterstates=np.zeros(max_vectors, np.int64),
            beliefs=np.zeros((max_vectors, state_count)),
            values=np.zeros((max_vectors, state_count)),
            actions=np.full((max_vectors, observations), -1),
            successors=np.full((max_vectors, observations), -1),
            size=np.array([self.initial_count]),
        )
        bits = problem.support[afterstates][:, None] >> np.arange(state_count) & 1
        self.vectors.first_vector[afterstates] = np.arange(self.initial_count)
        self.vectors.afterstates[: self.initial_count] = afterstates
        self.vectors.beliefs[: self.initial_count] = bits / bits.sum(axis=1, keepdims=True)
        self.reach = np.zeros((max_vectors, state_count))

    @property
    def vector_count(self) -> int:
        return int(self.vectors.size[0])

    def iterate(self, times: int = 10, min_reach: float = -1.0) -> None:
        """Back up every vector whose reach exceeds `min_reach`."""
        vector_mask = self.reach[: self.vector_count].sum(axis=1) > min_reach
        for _ in range(times):
            back_up_vectors(self.problem, self.vectors, vector_mask)

    def begin(self) -> tuple[Array, Array, float]:
        """Return the initial vectors, their beliefs, and the mass that is won immediately."""
        problem = self.problem
        roots, won = [], 0.0
        root_beliefs = np.empty_like(problem.start_beliefs)
        choice = np.zeros(2, np.int64)
        for node, belief, remaining in zip(
            problem.start_nodes, problem.start_beliefs, root_beliefs, strict=True
        ):
            choose_action(node, belief, problem, self.vectors, choice)
            action = choice[0]
            won += float(belief[problem.win_masks[action] >> np.arange(len(belief)) & 1 == 1].sum())
            apply_action(action, belief, problem, remaining)
            roots.append(choice[1])
        return np.array(roots), root_beliefs, won

    def value(self) -> float:
        roots, root_beliefs, won = self.begin()
        return won + float((root_beliefs * self.vectors.values[roots]).sum())

    def play(self, roots: Array, root_beliefs: Array, rounds: int = 14) -> None:
        """Compute `reach`, the reach of each vector in play from the vectors `roots`."""
        propagate_reach(roots, root_beliefs, rounds, self.problem, self.vectors, self.reach)

    def grow(self, min_reach: float = 2e-4, min_branch_reach: float = 3e-3, gain: float = 1e-3) -> None:
        """Add vectors that improve the value by `gain`, for a belief of mass one.

        Candidates are the beliefs with a reach of at least `min_reach` in the last play, and the successors
        of all actions at nodes with a reach of at least `min_branch_reach`.
        """
        add_vectors(self.problem, self.vectors, self.reach, min_reach, min_branch_reach, gain)

    def improve(self, depth: int) -> "Controller":
        """Improve the controller `depth` times. Return it."""
        self.iterate()
        for _ in range(depth):
            roots, root_beliefs, _ = self.begin()
            self.play(roots, root_beliefs)
            self.grow()
            self.iterate(2)
        return self
