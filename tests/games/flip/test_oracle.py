"""Flip's oracle against brute force on the rules, its own recurrence, and evident positions."""

import re
import subprocess
import sys
from array import array
from pathlib import Path
from random import Random

import pytest

from duels.core.errors import NotationError, NotYourTurn
from duels.core.match import Match, draw
from duels.core.rules import CHANCE, Seat
from duels.games.flip import table, verify
from duels.games.flip.abstraction import MAX_NEAR, Abstraction
from duels.games.flip.oracle import FlipOracle, make_oracle
from duels.games.flip.rules import Flip, Keep, QuantumFlip, QuantumTiles
from duels.games.flip.table import SHIPPED, Table, format_header
from duels.solving.graph import explore
from duels.solving.induction import InductionOracle
from duels.solving.oracle import Exactness
from duels.solving.store import pack_shorts, pack_table, unpack_shorts, unpack_table

pytestmark = pytest.mark.usefixtures("home")

BOOK = QuantumTiles()
SMALL = QuantumTiles(side=3, values=3, copies=3, target=6)
GOAL = 0.001  # the error allowed at the opening and wherever good play leads


@pytest.fixture(scope="module")
def oracle() -> FlipOracle:
    return make_oracle(BOOK)


# -- the table ---------------------------------------------------------------------------------------


def test_solving_reproduces_the_shipped_table() -> None:
    abstraction = Abstraction(BOOK)
    assert unpack_shorts(
        unpack_table(SHIPPED.read_bytes(), format_header(abstraction))
    ) == table.solve_with_numpy(abstraction)


@pytest.mark.parametrize(
    "rules",
    [
        SMALL,
        QuantumTiles(side=2, values=4, copies=1, target=5),
        QuantumTiles(side=3, values=9, copies=1, target=8),
    ],
)
def test_solving_without_numpy_gives_the_same_table(rules: QuantumTiles) -> None:
    abstraction = Abstraction(rules)
    assert table.solve_in_python(abstraction) == table.solve_with_numpy(abstraction)


def test_stored_values_follow_from_their_successors(oracle: FlipOracle) -> None:
    check = verify.check_lookups(oracle.table, interval=499)
    assert check.passed, check.detail


def test_detects_a_wrong_value_in_the_table() -> None:
    small = Table.of(SMALL)
    wrong = array("H", small.stored_values)
    index = max(range(len(wrong)), key=lambda i: abs(wrong[i] - 32768) < 20000)
    wrong[index] += 100
    damaged = Table(small.abstraction, wrong)
    for check in (verify.check_lookups, verify.check_solution):
        assert check(small).passed
        assert not check(damaged).passed


