"""A concrete best responder: a finite controller, improved at the beliefs that its play reaches.

A point of the controller belongs to a place. For every signal it has an option to take and a next point.
Its values, one per hidden state, are an exact backup of values that some play achieves, starting from 0. So
the controller wins at least these values: they are lower bounds.
"""
# mypy: disable-error-code="no-untyped-call"

import numpy as np

from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import HiddenStrategy
from duels.solving.compiling import cached_njit

Tables = tuple[Array, ...]
fast = cached_njit(nogil=True, boundscheck=False, fastmath={"contract", "arcp", "nsz"})


@fast
def apply_strategy(place: int, belief: Array, problem: Tables, next_belief: Array) -> float:
    """Let the strategy move. Fill `next_belief` with the uncaught states; return the mass of caught ones."""
    kernel, caught_masks, moves, hidden = problem[5], problem[6], problem[9], len(problem[12])
    next_belief[:] = 0.0
    row = kernel[place]
    for x in range(hidden):
        if belief[x] > 0.0:
            for z in range(hidden):
                next_belief[z] += belief[x] * moves[row, x, z]
    won = 0.0
    for z in range(hidden):
        if caught_masks[place] >> z & 1:
            won += next_belief[z]
            next_belief[z] = 0.0
    return won


@fast
def choose_option(node: int, belief: Array, problem: Tables, points: Tables, choice: Array) -> float:
    """Return the best value of a node over the stored points. Store its option and point in `choice`."""
    first_option, win_masks, continue_masks, next_places, is_mirrored, mirror, hidden = (
        *problem[:5],
        problem[11],
        len(problem[12]),
    )
    first_point, next_sibling, _, _, values = points[:5]
    remaining = np.empty(hidden)
    best = -1.0
    for option in range(first_option[node], first_option[node + 1]):
        won, mass = 0.0, 0.0
        for x in range(hidden):
            part = belief[x] if continue_masks[option] >> x & 1 else 0.0
            remaining[mirror[x] if is_mirrored[option] else x] = part
            mass += part
            if win_masks[option] >> x & 1:
                won += belief[x]
        if won + mass <= best:
            continue
        k = first_point[next_places[option]]
        while k >= 0:
            value = won
            for x in range(hidden):
                value += remaining[x] * values[k, x]
            if value > best:
                best = value
                choice[0] = option
                choice[1] = k
            k = next_sibling[k]
    return best


@fast
def update_point(i: int, problem: Tables, points: Tables) -> None:  # noqa: C901  compiled: a loop in one piece
    """Choose again at the belief of point `i` and back up its values."""
    (
        _,
        win_masks,
        continue_masks,
        _,
        is_mirrored,
        kernel,
        caught_masks,
        support,
        next_nodes,
        moves,
        signals,
        mirror,
        states,
    ) = problem
    hidden = len(states)
    _, _, places, beliefs, values, options, next_points, _ = points
    place = places[i]
    row = kernel[place]
    next_belief, posterior, continuation = np.empty(hidden), np.empty(hidden), np.zeros(hidden)
    choice = np.zeros(2, np.int64)
    apply_strategy(place, beliefs[i], problem, next_belief)
    for signal in range(signals.shape[1]):
        if next_nodes[place, signal] < 0:
            continue
        mass = 0.0
        for x in range(hidden):
            posterior[x] = next_belief[x] * signals[row, signal, x]
            mass += posterior[x]
        if mass > 0.0:
            choose_option(next_nodes[place, signal], posterior, problem, points, choice)
            options[i, signal] = choice[0]
            next_points[i, signal] = choice[1]
        option, k = options[i, signal], next_points[i, signal]
        if option < 0:
            continue
        for z in range(hidden):
            if win_masks[option] >> z & 1:
                continuation[z] += signals[row, signal, z]
            elif continue_masks[option] >> z & 1:
                x = mirror[z] if is_mirrored[option] else z
                continuation[z] += signals[row, signal, z] * values[k, x]
    for x in range(hidden):
        total = 0.0
        if support[place] >> x & 1:
            for z in range(hidden):
                total += moves[row, x, z] * (1.0 if caught_masks[place] >> z & 1 else continuation[z])
        values[i, x] = total


@fast
def update_points(problem: Tables, points: Tables, point_mask: Array) -> None:
    for i in range(points[7][0] - 1, -1, -1):
        if point_mask[i]:
            update_point(i, problem, points)


@fast
def find_stored_value(place: int, belief: Array, points: Tables) -> float:
    first_point, next_sibling, values = points[0], points[1], points[4]
    best = 0.0
    k = first_point[place]
    while k >= 0:
        best = max(best, (belief * values[k]).sum())
        k = next_sibling[k]
    return best


