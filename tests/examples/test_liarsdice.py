"""Liar's dice, an example with secrets: equal to OpenSpiel's, node by node and in value."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from duels_liarsdice import GAME
from duels_liarsdice.rules import LiarsDice

from duels.core.errors import DuelsError
from duels.core.explore import iter_reachable
from duels.core.laws import check_everywhere
from duels.core.match import AnyMatch, Match
from duels.core.record import dump_record
from duels.core.rules import CHANCE, Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.solving.cfr import TARGET
from duels.solving.equilibrium_oracle import EquilibriumOracle
from duels.solving.oracles import get_oracle

pyspiel = pytest.importorskip("pyspiel")


@pytest.mark.parametrize("sides", [1, 2, 3])
def test_every_law_holds_everywhere(sides: int) -> None:
    rules = LiarsDice(sides)
    assert check_everywhere(rules).states <= rules.max_states()


def test_states_do_not_exceed_the_stated_maximum() -> None:
    assert sum(1 for _ in iter_reachable(LiarsDice())) <= LiarsDice().max_states()


@pytest.mark.parametrize(
    ("entries", "winner"),
    [
        ("4 2 1-4 liar", Seat.ONE),  # there is one 4
        ("4 2 1-3 liar", Seat.TWO),
        ("4 2 2-4 liar", Seat.TWO),
        ("6 4 2-4 liar", Seat.ONE),  # a 6 counts as a 4
        ("6 6 2-1 liar", Seat.ONE),
        ("4 6 1-1 1-2 1-3 liar", Seat.ONE),
        ("4 2 1-6 2-2 liar", Seat.ONE),  # Player 2 bid it, and Player 1 called
    ],
)
def test_the_winner_of_a_call(entries: str, winner: Seat) -> None:
    outcome = Match.start(LiarsDice()).play_text(*entries.split()).outcome
    assert outcome
    assert outcome.winner is winner


def test_bids_must_rise() -> None:
    match = Match.start(LiarsDice(3)).play_text("1", "1")
    assert [match.rules.format(action) for action in match.actions] == [
        "1-1",
        "1-2",
        "1-3",
        "2-1",
        "2-2",
        "2-3",
    ]
    match = match.play_text("1-3")
    assert [match.rules.format(action) for action in match.actions] == ["2-1", "2-2", "2-3", "liar"]
    match = match.play_text("2-3")
    assert [match.rules.format(action) for action in match.actions] == ["liar"]


def test_dice_are_revealed_by_a_call() -> None:
    match = Match.start(LiarsDice(3)).play_text("1", "3", "1-1", "liar")
    for seat in Seat:
        copy = dump_record(match, seat=seat)
        assert load_record(copy, GAME).match.sight(seat) == match.sight(seat)
    assert match.previous
    assert match.previous.sight(Seat.ONE).view.dice == (1, 0)
    assert match.sight(Seat.ONE).view.dice == (1, 3)


def test_the_screen_of_a_match() -> None:
    rules = LiarsDice(3)
    words = GAME.words(rules)
    match = Match.start(rules).play_text("1", "3", "2-1")
    assert strip_ink(str(words.board(match.sight(Seat.ONE)))) == (
        "Player 1's die: 1\nPlayer 2's die: hidden\nLast bid: two 1s\n"
    )
    events = match.events_seen_by(Seat.TWO)
    lines = [words.narrate(events.first(length)).render() for length in range(1, len(events) + 1)]
    assert "".join(lines) == "Player 2 rolls a 3.\nPlayer 1 bids two 1s.\n"
    over = match.play_text("liar")
    assert strip_ink(words.narrate(over.events_seen_by(None)).render()) == (
        "Player 2 calls. The bid is two 1s, the dice are 1 and 3. Player 1 wins!\n"
    )


# -- beside OpenSpiel --------------------------------------------------------------------------------


def spiel_game(sides: int) -> Any:
    return pyspiel.load_game(f"liars_dice(numdice=1,dice_sides={sides})")


def in_step(match: AnyMatch, state: Any) -> Iterator[tuple[AnyMatch, Any]]:
    """Every history in both."""
    yield match, state
    for number, action in zip(state.legal_actions(), match.actions, strict=True):
        assert match.actor
        yield from in_step(match.play(match.actor, action), state.child(number))


@pytest.mark.parametrize("sides", [2, 3, 4])
def test_rules_agree_with_openspiel(sides: int) -> None:
    histories = 0
    for match, state in in_step(Match.start(LiarsDice(sides)), spiel_game(sides).new_initial_state()):
        histories += 1
        names = [state.action_to_string(number).lower() for number in state.legal_actions()]
        assert [name.removeprefix("roll ") for name in names] == list(map(match.rules.format, match.actions))
        if match.actor is CHANCE:
            odds = [probability for _, probability in state.chance_outcomes()]
            assert odds == pytest.approx([float(p) for p in match.rules.odds(match.state)])
        elif match.actor is not None:
            assert state.current_player() == match.actor - 1
        else:
            assert match.outcome
            assert state.returns()[0] == 2 * match.outcome.score(Seat.ONE) - 1
    assert histories == {2: 127, 3: 1147, 4: 8181}[sides]


@cache
def oracle(sides: int) -> EquilibriumOracle[Any, Any]:
    solved = get_oracle(LiarsDice(sides))
    assert isinstance(solved, EquilibriumOracle)
    return solved


@pytest.mark.parametrize("sides", [2, 3, 4])
def test_the_value_agrees_with_openspiels_solver(sides: int) -> None:
    game = spiel_game(sides)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    margin = pyspiel.nash_conv(game, policy)
    # OpenSpiel counts from -1 to 1.
    low, high = (value - margin + 1) / 2, (value + margin + 1) / 2
    answers = oracle(sides).solution.best_response_values
    assert 1 - answers[Seat.TWO] <= high
    assert low <= answers[Seat.ONE]
    assert oracle(sides).solution.nash_conv <= TARGET
    opening = LiarsDice(sides).sight(LiarsDice(sides).initial(), Seat.ONE)
    assert oracle(sides).value(opening).number == pytest.approx((value + 1) / 2, abs=margin + TARGET)


@pytest.mark.parametrize(("sides", "value"), [(1, 1), (2, 3 / 4), (3, 5 / 9), (4, 17 / 32)])
def test_the_value_agrees_with_linear_programming(sides: int, value: float) -> None:
    answers = oracle(sides).solution.best_response_values
    assert 1 - answers[Seat.TWO] - 1e-9 <= value <= answers[Seat.ONE] + 1e-9


@pytest.mark.parametrize("sides", [2, 3])
def test_openspiel_agrees_on_nash_conv(sides: int) -> None:
    game, table = spiel_game(sides), {}
    for match, state in in_step(Match.start(LiarsDice(sides)), game.new_initial_state()):
        if isinstance(match.actor, Seat):
            weights = oracle(sides).weights(match.sight(match.actor))
            table[state.information_state_string()] = list(zip(state.legal_actions(), weights, strict=True))
    nash_conv = pyspiel.nash_conv(game, pyspiel.TabularPolicy(table))
    assert nash_conv == pytest.approx(2 * oracle(sides).solution.nash_conv, abs=1e-9)


# -- its default oracle ------------------------------------------------------------------------------


def test_a_wild_face_changes_the_belief() -> None:
    rules = LiarsDice(3)
    holding = [oracle(3).value(rules.parse_position(f"2: ?, {face}, 1-3")).number for face in (1, 2, 3)]
    assert holding[2] < 0.5 < holding[0], "Player 1 has bid what a 3 makes true"
    sight = rules.parse_position("2: ?, 1, 2-3")
    verdict = oracle(3).judge(sight)
    assert [rules.format(action) for action in verdict.best] == ["liar"]
    assert verdict.value.number == pytest.approx(1)


def test_beliefs_are_about_the_other_die() -> None:
    rules = LiarsDice(3)
    sight = rules.parse_position("2: ?, 1, 2-1")
    belief = oracle(3).belief(sight)
    assert list(belief) == ["hidden 1", "hidden 2", "hidden 3"]
    assert sum(belief.values()) == pytest.approx(1)
    assert belief["hidden 1"] > 0.9, "only who has a 1 bids so at once"
    assert oracle(3).own_secret(rules.parse_position("1: 1, ?, 2-1")) == "hidden 1"


def test_rejects_features_of_too_many_states_at_once() -> None:
    with pytest.raises(DuelsError, match="write a module 'features' in duels_liarsdice"):
        GAME.encoding(LiarsDice(10_000))


def test_rejects_dice_with_many_sides_at_once() -> None:
    with pytest.raises(DuelsError, match=r"^liarsdice has more than 400,000 histories .*\.$"):
        get_oracle(LiarsDice(7))


@pytest.mark.slow
@pytest.mark.parametrize(("sides", "most", "value"), [(5, TARGET, 63 / 125), (6, 0.003, 0.486434108527)])
def test_solves_dice_with_five_and_six_sides(sides: int, most: float, value: float) -> None:
    """Values by linear programming; that of six sides, -0.027131782945736, is in OpenSpiel's own tests."""
    solution = oracle(sides).solution
    assert solution.nash_conv <= most
    assert (
        1 - solution.best_response_values[Seat.TWO] - 1e-9
        <= value
        <= solution.best_response_values[Seat.ONE] + 1e-9
    )
