"""A review accounts for the result: the opening's value, luck, and what both gave away."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.review import review, review_record
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.record import dumps
from duels.core.rules import CHANCE, Seat
from duels.games import find_game, load_record
from duels.games.hunt.oracle import ALLOWANCE, make_oracle
from duels.games.hunt.rules import QuantumHunt
from duels.solving.oracles import oracle_for
from tests.analysis.matches import level_match, random_match

OPEN_GAMES = ("lights", "leap", "chain")
SEEDS = {"lights": 20, "leap": 20, "chain": 20, "flip": 2, "hunt": 5}
TO_THE_END = 10_000  # what is hidden is told only then


@pytest.mark.parametrize("game", SEEDS)
def test_luck_and_losses_add_up_to_the_result(game: str) -> None:
    oracle = oracle_for(find_game(game).rules())
    for seed in range(SEEDS[game]):
        match = random_match(game, Random(seed), TO_THE_END if game == "hunt" else 80)
        found = review(match, oracle)
        total = found.opening + found.luck - found.loss(Seat.ONE) + found.loss(Seat.TWO)
        assert total == pytest.approx(found.score)
        if match.outcome:
            assert found.score == float(match.outcome.winner is Seat.ONE)
        for moment in found.moments:
            assert moment.loss >= 0
            if moment.actor is not CHANCE and game in OPEN_GAMES:
                assert moment.luck == 0  # nothing is hidden: a decision alone moves nothing else


@pytest.mark.parametrize(
    "played", [partial(random_match, most=TO_THE_END), partial(level_match, level="perfect")]
)
def test_luck_in_hunt_is_what_an_observation_brings_beyond_what_could_be_expected(
    played: Callable[..., Match[Any, Any, Any]],
) -> None:
    """Worked out apart: over all places where the other token may have been, each seen with open eyes."""
    oracle = make_oracle(QuantumHunt())
    ended: Counter[str] = Counter()
    for seed in range(15):
        for moment in review(played("hunt", rng=Random(seed)), oracle).moments:
            before = moment.match.previous
            assert before
            assert isinstance(moment.actor, Seat)
            own = moment.luck - moment.mixing
            if moment.mishap or moment.alike == "Lost already.":
                ended["collided"] += 1  # told where it came about, not where it came to light
                continue
            if not moment.entry.startswith("observe"):
                assert own == pytest.approx(0)  # nobody has answered anything yet
                continue
            sight, others = before.sight(moment.actor), before.sight(moment.actor.other)
            action = oracle.rules.parse(moment.entry)
            belief = {name: p for name, p in oracle.belief(sight).items() if name != "tunnel left"}
            expected = sum(
                p
                * oracle.worth_seeing_all(
                    sight, replace(others, view=replace(others.view, cell=cell)), action
                )
                for p, cell in zip(belief.values(), (*range(1, 8), 0), strict=True)
            )
            outcome = moment.match.outcome
            if outcome:
                came = float(outcome.winner is moment.actor)
                ended["won" if came else "lost"] += 1
            else:
                came = 1 - oracle.value(moment.match.sight(moment.actor.other)).number
            assert (own if moment.actor is Seat.ONE else -own) == pytest.approx(came - expected)
    assert min(ended["won"], ended["collided"]) > 1


def test_what_the_strategy_never_does_is_a_slip_and_no_luck() -> None:
    oracle = make_oracle(QuantumHunt())
    slips = 0
    for seed in range(8):
        for moment in review(random_match("hunt", Random(seed), TO_THE_END), oracle).moments:
            assert isinstance(moment.actor, Seat)
            gained = (
                moment.after - moment.before if moment.actor is Seat.ONE else moment.before - moment.after
            )
            no_surprise = not moment.entry.startswith("observe") and not moment.mishap
            if no_surprise and moment.entry not in moment.best:
                unluckily = -moment.mixing if moment.actor is Seat.ONE else moment.mixing
                assert moment.loss + unluckily == pytest.approx(-gained, abs=1e-6)
                assert moment.mark != "best"
                slips += moment.loss > 0
            assert moment.loss == 0 or abs(moment.mixing) <= ALLOWANCE + 1e-9
    assert slips


def test_perfect_play_of_hunt_is_hardly_ever_told_that_it_made_mistakes() -> None:
    oracle = make_oracle(QuantumHunt())
    marks: Counter[str] = Counter()
    for seed in range(40):
        found = review(level_match("hunt", "perfect", Random(seed)), oracle)
        marks += Counter(moment.mark for moment in found.moments)
    charged = marks["inaccuracy"] + marks["mistake"] + marks["blunder"]
    assert charged < 0.03 * sum(marks.values())
    assert marks["good"]  # rarely taken, and taken all the same


def test_a_record_is_reviewed_like_its_match_unless_it_is_one_seats_copy() -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3")
    assert review_record(load_record(dumps(match))).score == duels.review(match).score == 0
    with pytest.raises(DuelsError, match="a review needs the whole record"):
        review_record(load_record(dumps(match, seat=Seat.ONE)))
    unfinished = match.previous
    assert unfinished
    for copy in (None, Seat.TWO):
        with pytest.raises(DuelsError, match="once it is over"):
            review_record(load_record(dumps(unfinished, seat=copy)))


def test_a_copy_of_an_open_game_is_the_whole_record() -> None:
    match = duels.start("chain").play_text("2", "5", "1", "challenge", "tails")
    assert (
        review_record(load_record(dumps(match, seat=Seat.ONE))).moments[-1].came_up == "the coin showed tails"
    )
