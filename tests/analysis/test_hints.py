"""Hints: the best actions, their value and the reason, from the seat's observations."""

import re
from random import Random
from typing import Any

import pytest

import duels
from duels.core.errors import NotYourTurn, UnknownName
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle
from tests.analysis.matches import level_match
from tests.analysis.toys import HideOracle, Steps
from tests.core.toys import Hide


@pytest.mark.parametrize(
    ("game", "position", "actions", "text"),
    [
        ("lights", "OXOXXXX 1", "1 3", "Every move loses against perfect play (0.0% to win)."),
        ("lights", "OXOXOXX 1", "1 3 5", "Every move wins with perfect play (100.0% to win)."),
        ("chain", "_______ 1", "1 2 3 4 5 6 7", "All actions are equally good (50.0% to win)."),
        ("lights", "OOXXXXX 1", "1-2", "1-2 (100.0% to win)."),
        ("lights", "OOOOOOO 1", "4 2-3 5-6", "4, 2-3 or 5-6 (100.0% to win)."),
        ("chain", "?OO_XX_ 1", "challenge", "challenge (44.4% to win)."),
        ("leap", "20 1 1", "1", "1 (100.0% to win)."),
        ("leap", "12 1 1", "2 6", "Every move wins with perfect play; quickest: 2 or 6 (100.0% to win)."),
        (
            "leap",
            "6 12 1",
            "1 3 6",
            "Every move loses against perfect play; best try: 1, 3 or 6 (0.0% to win).",
        ),
    ],
)
def test_a_hint_names_the_actions_and_their_value(game: str, position: str, actions: str, text: str) -> None:
    rules = find_game(game).rules()
    hint = duels.hint(rules.parse_position(position))
    assert [rules.format(action) for action in hint.actions] == actions.split()
    assert hint.text.startswith(f"{text} ")
    assert hint.text.endswith(hint.reason)
    assert dict(hint.belief) == {}
    assert hint.value == get_oracle(rules).judge(rules.parse_position(position)).value


def test_a_hint_gives_frequencies_of_a_mixture() -> None:
    rules = find_game("hunt").rules()
    sight = rules.parse_position("1: move 3, observe 4, ?, observe 4, tunnel 2")
    verdict = get_oracle(rules).judge(sight)
    most = max(verdict.actions, key=lambda judged: judged.weight)
    hint = duels.hint(sight)
    assert hint.actions[0] == most.action
    assert hint.details.startswith(f"The strategy mixes {rules.format(most.action)} {most.weight:.0%}, ")
    assert hint.text.endswith(f"{hint.reason} {hint.details}")
    assert "The strategy mixes" not in hint.advice
    assert f"({verdict.value} to win)" in hint.text
    assert hint.value.exactness is Exactness.ESTIMATE
    assert sum(p for secret, p in hint.belief.items() if secret.startswith("position")) == pytest.approx(1)


@pytest.mark.parametrize(
    ("game", "position", "best"),
    [
        ("hunt", "1:", "move to any position, at random"),
        ("hunt", "1: move 2", "observe any position, at random"),
        ("flip", "...../...../...../...../..... 0,0 11 1", "flip any unseen tile"),
    ],
)
def test_advice_is_one_line(game: str, position: str, best: str) -> None:
    hint = duels.hint(find_game(game).rules().parse_position(position))
    assert hint.best == best
    assert re.fullmatch(rf"{best} \((about )?\d\d\.\d% to win\)\.", hint.advice)
    assert "±" not in hint.advice
    assert ("±" in hint.details) is (game == "flip")


def test_hunt_hints_name_the_most_frequent_action() -> None:
    match = level_match("hunt", "best", Random(2))
    rules, verbs = match.rules, set()
    for number in range(len(match.turns)):
        before = match.after(number)
        assert isinstance(before.actor, Seat)
        sight = before.sight(before.actor)
        hint = duels.hint(sight)
        most = max(get_oracle(rules).weights(sight))
        assert hint.best.startswith(f"mostly {_named(sight, hint.actions[0])} ({most:.0%}), ") is (
            0.6 < most < 0.99
        )
        verbs.add(hint.best.split()[0])
        assert len(hint.best) < 60
    assert verbs == {"mostly", "move", "observe"}


def _named(sight: Any, action: Any) -> str:
    return str(sight.rules.game.words(sight.rules).name_action(sight, action))


def test_hints_use_only_the_seats_observations() -> None:
    """Two matches that Player 2 cannot tell apart."""
    left, right = (Match.start(Hide()).play_text("heads", side).sight(Seat.TWO) for side in ("left", "right"))
    assert duels.hint(left, HideOracle()) == duels.hint(right, HideOracle())
    assert duels.hint(left, HideOracle()).best == "mix left 60%, right 40%"


def test_hints_work_for_unregistered_games() -> None:
    match = Match.start(Steps()).play_text("1", "2")
    hint = duels.hint(match.sight(Seat.ONE))
    assert hint.text == ("1 (worth 100.0%). Best is 1, worth 100.0%; anything else is worth 50.0% at most.")


def test_rejects_a_seat_that_is_not_to_move() -> None:
    match = duels.start("lights")
    with pytest.raises(NotYourTurn):
        duels.hint(match.sight(Seat.TWO))
    with pytest.raises(NotYourTurn):
        duels.hint(match.resign(Seat.ONE).sight(Seat.ONE))


def test_a_hint_on_a_challenge_gives_the_rule_of_thumb() -> None:
    def reason_at(position: str) -> str:
        return duels.hint(find_game("chain").rules().parse_position(position)).reason

    rule = (
        "challenge, unless a free cell beside the symbol in doubt belongs to a chain of 4 that you can still"
    )
    assert f"{rule} make; here none does." in reason_at("?OO_XX_ 1")
    assert f"{rule} make; here one does." in reason_at("_X?_O_O 2")


