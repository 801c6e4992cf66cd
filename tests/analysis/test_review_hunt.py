"""Reviews of hunt: senseless play has a loss, and luck belongs to the entry that had it."""

import re
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.review_json import review_to_dict
from duels.analysis.review_page import render_review_page
from duels.core.match import AnyMatch, play_through
from duels.core.rules import Seat
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import Move, Observe, Phase, QuantumHunt
from duels.players import HUMAN
from duels.terminal.review import render_review
from tests.analysis.matches import random_match

ORACLE = make_oracle(QuantumHunt())
CAPTURE = ("move 3", "observe 7", "move 5", "observe 3")
COLLISION = (
    "move 3", "observe 7", "move 5", "observe 1", "move 3", "observe 6", "move 4", "observe 2",
    "move 4", "observe 7",
)  # fmt: skip


def senseless_match(seed: int) -> AnyMatch:
    """Player 1 stays on 1 and names 1, 2, 1, 2 …, against the strategy."""
    rng = Random(seed)

    def decide(match: AnyMatch, seat: Seat) -> Any:
        sight = match.sight(seat)
        if seat is Seat.TWO:
            return rng.choices(sight.actions, ORACLE.weights(sight))[0]
        if sight.view.phase is Phase.MOVE:
            return Move(1)
        return Observe(1 + len(match.turns) // 4 % 2)

    *_, match = play_through(duels.start("hunt"), rng, decide)
    return match


def test_a_senseless_match_is_not_called_flawless() -> None:
    match = senseless_match(0)
    review = duels.review(match, ORACLE)
    assert len(match.turns) > 20
    assert review.loss(Seat.ONE) == 0  # the strategy might have done each of it
    assert review.mixing_odds(Seat.ONE) < 0.001 < 0.01 < review.mixing_odds(Seat.TWO)
    text = " ".join(render_review(review).split())
    assert "no mistakes" not in text
    assert text.index("The mixture: the actions that") < text.index("points worse than average")
    below = f"turned out about {-100 * review.mixing(Seat.ONE):.1f} points worse than average, mostly when "
    assert "The strategy sometimes plays each of your moves, but hardly ever all of them" in text
    assert below in text
    assert review.mixing(Seat.ONE) < -0.2


def find_luck_amounts(text: str) -> set[float]:
    """Return every amount of luck in a review's account and reasons, from Player 1's point of view."""
    signs = {"gave": 1, "took": -1}
    return {
        *(float(number) for number in re.findall(r"Luck: ([+-][0-9.]+) for Player 1\.", text)),
        *(float(sign + number) for sign, number in re.findall(r"at the start ([+-]) ([0-9.]+) luck", text)),
        *(
            signs[did] * float(number) * (1 if "you lost, Player 1" in text else -1)
            for did, number in re.findall(r"- Luck (gave|took) (?:you )?about ([0-9.]+) points", text)
        ),
    }


@pytest.mark.parametrize("seed", range(12))
def test_luck_is_one_number_and_printed_parts_add_up(seed: int) -> None:
    senseless = seed % 2 == 0
    match = senseless_match(seed) if senseless else random_match("hunt", Random(seed), 10_000)
    text = " ".join(render_review(duels.review(match, ORACLE)).split())
    assert len(find_luck_amounts(text)) == 1
    (sum_in_print,) = re.findall(r"\. \(Each value: an estimate\.\) (.*?), the result\.", text)
    terms = re.sub(r"[^0-9.+=-]", "", sum_in_print.replace("Player 1's", "").replace("Player 2's", ""))
    parts, result = terms.split("=")
    assert sum(float(part) for part in re.findall(r"[+-]?[0-9.]+", parts)) == pytest.approx(float(result))
    assert len(re.findall(r"[0-9.]+", parts)) == 6


def test_resigning_and_tunnels_have_no_luck() -> None:
    resigned = 0
    for seed in range(6):
        match = random_match("hunt", Random(seed), 10)
        if isinstance(match.actor, Seat):
            resigned += 1
            last = duels.review(match.resign(match.actor), ORACLE).entries[-1]
            assert last.luck == 0
            assert last.loss == pytest.approx(
                last.value_before if last.actor is Seat.ONE else 1 - last.value_before
            )
    assert resigned > 2
    tunnels = [
        moment
        for seed in range(8)
        for moment in duels.review(random_match("hunt", Random(seed), 10_000), ORACLE).entries
        if moment.notation.startswith("tunnel")
    ]
    assert any(moment.below_mixture < 0 for moment in tunnels)  # some are worth more than the mixture
    assert all((moment.mixing, moment.draws) == (0, ()) for moment in tunnels)


def test_a_collision_is_explained_at_the_fatal_step() -> None:
    match = duels.start("hunt").play_text(*COLLISION)
    assert match.outcome
    assert match.outcome.winner is Seat.TWO
    review = duels.review(match, ORACLE)
    moved, named = review.entries[-2:]
    assert moved.unforeseen_loss.startswith(
        "went onto {whose} token, which was there with a chance of about "
    )
    assert named.value_before == named.value_after == moved.value_after == 0.0
    assert moved.luck < -0.2
    assert (named.luck, named.loss, named.mark, named.indifference) == (0, 0, "", "Already lost.")
    assert not any(moment.unforeseen_loss for moment in review.entries[:-2])
    total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
    assert abs(total - review.score) < 1e-9
    text = " ".join(render_review(review).split())
    clause = moved.unforeseen_loss.format(whose="Player 2's")
    assert f"- You {clause} (entry 9)." in text
    assert "from you in total, mostly when you went to 4 (entry 9)." in text
    assert review_to_dict(review)["moments"][-2]["mishap"] == moved.unforeseen_loss.format(
        whose="the other's"
    )
    assert f"Player 1 {clause}." in render_review_page(review)
    assert "already lost." not in text
    assert "Player 1 had already lost" in text


@pytest.mark.parametrize(
    ("players", "text"),
    [
        ((HUMAN, "club"), "Why you lost: - You went onto club's token"),
        (("club", HUMAN), "Why you won: - club went onto your token"),
        (("club", "club"), "Why Player 1 lost: - Player 1 went onto Player 2's token"),
    ],
)
def test_the_cause_of_a_loss_comes_first(players: tuple[str, str], text: str) -> None:
    match = duels.start("hunt").play_text(*COLLISION)
    review = duels.review(match, ORACLE, dict(zip(Seat, players, strict=True)))
    assert text in " ".join(render_review(review).split())
    assert f"{text.split(' - ')[1]}, " in render_review_page(review)


@pytest.mark.parametrize(
    ("players", "text"),
    [
        (
            (HUMAN, "club"),
            "Why you lost: - club named 3, where your token was, a chance of about ",
        ),
        (("club", HUMAN), "Why you won: - You named 3, where club's token was, a chance of about "),
        (
            (HUMAN, HUMAN),
            "Why you lost, Player 1: - Player 2 named 3, where your token was, a chance of about ",
        ),
    ],
)
def test_the_cause_of_a_win_comes_first(players: tuple[str, str], text: str) -> None:
    match = duels.start("hunt").play_text(*CAPTURE)
    review = duels.review(match, ORACLE, dict(zip(Seat, players, strict=True)))
    assert text in " ".join(render_review(review).split())
    last = review.entries[-1]
    assert review_to_dict(review)["moments"][-1]["strike"] == last.winning_discovery.format(
        whose="the other's"
    )
    assert not any(moment.winning_discovery or moment.unforeseen_loss for moment in review.entries[:-1])


def test_choices_below_the_mixture_are_no_mistakes() -> None:
    mentions = 0
    for seed in range(6):
        match = random_match("hunt", Random(seed), 10_000)
        text = " ".join(render_review(duels.review(match, ORACLE)).split())
        mentions += "choices, all of which the strategy makes too, turned out about" in text
        assert ("hardly ever all of them" in text) is ("less than once in 1,000 matches" in text)
        for sentence in re.findall(r"[^.]*choices[^.]* turned out[^:]*?, mostly when", text):
            assert "all of which the strategy makes too" in sentence or "hardly ever all of them" in sentence
    assert mentions
