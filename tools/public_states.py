"""A prototype: exact best responses over public states, for larger games with hidden information.

python -m tools.public_states hunt cells=4 max_turns=6
python -m tools.public_states hunt cells=4 max_turns=6 --memoryless

It walks through the public histories one at a time. All histories with the same public history are one array.
So it needs memory for one line of play only. `duels.exploitability` lists all histories of the game instead.
"""

import argparse
import resource
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.analysis.agents import PolicyFunction, get_action_odds, get_player_odds
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules, Event, Seat
from duels.games import find_game

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHANCE_ACTOR, NO_ACTOR = 0, -1  # the actors that are not seats


class StateTables:
    """All states of the rules as arrays, with the events of each action as numbers."""

    def __init__(self, rules: AnyRules) -> None:
        self.rules = rules
        self.actions = max(len(rules.all_actions()), len(rules.all_outcomes()))
        numbers = {action: number for number, action in enumerate(rules.all_actions())}
        numbers |= {outcome: number for number, outcome in enumerate(rules.all_outcomes())}
        self.states = [rules.initial()]
        state_numbers = {self.states[0]: 0}
        tokens: dict[tuple[Event, ...], int] = {(): 0}
        rows = []
        actors, scores = [], []
        for index, state in enumerate(self.states):  # the list grows during the loop
            actor, outcome = rules.actor(state), rules.outcome(state)
            actors.append(NO_ACTOR if actor is None else CHANCE_ACTOR if actor is CHANCE else int(actor))
            scores.append(float(outcome.score(Seat.ONE)) if outcome else 0.0)
            chances: Any = rules.odds(state) if actor is CHANCE else [0] * len(rules.actions(state))
            for action, chance in zip(rules.actions(state), chances, strict=True):
                step = rules.apply(state, action)
                if step.state not in state_numbers:
                    state_numbers[step.state] = len(self.states)
                    self.states.append(step.state)
                public, first, second = (
                    tuple(event for event in step.events if event.seen_by == seats)
                    for seats in (frozenset(Seat), frozenset({Seat.ONE}), frozenset({Seat.TWO}))
                )
                row = [tokens.setdefault(events, len(tokens)) for events in (public, first, second)]
                rows.append((index, numbers[action], state_numbers[step.state], *row, float(chance)))
        columns = np.array(rows).T
        states, actions = columns[:2].astype(np.int64)
        self.actor, self.score, self.tokens = np.array(actors), np.array(scores), len(tokens)
        self.successor = np.full((len(self.states), self.actions), -1)
        self.successor[states, actions] = columns[2]
        self.token = np.zeros((3, *self.successor.shape), np.int64)  # of public events, and of each seat's
        self.token[:, states, actions] = columns[3:6]
        self.chance = np.zeros(self.successor.shape)
        self.chance[states, actions] = columns[6]


@dataclass
class PublicState:
    """The histories under a public history, as arrays indexed [history]."""

    state: Ints
    own: Ints
    """The responder's information set, numbered from 0."""
    other: Ints
    """The opponent's information set, numbered from 0."""
    reach: Floats
    """The probability that the opponent and chance play towards this history."""
    parent: Ints
    """The history before it, in the public state before."""
    action: Ints
    """The action after which it comes."""
    matches: dict[int, AnyMatch] = field(default_factory=dict)


