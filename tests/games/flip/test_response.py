"""Bounds on the best response to a board-blind policy, against a search of small boards."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from duels.analysis.exploitability import MAX_UNCERTAINTY, exploitability, exploitability_bounds
from duels.core.errors import DuelsError
from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Seat
from duels.games.flip.board_blind import BoardBlind, Summary, get_odds, summarize, vectorize
from duels.games.flip.response import response_bounds
from duels.games.flip.rules import QuantumTiles

SMALL = QuantumTiles(side=3, values=3, copies=3, target=2)


def uniform(summary: Summary) -> dict[str, float]:
    return {move: 1 / len(summary.moves) for move in summary.moves}


def skewed(seed: int) -> Callable[[Summary], dict[str, float]]:
    """An arbitrary but deterministic policy."""

    @vectorize
    def move_policy(summary: Summary) -> dict[str, float]:
        # The text is a seed: it keeps former names of fields, so that the policies stay the same.
        text = f"{seed} {summary}".replace("my_score=", "mine=").replace("their_score=", "theirs=")
        rng = Random(text.replace("seen_has_neighbour=", "beside=").replace("revealed=", "shown="))
        weights = [rng.choice((0, 1, 5)) for _ in summary.moves]
        weights[rng.randrange(len(weights))] += 1
        return {move: weight / sum(weights) for move, weight in zip(summary.moves, weights, strict=True)}

    return move_policy  # type: ignore[return-value]


def search_response(rules: QuantumTiles, policy: BoardBlind, responder: Seat) -> float:
    """Return the best response by the real rules on the whole board."""

    @cache
    def state_value(state: Any) -> float:
        outcome = rules.outcome(state)
        if outcome:
            return float(outcome.winner is responder)
        actor = rules.actor(state)
        if actor is responder:
            return max(state_value(rules.apply(state, action).state) for action in rules.actions(state))
        if actor is CHANCE:
            odds = dict(zip(rules.actions(state), map(float, rules.odds(state)), strict=True))
        else:
            odds = policy.odds(rules.sight(state, policy_seat))
        return sum(p * state_value(rules.apply(state, action).state) for action, p in odds.items())

    policy_seat = responder.other
    return state_value(rules.initial())


@pytest.mark.parametrize("move_policy", [uniform, *map(skewed, range(8))])
def test_a_search_of_the_real_board_lies_between_the_bounds(move_policy: Any) -> None:
    policy = BoardBlind(move_policy)
    bounds = response_bounds(SMALL, policy)
    assert bounds
    for seat in Seat:
        exact = search_response(SMALL, policy, seat.other)
        assert bounds[seat].low - 1e-9 <= exact <= bounds[seat].high + 1e-9
        assert bounds[seat].high - bounds[seat].low < 0.1


def test_bounds_of_random_play_on_the_books_board() -> None:
    """Random play by kinds of moves gives a lot away, and how much is known closely."""
    bounds = exploitability_bounds(BoardBlind(uniform), "flip")
    assert bounds.high - bounds.low < 2 * MAX_UNCERTAINTY
    assert 0.15 < bounds.low < 0.25


def test_a_summary_agrees_with_the_board() -> None:
    rules = QuantumTiles()
    state = rules.parse_state("...../.4.../..5../...2e/..... 6,5 01 2")
    summary = summarize(rules, state)
    assert summary == Summary(5, 6, (5, 4, 5, 4, 3), (5,), True, False, True)
    assert summary.moves == ("flip", "take 5", "quantum", "quantum 5")
    policy = BoardBlind(uniform)
    chosen = policy.odds(rules.sight(state, Seat.TWO))
    assert {rules.format(action) for action in chosen} == {
        "A2",
        "D5",
        "A1+A2",
        "C5+D5",
    }  # A2 is not needed for pairs
    lifted = rules.parse_state("...../.4.../..5../...2e/ab... 6,5 01 2 E1|E2")
    assert summarize(rules, lifted).revealed == (1, 2)
    assert summarize(rules, lifted).moves == ("keep 1", "keep 2")


@pytest.mark.parametrize("rules", [QuantumTiles(), QuantumTiles(side=4, values=4, copies=4, target=10)])
def test_a_board_blind_policy_plays_whole_games(rules: QuantumTiles) -> None:
    """A policy that keeps its Quantum Flip for as long as it can, against random play."""

    def patient(summary: Summary) -> str:
        if summary.revealed:
            return summary.moves[0]
        return "quantum" if summary.my_quantum and summary.my_score >= rules.target - 3 else "flip"

    rng = Random(1)
    policy = BoardBlind(patient)
    used = 0
    for _ in range(60):
        match: Any = Match.start(rules)
        while (actor := match.actor) is not None:
            if actor is CHANCE:
                action = draw(match, rng)
            elif actor is Seat.ONE:
                action = policy.choose(match.sight(actor), rng)
                choice = patient(summarize(rules, match.state))
                assert (type(action).__name__ == "QuantumFlip") == (choice == "quantum")
                used += choice == "quantum"
            else:
                action = rng.choice(match.actions)
            match = match.play(actor, action)
    assert used > 10


def test_arrays_and_single_positions_get_the_same_decisions() -> None:
    move_policy = skewed(1)
    many = Summary(
        np.array([3, 7]), np.array([4, 4]), tuple(np.array([5, 4]) for _ in range(5)), (), True, True
    )
    odds = get_odds(move_policy, many)
    for place in (0, 1):
        one = many._replace(
            my_score=int(many.my_score[place]),
            their_score=4,
            bag=tuple(int(left[place]) for left in many.bag),
        )
        for move, p in get_odds(move_policy, one).items():
            assert odds[move][place] == p


def test_rejects_invalid_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    # A search gives up sooner here than for a user.
    monkeypatch.setattr("duels.solving.tree.MAX_HISTORIES", 10_000)
    with pytest.raises(DuelsError, match="chose 'take 3'; legal moves are flip"):
        exploitability(BoardBlind(lambda summary: "take 3"), "flip")
    with pytest.raises(DuelsError, match="sum to 1"):
        exploitability(BoardBlind(lambda summary: {"flip": 0.5}), "flip")
    with pytest.raises(DuelsError, match="is too small"):
        exploitability(BoardBlind(uniform), "flip", side=2, values=2, copies=2, target=3)
    whole: list[Any] = [lambda sight: sight.actions[0], "random", "perfect"]
    for policy in whole:
        with pytest.raises(DuelsError, match=r"too large to search completely.*What works: a `BoardBlind`"):
            exploitability(policy, "flip")
