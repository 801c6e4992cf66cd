"""The default oracle of small games without secrets: by hand, and against independent oracles."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from duels.core.errors import DuelsError
from duels.core.explore import iter_reachable
from duels.core.game import Game
from duels.core.laws import check_everywhere
from duels.core.notation import parse_seat, split_fields
from duels.core.options import option
from duels.core.rules import CHANCE, Actor, Event, OpenRules, Outcome, Seat, Step
from duels.games import GAMES
from duels.solving import induction
from duels.solving.induction import InductionOracle
from duels.solving.oracles import get_oracle
from tests.outside.words import StringRules

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Place:
    """The token's cell, the player to move, whether a coin flip is next, and the number of pulls left."""

    cell: int
    mover: Seat
    tossed: bool = False
    left: int | None = None


@dataclass(frozen=True)
class Moved(Event):
    place: Place


@dataclass(frozen=True)
class Tug(StringRules[Place, Place], OpenRules[Place, str]):
    """A token on a line: Player 1 wins at its end, Player 2 at 0, and both pull it by one, or leave it.

    With a coin, tails keeps it where it is. When no pulls are left, it is a draw.
    """

    length: int = 4
    start: int = option(2, minimum=0)
    coin: bool = False
    pulls: int | None = None

    game = Game("tug", "Tug", "a toy", __name__)
    can_be_drawn = True

    def initial(self) -> Place:
        return Place(self.start, Seat.ONE, left=self.pulls)

    def actor(self, state: Place) -> Actor | None:
        if self.outcome(state):
            return None
        return CHANCE if state.tossed else state.mover

    def actions(self, state: Place) -> tuple[str, ...]:
        if self.outcome(state):
            return ()
        return ("heads", "tails") if state.tossed else ("leave", "pull")

    def odds(self, state: Place) -> tuple[Fraction, ...]:
        return (Fraction(2, 3), Fraction(1, 3))

    def apply(self, state: Place, action: str) -> Step[Place]:
        if action == "pull" and self.coin:
            after = replace(state, tossed=True)
        else:
            by = 0 if action in ("leave", "tails") else 1 if state.mover is Seat.ONE else -1
            left = None if state.left is None else state.left - 1
            after = Place(state.cell + by, state.mover.other, left=left)
        return Step(after, (Moved(after),))

    def outcome(self, state: Place) -> Outcome | None:
        if state.cell == self.length:
            return Outcome.win(Seat.ONE, "The end is reached.")
        if state.cell == 0:
            return Outcome.win(Seat.TWO, "The start is reached.")
        return Outcome.draw("It is left there.") if state.left == 0 else None

    def all_actions(self) -> tuple[str, ...]:
        return ("leave", "pull")

    def all_outcomes(self) -> tuple[str, ...]:
        return ("heads", "tails") if self.coin else ()

    def parse_state(self, text: str) -> Place:
        cell, mover, tossed, left = split_fields(text, 4, 4, "2 1 n -")
        return Place(
            int(cell), parse_seat(mover, text), tossed.lower() == "y", None if left == "-" else int(left)
        )

    def format_state(self, state: Place) -> str:
        left = "-" if state.left is None else state.left
        return f"{state.cell} {state.mover.value} {'y' if state.tossed else 'n'} {left}"


def solve(rules: Any) -> InductionOracle[Any, Any]:
    return InductionOracle(rules)


def values(oracle: InductionOracle[str, Place], *cells: int, mover: Seat = Seat.ONE) -> list[Fraction]:
    return [oracle.state_value(Place(cell, mover)) for cell in cells]


def test_the_toy_is_lawful() -> None:
    for rules in (Tug(), Tug(pulls=5), Tug(coin=True), Tug(coin=True, pulls=3)):
        check_everywhere(rules)


def test_endless_play_is_worth_one_half() -> None:
    oracle = InductionOracle(Tug(length=6, start=3))
    assert values(oracle, 1, 2, 3, 4, 5) == [HALF, HALF, HALF, HALF, 1]
    assert values(oracle, 1, 2, 3, 4, 5, mover=Seat.TWO) == [0, HALF, HALF, HALF, HALF]
    assert all(check.passed for check in oracle.verify())


def test_unreachable_positions_are_solved_on_request() -> None:
    rules = Tug(start=4)  # over before it begins
    oracle = InductionOracle(rules)
    assert oracle.value(rules.sight(rules.initial(), Seat.ONE)).fraction == 1
    assert oracle.state_value(Place(1, Seat.TWO)) == 0


def test_prefers_quick_wins_and_long_resistance() -> None:
    """In Light Out Duel's 3 in a row everything can win or lose sooner or later."""
    rules = GAMES["lights"].rules(lights=5)
    oracle = solve(rules)
    sight = rules.parse_position("XXXOO 1")
    verdict = oracle.judge(sight)
    assert [rules.format(action) for action in verdict.best] == ["4-5"]
    won = rules.parse_position("XXOOO 1")
    assert {rules.format(j.action): (j.best, j.weight) for j in oracle.judge(won).actions} == {
        "3": (False, 0),
        "4": (True, 1),  # the other then turns off one, and the last is left
        "5": (False, 0),
        "3-4": (False, 0),
        "4-5": (False, 0),
    }
    assert oracle.reason(won) == "4 wins by force within 3 moves."


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ("3 1 n 4", "pull wins at once."),
        ("1 1 n 2", "pull keeps the draw; every other move loses."),
        ("2 1 n 1", "Every move keeps the draw."),
    ],
)
def test_explains_its_choice(position: str, reason: str) -> None:
    rules = Tug(pulls=5)
    assert InductionOracle(rules).reason(rules.parse_position(position)) == reason


