"""Verdicts, and the common behaviour of all oracles."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

import duels
from duels.core.errors import NotYourTurn
from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnySight, Seat, Sight
from duels.games import GAMES
from duels.games.lights import oracle as oracle_of_lights
from duels.games.lights.oracle import LightsOracle, get_nim_sum
from duels.games.lights.rules import Lights, State, TurnOff
from duels.solving.oracle import ActionValue, Exactness, OpenOracle, Oracle, Progress, Value, Verdict
from duels.solving.oracles import _MAX_CACHED, get_oracle

RULES = Lights(7)


class Bare(OpenOracle[TurnOff, State]):
    """Has values and nothing else."""

    def state_value(self, state: State) -> Fraction:
        return Fraction((get_nim_sum(state.row) != 0) == (state.mover is Seat.ONE))


class Fixed(Oracle[TurnOff, State]):
    """Gives the same verdict everywhere."""

    def __init__(self, value: float, *judged: tuple[str, float, bool, float]) -> None:
        self.rules = RULES
        self._verdict = Verdict(
            Value(value),
            tuple(
                ActionValue(RULES.parse(name), Value(number), best, how) for name, number, best, how in judged
            ),
        )

    def _value_of(self, sight: Sight[TurnOff, State]) -> Value:
        return self._verdict.value

    def _verdict_on(self, sight: Sight[TurnOff, State]) -> Verdict[TurnOff]:
        return self._verdict


def test_actions_of_perfect_play_have_no_loss() -> None:
    judged = (
        ActionValue("mixed, looks bad", Value(0.3), True, 0.4),
        ActionValue("mixed, looks good", Value(0.5), True, 0.6),
        ActionValue("worse", Value(0.1), False, 0.0),
        ActionValue("not taken, looks better", Value(0.6), False, 0.0),
    )
    verdict = Verdict(Value(0.42), judged)
    assert verdict.losses == pytest.approx([0, 0, 0.32, 0])
    assert verdict.loss("worse") == pytest.approx(0.32)
    assert not verdict.is_indifferent
    assert Verdict(
        Value(0.0), (ActionValue("a", Value(0.0), True, 0.5), ActionValue("b", Value(0.0), True, 0.5))
    ).is_indifferent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Value(0.5), "50.0%"),
        (Value(0.5, Exactness.BOUND, error=0.0004), "50.0%"),
        (Value(0.5, Exactness.BOUND, error=0.0005), "about 50.0%"),
        (Value(0.12345, Exactness.ESTIMATE), "about 12.3%"),
    ],
)
def test_values_in_sentences_state_their_exactness(value: Value, text: str) -> None:
    assert str(value) == text


def test_an_oracle_is_shared_by_equal_rules() -> None:
    rules = GAMES["lights"].rules
    first = get_oracle(rules())
    assert get_oracle(rules(lights=7)) is first
    assert get_oracle(rules(lights=8)) is not first
    for lights in range(8, 8 + _MAX_CACHED):
        get_oracle(rules(lights=lights))
    assert get_oracle(rules()) is not first, "the oldest are forgotten"


@pytest.mark.parametrize("concede", [Match.resign, Match.forfeit])
@pytest.mark.parametrize("game", GAMES)
def test_a_conceded_match_is_lost_and_has_no_decisions(
    game: str, concede: Callable[[AnyMatch, Seat], AnyMatch]
) -> None:
    match = concede(duels.start(game), Seat.ONE)
    oracle = get_oracle(match.rules)
    for seat in Seat:
        assert oracle.value(match.sight(seat)).number == (seat is Seat.TWO)
        with pytest.raises(NotYourTurn):
            oracle.judge(match.sight(seat))


@pytest.mark.parametrize("game", GAMES)
def test_a_position_is_judged_once_for_its_verdict_and_its_reason(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = duels.start(game)
    oracle = get_oracle(match.rules)
    work_out = oracle._verdict_on
    calls = []

    def counted(sight: AnySight) -> Verdict[Any]:
        calls.append(sight)
        return work_out(sight)

    monkeypatch.setattr(oracle, "_verdict_on", counted)
    sight = match.sight(Seat.ONE)
    verdict = oracle.judge(sight)
    assert oracle.reason(sight)
    assert oracle.judge(sight) is verdict
    assert calls == [sight]
    after = match.play(Seat.ONE, sight.actions[0])
    while after.actor is CHANCE:
        after = after.play(CHANCE, after.actions[0])
    other = next(sight for sight in map(after.sight, Seat) if sight.actions)
    assert oracle.judge(other) == work_out(other), "another position is judged separately"


def test_threads_share_one_oracle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = GAMES["lights"].rules(lights=41)
    inside = threading.Barrier(2)
    oracles: list[LightsOracle] = []

    def make(of: Lights, _progress: Progress) -> LightsOracle:
        with suppress(threading.BrokenBarrierError):  # no other thread arrives
            inside.wait(0.3)
        oracles.append(LightsOracle(of))
        return oracles[-1]

    monkeypatch.setattr(oracle_of_lights, "make_oracle", make)
    with ThreadPoolExecutor(2) as pool:
        results = set(pool.map(get_oracle, [rules, rules]))
    assert results == set(oracles)
    assert len(oracles) == 1


@pytest.mark.parametrize("game", GAMES)
def test_our_oracles_explain_and_verify_themselves(game: str) -> None:
    kind = type(get_oracle(GAMES[game].rules()))
    assert all(getattr(kind, name) is not getattr(Oracle, name) for name in ("reason", "effect", "verify"))
    for secret in ("belief", "own_secret", "full_information_action_value", "full_information_value"):
        assert (getattr(kind, secret) is not getattr(Oracle, secret)) is GAMES[
            game
        ].rules().has_hidden_information


def test_an_oracle_of_values_alone_is_complete() -> None:
    oracle = Bare(RULES)
    sight = RULES.parse_position("OOXXXXX 1")
    assert list(oracle.verify()) == []
    assert oracle.belief(sight) == {}
    assert oracle.full_information_value(sight, sight) == oracle.value(sight)
    assert oracle.exploitability_bound() is None
    assert oracle.own_secret(sight) == ""
    assert oracle.unforeseen_loss(sight, sight, sight.actions[0]) == ""
    values = {oracle.full_information_action_value(sight, sight, action) for action in sight.actions}
    assert len(values) == 1
    assert oracle.action_class(sight, sight.actions[0]) == sight.actions[0]
    assert oracle.theme(sight, sight.actions[0]) == sight.actions[0]
    assert (oracle.guarantee(), oracle.equivalence_note, list(oracle.findings(sight))) == ("", "", [])
    assert oracle.reason(sight) == ("Best is 1-2, worth 100.0%; anything else is worth 0.0% at most.")
    assert oracle.effect(sight, RULES.parse("1")) == "You played 1, which left you 0.0%."


@pytest.mark.parametrize(
    ("oracle", "text"),
    [
        (Fixed(0.0, ("1", 0, True, 0.5), ("2", 0, True, 0.5)), "The other player wins whatever you do."),
        (Fixed(0.5, ("1", 0.5, True, 0.5), ("2", 0.5, True, 0.5)), "Every action is worth 50.0%."),
        (
            Fixed(0.4, ("1", 0.5, True, 0.7), ("2", 0.2, True, 0.3)),
            "The mixture is worth 40.0%: a predictable player gets less.",
        ),
        (
            Fixed(1.0, *((str(n), 1.0, True, 0.2) for n in range(1, 6)), ("6", 0.5, False, 0.0)),
            "Best is 1, 2 or 3 others, worth 100.0%; anything else is worth 50.0% at most.",
        ),
    ],
)
def test_default_reasons_follow_the_values(oracle: Fixed, text: str) -> None:
    assert oracle.reason(RULES.sight(RULES.initial(), Seat.ONE)) == text


def test_reasons_name_chance_in_the_games_words() -> None:
    def render_outcome(game: str, outcome: str) -> str:
        rules = GAMES[game].rules()
        return get_oracle(rules).describe_outcome(rules.parse(outcome))

    assert render_outcome("chain", "heads") == "the coin showed heads"
    assert render_outcome("flip", "4") == "the tile was a 4"
    assert render_outcome("flip", "5,3") == "the Quantum Flip showed 5 and 3"
