"""A concrete responder to a hidden strategy: a finite controller, found by improving it where play goes.

A point of the controller stands at a place; for every signal it says which option to take and which point
comes next. Worths start from nothing, and a new one is one exact round on top of worths that some play has
already: whatever a point is said to be worth can be won, for every hidden state, so it is a lower bound.
"""
# mypy: disable-error-code="no-untyped-call"

import numpy as np

from duels.games.hunt.certify.policies import Array
from duels.games.hunt.certify.responder_problem import HiddenStrategy
from duels.solving.compiling import cached_njit

Tables = tuple[Array, ...]
fast = cached_njit(nogil=True, boundscheck=False, fastmath={"contract", "arcp", "nsz"})


@fast
def act(place: int, belief: Array, problem: Tables, moved: Array) -> float:
    """Let the strategy move: fills `moved` with the states that go on, returns what is caught."""
    kernel, caught, moves, hidden = problem[5], problem[6], problem[9], len(problem[12])
    moved[:] = 0.0
    row = kernel[place]
    for x in range(hidden):
        if belief[x] > 0.0:
            for z in range(hidden):
                moved[z] += belief[x] * moves[row, x, z]
    won = 0.0
    for z in range(hidden):
        if caught[place] >> z & 1:
            won += moved[z]
            moved[z] = 0.0
    return won


@fast
def choose(node: int, belief: Array, problem: Tables, points: Tables, chosen: Array) -> float:
    """The best that known points offer at a node; option and point are left in `chosen`."""
    first_option, wins, stays, goes, turned, mirror, hidden = (*problem[:5], problem[11], len(problem[12]))
    first, following, _, _, worth = points[:5]
    left = np.empty(hidden)
    best = -1.0
    for option in range(first_option[node], first_option[node + 1]):
        won, mass = 0.0, 0.0
        for x in range(hidden):
            part = belief[x] if stays[option] >> x & 1 else 0.0
            left[mirror[x] if turned[option] else x] = part
            mass += part
            if wins[option] >> x & 1:
                won += belief[x]
        if won + mass <= best:
            continue
        k = first[goes[option]]
        while k >= 0:
            value = won
            for x in range(hidden):
                value += left[x] * worth[k, x]
            if value > best:
                best = value
                chosen[0] = option
                chosen[1] = k
            k = following[k]
    return best


@fast
def renew(i: int, problem: Tables, points: Tables) -> None:  # noqa: C901  compiled: a loop in one piece
    """Choose again for point `i`, at its own belief, and work its worth out."""
    _, wins, stays, _, turned, kernel, caught, support, then, moves, signals, mirror, states = problem
    hidden = len(states)
    _, _, places, beliefs, worth, options, nexts, _ = points
    place = places[i]
    row = kernel[place]
    moved, told, later = np.empty(hidden), np.empty(hidden), np.zeros(hidden)
    chosen = np.zeros(2, np.int64)
    act(place, beliefs[i], problem, moved)
    for signal in range(signals.shape[1]):
        if then[place, signal] < 0:
            continue
        mass = 0.0
        for x in range(hidden):
            told[x] = moved[x] * signals[row, signal, x]
            mass += told[x]
        if mass > 0.0:
            choose(then[place, signal], told, problem, points, chosen)
            options[i, signal] = chosen[0]
            nexts[i, signal] = chosen[1]
        option, k = options[i, signal], nexts[i, signal]
        if option < 0:
            continue
        for z in range(hidden):
            if wins[option] >> z & 1:
                later[z] += signals[row, signal, z]
            elif stays[option] >> z & 1:
                later[z] += signals[row, signal, z] * worth[k, mirror[z] if turned[option] else z]
    for x in range(hidden):
        total = 0.0
        if support[place] >> x & 1:
            for z in range(hidden):
                total += moves[row, x, z] * (1.0 if caught[place] >> z & 1 else later[z])
        worth[i, x] = total


@fast
def renew_all(problem: Tables, points: Tables, which: Array) -> None:
    for i in range(points[7][0] - 1, -1, -1):
        if which[i]:
            renew(i, problem, points)


