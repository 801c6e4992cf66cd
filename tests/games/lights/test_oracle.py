"""Perfect play in lights."""

from fractions import Fraction

import pytest

from duels.core.errors import NotYourTurn
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.lights import oracle as module
from duels.games.lights.oracle import make_oracle
from duels.games.lights.rules import Lights, TurnOff
from duels.solving.nimbers import TakeAndBreak, compute_nimbers
from duels.solving.oracle import Exactness

RULES = Lights()
ORACLE = make_oracle(RULES)
KAYLES_DIRECT = compute_nimbers((7, 7), 601)


@pytest.mark.parametrize("lights", [1, 2, 7, 12, 10_000])
def test_independent_methods_agree(lights: int) -> None:
    for check in make_oracle(Lights(lights)).verify():
        assert check.passed, check


def test_independent_methods_detect_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KAYLES", TakeAndBreak((3, 3)))  # as if a run could not be broken in two
    failed = [check.name for check in ORACLE.verify() if not check.passed]
    assert "nim-values are the published ones of Kayles" in failed
    assert "backward induction over the rules gives the same value everywhere" in failed


def test_the_opening_is_won_by_leaving_two_equal_halves() -> None:
    verdict = ORACLE.judge(RULES.sight(RULES.initial(), Seat.ONE))
    assert verdict.value.fraction == 1
    assert verdict.value.exactness is Exactness.EXACT
    assert [RULES.format(action) for action in verdict.best] == ["4", "2-3", "5-6"]
    assert [judged.weight for judged in verdict.actions if judged.best] == [pytest.approx(1 / 3)] * 3
    assert all(judged.value.fraction == 0 for judged in verdict.actions if not judged.best)


def test_a_row_of_ten_thousand_is_won_from_the_middle() -> None:
    rules = Lights(10_000)
    verdict = make_oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE))
    assert verdict.value.number == 1.0
    assert TurnOff(5_000, 2) in verdict.best


def test_the_opening_lists_the_nim_values() -> None:
    (finding,) = ORACLE.findings(RULES.parse_position("OOOOOOO 1"))
    assert finding.data["runs"] == list(module.PUBLISHED[:25])
    assert (finding.data["repeat_from"], finding.data["every"]) == (71, len(module.PUBLISHED_PERIOD))
    assert "no row at all" in finding.text
    assert not list(ORACLE.findings(RULES.parse_position("OOXOOXX 2")))


def test_the_first_player_wins_every_row() -> None:
    assert module.list_lost_rows() == [n for n in range(1, 600) if KAYLES_DIRECT[n] == 0] == []


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (
            "OOOOOOO 1",
            "You see one run of 7, nim-sum 2; turning off 4 leaves runs of 3 and 3, worth 3 and 3, "
            "nim-sum 0: answer every move by the same move in the equal run.",
        ),
        (
            "OOOOXOX 1",
            "You see runs of 4 and 1, worth 1 and 1, nim-sum 0: whatever you turn off, the other player can "
            "bring it back to 0.",
        ),
        (
            "OOOOXOO 1",
            "You see runs of 4 and 2, worth 1 and 2, nim-sum 3; turning off 6 leaves runs of 4 and 1, "
            "worth 1 and 1, nim-sum 0, and whatever the other player then turns off, you can bring it back "
            "to 0.",
        ),
        (
            "OOXOOXX 2",
            "You see runs of 2 and 2, worth 2 and 2, nim-sum 0: whatever you turn off, the other player can "
            "bring it back to 0.",
        ),
        ("XXOOXXX 1", "Turning off 3-4 turns off the last light."),
    ],
)
def test_reasons_of_moves(position: str, reason: str) -> None:
    assert ORACLE.reason(RULES.parse_position(position)) == reason


def test_finished_and_resigned_matches_have_their_result_as_value() -> None:
    finished = Match.start(RULES).play_text("1-2", "3-4", "5-6", "7")
    assert ORACLE.value(finished.sight(Seat.TWO)).fraction == 1
    assert ORACLE.value(finished.sight(Seat.ONE)).fraction == 0
    resigned = Match.start(RULES).resign(Seat.ONE)
    assert ORACLE.value(resigned.sight(Seat.ONE)).fraction == 0
    assert ORACLE.value(resigned.sight(Seat.TWO)).fraction == Fraction(1)


def test_rejects_a_seat_that_is_not_to_move() -> None:
    with pytest.raises(NotYourTurn, match="Player 2 has nothing to decide"):
        ORACLE.judge(RULES.sight(RULES.initial(), Seat.TWO))


def test_shifted_moves_share_an_action_class() -> None:
    left, right = RULES.parse_position("OOOXXXX 1"), RULES.parse_position("XXXXOOO 2")
    assert ORACLE.theme(left, TurnOff(1, 1)) == ORACLE.theme(left, TurnOff(3, 1))
    assert ORACLE.theme(left, TurnOff(1, 1)) == ORACLE.theme(right, TurnOff(5, 1))
    assert ORACLE.theme(left, TurnOff(1, 1)) != ORACLE.theme(left, TurnOff(2, 1))


def test_the_effect_of_a_slip_is_the_remaining_nim_sum() -> None:
    sight = RULES.parse_position("OOOXXXX 1")
    assert ORACLE.effect(sight, TurnOff(1, 1)) == (
        "You turned off 1, which left one run of 2, nim-sum 2: by turning off 2-3, the other player could "
        "bring it to 0."
    )