def damage(content: bytes, how: str) -> bytes:
    if how == "cut":
        return content[: len(content) // 2]
    wrong = bytearray(content)
    wrong[len(wrong) // 2] ^= 1
    return bytes(wrong)


@pytest.mark.parametrize("how", ["cut", "one bit"])
def test_a_damaged_table_is_rebuilt(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    right = Table.of(BOOK).stored_values
    assert not caplog.records
    broken = tmp_path / "table.bin"
    broken.write_bytes(damage(SHIPPED.read_bytes(), how))
    monkeypatch.setattr(table, "SHIPPED", broken)
    assert Table.of(BOOK).stored_values == right
    assert "building the table again" in caplog.text
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_bytes(damage(cached.read_bytes(), how))
    caplog.clear()
    assert Table.of(BOOK).stored_values == right
    assert str(broken) in caplog.text
    assert str(cached) in caplog.text
    assert "building the table again" in caplog.text


def test_rejects_an_altered_table_with_a_valid_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, holds = Table.of(BOOK).stored_values, format_header(Abstraction(BOOK))
    altered = array("H", right)
    altered[1000] ^= 1
    broken = tmp_path / "table.bin"
    broken.write_bytes(pack_table(holds, pack_shorts(altered)))
    monkeypatch.setattr(table, "SHIPPED", broken)
    monkeypatch.setattr(table, "solve", lambda abstraction, progress: right)
    assert Table.of(BOOK).stored_values == right


def test_more_unknown_neighbours_never_hurt_the_owner() -> None:
    abstraction = Abstraction(BOOK)
    size = abstraction.layout.row_size
    numbers = Table.of(BOOK).stored_values
    for value in range(1, 6):
        for near in range(MAX_NEAR):
            for kind, sign in (("mover", 1), ("opponent", -1)):
                less, more = (abstraction.row_index[kind, (value, n)] * size for n in (near, near + 1))
                pairs = zip(numbers[less : less + size], numbers[more : more + size], strict=True)
                assert all(sign * (b - a) >= 0 for a, b in pairs)


def test_perfect_play_needs_no_numpy() -> None:
    script = (
        "import sys\n"
        "from duels.core.rules import Seat\n"
        "from duels.games.flip.oracle import make_oracle\n"
        "from duels.games.flip.rules import RULES\n"
        "rules = RULES()\n"
        "make_oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE))\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


# -- brute force -------------------------------------------------------------------------------------


def test_agrees_with_brute_force_on_a_tiny_board() -> None:
    check = verify.check_all_positions(make_oracle(verify.TINY_BOARDS[0]))
    assert check.passed, check.detail


@pytest.mark.parametrize("target", [4, 6, 8])
def test_agrees_with_brute_force_near_the_end(target: int) -> None:
    rules = QuantumTiles(side=3, values=3, copies=3, target=target)
    check = verify.check_late_positions(make_oracle(rules), 6)
    assert check.passed, check.detail


def test_the_pairing_argument_holds_on_a_small_board() -> None:
    check = verify.check_pairing(3, 2)
    assert check.passed, check.detail


def test_detects_a_wrong_pairing_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "count_sure_turns", lambda pairs, spare, moves, rival: pairs + 1)
    assert not verify.check_pairing(3, 2).passed


@pytest.mark.parametrize(
    "position",
    [
        "23.../44.../...4./355../15.3. 19,20 11 2",
        "5424./5.4.b/5.1../.4.../5.... 19,20 01 1",
        "5424./5.4../5.1../.4.../5...b 19,20 01 2",
        ".5.4./4.5.4/.4.3./5.1.c/.a.2. 19,18 00 1",
    ],
)
def test_agrees_with_brute_force_at_the_end_of_the_book_game(oracle: FlipOracle, position: str) -> None:
    outside, widest = verify.compare(oracle, [BOOK.parse_state(position)])
    assert outside == 0
    assert widest <= GOAL


@pytest.mark.slow
def test_every_check_of_the_oracle_passes(oracle: FlipOracle) -> None:
    failed = [check for check in oracle.verify() if not check.passed]
    assert not failed


# -- what it answers ---------------------------------------------------------------------------------


def test_the_opening_is_bounded_as_tightly_as_promised(oracle: FlipOracle) -> None:
    value = oracle.value(BOOK.sight(BOOK.initial(), Seat.ONE))
    assert value.exactness is Exactness.BOUND
    assert value.error < GOAL
    other = oracle.value(BOOK.sight(BOOK.initial(), Seat.TWO))
    assert other.number == pytest.approx(1 - value.number)


def test_every_legal_action_is_judged_once_and_the_best_are_marked(oracle: FlipOracle) -> None:
    rng = Random(5)
    for _ in range(6):
        match = Match.start(BOOK)
        while not match.over:
            actor = match.actor
            assert actor is not None
            if isinstance(actor, Seat):
                verdict = oracle.judge(match.sight(actor))
                assert tuple(judged.action for judged in verdict.actions) == match.actions
                assert sum(judged.weight for judged in verdict.actions) == pytest.approx(1)
                top = max(judged.value.number for judged in verdict.actions)
                assert verdict.value.number == pytest.approx(top)
                assert all(judged.best for judged in verdict.actions if judged.value.number == top)
                assert all(judged.best for judged in verdict.actions if judged.weight)
            match = match.play(actor, draw(match, rng) if actor is CHANCE else rng.choice(match.actions))


def test_values_of_both_seats_add_up_at_every_kind_of_node(oracle: FlipOracle) -> None:
    rng = Random(7)
    match = Match.start(BOOK)
    while match.actor is not None:
        one, two = (oracle.value(match.sight(seat)) for seat in Seat)
        assert one.number + two.number == pytest.approx(1)
        double = [action for action in match.actions if isinstance(action, QuantumFlip)]
        actor = match.actor
        match = match.play(
            actor, draw(match, rng) if actor is CHANCE else rng.choice(double or match.actions)
        )
    assert match.outcome
    for seat in Seat:
        assert oracle.value(match.sight(seat)).number == (match.outcome.winner is seat)
        assert oracle.value(match.sight(seat)).exactness is Exactness.EXACT


def test_a_chance_event_has_the_mean_value_of_its_outcomes(oracle: FlipOracle) -> None:
    for position in (
        "5414./5.4.b/5.1../.4.../5.... 19,19 01 1 A5",
        "...../.4.../..5../...2e/..... 6,5 01 2 A1+A2",
    ):
        state = BOOK.parse_state(position)
        value = oracle.value(BOOK.sight(state, state.mover))
        mean, error = 0.0, value.error
        for drawn, chance in zip(BOOK.actions(state), BOOK.odds(state), strict=True):
            after = oracle.value(BOOK.sight(BOOK.apply(state, drawn).state, state.mover))
            mean += float(chance) * after.number
            error += float(chance) * after.error
        assert abs(value.number - mean) <= error


def test_takes_a_known_tile_that_reaches_the_target(oracle: FlipOracle) -> None:
    sight = BOOK.parse_position("5414./5.4.b/5.1../.4.../5.... 19,19 01 1")
    verdict = oracle.judge(sight)
    assert verdict.best == (Flip(9),)
    assert verdict.value.number == 1
    assert verdict.value.exactness is Exactness.EXACT
    assert oracle.reason(sight) == "B5 is known to be the 2 that makes 21."


def test_a_choice_considers_the_tile_left_behind(oracle: FlipOracle) -> None:
    # Both choices pass 21 or not: 20 points take the 1 that makes 21, whatever the other tile is.
    sight = BOOK.parse_position("4545./5.4.a/3...e/...../5.... 20,15 10 1 B5|C5")
    verdict = oracle.judge(sight)
    assert verdict.best == (Keep(9),)
    assert verdict.value.number == 1
    assert oracle.reason(sight) == "Keep the 1, which makes 21: you win 100.0%, with the 5 0.0%."


def test_equal_tiles_are_not_compared(oracle: FlipOracle) -> None:
    sight = BOOK.parse_position("4545./5.4.c/3...c/...../5.... 16,19 10 1 B5|C5")
    reason = oracle.reason(sight)
    assert reason.startswith("Both tiles show 3, which makes 19 with either: you win ")
    assert "with the 3" not in reason


def test_reasons_give_the_odds_and_the_bag(oracle: FlipOracle) -> None:
    opening = oracle.reason(BOOK.sight(BOOK.initial(), Seat.ONE))
    assert "no single tile reaches 21 yet" in opening
    assert "5×1, 5×2, 5×3, 5×4, 5×5" in opening
    # 17 tiles are unknown: four of them are a 3, eight are more.
    late = BOOK.parse_position("4515./5.4../3..../...../3.... 18,12 10 1")
    assert "hits 21 with 17.6% and passes it with 29.4%" in oracle.reason(late)


def test_having_the_quantum_flip_helps_and_facing_it_hurts(oracle: FlipOracle) -> None:
    def value(quantum: str) -> float:
        sight = BOOK.parse_position(f"...../...../...../...../..... 0,0 {quantum} 1")
        return oracle.value(sight).number

    assert value("10") > value("11") > value("01")
    assert value("10") > value("00") > value("01")


def test_rejects_more_seen_tiles_than_used_quantum_flips() -> None:
    for position in ("....a/...../...../...../..... 0,0 11 1", "...ab/...../...../...../..... 0,0 01 1"):
        with pytest.raises(NotationError, match="Quantum Flips are used"):
            BOOK.parse_state(position)


@pytest.mark.parametrize(
    ("position", "why"),
    [
        ("...../.4.../..5../...be/..... 0,9 10 2 D4|D5", r"Player 2 still counts as having .* \(11, or 01\)"),
        ("...../.4.../..5../...../..... 0,9 10 2 D4+D5", r"Player 2 still counts as having"),
        ("...../.4.../..5../...be/..... 0,9 11 2 D4+D5", r"once both are shown, write \| between them"),
        ("...../.4.../..5../...../..... 0,9 11 2 D4|D5", "both must have been shown"),
        ("...../.4.../..5../...../..... 0,9 11 2 D4+E5", "they must be neighbours"),
        ("...../.4.../..5../...../..... 0,9 11 2 B2", "they must be face down"),
        ("...../.4.../..5../...b./..... 0,9 10 2 D4", "has been shown already"),
        ("...../.4.../..5../...../..... 0,9 11 2 zz", r"write B2, D4\+D5, or D4\|D5"),
        ("55551/...../...../...../..... 21,0 11 2 D4+D5", "the match is over"),
    ],
)
def test_explains_unreadable_tiles_being_turned(position: str, why: str) -> None:
    with pytest.raises(NotationError, match=f"Cannot read the tiles being turned.*{why}"):
        BOOK.parse_state(position)


def test_the_quantum_flip_is_spent_after_the_choice() -> None:
    page = Path("docs/notation.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"`([^`]* D4\|D5)`", page)
    state = BOOK.parse_state(example)
    assert state.choosing
    assert state.quantum[state.mover - 1]
    assert BOOK.format_state(state) == example


def test_actions_are_best_unless_proven_worse(oracle: FlipOracle) -> None:
    wide = BOOK.parse_position(".2.../4..../...2./1..../...3. 7,5 11 2")
    verdict = oracle.judge(wide)
    assert verdict.value.error > 0.01
    for judged in verdict.actions:
        assert judged.best is (judged.value.high >= verdict.value.low)
        least, most = verdict.value.low - judged.value.high, verdict.value.high - judged.value.low
        loss, error = verdict.loss(judged.action), verdict.loss_error(judged.action)
        assert loss - error <= max(0, least) + 1e-12
        assert loss + error >= most - 1e-12
    assert len({judged.value.number for judged in verdict.actions if judged.best}) > 1
    assert len(verdict.best) < len(verdict.actions)


def test_judges_unreachable_positions(oracle: FlipOracle) -> None:
    # One player took every tile so far; the seen tile lies among four unknown ones.
    sight = BOOK.parse_position("12.../...../..c../...../..... 3,0 01 1")
    verdict = oracle.judge(sight)
    assert 0 < verdict.value.number < 1
    assert len(verdict.actions) == 23


def test_checks_are_reported_as_they_finish(oracle: FlipOracle) -> None:
    first = next(oracle.verify())
    assert first.passed
    assert f"{len(oracle.table.stored_values):,}" in first.detail


def test_unknown_and_known_tiles_are_different_classes(oracle: FlipOracle) -> None:
    sight = BOOK.parse_position("...../.4.../..5../...2e/..... 6,5 01 2")
    ideas = {oracle.action_class(sight, action) for action in sight.actions}
    assert len(ideas) == 4  # flip an unknown tile or the 5; Quantum Flip two unknown tiles, or one and the 5


def test_a_resigned_match_is_lost(oracle: FlipOracle) -> None:
    match = Match.start(BOOK).resign(Seat.ONE)
    assert [oracle.value(match.sight(seat)).number for seat in Seat] == [0, 1]
    with pytest.raises(NotYourTurn):
        oracle.judge(match.sight(Seat.ONE))


@pytest.mark.parametrize(
    "position",
    [
        "...../....5/.1.2./4..../..... 6,6 11 1",
        ".4.1./2..../...5./...../..... 7,5 11 1",
        "...../....5/...2./4..../..... 6,5 11 2",
    ],
)
def test_boards_with_few_pairs_left_have_narrow_values(oracle: FlipOracle, position: str) -> None:
    """Tiles of one colour flipped first: the pairs may run out, but hardly any match lasts so long."""
    assert oracle.judge(BOOK.parse_position(position)).value.error < GOAL


def test_names_the_opponents_threat(oracle: FlipOracle) -> None:
    sight = oracle.rules.parse_position("1..../1.2.5/.12../..c5./24441 14,18 00 1")
    denied = (
        "The other player stands at 18 and D3 is known to be a 3: leave it and the other player takes 21. "
    )
    assert oracle.reason(sight).startswith(f"{denied}Take D3")
    flipped = "You flipped A5, an unknown tile, and left D3 to the other player."
    assert oracle.effect(sight, oracle.rules.parse("A5")) == flipped, "the reason has the odds"
    assert oracle.effect(sight, oracle.rules.parse("D3")) == "You took D3, known to be a 3, for 17."
    harmless = oracle.rules.parse_position("1..../1.2.5/.12../..c5./24441 15,17 00 1")
    assert "stands at" not in oracle.reason(harmless)


def test_names_a_threat_that_cannot_be_denied(oracle: FlipOracle) -> None:
    sight = oracle.rules.parse_position("1..../1.2.5/.12../c.c5./24441 14,18 00 1")
    assert "D1 and D3 are known to be 3s: unless you win now, the other player takes 21." in oracle.reason(
        sight
    )


def test_keeps_a_tile_to_deny_it(oracle: FlipOracle) -> None:
    sight = oracle.rules.parse_position("1..../1.2.5/.1b../..c5./2444. 11,18 10 1 C3|D3")
    assert oracle.reason(sight).startswith(
        "The other player stands at 18 and D3 is known to be a 3: leave it"
    )
    assert oracle.effect(sight, oracle.rules.parse("keep C3")).endswith("and left D3 to the other player.")


# -- small boards ------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [2, 3])
def test_small_boards_have_the_values_of_backward_induction(target: int) -> None:
    rules = QuantumTiles(side=2, values=2, copies=2, target=target)
    oracle, exact = make_oracle(rules), InductionOracle(rules)
    for state in explore(rules, [rules.initial()]).states:
        actor = rules.actor(state)
        if not isinstance(actor, Seat):
            continue
        value = oracle.judge(rules.sight(state, actor)).value
        expected = exact.state_value(state) if actor is Seat.ONE else 1 - exact.state_value(state)
        assert value.error < 1e-5
        assert value.number == pytest.approx(float(expected), abs=value.error)


def test_look_ahead_reaches_the_end_of_a_small_board() -> None:
    value = make_oracle(SMALL).judge(SMALL.sight(SMALL.initial(), Seat.ONE)).value
    assert value.number == pytest.approx(0.6113, abs=5e-5)
    assert value.error < 1e-5
