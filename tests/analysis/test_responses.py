"""A best response is a player that wins its stated value."""

from typing import Any
from unittest import mock

import pytest

import duels
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import CHANCE, Seat
from duels.envs.gymnasium import DuelEnv, DuelVectorEnv
from duels.games import GAMES
from duels.players import make_player

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lights", {"lights": 5}),
    ("leap", {"goal": 9}),
    ("chain", {"cells": 3, "run": 2, "max_boards": 2}),
    ("chain", {"cells": 3, "run": 2}),
    ("hunt", {"cells": 2, "max_turns": 3}),
    ("flip", {"side": 2, "values": 2, "copies": 2, "target": 3}),
]


def choose_first(sight: Any) -> Any:
    return sight.actions[0]


def compute_mean_score(match: Any, players: Any) -> float:
    """Return Player 1's mean score when both play by their odds."""
    if match.outcome:
        return float(match.outcome.score(Seat.ONE))
    if match.actor is CHANCE:
        odds: Any = dict(zip(match.actions, match.rules.odds(match.state), strict=True))
    else:
        odds = players[match.actor](match.sight(match.actor))
    return sum(
        float(p) * compute_mean_score(match.play(match.actor, action), players)
        for action, p in odds.items()
        if p
    )


@pytest.mark.parametrize("policy", ["random", choose_first], ids=["random", "first"])
@pytest.mark.parametrize(("game", "options"), [form for form in FORMS if form != FORMS[3]])
def test_a_best_response_wins_its_stated_value(game: str, options: dict[str, Any], policy: Any) -> None:
    rules = GAMES[game].rules(**options)
    responses = duels.best_responses(policy, rules)
    random = make_player("random", rules).odds  # type: ignore[attr-defined]
    policy_odds = random if policy == "random" else lambda sight: {choose_first(sight): 1.0}
    for seat, response in responses.items():
        assert response.seat is seat
        players = {seat: response.odds, seat.other: policy_odds}
        one = compute_mean_score(Match.start(rules), players)
        assert (one if seat is Seat.ONE else 1 - one) == pytest.approx(response.wins)
    mean = (sum(response.wins for response in responses.values()) - 1) / 2
    assert mean == pytest.approx(duels.exploitability(policy, rules))


@pytest.mark.parametrize(("game", "options"), FORMS[:4])
def test_gains_are_relative_to_perfect_play(game: str, options: dict[str, Any]) -> None:
    responses = duels.best_responses("random", game, **options)
    assert sum(response.gain for response in responses.values()) / 2 == pytest.approx(
        duels.exploitability("random", game, **options)
    )
    perfect = duels.best_responses("perfect", game, **options)
    assert [response.gain for response in perfect.values()] == pytest.approx([0, 0])


def test_gains_in_searched_games() -> None:
    form = {"side": 2, "values": 2, "copies": 2, "target": 2}
    responses = duels.best_responses("random", "flip", **form)
    gains = [response.gain for response in responses.values()]
    assert min(gains) >= 0
    assert sum(gains) / 2 == pytest.approx(duels.exploitability("random", "flip", **form), abs=1e-12)
    hidden = duels.best_responses("random", "hunt", cells=2, max_turns=3)
    with pytest.raises(DuelsError, match=r"duels\.exploitability, the mean of both gains"):
        _ = hidden[Seat.ONE].gain


def test_a_best_response_can_be_an_opponent() -> None:
    response: Any = duels.best_responses(choose_first, "leap", goal=9)[Seat.TWO]
    env = DuelEnv("leap", response, goal=9)
    envs: Any = DuelVectorEnv("leap", 2, response.table, goal=9)
    _, info = env.reset(seed=1)
    envs.reset(seed=1)
    over = False
    while not over:
        action = int(info["action_mask"].argmax())
        batch_steps = envs.step([action] * 2)
        observation, reward, over, _, info = env.step(action)  # type: ignore[arg-type]
        assert (batch_steps[0][0] == observation).all()
    assert reward == 1 - 2 * response.wins
    with pytest.raises(DuelsError, match="best response plays Player 2, not Player 1"):
        response.odds(duels.start("leap", goal=9).sight(Seat.ONE))


def test_a_best_response_depends_on_the_clock() -> None:
    form: dict[str, Any] = {"cells": 3, "run": 2, "max_boards": 2}
    response: Any = duels.best_responses("random", "chain", **form)[Seat.ONE]
    assert response.table.shape[0] == 2


@mock.patch("duels.solving.tree.MAX_HISTORIES", 10_000)  # a search gives up sooner than for a user
def test_rejects_games_that_are_too_large() -> None:
    with pytest.raises(DuelsError, match=r"too large .* which a best response needs.*exploitability_bounds"):
        duels.best_responses("random", "flip")
