"""The oracle for hunt: legal and complete strategies, correct beliefs, and wins against naive policies."""

import re
from collections.abc import Callable, Iterator
from random import Random

import pytest

from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import Seat, Sight
from duels.core.words import join_or
from duels.games.hunt.memory import Round, Window
from duels.games.hunt.mirror import mirror
from duels.games.hunt.oracle import FAVOURITE_WEIGHT, make_oracle
from duels.games.hunt.rules import Action, Move, Phase, QuantumHunt, Tunnel, View
from duels.games.hunt.self_play import ROUNDING
from duels.games.hunt.strategy import STRATEGY_FILE, load_strategy
from duels.solving.oracle import OFTEN, Exactness
from tools.hunt.shipping import pack_strategy

RULES = QuantumHunt()
ORACLE = make_oracle(RULES)
Player = Callable[[Sight[Action, View], Random], Action]


def strategy(sight: Sight[Action, View], rng: Random) -> Action:
    return rng.choices(sight.actions, ORACLE.weights(sight))[0]


def uniform(sight: Sight[Action, View], rng: Random) -> Action:
    return rng.choice(sight.actions)


def test_every_legal_action_of_random_matches_is_judged() -> None:
    rng = Random(1)
    for _ in range(20):
        match = Match.start(RULES)
        while match.actor is not None:
            for seat in Seat:
                sight = match.sight(seat)
                assert 0.0 <= ORACLE.value(sight).number <= 1.0
                belief = ORACLE.belief(sight)
                where = [p for name, p in belief.items() if name != "tunnel left"]
                assert sum(where) == pytest.approx(1.0)
                assert 0.0 <= belief["tunnel left"] <= 1.0 + 1e-9
            sight = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            verdict = ORACLE.judge(sight)
            assert tuple(judged.action for judged in verdict.actions) == sight.actions
            assert sum(judged.weight for judged in verdict.actions) == pytest.approx(1.0)
            assert verdict.best
            assert verdict.value.exactness is Exactness.ESTIMATE
            assert ORACLE.reason(sight).endswith(".")
            match = match.play(sight.seat, rng.choice(sight.actions))
        for seat in Seat:
            outcome = match.outcome
            assert outcome
            assert ORACLE.value(match.sight(seat)).number == float(outcome.winner is seat)


def test_beliefs_exclude_impossible_cells() -> None:
    match = Match.start(RULES).play_text("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2")
    belief = ORACLE.belief(match.sight(Seat.ONE))
    assert belief["position 2"] == 0.0  # just named
    assert belief["position 3"] == 0.0  # our own
    assert belief["off the grid"] == 0.0
    assert belief["position 5"] > belief["position 1"]  # entered on the cell that could not be named again


def test_before_entry_the_belief_is_off_the_grid() -> None:
    belief = ORACLE.belief(Match.start(RULES).sight(Seat.ONE))
    assert belief["off the grid"] == 1.0
    assert belief["tunnel left"] == 1.0


def test_verdicts_depend_only_on_the_seats_observations() -> None:
    one = Match.start(RULES).play_text("move 3", "observe 5", "move 6", "observe 1")
    two = Match.start(RULES).play_text("move 3", "observe 5", "tunnel 7", "observe 1")
    assert ORACLE.judge(one.sight(Seat.ONE)) == ORACLE.judge(two.sight(Seat.ONE))
    assert ORACLE.belief(one.sight(Seat.ONE)) == ORACLE.belief(two.sight(Seat.ONE))


def test_a_parsed_position_has_the_same_verdict() -> None:
    match = Match.start(RULES).play_text("move 3", "observe 5", "move 6", "observe 1")
    sight = match.sight(Seat.ONE)
    parsed = RULES.parse_position(RULES.format_position(sight))
    assert ORACLE.judge(parsed) == ORACLE.judge(sight)


def test_the_strategy_has_no_loss_by_its_own_measure() -> None:
    rng = Random(5)
    for _ in range(10):
        match = Match.start(RULES)
        while match.actor is not None:
            sight = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            verdict = ORACLE.judge(sight)
            mixture = sum(judged.weight * judged.value.number for judged in verdict.actions)
            assert verdict.value.number == pytest.approx(mixture)
            for judged, loss in zip(verdict.actions, verdict.losses, strict=True):
                assert judged.best == (judged.weight >= OFTEN)
                short = max(0.0, mixture - judged.value.number)
                assert loss == pytest.approx(0 if judged.weight else short)
            match = match.play(sight.seat, rng.choice(sight.actions))


