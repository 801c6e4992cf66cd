"""The third part of training: the opening and the tail learn together against best responders.

The opening learns by CFR+ against a responder with full recall, whose values at the leaves come from alpha
vectors of the tail. The tail learns by mirror descent from the play that the leaves begin. The computation is
deterministic. It is divided into sections; each begins with new responders, so training can be resumed there.
"""
# mypy: disable-error-code="no-untyped-call"

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.controller import (
    AlphaVectors,
    add_vector,
    apply_action,
    choose_action,
    evaluate_vectors,
    fast,
)
from duels.games.hunt.certify.opening import Opening, Paths, fill_belief, fill_node_values
from duels.games.hunt.certify.policies import Array, make_policy_from_tables
from duels.games.hunt.certify.responder_problem import (
    MAX_STATES,
    TYPES,
    ResponderProblem,
    list_mirrored_rows,
    make_problem,
    merge_mirror_images,
)
from duels.games.hunt.strategy import (
    CELLS,
    OPENING_TURNS,
    OWN_MEMORY,
    POSITIONS,
    SCALE,
    Tables,
    count_histories,
    find_row,
)
from tools.hunt.best_responders import DISCOUNT, Stage, Strategy
from tools.hunt.gains import GradingController
from tools.hunt.training import flatten_weights, round_weights

MAX_VECTORS = 250_000
MAX_LEAF_VECTORS = 2_000_000
FIRST_TEMPERATURE = 0.03
"""The responder's temperature for the initial regrets."""

OPENING_UNIT = SCALE // 250
"""Weights in the opening are multiples of this, so that they compress well."""


@dataclass(frozen=True)
class Plan:
    iterations: int
    section: int
    """The number of iterations between two checkpoints."""
    initial_regret: float
    """The weight of the initial policy, relative to its counterfactual value."""
    tail_interval: int = 10
    """The tail learns once in this many iterations."""
    refinement_interval: int = 40
    tail_share: float = 0.85
    """The tail stays fixed after this share of the iterations, so that the opening fits it."""


class LeafVectors(NamedTuple):
    """The responder's alpha vectors at the nodes where the tail begins. Those of a node are a linked list."""

    first_vector: Array
    next_vector: Array
    values: Array
    """Values, indexed [vector, state]."""
    actions: Array
    successors: Array
    """The vector of the tail's controller that follows."""
    size: Array