@fast
def add_point(place: int, belief: Array, problem: Tables, points: Tables, gain: float) -> None:
    """Add a point at `belief` if it improves the value there by more than `gain`."""
    first_point, next_sibling, places, beliefs, values, options, next_points, used = points
    i = used[0]
    if i == next_sibling.shape[0]:
        return
    mass = belief.sum()
    places[i] = place
    beliefs[i] = belief / mass
    options[i] = -1
    next_points[i] = -1
    update_point(i, problem, points)
    if (belief * values[i]).sum() - find_stored_value(place, belief, points) > gain * mass:
        next_sibling[i] = first_point[place]
        first_point[place] = i
        used[0] += 1


@fast
def grow(  # noqa: C901  compiled: a loop in one piece
    problem: Tables, points: Tables, reach: Array, min_reach: float, min_branch_reach: float, gain: float
) -> None:
    """Add points at reached beliefs, and at successors of every option at often reached nodes."""
    (
        first_option,
        _,
        continue_masks,
        next_places,
        is_mirrored,
        kernel,
        _,
        _,
        next_nodes,
        _,
        signals,
        mirror,
        states,
    ) = problem
    hidden = len(states)
    places, beliefs, used = points[2], points[3], points[7]
    next_belief, posterior, remaining = np.empty(hidden), np.empty(hidden), np.empty(hidden)
    choice = np.zeros(2, np.int64)
    for i in range(used[0]):
        mass = reach[i].sum()
        if mass < min_reach:
            continue
        beliefs[i] = reach[i] / mass
        apply_strategy(places[i], reach[i], problem, next_belief)
        for signal in range(signals.shape[1]):
            node = next_nodes[places[i], signal]
            if node < 0:
                continue
            mass = 0.0
            for x in range(hidden):
                posterior[x] = next_belief[x] * signals[kernel[places[i]], signal, x]
                mass += posterior[x]
            if mass < min_reach:
                continue
            begin, end = first_option[node], first_option[node + 1]
            if mass < min_branch_reach:
                choose_option(node, posterior, problem, points, choice)
                begin, end = choice[0], choice[0] + 1
            for option in range(begin, end):
                part = 0.0
                for x in range(hidden):
                    rest = posterior[x] if continue_masks[option] >> x & 1 else 0.0
                    remaining[mirror[x] if is_mirrored[option] else x] = rest
                    part += rest
                if part > 0.2 * mass:
                    add_point(next_places[option], remaining, problem, points, gain)


@fast
def propagate_play(  # noqa: C901  compiled: a loop in one piece
    roots: Array, shares: Array, rounds: int, problem: Tables, points: Tables, reach: Array, gains: Tables
) -> None:
    """Compute how often play reaches each point, and the value of every action to the strategy.

    `gains` holds value and reach of the strategy's moves, indexed [kernel, state, new state], and of its
    signals, indexed [kernel, state, signal]. A value is the responder's loss times reach.
    """
    (
        _,
        win_masks,
        continue_masks,
        _,
        is_mirrored,
        kernel,
        caught_masks,
        _,
        next_nodes,
        _,
        signals,
        mirror,
        states,
    ) = problem
    hidden = len(states)
    places, values, options, next_points, used = points[2], points[4], points[5], points[6], points[7]
    move_values, move_reach, signal_values, signal_reach = gains
    point_count = used[0]
    reach[:point_count] = 0.0
    current, successors = np.zeros((point_count, hidden)), np.zeros((point_count, hidden))
    active, next_active = np.zeros(point_count, np.int64), np.zeros(point_count, np.int64)
    is_listed = np.zeros(point_count, np.bool_)
    next_belief = np.zeros(hidden)
    losses = np.zeros((signals.shape[1], hidden))
    active_count = 0
    for r in range(roots.shape[0]):
        current[roots[r]] += shares[r]
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
            point_reach = current[i]
            place = places[i]
            row = kernel[place]
            if point_reach.sum() > 1e-9:
                reach[i] += point_reach
                apply_strategy(place, point_reach, problem, next_belief)
                losses[:] = 1.0
                for signal in range(signals.shape[1]):
                    option, k = options[i, signal], next_points[i, signal]
                    if next_nodes[place, signal] < 0 or option < 0:
                        continue
                    for z in range(hidden):
                        if win_masks[option] >> z & 1:
                            losses[signal, z] = 0.0
                        elif continue_masks[option] >> z & 1:
                            x = mirror[z] if is_mirrored[option] else z
                            losses[signal, z] = 1.0 - values[k, x]
                            if next_belief[z] * signals[row, signal, z] > 0.0:
                                successors[k, x] += next_belief[z] * signals[row, signal, z]
                                if not is_listed[k]:
                                    is_listed[k] = True
                                    next_active[next_count] = k
                                    next_count += 1
                for z in range(hidden):
                    expected_loss = 0.0
                    signal_reach[row, z] += next_belief[z]
                    for signal in range(signals.shape[1]):
                        signal_values[row, z, signal] += next_belief[z] * losses[signal, z]
                        expected_loss += signals[row, signal, z] * losses[signal, z]
                    if not caught_masks[place] >> z & 1:
                        for x in range(hidden):
                            move_values[row, x, z] += point_reach[x] * expected_loss
                for x in range(hidden):
                    move_reach[row, x] += point_reach[x]
            point_reach[:] = 0.0
        current, successors = successors, current
        active, next_active = next_active, active
        active_count = next_count


