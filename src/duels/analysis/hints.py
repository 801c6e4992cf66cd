"""Hints: the best actions of a position, its value, and the reasons.

They use only information that the seat to move has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, cast

from duels.analysis.wording import (
    MIN_SHOWN,
    describe_equal_actions,
    format_chance,
    format_percent,
    name_action,
)
from duels.core.errors import TooLarge
from duels.core.rules import CHANCE, A, AnyRules, AnySight, OpenRules, Seat, Sight, V
from duels.core.words import join_or
from duels.players import Player, make_player
from duels.players.levels import LevelPlayer
from duels.solving.check import Brackets
from duels.solving.graph import Graph, explore
from duels.solving.oracle import ActionValue, Exactness, Oracle, Value, Verdict
from duels.solving.oracles import get_oracle

_Policy = Callable[[AnySight], Mapping[Any, float]]
_MAX_NAMED = 8
_MAX_SHARES = 3  # actions of a mixture that are named with their shares
_DOMINANT_WEIGHT = 0.6  # above this weight, one action is the advice and the others are exceptions
_MIN_WEIGHT = 0.005  # smaller weights are noise from training
_MAX_STATES = 20_000  # about a second
_MAX_SWEEPS = 200  # of value iteration; endless play may need more
_MAX_ERROR = 1e-7  # of value iteration
_MAX_DENOMINATOR = 10**9  # the exact fraction of a tiny probability may not fit into floats


@dataclass(frozen=True)
class Hint(Generic[A]):
    """Advice to the seat to move, in stages: where to look, the move, and the theory.

    >>> import duels
    >>> hint = duels.hint(duels.start("lights").sight(duels.Seat.ONE))
    >>> hint.pointer.split(". ")[0]
    'Look for a move that leaves groups of equal length, in pairs'
    >>> hint.advice
    '4, 2-3 or 5-6 (100.0% to win).'
    >>> hint.value.number
    1.0
    """

    pointer: str
    """One or two plain sentences on where to look."""
    actions: tuple[A, ...]
    """The recommended actions, the most frequent of perfect play first; with a `tip`, those it names."""
    value: Value
    """The seat's probability of winning; a draw counts one half."""
    chance: str
    """The value in words: `100.0% to win`, or `worth 50.0%` in a game that can be drawn."""
    best: str
    """The recommended actions in a few words; empty if all actions are equally good."""
    indifference: str
    """A sentence (without its full stop) if all actions have the same value; otherwise empty."""
    reason: str
    """One or two sentences that explain the advice."""
    details: str
    """The weights of the actions and the error bound of the value; empty if they add nothing."""
    belief: Mapping[str, float]
    """Probabilities of the other player's secret; empty in games without hidden information."""
    chances: Mapping[A, Value]
    """The value of each action against the given opponent; empty if there is none, or its policy is unknown.

    In chain, only this board counts, and a board without a winner counts one half.
    """
    tip: str
    """A sentence on the recommended action that gives this opponent most chances to err, or ''."""

    @property
    def stages(self) -> tuple[str, str, str]:
        """The hint in three stages: where to look, the move, and the theory."""
        return self.pointer, self.put_tip_first(self.advice), self.theory

    def put_tip_first(self, advice: str) -> str:
        """Return the tip and then the advice of perfect play, or the advice alone if there is no tip."""
        if not self.tip:
            return advice
        if self.indifference:
            advice = (advice[:1].lower() + advice[1:]).replace(" against perfect play", "")
        return f"{self.tip} Against perfect play: {advice}"

    @property
    def advice(self) -> str:
        """The advice in one line: `4, 2-3 or 5-6 (100.0% to win).`"""
        return f"{self.describe_actions()} ({self.chance})."

    def describe_actions(self, ink: Callable[[str], str] = str) -> str:
        """Return the recommendation without its value; `ink` formats the actions."""
        best = ink(self.best) if self.best else ""
        if not self.indifference or not best:
            return best or self.indifference
        if self.value.low > 1 - MIN_SHOWN:
            return f"{self.indifference}; quickest: {best}"
        if self.value.high < MIN_SHOWN:
            return f"{self.indifference}; best try: {best}"
        return f"{self.indifference}; perfect play chooses {best}"

    @property
    def text(self) -> str:
        """The advice and the explanation."""
        return " ".join(self.stages[1:])

    @property
    def theory(self) -> str:
        """The explanation: the reason and the details."""
        return " ".join(filter(None, [self.reason, self.details]))