class OpeningTrainer:
    """One seat's training state."""

    def __init__(self, seat: Seat, tail: Strategy, problem: ResponderProblem) -> None:
        self.tail, self.problem = tail, problem
        self.opening = Opening(seat)
        self.regrets = [
            [np.zeros_like(probs) for probs in tables]
            for tables in (self.opening.move_probs, self.opening.observation_probs)
        ]
        self.sums = [[np.zeros_like(probs) for probs in tables] for tables in self.regrets]
        other = self.opening.other_paths[-1]
        self.types = np.where(other.has_tunnel, other.cells + CELLS, other.cells)
        self.compatible = np.ascontiguousarray(self.opening.compatible_after[-1].T)
        leaves = CELLS**self.opening.leaf_digits
        self.leaf_values = np.zeros((leaves, len(other.cells)))
        self.leaf_choices = np.zeros((leaves, len(other.cells)), np.int64)
        self.leaf_vectors = LeafVectors(
            np.full(len(problem.first_action), -1),
            np.full(MAX_LEAF_VECTORS, -1),
            np.zeros((MAX_LEAF_VECTORS, MAX_STATES)),
            np.zeros(MAX_LEAF_VECTORS, np.int64),
            np.zeros(MAX_LEAF_VECTORS, np.int64),
            np.zeros(1, np.int64),
        )
        self.finished = 0

    def train(self, plan: Plan, checkpoint: Path | None = None) -> Iterator[tuple[float, float]]:
        """Train to the end of the plan. Yield the share of the work done and the responder's value.

        If `checkpoint` exists, continue from there; it is written after each section.
        """
        if checkpoint and checkpoint.exists():
            self.load(checkpoint)
        while self.finished < plan.iterations:
            self.begin_section(plan)
            for _ in range(min(plan.section, plan.iterations - self.finished)):
                value = self.iterate(plan)
                self.finished += 1
                if self.finished % plan.refinement_interval == 0:
                    self.refine_tail_responder()
                    self.add_leaf_vectors(self.finished % (5 * plan.refinement_interval) == 0)
                    yield self.finished / plan.iterations, value
            self.tail.symmetrize()
            if checkpoint:
                self.save(checkpoint)

    def begin_section(self, plan: Plan) -> None:
        """Build new responders. Nothing of the old ones remains, so that training can be resumed here."""
        self.tail.write_to(self.problem)
        self.responder = GradingController(self.problem, MAX_VECTORS)
        self.responder.iterate()
        self.leaf_vectors.first_vector[:], self.leaf_vectors.size[0] = -1, 0
        self.opening.propagate()
        self.responder_reach = [np.ones((CELLS**d, len(p.cells))) for d, p in self._list_other_paths()]
        self.add_leaf_vectors(everywhere=True)
        if not self.finished:
            self.respond(FIRST_TEMPERATURE)
            self.set_initial_regrets(plan.initial_regret)
        self.respond(plan_temperature(self.finished / plan.iterations))
        self.refine_tail_responder(rounds=3)
        self.add_leaf_vectors(everywhere=True)

    def _list_other_paths(self) -> list[tuple[int, Paths]]:
        return list(zip(self.opening.digits, self.opening.other_paths, strict=True))

    def iterate(self, plan: Plan) -> float:
        """Let the responder respond, and the opening and the tail learn. Return the responder's value."""
        done = self.finished / plan.iterations
        self.opening.propagate()
        value = self.respond(plan_temperature(done))
        self.learn((self.finished / 100) ** 2)
        if self.finished % plan.tail_interval == 0 and done < plan.tail_share:
            self.learn_tail(Stage(1, 0.04 - 0.034 * done, 0.004 - 0.003 * done))
        return value

    def respond(self, temperature: float) -> float:
        """Compute the best response. Return its value."""
        opening = self.opening
        evaluate_leaves(*self._get_leaves(), self.leaf_vectors, self.leaf_values, self.leaf_choices)
        value = opening.back_up(self.leaf_values, temperature)
        self.responder_reach = opening.propagate_responder(opening.start_response(temperature))
        return value

    def _get_leaves(self) -> tuple[Array, ...]:
        opening = self.opening
        return (
            opening.legal[opening.leaf_digits], opening.reach_after[-1], opening.own_paths[-1].cells,
            self.compatible, opening.leaf_rows, self.types,
        )  # fmt: skip

    def compute_costs(self) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield each turn, last first, with the responder's values against paths and actions.

        The values are indexed [history, path before], [history, path after the move] and
        [history, path after the move, observed cell].
        """
        opening = self.opening
        after = np.zeros((len(self.leaf_values), len(opening.own_paths[-1].cells)))
        value_leaf_paths(
            opening.legal[opening.leaf_digits], self.responder_reach[-1], opening.own_paths[-1].cells,
            self.compatible, self.leaf_choices, self.leaf_vectors.values, after,
        )  # fmt: skip
        for turn in reversed(range(OPENING_TURNS)):
            paths, other = opening.own_paths[turn + 1], opening.other_paths[turn]
            if not opening.digits[turn]:
                after[CELLS // 2 + 1 :] = after[CELLS // 2 - 1 :: -1, ::-1]  # mirror images
            observation_costs = np.ascontiguousarray(
                after.reshape(-1, CELLS, after.shape[1]).transpose(0, 2, 1)
            )
            collisions = (
                self.responder_reach[turn]
                @ (opening.compatible_before[turn][paths.parents] * (paths.cells[:, None] == other.cells)).T
            )
            move_costs = collisions + (opening.observation_probs[turn] * observation_costs).sum(axis=2)
            before = np.zeros((len(move_costs), len(opening.own_paths[turn].cells)))
            np.add.at(before.T, paths.parents, (opening.move_probs[turn] * move_costs).T)
            yield turn, before, move_costs, observation_costs
            if turn:
                after = self._value_responses(turn, before)

    def _value_responses(self, turn: int, values: Array) -> Array:
        """Return the responder's values before its own turn, indexed [history, strategy's path]."""
        opening = self.opening
        cells, other = opening.own_paths[turn].cells, opening.other_paths[turn]
        unobserved = np.arange(CELLS)[:, None] != cells
        after: Array = (values.reshape(-1, CELLS, len(cells)) * unobserved).sum(axis=1)
        reach = self.responder_reach[turn].reshape(-1, CELLS, len(other.cells))
        compatible = opening.compatible_after[turn - 1][:, other.parents] * (cells[:, None] != other.cells)
        for path, cell in enumerate(cells):
            after[:, path] += reach[:, cell] @ compatible[path]  # the responder observes the strategy
        return after

    def set_initial_regrets(self, weight: float) -> None:
        """Set the regrets so that the present policy remains, with inertia in proportion to its reach."""
        opening = self.opening
        for turn, before, _, observation_costs in self.compute_costs():
            parents = opening.own_paths[turn + 1].parents
            self.regrets[0][turn] = weight * opening.move_probs[turn] * np.maximum(before[:, parents], 1e-9)
            probs = opening.observation_probs[turn]
            means = (probs * observation_costs).sum(axis=2, keepdims=True)
            self.regrets[1][turn] = weight * probs * np.maximum(means, 1e-9)

    def learn(self, weight: float) -> None:
        """Update the opening by CFR+. `weight` is the weight of the current policy in the average."""
        opening = self.opening
        for turn, before, move_costs, observation_costs in self.compute_costs():
            legal, parents = opening.legal[opening.digits[turn]], opening.own_paths[turn + 1].parents
            move_probs, observation_probs = opening.move_probs[turn], opening.observation_probs[turn]
            reach = weight * opening.reach_before[turn][:, parents] * move_probs
            self.sums[0][turn] += reach
            self.sums[1][turn] += reach[:, :, None] * observation_probs
            means = (observation_probs * observation_costs).sum(axis=2, keepdims=True)
            match_regrets(
                self.regrets[1][turn],
                means - observation_costs,
                list_observable(turn, len(move_probs)),
                observation_probs,
                legal,
            )
            regrets = self.regrets[0][turn]
            regrets += before[:, parents] - move_costs
            np.maximum(regrets, 0.0, out=regrets)
            move_probs[legal] = divide_by_parent(regrets, parents)[legal]

    def learn_tail(self, stage: Stage) -> None:
        """Let the tail learn from the play that begins at the leaves."""
        responder = self.responder
        responder.iterate(1, 1e-7)
        for gain in responder.gains:
            gain *= DISCOUNT
        responder.play(*self.find_tail_starts())
        self.tail.learn(responder.gains, stage)
        self.tail.write_to(self.problem)
        responder.iterate(1, 1e-7)
        update_leaf_vectors(self.problem, responder.vectors, self.leaf_vectors)

    def find_tail_starts(self) -> tuple[Array, Array]:
        """Return the controller's vectors after the first action in the tail, with their beliefs."""
        beliefs = np.zeros((self.responder.vector_count, MAX_STATES))
        start_tail(
            *self._get_leaves(), self.responder_reach[-1], self.problem, self.responder.vectors, 1e-7, beliefs
        )
        roots = np.nonzero(beliefs.any(axis=1))[0]
        return roots, beliefs[roots]

    def refine_tail_responder(self, rounds: int = 1) -> None:
        """Add vectors to the tail's controller at the beliefs that play from the leaves reaches."""
        responder = self.responder
        if responder.vector_count > 0.9 * MAX_VECTORS:
            return
        for _ in range(rounds):
            add_tail_vectors(
                *self._get_leaves(),
                self.responder_reach[-1],
                self.problem,
                responder.vectors,
                3e-5,
                0.015,
                1e-3,
            )
            responder.iterate(1)
            responder.play(*self.find_tail_starts())
            responder.grow(min_reach=5e-5, min_branch_reach=1e-3)
            responder.iterate(2)
        update_leaf_vectors(self.problem, responder.vectors, self.leaf_vectors)

    def add_leaf_vectors(self, everywhere: bool) -> None:
        """Add better vectors at the leaves that the responder reaches by its own actions, or at all."""
        min_reach, gain = (-1.0, 5e-3) if everywhere else (1e-5, 1.5e-3)
        add_leaf_vectors(
            *self._get_leaves(), self.responder_reach[-1], self.problem, self.responder.vectors,
            self.leaf_vectors, min_reach, gain,
        )  # fmt: skip

    def average(self) -> None:
        """Replace the opening's policy by the average of all iterations. Unreached decisions stay."""
        opening = self.opening
        for turn in range(OPENING_TURNS):
            parents = opening.own_paths[turn + 1].parents
            moves, observations = self.sums[0][turn], self.sums[1][turn]
            is_met = sum_by_parent(moves, parents) > 1e-14
            opening.move_probs[turn] = np.where(
                is_met, divide_by_parent(moves, parents), opening.move_probs[turn]
            )
            totals = observations.sum(axis=2, keepdims=True)
            averages = observations / np.maximum(totals, 1e-300)
            opening.observation_probs[turn] = np.where(
                totals > 1e-14, averages, opening.observation_probs[turn]
            )

    def make_tables(self) -> Tables:
        """Return the average strategy with integer weights."""
        self.average()
        tail, opening = self.tail, self.opening
        moves = [round_weights(tail.move_probs, tail.can_move)]
        observations = [round_weights(tail.observation_probs, tail.can_observe)]
        for turn, (digits, paths) in enumerate(opening.list_turns()):
            histories = count_histories(digits)
            move_probs = opening.move_probs[turn][:histories]
            observation_probs = opening.observation_probs[turn][:histories]
            if not digits:  # Player 1's first turn: the best response counts mirror images twice
                move_probs = (move_probs + move_probs[:, ::-1]) / 2
                observation_probs = (observation_probs + observation_probs[:, ::-1, ::-1]) / 2
            weights = round_weights(move_probs, np.ones_like(move_probs, bool), OPENING_UNIT)
            rows = np.zeros((histories, len(opening.own_paths[turn].cells), CELLS), weights.dtype)
            rows[:, paths.parents, paths.cells] = weights
            moves.append(rows)
            can_observe = list_observable(turn, histories)
            observations.append(round_weights(observation_probs, can_observe, OPENING_UNIT))
        return Tables(flatten_weights(moves), flatten_weights(observations))

    def save(self, file: Path) -> None:
        """Write a checkpoint. Call this at the end of a section."""
        arrays: dict[str, Any] = {
            f"{name}{i}": array for name, tables in self._list_tables() for i, array in enumerate(tables)
        }
        arrays["tail_moves"], arrays["tail_observations"] = self.tail.move_probs, self.tail.observation_probs
        np.savez(file, finished=self.finished, **arrays)

    def load(self, file: Path) -> None:
        """Read a checkpoint."""
        stored = np.load(file)
        self.finished = int(stored["finished"])
        self.tail.move_probs[:] = stored["tail_moves"]
        self.tail.observation_probs[:] = stored["tail_observations"]
        for name, tables in self._list_tables():
            for i, array in enumerate(tables):
                array[:] = stored[f"{name}{i}"]

    def _list_tables(self) -> list[tuple[str, list[Array]]]:
        return [
            ("moves", self.opening.move_probs),
            ("observations", self.opening.observation_probs),
            ("move_regrets", self.regrets[0]),
            ("observation_regrets", self.regrets[1]),
            ("move_sums", self.sums[0]),
            ("observation_sums", self.sums[1]),
        ]


