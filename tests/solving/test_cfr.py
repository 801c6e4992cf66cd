"""Equilibria of small games with secrets, against values known by hand."""

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from duels.core.errors import DuelsError
from duels.core.explore import iter_reachable
from duels.core.game import Game
from duels.core.laws import check_everywhere
from duels.core.match import AnyMatch, Match
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, AnyRules, Event, Outcome, Seat, Step
from duels.core.secret_rules import SecretRules
from duels.games import GAMES
from duels.solving.best_response import best_response
from duels.solving.cfr import MIN_PROBABILITY, TARGET, Equilibrium, find_equilibrium
from duels.solving.equilibrium_oracle import EquilibriumOracle, ProfileValues
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle
from duels.solving.tree import Tree, build_tree
from tests.core.toys import Fell, Hid, Hide, Ready
from tests.outside.highcard import HighCard
from tests.outside.words import StringRules
from tests.support import count_lines


@dataclass(frozen=True)
class State:
    """The hiding place and the guess. In Player 2's view, the place is `?` until the end."""

    hidden: str = ""
    sought: str = ""
    coin: str = ""


@dataclass(frozen=True)
class Sought(Event):
    side: str
    hidden: str


@dataclass(frozen=True)
class Skewed(StringRules[State, State], SecretRules[State, str, State]):
    """Player 1 hides left or right, Player 2 seeks. If not found on the right, a coin decides.

    With a coin of chance c, who hides takes the left with c / (1 + c), and wins as often.
    """

    bias: int = option(50, maximum=99)

    game = Game("skewed", "Skewed", "a toy", __name__)

    def initial(self) -> State:
        return State()

    def actor(self, state: State) -> Actor | None:
        if not state.sought:
            return Seat.TWO if state.hidden else Seat.ONE
        return CHANCE if self._tossed(state) and not state.coin else None

    def _tossed(self, state: State) -> bool:
        return (state.hidden, state.sought) == ("right", "left")

    def actions(self, state: State) -> tuple[str, ...]:
        actor = self.actor(state)
        return () if actor is None else ("heads", "tails") if actor is CHANCE else ("left", "right")

    def odds(self, state: State) -> tuple[Fraction, ...]:
        return (Fraction(self.bias, 100), 1 - Fraction(self.bias, 100))

    def apply(self, state: State, action: str) -> Step[State]:
        if not state.hidden:
            return Step(State(action), (Hid(action, seen_by=frozenset({Seat.ONE})), Ready()))
        if not state.sought:
            return Step(replace(state, sought=action), (Sought(action, state.hidden),))
        return Step(replace(state, coin=action), (Fell(action),))

    def outcome(self, state: State) -> Outcome | None:
        if not state.sought or (self._tossed(state) and not state.coin):
            return None
        won = state.hidden != state.sought and state.coin != "tails"
        return Outcome.win(Seat.ONE if won else Seat.TWO, "It was sought.")

    def view(self, state: State, seat: Seat) -> State:
        return state if seat is Seat.ONE or state.sought or not state.hidden else State("?")

    def all_actions(self) -> tuple[str, ...]:
        return ("left", "right")

    def all_outcomes(self) -> tuple[str, ...]:
        return ("heads", "tails")


class Forgetful(Skewed):
    """Player 1 does not learn its own action and decides a second time."""

    def actor(self, state: State) -> Actor | None:
        return Seat.ONE if state.hidden and not state.sought else super().actor(state)

    def apply(self, state: State, action: str) -> Step[State]:
        step = super().apply(state, action)
        return step if state.hidden else Step(step.state, (Ready(),))


SMALL: list[AnyRules] = [Hide(), Skewed(), GAMES["hunt"].rules(cells=2, max_turns=3)]


def solve(rules: AnyRules) -> tuple[Tree, Equilibrium]:
    tree = build_tree(rules)
    return tree, find_equilibrium(tree)


# -- the tree ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", SMALL, ids=lambda rules: rules.name)
def test_the_tree_has_every_history(rules: AnyRules) -> None:
    counts = count_lines(rules, 20)
    assert counts[-1] == 0
    tree = build_tree(rules)
    assert len(tree) == 1 + sum(counts)
    assert all(children.start > node for node, children in enumerate(tree.children) if children)