def hint(
    sight: Sight[A, V], oracle: Oracle[A, V] | None = None, against: str | Player | None = None
) -> Hint[A]:
    """Recommend the actions of perfect play, given the information of `sight.seat`.

    `oracle` replaces that of `sight.rules`. `against` is the opponent: a level or another player with a
    method `odds`. Among the actions that perfect play may take, `tip` then names the one that wins most
    against this opponent. That is exact in lights, leap and chain, and estimated in flip and hunt.

    Raises NotYourTurn if the seat is not to move, and UnknownName if there is no such opponent.

    >>> import duels
    >>> match = duels.start("leap").play_text("enter", "enter")
    >>> duels.hint(match.sight(duels.Seat.ONE)).advice
    '1 (100.0% to win).'
    >>> duels.hint(duels.start("chain").sight(duels.Seat.ONE), against="club").tip
    'Against club, 4 wins most often (53.4% on this board).'
    """
    oracle = oracle or get_oracle(sight.rules)
    verdict = oracle.judge(sight)
    opponent = make_player(against, sight.rules) if isinstance(against, str) else against
    chances = _compute_response_values(sight, opponent, oracle) if opponent else {}
    name = against if isinstance(against, str) else "this opponent"
    choices = _list_choices(verdict)
    indifference = describe_equal_actions(verdict).removesuffix(".")
    recommends_all = indifference and all(judged.weight for judged in verdict.actions)
    responses = _find_best_responses(verdict, chances)
    why = f"The mistakes of {name} help you most after {_join_names(sight, responses)}." if responses else ""
    return Hint(
        pointer=oracle.pointer(sight),
        actions=tuple(responses or (judged.action for judged in choices)),
        value=verdict.value,
        chance=format_chance(verdict.value, sight.rules),
        best="" if recommends_all else _describe_choices(sight, verdict, choices),
        indifference=indifference,
        reason=" ".join(filter(None, [why, oracle.reason(sight)])),
        details=_format_details(sight, verdict, choices),
        belief=oracle.belief(sight),
        chances=chances,
        tip=_describe_best_responses(sight, responses, chances, name),
    )


def _list_choices(verdict: Verdict[A]) -> list[ActionValue[A]]:
    threshold = _MIN_WEIGHT if verdict.is_mixed else 0.0
    choices = [judged for judged in verdict.actions if judged.weight > threshold]
    return sorted(choices, key=lambda judged: -judged.weight)


def _describe_choices(sight: Sight[A, V], verdict: Verdict[A], choices: list[ActionValue[A]]) -> str:
    names = _name_choices(sight, choices)
    summary = _summarize_choices(sight, choices)
    if not verdict.is_mixed:
        return summary or join_or(names, _MAX_NAMED)
    largest, smallest = choices[0].weight, choices[-1].weight
    if len(names) == 1:
        return names[0]
    if largest > _DOMINANT_WEIGHT:
        others = join_or(names[1:]) if len(names) <= _MAX_SHARES else "another"
        return f"mostly {names[0]} ({largest:.0%}), now and then {others}"
    if summary and largest <= 2 * smallest:
        return f"{summary}, at random"
    if len(names) <= _MAX_SHARES:
        return f"mix {_format_shares(names, choices)}"
    frequent = [judged for judged in choices if judged.weight >= largest / 2]
    return f"{_summarize_choices(sight, frequent) or join_or(_name_choices(sight, frequent))}, at random"


def _summarize_choices(sight: Sight[A, V], choices: list[ActionValue[A]]) -> str:
    words = sight.rules.game.find("words", "WORDS")
    return words(sight.rules).summarize_actions(sight, [judged.action for judged in choices]) if words else ""


def _name_choices(sight: Sight[A, V], choices: list[ActionValue[A]]) -> list[str]:
    return [name_action(sight, judged.action) for judged in choices]


def _format_shares(names: list[str], choices: list[ActionValue[A]]) -> str:
    return ", ".join(f"{name} {judged.weight:.0%}" for name, judged in zip(names, choices, strict=True))


def _format_details(sight: Sight[A, V], verdict: Verdict[A], choices: list[ActionValue[A]]) -> str:
    sentences = []
    if verdict.is_mixed and len(choices) > 1:
        sentences.append(f"The strategy mixes {_format_shares(_name_choices(sight, choices), choices)}.")
    if verdict.value.exactness is Exactness.BOUND:
        sentences.append(f"The chance to win is proven: {format_percent(verdict.value)}.")
    return " ".join(sentences)


# -- opponents ---------------------------------------------------------------------------------------


