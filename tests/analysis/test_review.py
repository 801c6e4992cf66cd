"""A review accounts for the result: the opening's value, luck, and both players' losses."""

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from random import Random

import pytest

import duels
from duels.analysis.review import Review, review, review_record
from duels.analysis.review_text import format_account
from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.record import dump_record
from duels.core.rules import CHANCE, Seat
from duels.games import find_game, load_record
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.self_play import ROUNDING
from duels.solving.oracles import get_oracle
from tests.analysis.matches import level_match, random_match

OPEN_GAMES = ("lights", "leap", "chain")
SEEDS = {"lights": 20, "leap": 20, "chain": 20, "flip": 2, "hunt": 5}
TO_THE_END = 10_000  # hidden information is revealed only then


@pytest.mark.parametrize("game", SEEDS)
def test_luck_and_losses_add_up_to_the_result(game: str) -> None:
    oracle = get_oracle(find_game(game).rules())
    for seed in range(SEEDS[game]):
        match = random_match(game, Random(seed), TO_THE_END if game == "hunt" else 80)
        match_review = review(match, oracle)
        total = (
            match_review.opening
            + match_review.luck
            - match_review.loss(Seat.ONE)
            + match_review.loss(Seat.TWO)
        )
        assert total == pytest.approx(match_review.score)
        if match.outcome:
            assert match_review.score == float(match.outcome.winner is Seat.ONE)
        for moment in match_review.entries:
            assert moment.loss >= 0
            if moment.actor is not CHANCE and game in OPEN_GAMES:
                assert moment.luck == 0  # nothing is hidden, so a decision has no luck


def test_printed_numbers_add_up() -> None:
    oracle = get_oracle(find_game("chain").rules())
    for seed in range(40):
        _, account = format_account(review(random_match("chain", Random(seed), 80), oracle))
        parts, result = account.replace("- ", "-").replace("+ ", "+").split(" = ")
        printed = re.findall(r"[+-]?[0-9.]+", parts)
        assert len(printed) == 4
        assert sum(map(Decimal, printed)) == Decimal(result.split(",")[0])


MATCH_MAKERS = [
    partial(random_match, max_entries=TO_THE_END),
    partial(level_match, level="best"),
    partial(level_match, level="casual"),
]


@pytest.mark.parametrize("make_match", MATCH_MAKERS)
def test_hunt_parts_add_up_exactly(make_match: Callable[..., AnyMatch]) -> None:
    """Compute luck independently, with both tokens known: the result minus the strategy's mean."""
    oracle = make_oracle(QuantumHunt())
    last_sentences: Counter[str] = Counter()
    for seed in range(25):
        match_review = review(make_match("hunt", rng=Random(seed)), oracle)
        total = match_review.opening
        for moment in match_review.entries:
            before = moment.match.previous
            assert before
            assert isinstance(moment.actor, Seat)
            sight, others = before.sight(moment.actor), before.sight(moment.actor.other)
            action = oracle.rules.parse(moment.notation)
            action_values = {a: oracle.full_information_action_value(sight, others, a) for a in sight.actions}
            mean = sum(
                w * action_values[a] for a, w in zip(sight.actions, oracle.weights(sight), strict=True)
            )
            difference = action_values[action] - mean + moment.loss
            luck = difference if moment.actor is Seat.ONE else -difference
            assert moment.luck == pytest.approx(luck, abs=3 * ROUNDING)
            total += luck + (moment.loss if moment.actor is Seat.TWO else -moment.loss)
        assert total == pytest.approx(match_review.score, abs=3 * ROUNDING * len(match_review.entries))
        assert match_review.opening + match_review.luck - match_review.loss(Seat.ONE) + match_review.loss(
            Seat.TWO
        ) == pytest.approx(match_review.score, abs=1e-12)
        last_sentences[match_review.entries[-1].indifference] += 1
    assert min(last_sentences[""], last_sentences["Already lost."]) > 1  # captures and collisions


def test_hunt_has_no_luck_before_anything_is_hidden() -> None:
    """Until Player 2 enters, nothing is hidden from Player 1, so all luck comes from its own draw."""
    oracle = make_oracle(QuantumHunt())
    gains = {}
    for cell in range(1, 8):
        match = duels.start("hunt").play_text("move 3", f"observe {cell}", f"move {cell % 7 + 1}")
        match_review = review(match.resign(Seat.TWO), oracle)
        for moment in match_review.entries[:2]:
            assert moment.luck == pytest.approx(moment.mixing, abs=1e-12)
            assert moment.loss == 0
        gains[cell] = match_review.entries[1].luck
    before_observation = duels.start("hunt").play_text("move 3").sight(Seat.ONE)
    mean = sum(w * gain for w, gain in zip(oracle.weights(before_observation), gains.values(), strict=True))
    assert mean == pytest.approx(0, abs=1e-12)  # an observation that cannot hit gains nothing
    assert max(map(abs, gains.values())) < 0.005


@cache
def reviews_of_the_strategy() -> tuple[Review, ...]:
    oracle = make_oracle(QuantumHunt())
    return tuple(review(level_match("hunt", "best", Random(seed)), oracle) for seed in range(60))


def test_actions_of_the_mixture_are_no_mistakes() -> None:
    unlucky = 0
    for match_review in reviews_of_the_strategy():
        assert [match_review.loss(seat) for seat in Seat] == [0, 0]
        unlucky += sum(
            (moment.mixing if moment.actor is Seat.ONE else -moment.mixing) < -0.05
            for moment in match_review.entries
        )
    assert unlucky > 5  # some actions of the mixture are far below its average


def test_actions_outside_the_mixture_are_slips() -> None:
    oracle = make_oracle(QuantumHunt())
    slips = 0
    for seed in range(8):
        for moment in review(random_match("hunt", Random(seed), TO_THE_END), oracle).entries:
            before = moment.match.previous
            assert before
            assert isinstance(moment.actor, Seat)
            sight = before.sight(moment.actor)
            weights = dict(zip(sight.actions, oracle.weights(sight), strict=True))
            if moment.loss:
                assert weights[oracle.rules.parse(moment.notation)] == 0
                assert moment.mixing == pytest.approx(0, abs=1e-12)
                assert moment.mark != "best"
            slips += moment.loss > 0
    assert slips


def test_optimal_players_are_rarely_called_unlucky() -> None:
    odds = [match_review.mixing_odds(seat) for match_review in reviews_of_the_strategy() for seat in Seat]
    assert min(odds) > 0.001
    for limit in (0.3, 0.1, 0.03):
        assert sum(chance <= limit for chance in odds) <= limit * len(odds)  # it is a bound


def test_reviews_records_but_not_one_seats_copy() -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3")
    assert review_record(load_record(dump_record(match))).score == duels.review(match).score == 0
    with pytest.raises(DuelsError, match="the whole record"):
        review_record(load_record(dump_record(match, seat=Seat.ONE)))
    unfinished = match.previous
    assert unfinished
    for copy in (None, Seat.TWO):
        with pytest.raises(DuelsError, match="once it is over"):
            review_record(load_record(dump_record(unfinished, seat=copy)))


def test_a_seats_copy_of_an_open_game_can_be_reviewed() -> None:
    match = duels.start("chain").play_text("2", "5", "1", "challenge", "tails")
    record = load_record(dump_record(match, seat=Seat.ONE))
    assert review_record(record).entries[-1].outcome_text == "the coin showed tails"