def test_indistinguishable_histories_share_an_information_set() -> None:
    tree = build_tree(Skewed())
    one, two = tree.information_set[Seat.ONE], tree.information_set[Seat.TWO]
    left, right = tree.children[0]
    assert one[left] != one[right]
    assert two[left] == two[right] != two[0]
    sight = Match.start(Skewed()).play_text("left").sight(Seat.TWO)
    assert tree.information_sets[Seat.TWO].find(sight.events) == two[left]
    assert tree.information_sets[Seat.TWO].find([*sight.events, *sight.events]) is None


@pytest.mark.parametrize("options", [{}, {"cells": 4, "max_turns": 40}])
def test_rejects_large_games_early(options: dict[str, int]) -> None:
    with pytest.raises(DuelsError, match=r"^hunt has more than 400,000 histories with these options, .*\.$"):
        build_tree(GAMES["hunt"].rules(**options))


def test_rejects_imperfect_recall() -> None:
    with pytest.raises(DuelsError, match="Player 1 does not see its own actions"):
        solve(Forgetful())


# -- equilibria --------------------------------------------------------------------------------------


def test_the_toy_is_lawful() -> None:
    check_everywhere(Skewed())


@pytest.mark.parametrize("percent", [10, 50, 80])
def test_finds_a_value_computed_by_hand(percent: int) -> None:
    chance = percent / 100
    tree, solution = solve(Skewed(percent))
    value = chance / (1 + chance)
    assert solution.nash_conv <= TARGET
    assert (
        1 - solution.best_response_values[Seat.TWO] - 1e-9
        <= value
        <= solution.best_response_values[Seat.ONE] + 1e-9
    )
    assert solution.policy[Seat.ONE][0] == pytest.approx((value, 1 - value), abs=0.01)
    hidden = tree.information_set[Seat.TWO][1]
    assert solution.policy[Seat.TWO][hidden] == pytest.approx((1 - value, value), abs=0.01)


def test_matching_pennies_is_even() -> None:
    tree, solution = solve(Hide())
    assert ProfileValues(tree, solution.policy).value[0] == pytest.approx(0.5, abs=TARGET)


@pytest.mark.parametrize("rules", SMALL, ids=lambda rules: rules.name)
def test_nash_conv_is_the_gain_of_best_responses(rules: AnyRules) -> None:
    """Found once in sequence form, once with the values, and once by plain search through the rules."""
    oracle = EquilibriumOracle(rules)
    solution = oracle.solution
    assert solution.nash_conv <= TARGET
    for seat in Seat:
        assert best_response(rules, seat, oracle.weights) == pytest.approx(
            solution.best_response_values[seat], abs=1e-9
        )
        opening = oracle.profile.state_value(seat, 0)
        gain = solution.best_response_values[seat] - opening.number
        others = solution.best_response_values[seat.other] - (1 - opening.number)
        assert opening.error == pytest.approx(max(gain, others), abs=2e-9)
    assert all(check.passed for check in oracle.verify())


def test_equal_rules_have_the_same_solution() -> None:
    assert solve(Skewed(30))[1] == solve(Skewed(30))[1]


def test_reports_progress() -> None:
    messages: list[str] = []
    EquilibriumOracle(Skewed(), messages.append)
    assert "histories" in messages[0]
    assert "points given away" in messages[-1]


# -- the oracle --------------------------------------------------------------------------------------


def walk(match: AnyMatch) -> list[AnyMatch]:
    further = [match.play(match.actor, action) for action in match.actions] if match.actor else []
    return [match, *(each for after in further for each in walk(after))]


@pytest.mark.parametrize("rules", SMALL, ids=lambda rules: rules.name)
def test_a_history_has_the_mean_value_of_its_successors(rules: AnyRules) -> None:
    oracle = get_oracle(rules) if rules.name != "hunt" else EquilibriumOracle(rules)
    assert isinstance(oracle, EquilibriumOracle)

    def state_value(match: AnyMatch) -> float:
        return oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO)).number

    for match in walk(Match.start(rules)):
        if match.outcome:
            assert state_value(match) == match.outcome.score(Seat.ONE)
            continue
        assert match.actor
        after = [state_value(match.play(match.actor, action)) for action in match.actions]
        if isinstance(match.actor, Seat):
            sight, others = match.sight(match.actor), match.sight(match.actor.other)
            odds = oracle.weights(sight)
            action_values = [
                oracle.full_information_action_value(sight, others, action) for action in sight.actions
            ]
            actor_values = after if match.actor is Seat.ONE else [1 - value for value in after]
            assert action_values == pytest.approx(actor_values)
        else:
            odds = tuple(map(float, rules.odds(match.state)))
        assert state_value(match) == pytest.approx(sum(p * v for p, v in zip(odds, after, strict=True)))