@dataclass(frozen=True)
class CutOff(Tug):
    """When no pulls are left, it is cut off, and nothing is a draw."""

    limit = "pulls"
    clock = "left"

    def outcome(self, state: Place) -> Outcome | None:
        outcome = super().outcome(state)
        return Outcome.cut("Enough.") if outcome == Outcome.draw("") else outcome


@pytest.mark.parametrize(
    ("rules", "left"), [(CutOff(length=6, pulls=5), "2"), (Tug(length=6), "-")], ids=["cut off", "for ever"]
)
def test_only_draws_are_called_draws(rules: Tug, left: str) -> None:
    oracle = InductionOracle(rules)
    sight = rules.parse_position(f"3 1 n {left}")
    assert oracle.reason(sight) == "Nobody can force a win."
    sight = rules.parse_position(f"1 1 n {left}")
    assert oracle.reason(sight) == "After pull nobody can force a win; every other move loses."
    sight = rules.parse_position(f"5 1 n {left}")
    assert oracle.effect(sight, "leave") == "You played leave, after which nobody can force a win."


def test_explains_a_loss() -> None:
    rules = GAMES["lights"].rules(lights=4)
    oracle = solve(rules)
    sight = rules.parse_position("OXXO 1")
    assert oracle.reason(sight) == "Every move loses by force; 1 or 4 holds out longest."
    sight = rules.parse_position("OXOO 1")
    assert (
        oracle.effect(sight, sight.actions[0]) == "You played 1, after which the other player wins by force."
    )


def test_explains_slips() -> None:
    rules = Tug(pulls=5)
    oracle = InductionOracle(rules)
    sight = rules.parse_position("3 1 n 4")
    assert oracle.effect(sight, "leave") == "You played leave, which lets a win become a draw."
    rules = Tug(coin=True, pulls=5)
    oracle = InductionOracle(rules)
    sight = rules.parse_position("3 1 n 1")
    assert oracle.reason(sight) == "pull leaves you 83.3%, the next best 50.0%."
    assert oracle.effect(sight, "leave") == "You played leave, which left you 50.0%."


def expectimax(rules: Tug, state: Place) -> Fraction:
    """By plain recursion."""
    outcome = rules.outcome(state)
    if outcome:
        return outcome.score(Seat.ONE)
    after = [expectimax(rules, rules.apply(state, action).state) for action in rules.actions(state)]
    if rules.actor(state) is CHANCE:
        return sum((p * v for p, v in zip(rules.odds(state), after, strict=True)), Fraction(0))
    return max(after) if state.mover is Seat.ONE else min(after)


def test_chance_values_are_exact_fractions() -> None:
    rules = Tug(length=5, coin=True, pulls=6)
    oracle = InductionOracle(rules)
    values = [
        (oracle.state_value(match.state), expectimax(rules, match.state)) for match in iter_reachable(rules)
    ]
    assert all(value == expected for value, expected in values)
    assert len({value for value, _ in values}) > 10
    assert all(check.passed for check in oracle.verify())


def test_the_second_method_finds_a_wrong_value() -> None:
    oracle = InductionOracle(Tug(pulls=4))
    oracle._values[Place(3, Seat.TWO, left=3)] = Fraction(1)
    equations = next(oracle.verify())
    assert not equations.passed
    assert "wrong at" in equations.detail


@pytest.mark.parametrize(("name", "options"), [("lights", {}), ("leap", {}), ("leap", {"goal": 40})])
def test_agrees_with_the_games_own_oracles(name: str, options: dict[str, int]) -> None:
    rules = GAMES[name].rules(**options)
    own, default = get_oracle(rules), solve(rules)
    for match in iter_reachable(rules):
        sight = rules.sight(match.state, match.state.mover)
        assert default.value(sight) == own.value(sight)
        if sight.actions:
            assert default.judge(sight).best == own.judge(sight).best


def test_rejects_chance_with_cycles() -> None:
    with pytest.raises(DuelsError, match=r"^tug has chance and cycles: .*\.$"):
        InductionOracle(Tug(coin=True))


@dataclass(frozen=True)
class Huge(Tug):
    def max_states(self) -> int:
        return 10**9

    def initial(self) -> Place:
        raise AssertionError("it was asked how many there are first")


def test_rejects_too_many_states_before_solving() -> None:
    with pytest.raises(DuelsError, match=r"^tug has more than 200,000 states .*\.$"):
        InductionOracle(Huge())


def test_rejects_too_many_states_during_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induction, "MAX_STATES", 2000)
    with pytest.raises(DuelsError, match=r"^tug has more than 2,000 states"):
        InductionOracle(Tug(length=10_000, start=5000))


def test_reports_progress() -> None:
    messages: list[str] = []
    InductionOracle(Tug(), messages.append)
    assert messages
