"""Draws: equal for every driver of a match, and independent of each other."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.match import AnyMatch, Match
from duels.core.rules import CHANCE, AnyRules
from duels.games import find_game
from duels.games.flip.rules import Drawn, Flip, QuantumTiles
from duels.play.dice import ChanceScript, Dice
from tests.support import matches, play_randomly

SMALL = QuantumTiles(side=3, values=3, copies=3, target=9)


def draw_on(rules: AnyRules, dice: Dice, rng: Random) -> AnyMatch:
    """Play a match with choices by `rng` and chance by `dice`."""
    match: AnyMatch = Match.start(rules)
    while (actor := match.actor) is not None and len(match.turns) < 60:
        match = match.play(actor, dice.draw_chance(match) if actor is CHANCE else rng.choice(match.actions))
    return match


@settings(deadline=None, max_examples=40)
@given(matches(("chain", "flip"), resign=False), st.integers(0, 50))
def test_a_draw_depends_on_seed_purpose_and_entries_alone(match: AnyMatch, turns: int) -> None:
    used, fresh = Dice("7"), Dice("7")
    for step in match.steps():
        used.get_generator(step, "Player 1")
    back = match.after(min(turns, len(match.turns)))  # taken back, or resumed by another program
    for purpose in ("Player 1", "Player 2", "chance"):
        assert used.get_generator(back, purpose).getstate() == fresh.get_generator(back, purpose).getstate()
    assert used.get_generator(back, "Player 1").getstate() != used.get_generator(back, "Player 2").getstate()
    assert Dice("8").get_generator(back, "chance").getstate() != used.get_generator(back, "chance").getstate()


def test_different_entries_give_different_draws() -> None:
    dice = Dice("7")
    start = Match.start(find_game("lights").rules())
    states = {
        str(dice.get_generator(start.play_text(entry), "Player 2").getstate()) for entry in ("1", "2", "1-2")
    }
    assert len(states) == 3


def test_the_generator_of_a_player_does_not_hold_the_seed() -> None:
    """Python seeds a generator from text in a way that anybody can repeat: ours is seeded from a hash."""
    match = Match.start(find_game("hunt").rules())
    given_to_player = Dice("7").get_generator(match, "Player 1")
    for guess in ("7", "7 Player 1", "7 Player 1 0", "7\nPlayer 1"):
        assert Random(guess).getstate() != given_to_player.getstate()


@settings(deadline=None, max_examples=60)
@given(st.text("ab", min_size=1), st.randoms(use_true_random=False), st.randoms(use_true_random=False))
def test_a_value_is_fixed_to_its_tile(seed: str, one: Random, two: Random) -> None:
    """Whatever the order of flips, a tile shows the same value."""
    boards = []
    for rng in (one, two):
        board: dict[int, int] = {}
        match = draw_on(SMALL, Dice(seed), rng)
        for number, turn in enumerate(match.turns):
            if isinstance(turn.action, Drawn):
                board |= dict(zip(match.after(number).state.lifted, turn.action.values, strict=True))
        boards.append(board)
    first, second = boards
    assert {tile: first[tile] for tile in first.keys() & second.keys()} == {
        tile: second[tile] for tile in first.keys() & second.keys()
    }


def test_deals_follow_the_odds_of_the_rules() -> None:
    counts = Counter(
        Dice(str(seed)).draw_chance(Match.start(SMALL).play_text("B2")).values[0] for seed in range(3000)
    )
    assert all(abs(counts[value] - 1000) < 150 for value in (1, 2, 3))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_a_deal_is_corrected_by_scripted_draws(seed: int, rng: Random) -> None:
    """Half the draws come from a script: the deal stays a bag of the right tiles, and every draw is legal."""
    dice = Dice(str(seed))
    match: AnyMatch = Match.start(SMALL)
    while (actor := match.actor) is not None:
        if actor is CHANCE and rng.random() < 0.5:
            match = match.play(CHANCE, dice.draw_chance(match))  # refused if the bag could not hold it
        else:
            match = match.play(actor, rng.choice(match.actions))


def test_a_corrected_deal_swaps_with_the_first_unseen_match() -> None:
    deal = (1, 2, 3, 1, 2, 3, 1, 2, 3)
    start = Match.start(SMALL).play_text("A1")
    drawn_three = start.play_text("3")  # dealt was 1; the first unseen 3 lies on A3
    node = (start.state, Drawn((3,)))
    assert SMALL.read_deal(deal, [node], drawn_three.play_text("A3").state) == Drawn((1,))
    assert SMALL.read_deal(deal, [node], drawn_three.play_text("A2").state) == Drawn((2,))
    assert SMALL.read_deal(deal, [], Match.start(SMALL).play(start.turns[0].actor, Flip(0)).state) == Drawn(
        (1,)
    )


def test_a_takeback_repeats_the_draw() -> None:
    rules = find_game("chain").rules()
    dice = Dice("3")
    challenged = Match.start(rules).play_text("3", "5", "4", "challenge")
    coin = dice.draw_chance(challenged)
    play_randomly(challenged, Random(1), 5)
    assert dice.draw_chance(challenged) == coin
    others = [
        dice.get_generator(challenged.play_text("heads").play_text(str(cell)), "chance").random()
        for cell in (1, 2)
    ]
    assert len(set(others)) == 2


@pytest.mark.parametrize(
    ("text", "problem"), [("edge", "not a chance outcome"), ("heads 1", "not a chance outcome")]
)
def test_rejects_invalid_scripts(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ChanceScript.parse(find_game("chain").rules(), text)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 10), min_size=1, max_size=4))
def test_a_tile_keeps_its_value_after_a_takeback(seed: int, takebacks: list[int]) -> None:
    """This also holds for a value from `--chance`, and for any flips in between."""
    rng = Random(seed)
    script = ChanceScript(tuple(Drawn((value,)) for value in (3, 3, 1, 2)))
    dice, match, values = Dice(str(seed), script), Match.start(SMALL), dict[int, int]()
    for length in takebacks:
        for _ in range(3):
            if match.actor is None:
                break
            flips = [action for action in match.actions if isinstance(action, Flip)]
            match = match.play(match.actor, rng.choice(flips))
            (tile,), outcome = match.state.lifted, dice.draw_chance(match)
            match = match.play(CHANCE, outcome)  # refused if the bag could not hold it
            assert values.setdefault(tile, outcome.values[0]) == outcome.values[0]
        before = match.after(2 * min(length, len(match.turns) // 2))
        dice.take_back(match, before)
        match = before
