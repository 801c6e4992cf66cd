"""At every decision, a level loses its share of the loss of a random choice."""

from itertools import islice
from random import Random
from typing import Any

import pytest

import duels
from duels.core.match import AnyMatch, play_through
from duels.core.rules import Seat
from duels.games import GAMES, find_game
from duels.players.levels import LEVEL_SHARES, compute_level_weights, mix_actions
from duels.solving.oracle import ActionValue, Value, Verdict
from duels.solving.oracles import get_oracle

MATCHES = {"lights": 10, "leap": 10, "chain": 10, "flip": 4}


def make_verdict(*values: float) -> Verdict[int]:
    best = max(values)
    share = 1 / values.count(best)
    judged = (ActionValue(i, Value(v), v == best, share * (v == best)) for i, v in enumerate(values))
    return Verdict(Value(best), tuple(judged))


@pytest.mark.parametrize("share", LEVEL_SHARES.values())
@pytest.mark.parametrize("values", [(0.9, 0.5, 0.1), (1.0, 0.0), (0.7, 0.69, 0.2, 0.2), (0.6, 0.6, 0.5)])
def test_a_mixture_loses_its_share_of_random_play(share: float, values: tuple[float, ...]) -> None:
    verdict = make_verdict(*values)
    lost, weights = verdict.losses, mix_actions(verdict, share)
    assert sum(weights) == pytest.approx(1)
    given_away = sum(loss * weight for loss, weight in zip(lost, weights, strict=True))
    assert given_away == pytest.approx(share * sum(lost) / len(lost), abs=1e-6)


def test_small_mistakes_are_more_likely() -> None:
    weights = mix_actions(make_verdict(0.9, 0.8, 0.3), LEVEL_SHARES["club"])
    assert weights[0] > weights[1] > weights[2] > 0


def test_perfect_play_uses_the_oracles_weights() -> None:
    judged = (
        ActionValue("a", Value(0.5), True, 0.9),
        ActionValue("b", Value(0.5), True, 0.1),
        ActionValue("c", Value(0.2), False, 0),
    )
    verdict = Verdict(Value(0.5), judged)
    assert mix_actions(verdict, 0.0) == [0.9, 0.1, 0]
    assert mix_actions(verdict, 0.3) == pytest.approx([0.7 * 0.9 + 0.1, 0.7 * 0.1 + 0.1, 0.1])


def test_actions_without_weight_are_not_mixed() -> None:
    judged = (
        ActionValue("a", Value(0.5), True, 1.0),
        ActionValue("b", Value(0.4999), True, 0.0),
        ActionValue("c", Value(0.45), False, 0),
        ActionValue("d", Value(0.2), False, 0),
    )
    weights = mix_actions(Verdict(Value(0.5), judged), 0.3)
    assert weights[0] > weights[2] > weights[3] > 0  # small mistakes are still the likelier ones


@pytest.mark.parametrize("share", LEVEL_SHARES.values())
def test_a_mixture_in_hunt_loses_its_share_of_random_play(share: float) -> None:
    """A level gives away its share on top of what the strategy's rare actions cost."""
    rng = Random(2)
    rules = find_game("hunt").rules()
    oracle = get_oracle(rules)
    costly = 0
    for _ in range(4):
        match: AnyMatch = duels.start("hunt")
        while (actor := match.actor) is not None:
            assert isinstance(actor, Seat)
            verdict = oracle.judge(match.sight(actor))
            weights = mix_actions(verdict, share)
            given_away = sum(loss * weight for loss, weight in zip(verdict.losses, weights, strict=True))
            average = sum(verdict.losses) / len(weights)
            own = sum(j.weight * loss for j, loss in zip(verdict.actions, verdict.losses, strict=True))
            assert given_away == pytest.approx((1 - share) * own + share * average)
            assert compute_level_weights(oracle, match.sight(actor), share) == pytest.approx(weights)
            costly += average > 0
            match = match.play(actor, rng.choice(match.actions))
    assert costly > 5


@pytest.mark.parametrize("game", MATCHES)
def test_a_perfect_player_has_no_loss(game: str) -> None:
    rng = Random(3)
    rules = find_game(game).rules()
    oracle = get_oracle(rules)
    player = duels.make_player("perfect", rules)
    judged = 0

    def decide(match: AnyMatch, seat: Seat) -> Any:
        nonlocal judged
        if seat is Seat.TWO:
            return rng.choice(match.actions)
        action = player.choose(match.sight(seat), rng)
        assert action in oracle.judge(match.sight(seat)).best
        judged += 1
        return action

    for _ in range(MATCHES[game]):
        for _ in islice(play_through(duels.start(game), rng, decide), 60):
            pass
    assert judged > 20


def test_every_level_can_be_made_by_name() -> None:
    for name in LEVEL_SHARES:
        for game in GAMES.values():
            assert duels.make_player(name, game.name)