class PublicStateResponse:
    """The best response of `responder` to a policy. With `memoryless`, the policy reads only `sight.view`."""

    def __init__(
        self, tables: StateTables, responder: Seat, policy: PolicyFunction, memoryless: bool = False
    ) -> None:
        self._tables, self._responder, self._policy, self._memoryless = tables, responder, policy, memoryless
        self._numbers = {action: number for number, action in enumerate(tables.rules.all_actions())}
        self._score = tables.score if responder is Seat.ONE else 1 - tables.score
        self._line: list[PublicState] = []
        self.histories = self.information_sets = self.public_states = 0
        self._odds = np.zeros(tables.successor.shape) if memoryless else None
        if self._odds is not None:
            for state in np.flatnonzero(tables.actor == responder.other):
                sight = tables.rules.sight(tables.states[state], responder.other)
                self._write_odds(self._odds[state], sight)

    def value(self) -> float:
        """Return the value: the responder's mean score."""
        zero = np.zeros(1, np.int64)
        return float(self._find_values(PublicState(zero, zero, zero, np.ones(1), zero, zero))[0])

    def _find_values(self, node: PublicState) -> Floats:
        """Return the values of the responder's information sets, times their probabilities."""
        tables, actor = self._tables, int(self._tables.actor[node.state[0]])
        self._line.append(node)
        rows, actions = (tables.successor[node.state] >= 0).nonzero()
        reach = node.reach[rows] * self._action_odds(actor, node)[rows, actions]
        after = tables.successor[node.state[rows], actions]
        is_over = tables.actor[after] == NO_ACTOR
        self.public_states += 1
        self.histories += len(node.state) + int(is_over.sum())
        values = np.zeros((node.own.max() + 1, tables.actions))
        np.add.at(values, (node.own[rows], actions), np.where(is_over, reach * self._score[after], 0.0))
        ongoing = ~is_over & (reach > 0)
        following = rows[ongoing], actions[ongoing], reach[ongoing]
        for child, sources in self._list_children(actor, node, *following):
            np.add.at(values, sources, self._find_values(child))
        self._line.pop()
        if actor != self._responder:
            total: Floats = values.sum(axis=1)
            return total
        self.information_sets += len(values)
        legal = np.zeros(values.shape, np.bool_)
        legal[node.own[rows], actions] = True
        best: Floats = np.where(legal, values, -np.inf).max(axis=1)
        return best

    def _list_children(self, actor: int, node: PublicState, rows: Ints, actions: Ints, reach: Floats) -> Any:
        """Yield the next public states, and the information set and action before each of their rows."""
        tables, before = self._tables, node.state[rows]
        own, other = (
            (sets[rows] * tables.actions + (actions if actor == seat else 0)) * tables.tokens
            + tables.token[int(seat), before, actions]
            for seat, sets in ((self._responder, node.own), (self._responder.other, node.other))
        )
        public, states = tables.token[0, before, actions], tables.successor[before, actions]
        order = np.lexsort((states, own, public)) if self._memoryless else np.argsort(public, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(public[order], prepend=-1)))[1:]:
            weights = reach[part]
            if self._memoryless:  # merge the histories that the opponent does not distinguish
                new = np.flatnonzero(np.diff(own[part], prepend=-1) | np.diff(states[part], prepend=-1))
                part, weights = part[new], np.add.reduceat(weights, new)
                others = np.zeros(len(part), np.int64)
            else:
                _, others = np.unique(other[part], return_inverse=True)
            sets, owns = np.unique(own[part], return_inverse=True)
            child = PublicState(states[part], owns, others, weights, rows[part], actions[part])
            yield child, np.divmod(sets // tables.tokens, tables.actions)

    def _action_odds(self, actor: int, node: PublicState) -> Floats:
        """Return the factor of a history's probability, indexed [history, action]."""
        if actor == CHANCE_ACTOR:
            return self._tables.chance[node.state]
        if actor == self._responder:
            return np.ones((len(node.state), self._tables.actions))
        if self._odds is not None:
            return self._odds[node.state]
        _, examples = np.unique(node.other, return_index=True)
        odds = np.zeros((len(examples), self._tables.actions))
        for row, example in zip(odds, examples.tolist(), strict=True):
            self._write_odds(row, self._find_match(len(self._line) - 1, example).sight(Seat(actor)))
        return odds[node.other]

    def _write_odds(self, row: Floats, sight: Any) -> None:
        for action, chance in get_action_odds(self._policy, sight).items():
            row[self._numbers[action]] = chance

    def _find_match(self, depth: int, history: int) -> AnyMatch:
        """Return the match of a history of the current line of play."""
        if depth == 0:
            return Match.start(self._tables.rules)
        node = self._line[depth]
        if history not in node.matches:
            before = self._find_match(depth - 1, int(node.parent[history]))
            rules, actor, number = self._tables.rules, before.actor, node.action[history]
            choices = rules.all_outcomes() if actor is CHANCE else rules.all_actions()
            assert actor is not None
            node.matches[history] = before.play(actor, choices[number])
        return node.matches[history]


def list_responses(
    policy: PolicyFunction, rules: AnyRules, memoryless: bool = False
) -> list[tuple[float, PublicStateResponse]]:
    """Return the value of the best response of each seat, and the response for its counts."""
    tables = StateTables(rules)
    responses = [PublicStateResponse(tables, seat, policy, memoryless) for seat in Seat]
    return [(response.value(), response) for response in responses]


def exploitability(policy: PolicyFunction, rules: AnyRules, memoryless: bool = False) -> float:
    """Return the same number as `duels.exploitability`."""
    return sum(value for value, _ in list_responses(policy, rules, memoryless)) / 2 - 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("options", nargs="*", metavar="OPTION=NUMBER")
    parser.add_argument("--memoryless", action="store_true", help="the policy reads only the position")
    arguments = parser.parse_args()
    options = {name: int(value) for name, value in (pair.split("=") for pair in arguments.options)}
    rules = find_game(arguments.game).rules(**options)
    start = time.process_time()
    responses = list_responses(get_player_odds("random", rules), rules, arguments.memoryless)
    seconds, memory = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"exploitability {sum(value for value, _ in responses) / 2 - 0.5:.12g}")
    for seat, (value, response) in zip(Seat, responses, strict=True):
        print(
            f"{seat.label} wins {value:.6f}: {response.public_states:,} public states, "
            f"{response.histories:,} histories, {response.information_sets:,} information sets"
        )
    print(f"{seconds:.1f} seconds of one core, {memory:.0f} MB")


if __name__ == "__main__":
    main()