@fast
def known(place: int, belief: Array, points: Tables) -> float:
    """The most that a known point is worth at a belief."""
    first, following, worth = points[0], points[1], points[4]
    best = 0.0
    k = first[place]
    while k >= 0:
        best = max(best, (belief * worth[k]).sum())
        k = following[k]
    return best


@fast
def add(place: int, belief: Array, problem: Tables, points: Tables, gain: float) -> None:
    """Add a point at `belief` if it is worth more there than all that are known."""
    first, following, places, beliefs, worth, options, nexts, used = points
    i = used[0]
    if i == following.shape[0]:
        return
    mass = belief.sum()
    places[i] = place
    beliefs[i] = belief / mass
    options[i] = -1
    nexts[i] = -1
    renew(i, problem, points)
    if (belief * worth[i]).sum() - known(place, belief, points) > gain * mass:
        following[i] = first[place]
        first[place] = i
        used[0] += 1


@fast
def grow(problem: Tables, points: Tables, reach: Array, met: float, near: float, gain: float) -> None:  # noqa: C901  compiled: a loop in one piece
    """Add points at the beliefs that play meets, and next to them where play goes often."""
    first_option, _, stays, goes, turned, kernel, _, _, then, _, signals, mirror, states = problem
    hidden = len(states)
    places, beliefs, used = points[2], points[3], points[7]
    moved, told, left = np.empty(hidden), np.empty(hidden), np.empty(hidden)
    chosen = np.zeros(2, np.int64)
    for i in range(used[0]):
        mass = reach[i].sum()
        if mass < met:
            continue
        beliefs[i] = reach[i] / mass
        act(places[i], reach[i], problem, moved)
        for signal in range(signals.shape[1]):
            node = then[places[i], signal]
            if node < 0:
                continue
            mass = 0.0
            for x in range(hidden):
                told[x] = moved[x] * signals[kernel[places[i]], signal, x]
                mass += told[x]
            if mass < met:
                continue
            begin, end = first_option[node], first_option[node + 1]
            if mass < near:
                choose(node, told, problem, points, chosen)
                begin, end = chosen[0], chosen[0] + 1
            for option in range(begin, end):
                part = 0.0
                for x in range(hidden):
                    kept = told[x] if stays[option] >> x & 1 else 0.0
                    left[mirror[x] if turned[option] else x] = kept
                    part += kept
                if part > 0.2 * mass:
                    add(goes[option], left, problem, points, gain)


@fast
def follow(  # noqa: C901  compiled: a loop in one piece
    roots: Array, shares: Array, rounds: int, problem: Tables, points: Tables, reach: Array, gains: Tables
) -> None:
    """How often play comes to each point, and what that makes every action of the strategy worth to it.

    `gains`: worth and reach of the strategy's moves, by kernel, state and new state; of its signals, by
    kernel, state and signal. Worth is the responder's loss times reach.
    """
    _, wins, stays, _, turned, kernel, caught, _, then, _, signals, mirror, states = problem
    hidden = len(states)
    places, worth, options, nexts, used = points[2], points[4], points[5], points[6], points[7]
    move_worth, move_reach, signal_worth, signal_reach = gains
    count = used[0]
    reach[:count] = 0.0
    now, new = np.zeros((count, hidden)), np.zeros((count, hidden))
    active, later = np.zeros(count, np.int64), np.zeros(count, np.int64)
    listed = np.zeros(count, np.bool_)
    moved = np.zeros(hidden)
    lost = np.zeros((signals.shape[1], hidden))
    many = 0
    for r in range(roots.shape[0]):
        now[roots[r]] += shares[r]
        if not listed[roots[r]]:
            listed[roots[r]] = True
            active[many] = roots[r]
            many += 1
    for _ in range(rounds):
        for a in range(many):
            listed[active[a]] = False
        more = 0
        for a in range(many):
            i = active[a]
            here = now[i]
            place = places[i]
            row = kernel[place]
            if here.sum() > 1e-9:
                reach[i] += here
                act(place, here, problem, moved)
                lost[:] = 1.0
                for signal in range(signals.shape[1]):
                    option, k = options[i, signal], nexts[i, signal]
                    if then[place, signal] < 0 or option < 0:
                        continue
                    for z in range(hidden):
                        if wins[option] >> z & 1:
                            lost[signal, z] = 0.0
                        elif stays[option] >> z & 1:
                            x = mirror[z] if turned[option] else z
                            lost[signal, z] = 1.0 - worth[k, x]
                            if moved[z] * signals[row, signal, z] > 0.0:
                                new[k, x] += moved[z] * signals[row, signal, z]
                                if not listed[k]:
                                    listed[k] = True
                                    later[more] = k
                                    more += 1
                for z in range(hidden):
                    hope = 0.0
                    signal_reach[row, z] += moved[z]
                    for signal in range(signals.shape[1]):
                        signal_worth[row, z, signal] += moved[z] * lost[signal, z]
                        hope += signals[row, signal, z] * lost[signal, z]
                    if not caught[place] >> z & 1:
                        for x in range(hidden):
                            move_worth[row, x, z] += here[x] * hope
                for x in range(hidden):
                    move_reach[row, x] += here[x]
            here[:] = 0.0
        now, new = new, now
        active, later = later, active
        many = more