def _find_best_responses(verdict: Verdict[A], chances: Mapping[A, Value]) -> list[A]:
    """Return the actions of perfect play that win most often against the opponent.

    The list is empty if they do not differ, or win no more than the advice says.
    """
    numbers = {action: chances[action].number for action in verdict.best if action in chances}
    highest = max(numbers.values(), default=0.0)
    best = [action for action, number in numbers.items() if highest - number < MIN_SHOWN]
    return [] if len(best) == len(numbers) or highest < verdict.value.number else best


def _describe_best_responses(
    sight: Sight[A, V], responses: list[A], chances: Mapping[A, Value], opponent: str
) -> str:
    if not responses:
        return ""
    value, rules = chances[responses[0]], sight.rules
    chance = format_chance(value, rules)
    if rules.clock and not rules.has_hidden_information and value.exactness is Exactness.EXACT:
        chance = f"{value} on this {rules.clock.removesuffix('s')}"  # where `_search` ends
    return f"Against {opponent}, {_join_names(sight, responses)} wins most often ({chance})."


def _join_names(sight: Sight[A, V], actions: list[A]) -> str:
    return join_or([name_action(sight, action) for action in actions], _MAX_NAMED)


def _compute_response_values(sight: AnySight, opponent: Player, oracle: Oracle[Any, Any]) -> dict[Any, Value]:
    """Return the value of each of `sight.actions` if the opponent keeps to its policy.

    If the rest of the match can be searched, these are the values of the best response. Otherwise they are
    estimates that assume perfect play after the opponent's next decision. The result is empty if the policy
    is unknown, or in a game with hidden information if the oracle has no `values_against`.
    """
    rules, policy = sight.rules, getattr(opponent, "odds", None)
    if not isinstance(rules, OpenRules):
        if isinstance(opponent, LevelPlayer):
            return dict(oracle.values_against(sight, opponent.share))
        return {}
    if policy is None:
        return {}
    try:
        return _search(rules, sight, policy)
    except (TooLarge, ArithmeticError):
        return _look_ahead(rules, sight, policy, oracle)


def _search(rules: AnyRules, sight: AnySight, policy: _Policy) -> dict[Any, Value]:
    """Return the values of the best response by value iteration.

    In a game with a limit, the search ends at the next tick of the clock (in chain, with the board), and that
    end counts one half. If the search went on, the best response to an opponent who errs would win sooner or
    later after any action. Raises TooLarge if there are too many states, and ArithmeticError if the values
    do not converge.
    """
    limited = rules
    if rules.limit and rules.clock:
        limited = cast(Any, replace)(rules, **{rules.limit: getattr(sight.view, rules.clock) + 1})
    graph: Graph[Any] = explore(limited, [sight.view], limit=_MAX_STATES)
    for node, actor in enumerate(graph.actor):
        if actor is sight.seat.other:  # to the responder, the policy is chance
            reply = rules.sight(graph.states[node], actor)
            weights = policy(reply)
            fractions = (Fraction(weights.get(action, 0.0)) for action in reply.actions)
            graph.actor[node] = CHANCE
            graph.odds[node] = tuple(odds.limit_denominator(_MAX_DENOMINATOR) for odds in fractions)
    brackets = Brackets(graph, {})
    brackets.narrow_to(_MAX_ERROR, _MAX_SWEEPS)
    own_values = brackets.low if sight.seat is Seat.ONE else [1 - value for value in brackets.high]
    successors = zip(sight.actions, graph.successors[0], strict=True)
    return {action: Value(own_values[node]) for action, node in successors}


def _look_ahead(
    rules: OpenRules[Any, Any], sight: AnySight, policy: _Policy, oracle: Oracle[Any, Any]
) -> dict[Any, Value]:
    """Return estimates. Equivalent actions share an estimate, because each one takes long."""

    def estimate(state: Any) -> float:
        actor, outcome = rules.actor(state), rules.outcome(state)
        if outcome:
            return float(outcome.score(sight.seat))
        next_states = [rules.apply(state, action).state for action in rules.actions(state)]
        if actor is CHANCE:
            weighted = zip(rules.odds(state), next_states, strict=True)
            return sum(float(p) * estimate(next_state) for p, next_state in weighted)
        if actor is sight.seat:
            return max(map(estimate, next_states))
        reply = rules.sight(state, sight.seat.other)
        odds = policy(reply)
        values = {judged.action: judged.value.number for judged in oracle.judge(reply).actions}
        return 1 - sum(odds.get(action, 0.0) * value for action, value in values.items())

    classes = {action: oracle.action_class(sight, action) for action in sight.actions}
    examples = {action_class: action for action, action_class in classes.items()}
    values = {
        action_class: Value(estimate(rules.apply(sight.view, action).state), Exactness.ESTIMATE)
        for action_class, action in examples.items()
    }
    return {action: values[action_class] for action, action_class in classes.items()}
