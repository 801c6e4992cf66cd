"""A responder of habit: how likely it takes each option depends on its node alone, never on what it believes.

To train against: its worth and its play are exact sums over places and hidden states. Needs numpy and numba.
"""
# mypy: disable-error-code="no-untyped-call"

import numpy as np

from duels.solving.controller import Array, Tables, X, act, compiled
from duels.solving.pomdp import HiddenStrategy


@compiled
def lost(place: int, signal: int, problem: Tables, habit: Tables, worth: Array, out: Array) -> None:
    """How likely a responder loses, by hidden state, that hears `signal` at `place`."""
    _, wins, stays, goes, turned, _, _, _, then, _, _, mirror = problem
    first, options, weights = habit
    out[:] = 1.0
    node = then[place, signal]
    if node < 0:
        return
    for j in range(first[node], first[node + 1]):
        option = options[j]
        for z in range(X):
            if wins[option] >> z & 1:
                out[z] -= weights[j]
            elif stays[option] >> z & 1:
                out[z] -= weights[j] * worth[goes[option], mirror[z] if turned[option] else z]


@compiled
def revalue(places: Array, problem: Tables, habit: Tables, worth: Array) -> None:
    """Work the habit's worth out again at every place, the last first."""
    kernel, caught, support, moves, signals = (*problem[5:8], *problem[9:11])
    out = np.empty(X)
    won = np.empty(X)
    for i in range(places.shape[0] - 1, -1, -1):
        place = places[i]
        row = kernel[place]
        won[:] = 0.0
        for signal in range(signals.shape[1]):
            lost(place, signal, problem, habit, worth, out)
            for z in range(X):
                won[z] += signals[row, signal, z] * (1.0 - out[z])
        for x in range(X):
            worth[place, x] = 0.0
            if support[place] >> x & 1:
                for z in range(X):
                    worth[place, x] += moves[row, x, z] * (1.0 if caught[place] >> z & 1 else won[z])


@compiled
def follow(
    places: Array, now: Array, new: Array, rounds: int, problem: Tables, habit: Tables, worth: Array,
    gains: Tables,
) -> None:  # fmt: skip
    """Play on from the beliefs in `now`, by place; adds to `gains` as the controller's play does."""
    _, wins, stays, goes, turned, kernel, caught, _, then, _, signals, mirror = problem
    first, options, weights = habit
    move_worth, move_reach, signal_worth, signal_reach = gains
    out, hope, moved = np.empty(X), np.empty(X), np.empty(X)
    for _ in range(rounds):
        for i in range(places.shape[0]):
            place = places[i]
            here = now[place]
            if here.sum() < 1e-9:
                here[:] = 0.0
                continue
            row = kernel[place]
            act(place, here, problem, moved)
            hope[:] = 0.0
            for z in range(X):
                signal_reach[row, z] += moved[z]
            for signal in range(signals.shape[1]):
                lost(place, signal, problem, habit, worth, out)
                for z in range(X):
                    signal_worth[row, z, signal] += moved[z] * out[z]
                    hope[z] += signals[row, signal, z] * out[z]
                node = then[place, signal]
                if node < 0:
                    continue
                for j in range(first[node], first[node + 1]):
                    option = options[j]
                    for z in range(X):
                        if stays[option] >> z & 1 and not wins[option] >> z & 1:
                            x = mirror[z] if turned[option] else z
                            new[goes[option], x] += weights[j] * moved[z] * signals[row, signal, z]
            for x in range(X):
                move_reach[row, x] += here[x]
                for z in range(X):
                    if not caught[place] >> z & 1:
                        move_worth[row, x, z] += here[x] * hope[z]
            here[:] = 0.0
        now, new = new, now
    now[:] = 0.0
    new[:] = 0.0


class Habit:
    """Options by node with fixed `chances` (per option of `problem`); follows when the strategy changes."""

    def __init__(self, problem: HiddenStrategy, chances: Array, opening: int | None) -> None:
        self.problem = problem
        self.tables = problem.tables
        self.opening = opening
        options = np.nonzero(chances)[0]
        first = np.searchsorted(options, problem.first_option)
        self.habit: Tables = (first, options, chances[options])
        self.places = self._reached()
        self.worth = np.zeros((len(problem.kernel), X))
        self._now, self._new = np.zeros_like(self.worth), np.zeros_like(self.worth)
        self.settle(40)

    def _reached(self) -> Array:
        """The places that play can come to."""
        found: set[int] = set()
        fresh = {self.opening} if self.opening is not None else self._after(self.problem.start[0][0])
        while fresh:
            found |= fresh
            nodes = {int(node) for place in fresh for node in self.problem.then[place] if node >= 0}
            fresh = {place for node in nodes for place in self._after(node)} - found
        return np.array(sorted(found))

    def _after(self, node: int) -> set[int]:
        first, options, _ = self.habit
        return set(self.problem.goes[options[first[node] : first[node + 1]]].tolist())

    def settle(self, times: int) -> None:
        for _ in range(times):
            revalue(self.places, self.tables, self.habit, self.worth)

    def play(self, share: float, gains: Tables, rounds: int = 14) -> float:
        """Follow a `share` of one play, adding to `gains`; returns the habit's chance to win."""
        first, options, chances = self.habit
        if self.opening is not None:
            begin = (self.problem.support[self.opening] >> np.arange(X) & 1).astype(float)
            self._now[self.opening] = share * begin
        else:
            node, weights = self.problem.start[0]
            begin = np.array(weights)
            for j in range(first[node], first[node + 1]):
                self._now[self.problem.goes[options[j]]] += share * chances[j] * begin
        won = float((self._now * self.worth).sum()) / share
        follow(self.places, self._now, self._new, rounds, self.tables, self.habit, self.worth, gains)
        return won