@pytest.mark.parametrize("rules", SMALL, ids=lambda rules: rules.name)
def test_an_information_set_has_the_mean_value_of_its_actions(rules: AnyRules) -> None:
    oracle = EquilibriumOracle(rules)
    for match in walk(Match.start(rules)):
        if not isinstance(match.actor, Seat):
            continue
        sight = match.sight(match.actor)
        verdict = oracle.judge(sight)
        assert verdict.value.exactness is Exactness.BOUND
        mean = sum(
            weight * judged.value.number
            for weight, judged in zip(oracle.weights(sight), verdict.actions, strict=True)
        )
        assert verdict.value.number == pytest.approx(mean) == oracle.value(sight).number
        assert sum(judged.weight for judged in verdict.actions) == pytest.approx(1)
        assert verdict.best
        # No action is worth more than the bound.
        assert max(judged.value.number for judged in verdict.actions) <= verdict.value.high + 1e-9
        assert sum(oracle.belief(sight).values()) == pytest.approx(1) or not oracle.belief(sight)


def test_actions_of_the_mixture_have_no_loss() -> None:
    oracle = EquilibriumOracle(Skewed())
    sight = Match.start(Skewed()).play_text("left").sight(Seat.TWO)
    verdict = oracle.judge(sight)
    assert verdict.best == sight.actions
    assert verdict.losses == (0, 0)
    assert oracle.reason(sight).startswith("Perfect play mixes here")
    # Player 2 finds the right side easily once it is known to be the right one.
    assert oracle.belief(sight) == pytest.approx({"left": 1 / 3, "right": 2 / 3}, abs=0.01)
    assert oracle.own_secret(Match.start(Skewed()).play_text("left").sight(Seat.ONE)) == "left"
    assert oracle.guarantee() == (
        "Both seats together could gain at most 0.01 points by deviating. "
        "The game's value to Player 1 lies between 33.32% and 33.34%."
    )


def test_finished_matches_have_certain_values() -> None:
    rules = Skewed()
    oracle = EquilibriumOracle(rules)
    for entries, won in ((("left", "right"), 1), (("left", "left"), 0), (("left", "resign"), 1)):
        match = Match.start(rules).play_text(*entries)
        assert oracle.value(match.sight(Seat.ONE)).fraction == won
        assert oracle.value(match.sight(Seat.TWO)).fraction == 1 - won


def test_rejects_impossible_observations() -> None:
    sight = Match.start(Skewed()).play_text("left").sight(Seat.TWO)
    oracle = EquilibriumOracle(Skewed())
    with pytest.raises(DuelsError, match="Player 2 cannot have this sight in skewed"):
        oracle.value(replace(sight, events=(*sight.events, *sight.events)))
    with pytest.raises(DuelsError, match="do not belong to one match"):
        oracle.full_information_value(Match.start(Skewed()).sight(Seat.ONE), sight)


@pytest.mark.parametrize("rules", [*SMALL, HighCard(cards=3, max_passes=3)], ids=lambda rules: rules.name)
def test_judges_with_the_weights_of_the_solution(rules: AnyRules) -> None:
    """The weights that an oracle judges with are those that it plays by, which are the ones measured."""
    oracle = EquilibriumOracle(rules)
    for match in iter_reachable(rules):
        if isinstance(match.actor, Seat):
            sight = match.sight(match.actor)
            weights = oracle.weights(sight)
            assert weights == tuple(judged.weight for judged in oracle.judge(sight).actions)
            assert all(weight == 0 or weight >= MIN_PROBABILITY for weight in weights)
            assert sum(weights) == pytest.approx(1)


def test_keeps_rare_actions_that_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coin of 10 %, who hides takes the left once in eleven times, and would be found without."""
    monkeypatch.setattr("duels.solving.cfr.MIN_PROBABILITY", 0.2)
    rules = Skewed(10)
    oracle = EquilibriumOracle(rules)
    assert oracle.weights(rules.sight(rules.initial(), Seat.ONE))[0] == pytest.approx(1 / 11, abs=0.01)
    assert oracle.solution.nash_conv <= TARGET