def test_reasons_name_legal_actions() -> None:
    sight = RULES.parse_position("1: move 3, observe 4, ?, observe 4, tunnel 2")
    assert max(ORACLE.belief(sight).items(), key=lambda place: place[1])[0] == "tunnel left"
    cells = [ORACLE.belief(sight)[f"position {cell}"] for cell in range(1, 8)]
    assert cells.index(max(cells)) + 1 == 4  # the likeliest, but it was named last turn
    reason = ORACLE.reason(sight)
    likeliest = max((1, 3, 5, 6, 7), key=lambda cell: cells[cell - 1])  # 2 is our own
    assert reason.startswith(f"Of the positions that you may name, {likeliest} is the likeliest")


def test_advice_to_name_an_empty_position_says_why() -> None:
    sight = RULES.parse_position("1: move 4, observe 1, ?, observe 6, move 3")
    verdict, belief = ORACLE.judge(sight), ORACLE.belief(sight)
    cells = [action.cell for action in verdict.best]
    assert 3 in cells, "our own position"
    assert belief["position 4"] == 0, "we have just left it"
    decoys = join_or([cell for cell in cells if cell in (3, 4)])
    assert ORACLE.reason(sight).endswith(f" Naming {decoys} cannot win now, but hides where you are.")


def test_rare_actions_are_neither_advice_nor_loss() -> None:
    sight = RULES.parse_position("1: move 3, observe 5, ?, observe 2")
    verdict = ORACLE.judge(sight)
    rare = next(j for j in verdict.actions if 0 < j.weight < OFTEN)
    assert not rare.best
    assert verdict.value.number - rare.value.number > 0.02
    assert verdict.loss(rare.action) == 0


def losses(player: Player, rng: Random) -> Iterator[tuple[Action, float]]:
    for _ in range(30):
        match = Match.start(RULES)
        while match.actor is not None:
            sight = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            action = player(sight, rng)
            yield action, ORACLE.judge(sight).loss(action)
            match = match.play(sight.seat, action)


def test_random_play_loses_only_by_tunnels() -> None:
    assert not any(loss for _, loss in losses(strategy, Random(2)))
    charged = [action for action, loss in losses(uniform, Random(2)) if loss]
    assert len(charged) > 5
    assert {type(action) for action in charged} == {Tunnel}


def test_the_values_of_both_seats_agree() -> None:
    """The value with both tokens known is the mean over the next actions."""
    rng = Random(4)
    for _ in range(10):
        match = Match.start(RULES)
        while match.actor is not None:
            seat = Seat(match.actor)  # type: ignore[arg-type]
            sight, others = match.sight(seat), match.sight(seat.other)
            one, two = (sight, others) if sight.seat is Seat.ONE else (others, sight)
            value = ORACLE.full_information_value(one, two).number
            after = [ORACLE.full_information_action_value(sight, others, action) for action in sight.actions]
            mean = sum(w * worth for w, worth in zip(ORACLE.weights(sight), after, strict=True))
            assert (value if sight.seat is Seat.ONE else 1 - value) == pytest.approx(mean, abs=3 * ROUNDING)
            match = match.play(sight.seat, rng.choice(sight.actions))


def test_the_waiting_seat_expects_the_mean_over_its_beliefs() -> None:
    match = Match.start(RULES).play_text("move 3", "observe 5")
    waits = ORACLE.value(match.sight(Seat.ONE)).number
    full_information = ORACLE.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO)).number
    assert waits == pytest.approx(full_information)  # nothing is hidden from Player 1 yet
    moved = match.play_text("move 6")
    assert ORACLE.value(moved.sight(Seat.ONE)).number == waits  # it has heard nothing


def beside(cell: int) -> list[Action]:
    return [Move(near) for near in (cell - 1, cell + 1) if 1 <= near <= 7]