class Controller:
    """A responder to `problem`; follows when the strategy in it is changed in place."""

    def __init__(self, problem: HiddenStrategy, most: int = 300_000) -> None:
        self.problem = problem
        self.tables = problem.tables
        hidden = problem.states
        places = np.nonzero(problem.support)[0]
        self.basis = len(places)
        most += self.basis
        bits = problem.support[places][:, None] >> np.arange(hidden) & 1
        self.points: Tables = (
            np.full(len(problem.kernel), -1),
            np.full(most, -1),
            np.zeros(most, np.int64),
            np.zeros((most, hidden)),
            np.zeros((most, hidden)),
            np.full((most, problem.signals.shape[1]), -1),
            np.full((most, problem.signals.shape[1]), -1),
            np.array([self.basis]),
        )
        first, _, where, beliefs = self.points[:4]
        first[places] = np.arange(self.basis)
        where[: self.basis] = places
        beliefs[: self.basis] = bits / bits.sum(axis=1, keepdims=True)
        self.reach = np.zeros((most, hidden))
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

    def settle(self, times: int = 10, often: float = -1.0) -> None:
        """Choose again at every point that play comes to more `often`."""
        which = self.reach[: self.count].sum(axis=1) > often
        for _ in range(times):
            renew_all(self.tables, self.points, which)

    def begin(self) -> tuple[Array, Array, float]:
        """The points where play begins, the beliefs there, and what is won before."""
        wins, stays, turned, mirror = (*self.tables[1:3], self.tables[4], self.tables[11])
        roots, shares, won = [], [], 0.0
        chosen = np.zeros(2, np.int64)
        states = np.arange(self.problem.states)
        for node, weights in self.problem.start:
            belief = np.array(weights)
            choose(node, belief, self.tables, self.points, chosen)
            option = chosen[0]
            won += float(belief[wins[option] >> states & 1 == 1].sum())
            left = np.where(stays[option] >> states & 1, belief, 0.0)
            roots.append(chosen[1])
            shares.append(left[mirror] if turned[option] else left)
        return np.array(roots), np.array(shares), won

    def value(self) -> float:
        roots, shares, won = self.begin()
        return won + float((shares * self.points[4][roots]).sum())

    def play(self, roots: Array, shares: Array, rounds: int = 14) -> None:
        """Follow play from points and beliefs on; adds to `gains`."""
        follow(roots, shares, rounds, self.tables, self.points, self.reach, self.gains)

    def grow(self, met: float = 2e-4, near: float = 3e-3, gain: float = 1e-3) -> None:
        """Add points that are worth `gain` more, for a belief of mass one.

        They lie where play, as last followed, comes at least as often as `met`, and where any other option
        would lead if the choice comes up as often as `near`.
        """
        grow(self.tables, self.points, self.reach, met, near, gain)

    def deepened(self, depth: int) -> "Controller":
        """The same one, improved `depth` times from nothing."""
        self.settle()
        for _ in range(depth):
            roots, shares, _ = self.begin()
            self.play(roots, shares)
            self.grow()
            self.settle(2)
        return self