class Controller:
    """A responder to `problem`. The strategy in `problem` may change in place between calls."""

    def __init__(self, problem: HiddenStrategy, max_points: int = 300_000) -> None:
        self.problem = problem
        self.tables = problem.tables
        hidden = problem.states
        places = np.nonzero(problem.support)[0]
        self.basis = len(places)
        max_points += self.basis
        bits = problem.support[places][:, None] >> np.arange(hidden) & 1
        self.points: Tables = (
            np.full(len(problem.kernel), -1),
            np.full(max_points, -1),
            np.zeros(max_points, np.int64),
            np.zeros((max_points, hidden)),
            np.zeros((max_points, hidden)),
            np.full((max_points, problem.signals.shape[1]), -1),
            np.full((max_points, problem.signals.shape[1]), -1),
            np.array([self.basis]),
        )
        first_point, _, point_places, beliefs = self.points[:4]
        first_point[places] = np.arange(self.basis)
        point_places[: self.basis] = places
        beliefs[: self.basis] = bits / bits.sum(axis=1, keepdims=True)
        self.reach = np.zeros((max_points, hidden))
        rows, signals, _ = problem.signals.shape
        self.gains: Tables = (
            np.zeros((rows, hidden, hidden)),
            np.zeros((rows, hidden)),
            np.zeros((rows, hidden, signals)),
            np.zeros((rows, hidden)),
        )

    @property
    def count(self) -> int:
        return int(self.points[7][0])

    def settle(self, times: int = 10, min_reach: float = -1.0) -> None:
        """Update every point whose reach exceeds `min_reach`."""
        point_mask = self.reach[: self.count].sum(axis=1) > min_reach
        for _ in range(times):
            update_points(self.tables, self.points, point_mask)

    def begin(self) -> tuple[Array, Array, float]:
        """Return the initial points, their beliefs, and the mass that is won immediately."""
        win_masks, continue_masks, is_mirrored, mirror = (*self.tables[1:3], self.tables[4], self.tables[11])
        roots, shares, won = [], [], 0.0
        choice = np.zeros(2, np.int64)
        states = np.arange(self.problem.states)
        for node, weights in self.problem.start:
            belief = np.array(weights)
            choose_option(node, belief, self.tables, self.points, choice)
            option = choice[0]
            won += float(belief[win_masks[option] >> states & 1 == 1].sum())
            remaining = np.where(continue_masks[option] >> states & 1, belief, 0.0)
            roots.append(choice[1])
            shares.append(remaining[mirror] if is_mirrored[option] else remaining)
        return np.array(roots), np.array(shares), won

    def value(self) -> float:
        roots, shares, won = self.begin()
        return won + float((shares * self.points[4][roots]).sum())

    def play(self, roots: Array, shares: Array, rounds: int = 14) -> None:
        """Propagate play from `roots` with beliefs `shares`, and add to `gains`."""
        propagate_play(roots, shares, rounds, self.tables, self.points, self.reach, self.gains)

    def grow(self, min_reach: float = 2e-4, min_branch_reach: float = 3e-3, gain: float = 1e-3) -> None:
        """Add points that improve the value by `gain`, for a belief of mass one.

        Candidates are the beliefs with a reach of at least `min_reach` in the last play, and the successors
        of all options at nodes with a reach of at least `min_branch_reach`.
        """
        grow(self.tables, self.points, self.reach, min_reach, min_branch_reach, gain)

    def improve(self, depth: int) -> "Controller":
        """Improve the controller `depth` times. Return it."""
        self.settle()
        for _ in range(depth):
            roots, shares, _ = self.begin()
            self.play(roots, shares)
            self.grow()
            self.settle(2)
        return self