def test_reasons_agree_with_the_numbers() -> None:
    rng = Random(3)
    mixed, staying, praised = 0, 0, 0
    for _ in range(60):
        match = Match.start(RULES)
        while match.actor is not None:
            sight = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            verdict, reason = ORACLE.judge(sight), ORACLE.reason(sight)
            most = max((j for j in verdict.actions if j.best), key=lambda judged: judged.weight)
            if sight.view.cell == 0:
                named = [int(cell) for cell in re.findall(r"\d", reason)]
                assert named in ([], [action.cell for action in verdict.best])
            if reason.startswith("Mostly stay"):
                steps = [j for j in verdict.actions if j.action in beside(sight.view.cell)]
                better = max(judged.value.number for judged in steps) - most.value.number > 0.0005
                assert ("looks better" in reason) == better
                praised += better
                assert "about 0%" not in reason
            if sight.view.phase is Phase.MOVE and sight.view.cell:
                assert reason.startswith("Mostly") == (most.weight > FAVOURITE_WEIGHT)
                mixed += reason.startswith("Choose ")
                staying += reason.startswith("Mostly stay")
            if "easier to find" in reason:
                stay = next(j for j in verdict.actions if j.action == Move(sight.view.cell))
                assert stay.value.number < most.value.number
            match = match.play(sight.seat, rng.choices(sight.actions, ORACLE.weights(sight))[0])
    assert mixed
    assert staying
    assert praised


def test_advice_on_entering_follows_the_mixture() -> None:
    sight = RULES.parse_position("2: ?, observe 5")
    verdict = ORACLE.judge(sight)
    assert max(judged.weight for judged in verdict.actions) < 0.2
    assert ORACLE.reason(sight).startswith("Enter anywhere, at random")


def test_beliefs_updated_step_by_step_equal_beliefs_at_once() -> None:
    rng = Random(8)
    match = Match.start(RULES)
    while match.actor is not None:
        match = match.play(match.actor, rng.choice(match.actions))
    steps = [step for step in match.steps() if not step.over]
    for step in [*steps, *reversed(steps)]:
        for seat in Seat:
            assert ORACLE.belief(step.sight(seat)) == make_oracle(RULES).belief(step.sight(seat))


def test_tables_round_trip() -> None:
    assert pack_strategy(load_strategy()) == STRATEGY_FILE.read_bytes()


def test_every_legal_action_but_a_tunnel_has_a_weight() -> None:
    rng = Random(6)
    for _ in range(30):
        match = Match.start(RULES)
        while match.actor is not None:
            sight = match.sight(Seat(match.actor))  # type: ignore[arg-type]
            for action, weight in zip(sight.actions, ORACLE.weights(sight), strict=True):
                assert (weight > 0) == (not isinstance(action, Tunnel))
            match = match.play(sight.seat, rng.choice(sight.actions))


def test_the_opening_depends_on_the_whole_path() -> None:
    later = "observe 1, ?, observe 7, move 4, observe 2, ?, observe 6"
    paths = [RULES.parse_position(f"1: move {entered}, {later}") for entered in (3, 4, 5)]
    assert len({ORACLE.weights(sight) for sight in paths}) == len(paths)


def test_mirrored_openings_have_mirrored_weights() -> None:
    sights = [
        RULES.parse_position(text)
        for text in ("1: move 2, observe 6, ?, observe 3", "1: move 6, observe 2, ?, observe 5")
    ]
    weights = [
        {
            action: weight
            for action, weight in zip(sight.actions, ORACLE.weights(sight), strict=True)
            if weight
        }
        for sight in sights
    ]
    assert weights[0] == {mirror(RULES, action): weight for action, weight in weights[1].items()}


def test_memories_forget_old_observations() -> None:
    assert Window(7, 1).index((3, 5)) == Window(7, 1).index((5,))
    rounds = Round(7, 5)
    assert rounds.index((1, 2, 3)) == rounds.index((2, 1, 3))
    assert rounds.index((1, 2, 3)) != rounds.index((1, 3, 2))
    assert rounds.index((0, 1, 2, 3, 4, 5)) == rounds.index((5,))
    assert len(rounds.states) == 400


def test_exploitability_of_the_strategy_is_in_its_certificate() -> None:
    pytest.importorskip("numpy")
    from duels.analysis.exploitability import exploitability, exploitability_bounds
    from duels.games.hunt.strategy import load_certificate

    bounds = exploitability_bounds(load_strategy(), "hunt")
    assert exploitability_bounds("perfect", "hunt") == bounds
    claim = load_certificate().nash_conv
    assert (2 * bounds.low, 2 * bounds.high) == pytest.approx((claim.low, claim.high))
    with pytest.raises(DuelsError, match="use exploitability_bounds"):
        exploitability(load_strategy(), "hunt")
    with pytest.raises(DuelsError, match="without a turn limit"):
        exploitability_bounds(load_strategy(), "hunt", max_turns=5)


def test_findings_define_the_value() -> None:
    (finding,) = ORACLE.findings(Match.start(RULES).sight(Seat.ONE))
    assert "when both play the strategy" in finding.text
    assert finding.data in finding.text
