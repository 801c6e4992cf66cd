"""Reviews with an oracle that values histories: luck belongs to the hidden choice."""

from collections.abc import Mapping
from itertools import product

import pytest

from duels.analysis.review import review
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import CHANCE, Seat
from tests.analysis.toys import HideOracle, SeeingHideOracle
from tests.core.toys import FACES, SIDES, Hide

ORACLE = SeeingHideOracle()


def value_of(match: Match) -> float:  # type: ignore[type-arg]
    if match.outcome:
        return float(match.outcome.score(Seat.ONE))
    return ORACLE.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO)).number


@pytest.mark.parametrize("entries", [*product(FACES, SIDES, SIDES)])
def test_luck_and_losses_add_up_to_the_result(entries: tuple[str, str, str]) -> None:
    match = Match.start(Hide()).play_text(*entries)
    match_review = review(match, ORACLE)
    total = (
        match_review.opening + match_review.luck - match_review.loss(Seat.ONE) + match_review.loss(Seat.TWO)
    )
    assert total == pytest.approx(match_review.score)
    assert match.outcome
    assert match_review.score == match.outcome.score(Seat.ONE)
    assert [moment.value_after for moment in match_review.entries] == [
        value_of(step) for step in match.steps()
    ]
    fell, hid, guessed = match_review.entries
    assert (fell.actor, fell.outcome_text) == (CHANCE, f"chance brought {entries[0]}")
    assert hid.luck == pytest.approx(hid.value_after - hid.value_before)
    assert hid.luck == pytest.approx(hid.mixing)  # where it was hidden is all that came up
    assert hid.beliefs == {}
    assert guessed.beliefs[Seat.TWO].probabilities == ORACLE.HIDES
    assert guessed.beliefs[Seat.TWO].truth == entries[1]


class EvenHideOracle(SeeingHideOracle):
    """Player 1 hides left as often as right, though they are not worth the same."""

    HIDES: Mapping[str, float] = {"left": 0.5, "right": 0.5}


@pytest.mark.parametrize("entries", [*product(FACES, SIDES, SIDES)])
def test_even_mixtures_count_as_mixing(entries: tuple[str, str, str]) -> None:
    _, hid, _ = review(Match.start(Hide()).play_text(*entries), EvenHideOracle()).entries
    assert hid.luck == pytest.approx(hid.mixing)
    assert abs(hid.mixing) == pytest.approx(0.1)


def test_values_are_the_mean_of_their_successors() -> None:
    """So luck is 0 on average, by the pair of strategies that the oracle plays."""
    start = Match.start(Hide())
    for node, weights in (
        (start, (0.5, 0.5)),
        *((start.play_text(face), tuple(HideOracle.HIDES.values())) for face in FACES),
        *((start.play_text(*e), tuple(HideOracle.GUESSES.values())) for e in product(FACES, SIDES)),
    ):
        after = [value_of(node.play_text(node.rules.format(action))) for action in node.actions]
        assert sum(w * v for w, v in zip(weights, after, strict=True)) == pytest.approx(value_of(node))


def test_without_match_values_the_actors_value_counts() -> None:
    match = Match.start(Hide()).play_text("heads", "left", "left")
    match_review = review(match, HideOracle())
    assert [moment.value_after for moment in match_review.entries] == pytest.approx([0.45, 0.45, 0])
    assert match_review.opening + match_review.luck == pytest.approx(match_review.score)


def test_matches_with_secrets_are_reviewed_after_the_end() -> None:
    with pytest.raises(DuelsError, match="once it is over"):
        review(Match.start(Hide()).play_text("heads", "left"), ORACLE)