@pytest.mark.parametrize(
    ("game", "position"),
    [
        *(("lights", f"{row} 1") for row in ("OOOOOOO", "OXOXXXX", "OOXXXXX", "OOXOOOO")),
        *(("leap", cells) for cells in ("20 1 1", "12 1 1", "6 12 1", "3 3 1")),
        *(("chain", cells) for cells in ("_______ 1", "?OO_XX_ 1", "XXX_OO_ 1", "XX__OOO 1", "XOXO_XO 1")),
        ("flip", "...../...../...../...../..... 0,0 11 1"),
        ("flip", "...../.4.../..5../...2e/..... 6,5 01 2"),
        ("hunt", "1:"),
        ("hunt", "1: move 2"),
        ("hunt", "1: move 3, observe 4, ?, observe 4"),
    ],
)
def test_the_first_stage_names_no_move(game: str, position: str) -> None:
    hint = duels.hint(find_game(game).rules().parse_position(position))
    pointer, move, theory = hint.stages
    assert (pointer, move, theory) == (hint.pointer, hint.advice, hint.theory)
    assert pointer.endswith((".", "?"))
    assert len(pointer) < 220
    for word in ("nim", "strategy", "mixture", "%"):
        assert word not in pointer
    assert not re.search(r"\b(cell|light|position) \d", pointer)


@pytest.mark.parametrize(("seat", "wins"), [(Seat.ONE, 0.5336), (Seat.TWO, 0.5101)])
def test_the_answer_to_a_level_is_a_best_response(seat: Seat, wins: float) -> None:
    """`best_responses` solves the same board with other code, for the whole match."""
    assert duels.best_responses("club", "chain", max_boards=1)[seat].wins == pytest.approx(wins, abs=1e-4)
    sight = duels.start("chain").sight(Seat.ONE)
    if seat is Seat.ONE:
        chances = duels.hint(sight, against="club").chances
        assert max(value.number for value in chances.values()) == pytest.approx(wins, abs=1e-4)
        return
    odds = duels.make_player("club", "chain").odds(sight)  # type: ignore[attr-defined]
    answers = {
        action: duels.hint(duels.start("chain").play(Seat.ONE, action).sight(seat), against="club").chances
        for action in sight.actions
    }
    mean = sum(p * max(v.number for v in answers[action].values()) for action, p in odds.items())
    assert mean == pytest.approx(wins, abs=1e-4)


@pytest.mark.parametrize(
    ("game", "position", "exactness", "tip"),
    [
        (
            "leap",
            "6 12 1",
            Exactness.EXACT,
            "Against club, 1, 3 or 6 wins most often (29.2% to win).",
        ),
        ("lights", "OOOOOOO 1", Exactness.EXACT, ""),
        ("flip", "...../...../...../...../..... 0,0 11 1", Exactness.ESTIMATE, ""),
        (
            "hunt",
            "1: move 3, observe 4, ?, observe 4",
            Exactness.ESTIMATE,
            "Against club, stay wins most often (about 53.9% to win).",
        ),
    ],
)
def test_a_tip_names_the_move_after_which_a_level_errs_most(
    game: str, position: str, exactness: Exactness, tip: str
) -> None:
    sight = find_game(game).rules().parse_position(position)
    hint = duels.hint(sight, against="club")
    assert hint.tip == tip
    assert set(hint.chances) == set(sight.actions)
    assert {value.exactness for value in hint.chances.values()} == {exactness}
    assert duels.hint(sight).chances == {}


def test_all_stages_of_a_hint_against_a_level_agree() -> None:
    sight = duels.start("chain").sight(Seat.ONE)
    hint = duels.hint(sight, against="casual")
    assert [sight.rules.format(action) for action in hint.actions] == ["4"]
    _, move, theory = hint.stages
    assert move.startswith(f"{hint.tip} Against perfect play: all actions are equally good (")
    assert theory.startswith("The mistakes of casual help you most after 4. Against perfect play, nothing is")
    assert len(duels.hint(sight).actions) == 7


def test_a_tip_promises_more_than_the_advice() -> None:
    sight = find_game("hunt").rules().parse_position("2: ?, observe 4, move 7")
    hint = duels.hint(sight, against="casual")
    assert max(value.number for value in hint.chances.values()) < hint.value.number
    assert hint.tip == ""


def test_large_games_are_estimated_from_whole_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    sight = find_game("chain").rules().parse_position("O___X__ 1")
    assert duels.hint(sight, against="club").tip.endswith(" on this board).")
    monkeypatch.setattr("duels.analysis.hints._MAX_STATES", 10)
    estimate = "Against club, 3 wins most often (about 52.3% to win)."
    assert duels.hint(sight, against="club").tip == estimate


def test_an_answer_to_a_level_beats_perfect_play() -> None:
    for game, position in (("leap", "3 3 1"), ("flip", "...../.4.../..5../...2e/..... 6,5 01 2")):
        sight = find_game(game).rules().parse_position(position)
        values = get_oracle(sight.rules).judge(sight)
        chances = duels.hint(sight, against="casual").chances
        for judged in values.actions:
            assert chances[judged.action].number >= judged.value.low - 1e-6
        assert any(chances[judged.action].number > judged.value.high for judged in values.actions)


def test_an_opponent_must_be_a_machine_player() -> None:
    sight = duels.start("lights").sight(Seat.ONE)
    with pytest.raises(UnknownName):
        duels.hint(sight, against="human")
    with pytest.raises(UnknownName):
        duels.hint(sight, against="nobody")