PLANS = {Seat.ONE: Plan(1200, 400, 100.0)}
"""The plans of the shipped strategy. Player 2's opening plays like its memory rows."""


def make_trainer(seat: Seat, tables: Tables) -> OpeningTrainer:
    """Return a trainer that starts from a seat's tables with their opening."""
    policy = make_policy_from_tables(tables)
    problem = merge_mirror_images(make_problem(policy, seat))
    moves, observations = policy.move_probs[:, :, :CELLS].copy(), policy.observation_probs[:, :CELLS].copy()
    tail = Strategy(moves, observations, moves > 0, observations > 0, np.array(list_mirrored_rows()))
    trainer = OpeningTrainer(seat, tail, problem)
    trainer.opening.read_tables(tables)
    return trainer


def list_observable(turn: int, histories: int) -> Array:
    """Return whether the strategy may observe a cell on its turn `turn`, indexed [history, 0, cell]."""
    can_observe = np.ones((histories, 1, CELLS), bool)
    if turn:
        can_observe[np.arange(histories), 0, np.arange(histories) // CELLS % CELLS] = False
    return can_observe


def add_opening(seat: Seat, tables: Tables) -> Tables:
    """Return tables with an opening that plays like their memory rows."""
    opening = Opening(seat)
    moves: list[Array] = [np.array(tables.moves).reshape(-1, CELLS)]
    observations: list[Array] = [np.array(tables.observations).reshape(-1, CELLS)]
    for turn, digits in enumerate(opening.digits):
        starts, ends = opening.own_paths[turn].cells, opening.own_paths[turn + 1].cells
        move_rows, observation_rows = (
            np.zeros((count_histories(digits), len(cells), CELLS), np.uint16) for cells in (starts, ends)
        )
        for history in opening.legal[digits]:
            own, other = opening.split_history(int(history), digits)
            row = find_row(OWN_MEMORY.index(own), OWN_MEMORY.index(other))
            move_rows[history] = moves[0][row * POSITIONS + starts]
            observation_rows[history] = observations[0][row * CELLS + ends]
        moves.append(move_rows)
        observations.append(observation_rows)
    return Tables(flatten_weights(moves), flatten_weights(observations))


def plan_temperature(done: float) -> float:
    return 0.004 - 0.0028 * done


def match_regrets(regrets: Array, changes: Array, allowed: Array, probs: Array, legal: Array) -> None:
    """Update regrets over the last axis by regret matching+, and the probabilities of `legal` histories."""
    regrets += changes
    np.copyto(regrets, np.where(allowed, np.maximum(regrets, 0.0), 0.0))
    totals = regrets.sum(axis=-1, keepdims=True)
    uniform = allowed / allowed.sum(axis=-1, keepdims=True)
    probs[legal] = np.where(totals > 1e-12, regrets / np.maximum(totals, 1e-300), uniform)[legal]


def sum_by_parent(values: Array, parents: Array) -> Array:
    """Return the sum over all paths with the same parent, indexed [history, path]."""
    sums = np.zeros((len(values), parents.max() + 1))
    np.add.at(sums.T, parents, values.T)
    return np.asarray(sums[:, parents])


def divide_by_parent(values: Array, parents: Array) -> Array:
    """Return the shares of paths with the same parent, or equal shares if all are 0."""
    totals = sum_by_parent(values, parents)
    return np.where(totals > 1e-12, values / np.maximum(totals, 1e-300), 1 / np.bincount(parents)[parents])


@fast
def find_leaf_vector(node: int, belief: Array, vectors: LeafVectors) -> tuple[int, float]:
    """Return the best vector at a belief, and its value."""
    best, best_value = -1, -1.0
    k = vectors.first_vector[node]
    while k >= 0:
        value = 0.0
        for x in range(CELLS):
            value += belief[x] * vectors.values[k, x]
        if value > best_value:
            best, best_value = k, value
        k = vectors.next_vector[k]
    return best, best_value


@fast
def evaluate_leaves(
    legal: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array,
    leaf_vectors: LeafVectors, values: Array, choices: Array,
) -> None:  # fmt: skip
    """Fill in the responder's values and vectors at all leaves; vector -1 where it has been observed."""
    belief = np.zeros(MAX_STATES)
    for history in legal:
        for path in range(len(types)):
            values[history, path], choices[history, path] = 0.0, -1
            if types[path] % CELLS != history % CELLS:
                fill_belief(own_reach[history], cells, compatible[path], belief)
                best, value = find_leaf_vector(rows[history] * TYPES + types[path], belief, leaf_vectors)
                values[history, path], choices[history, path] = value, best


@fast
def value_leaf_paths(
    legal: Array,
    reach: Array,
    cells: Array,
    compatible: Array,
    choices: Array,
    vector_values: Array,
    values: Array,
) -> None:
    """Fill in the responder's values against each path of the strategy at the leaves."""
    for history in legal:
        for other in range(len(compatible)):
            weight, choice = reach[history // CELLS, other], choices[history, other]
            if weight > 1e-9 and choice >= 0:
                for path in range(len(cells)):
                    values[history, path] += (
                        weight * compatible[other, path] * vector_values[choice, cells[path]]
                    )


@fast
def add_leaf_vectors(
    legal: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array, reach: Array,
    problem: ResponderProblem, vectors: AlphaVectors, leaf_vectors: LeafVectors,
    min_reach: float, gain: float,
) -> None:  # fmt: skip
    belief, choice = np.zeros(MAX_STATES), np.zeros(2, np.int64)
    for history in legal:
        for path in range(len(types)):
            if types[path] % CELLS == history % CELLS or reach[history // CELLS, path] < min_reach:
                continue
            mass = fill_belief(own_reach[history], cells, compatible[path], belief)
            if mass < 1e-9:
                continue
            node = rows[history] * TYPES + types[path]
            known = find_leaf_vector(node, belief, leaf_vectors)[1]
            value = choose_action(node, belief, problem, vectors, choice)
            k = leaf_vectors.size[0]
            if value > known + gain * mass and k < len(leaf_vectors.actions):
                leaf_vectors.actions[k], leaf_vectors.successors[k] = choice
                fill_node_values(choice[0], choice[1], problem, vectors, leaf_vectors.values[k])
                leaf_vectors.next_vector[k] = leaf_vectors.first_vector[node]
                leaf_vectors.first_vector[node] = k
                leaf_vectors.size[0] += 1


@fast
def update_leaf_vectors(problem: ResponderProblem, vectors: AlphaVectors, leaf_vectors: LeafVectors) -> None:
    """Compute all values again after the tail has changed."""
    for k in range(leaf_vectors.size[0]):
        fill_node_values(
            leaf_vectors.actions[k], leaf_vectors.successors[k], problem, vectors, leaf_vectors.values[k]
        )


@fast
def start_tail(
    legal: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array, reach: Array,
    problem: ResponderProblem, vectors: AlphaVectors, min_reach: float, beliefs: Array,
) -> None:  # fmt: skip
    """Add the beliefs after the responder's best first action in the tail to its vectors."""
    belief, remaining, choice = np.zeros(MAX_STATES), np.zeros(MAX_STATES), np.zeros(2, np.int64)
    for history in legal:
        for path in range(len(types)):
            weight = reach[history // CELLS, path]
            if types[path] % CELLS == history % CELLS or weight < 1e-9:
                continue
            if weight * fill_belief(own_reach[history], cells, compatible[path], belief) >= min_reach:
                choose_action(rows[history] * TYPES + types[path], belief, problem, vectors, choice)
                apply_action(choice[0], belief, problem, remaining)
                beliefs[choice[1]] += weight * remaining


@fast
def add_tail_vectors(
    legal: Array, own_reach: Array, cells: Array, compatible: Array, rows: Array, types: Array, reach: Array,
    problem: ResponderProblem, vectors: AlphaVectors, min_reach: float, slack: float, gain: float,
) -> None:  # fmt: skip
    """Add vectors after all nearly best first actions in the tail."""
    belief, remaining, choice = np.zeros(MAX_STATES), np.zeros(MAX_STATES), np.zeros(2, np.int64)
    for history in legal:
        for path in range(len(types)):
            weight = reach[history // CELLS, path]
            if types[path] % CELLS == history % CELLS or weight < 1e-9:
                continue
            mass = fill_belief(own_reach[history], cells, compatible[path], belief)
            if weight * mass < min_reach:
                continue
            node = rows[history] * TYPES + types[path]
            best = choose_action(node, belief, problem, vectors, choice)
            for action in range(problem.first_action[node], problem.first_action[node + 1]):
                if apply_action(action, belief, problem, remaining) < 0.2 * mass:
                    continue
                won = 0.0
                for x in range(CELLS):
                    won += belief[x] * (problem.win_masks[action] >> x & 1)
                afterstate = problem.afterstates[action]
                if won + evaluate_vectors(afterstate, remaining, vectors) > best - slack * mass:
                    add_vector(afterstate, remaining, problem, vectors, gain)
