"""Reviews of every ending of an unregistered game: drawn, cut off, resigned, forfeited."""

import json
from typing import Any

import pytest

import duels
from duels.analysis.reasons import Reason, explain_result
from duels.analysis.review import Review
from duels.analysis.review_json import review_to_dict
from duels.analysis.review_page import render_review_page
from duels.analysis.review_text import format_heading
from duels.core.match import Match
from duels.core.rules import Seat
from duels.players import HUMAN
from duels.terminal.review import render_review
from tests.analysis.toys import Steps


def reviewed(*entries: str, **options: Any) -> Review:
    return duels.review(Match.start(Steps(**options)).play_text(*entries))


def adds_up(review: Review) -> bool:
    total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
    return abs(total - review.score) < 1e-12


@pytest.mark.parametrize(
    ("entries", "options", "result", "score", "losses"),
    [
        (("1", "1", "2"), {}, "1 won", 1, (0, 0)),
        (("2", "2"), {}, "2 won", 0, (1, 0)),
        (("2", "1", "2"), {}, "drawn", 0.5, (1.5, 1)),
        (("1", "2"), {"max_turns": 2}, "cut off", 0.5, (0, 0)),
        (("1", "resign"), {}, "1 won, 2 resigned", 1, (0, 0)),
        (("2", "resign"), {}, "1 won, 2 resigned", 1, (1, 1)),
        (("1", "resign 1"), {}, "2 won, 1 resigned", 0, (1, 0)),
        (("2", "resign 1"), {}, "2 won, 1 resigned", 0, (1, 0)),
        (("resign 2",), {}, "1 won, 2 resigned", 1, (0, 0)),
        (("2", "forfeit"), {}, "1 won, 2 forfeited", 1, (1, 1)),
        (("forfeit",), {}, "2 won, 1 forfeited", 0, (1, 0)),
        (("2", "1"), {}, None, 1, (1, 1)),
        ((), {}, None, 1, (0, 0)),
    ],
)
def test_reviews_every_ending(
    entries: tuple[str, ...],
    options: dict[str, int],
    result: str | None,
    score: float,
    losses: tuple[float, float],
) -> None:
    review = reviewed(*entries, **options)
    assert adds_up(review)
    assert review.score == score
    assert (review.loss(Seat.ONE), review.loss(Seat.TWO)) == losses
    data = json.loads(json.dumps(review_to_dict(review)))
    outcome = review.match.outcome
    assert data["result"] == result
    assert data["ending"] == (outcome.ending.value if outcome else None)
    assert data["winner"] == (outcome.winner if outcome else None)
    assert data["text"] == (outcome.reason if outcome else None)
    assert data["score"] == score
    text = render_review(review)
    lost = outcome and outcome.winner
    assert ("Why you lost" in text) is bool(lost)
    assert bool(explain_result(review)) is bool(lost or (outcome and any(losses)))
    assert text.startswith(f"steps: {format_heading(review)}\n")
    assert "<!doctype html>" in render_review_page(review)


def test_a_drawn_match_lists_missed_chances() -> None:
    review = reviewed("2", "1", "2")
    assert format_heading(review) == "Both went too far."
    assert [moment.mark for moment in review.entries] == ["blunder", "blunder", "blunder"]
    assert [moment.loss for moment in review.entries] == [1, 1, 0.5]
    assert "= 50.0, the result." in render_review(review)


def test_the_review_of_a_draw_suggests_improvements() -> None:
    drawn = Match.start(Steps()).play_text("2", "1", "2")
    both = explain_result(duels.review(drawn))
    assert [section.title for section in both] == [
        "What you could do better, Player 1",
        "What you could do better, Player 2",
    ]
    one = duels.review(drawn, players={Seat.ONE: "club", Seat.TWO: HUMAN})
    (better,) = explain_result(one)
    assert better.title == "What you could do better"
    assert [reason.text.split(" threw")[0] for reason in better.reasons] == ["Your first move (entry 2: 1)"]
    text = render_review(one)
    assert "What you could do better:" in text
    assert "Analyse this position with: " in text
    assert not explain_result(duels.review(drawn, players=dict.fromkeys(Seat, "club")))


@pytest.mark.parametrize(
    ("entry", "effect"), [("resign", "You resigned."), ("forfeit", "You forfeited the match.")]
)
def test_conceding_loses_the_value_of_the_position(entry: str, effect: str) -> None:
    won = reviewed("2", entry).entries[-1]
    assert (won.loss, won.mark, won.effect) == (1, "blunder", effect)
    assert won.reason == "Best is 2, worth 100.0%; anything else is worth 0.0% at most."
    lost = reviewed("1", entry).entries[-1]
    assert (lost.loss, lost.mark, lost.effect) == (0, "good", effect)
    (section,) = explain_result(reviewed("1", entry))
    assert section.reasons[1] == Reason("You made no mistakes.")


def test_games_without_reasons_are_explained_by_values() -> None:
    text = render_review(reviewed("2", "2"))
    assert "- Your first move (entry 1: 2) threw away the win; 1 kept it. You played 2, which left" in text
    assert "duels solve steps --position '0 1 0'" in text


def test_the_solve_command_includes_all_options() -> None:
    text = render_review(reviewed("2", "2", goals=(4, 7)))
    assert "duels solve steps --goals 4,7 --position '0 1 0'" in text


@pytest.mark.parametrize(
    ("entries", "actor", "loss"),
    [
        ((), Seat.ONE, 0),
        (("4",), Seat.TWO, 0),
        (("3", "1", "4", "accept", "7"), Seat.ONE, 7 / 36),  # Player 1 is to move and ahead
        (("3", "1", "4", "accept", "7", "5"), Seat.ONE, 7 / 36),  # Player 2 is to move
    ],
)
def test_an_agreement_to_stop_costs_the_player_who_is_ahead(
    entries: tuple[str, ...], actor: Seat, loss: float
) -> None:
    review = duels.review(duels.start("chain").play_text(*"1234567" * 2, *entries, "stop by agreement"))
    last = review.entries[-1]
    assert adds_up(review)
    assert (review.score, review_to_dict(review)["result"]) == (0.5, "cut off")
    assert (last.actor, last.luck) == (actor, 0)
    assert last.loss == pytest.approx(loss)
    assert format_heading(review) == "The players agreed to stop."
    text = render_review(review, 100)
    assert "stop by agreement" in text
    assert ("agreement to stop cost 19.4 points; playing on was best." in text) is bool(loss)
    assert "agreed to stop" in render_review_page(review)


def test_a_resignation_is_not_excused_by_a_reason_about_the_best_action() -> None:
    match = duels.start("chain").play_text("resign")
    sections = explain_result(duels.review(match, players={Seat.ONE: HUMAN, Seat.TWO: "casual"}))
    texts = [reason.text for section in sections for reason in section.reasons]
    assert texts[0] == "Your resignation cost 50.0 points; playing on was best."
