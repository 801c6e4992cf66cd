"""Sentences with slots: second person to the reader, third person with names to everybody else."""

import re
from random import Random

import duels_liarsdice
import duels_tictactoe
import pytest

from duels.core.match import Match
from duels.core.narration import (
    Narration,
    PlayerNames,
    Sentence,
    TextBoard,
    name,
    owner,
    say,
    verb,
    victory,
    whose,
    wins,
)
from duels.core.rules import AnyRules, Seat
from duels.core.words import Ink, strip_ink
from duels.play.narrator import Narrator
from tests.support import all_rules, play_randomly

ONE, TWO = Seat
NAMES = {reader: PlayerNames("Ann", "bob", reader) for reader in (ONE, TWO, None)}


@pytest.mark.parametrize(
    ("sentence", "to_one", "to_two", "to_all"),
    [
        (
            say(ONE, verb(ONE, "was", "were"), "caught on cell 4."),
            "You were caught on cell 4.",
            "Ann was caught on cell 4.",
            "Ann was caught on cell 4.",
        ),
        (
            say(ONE, "always", wins(ONE), "ties."),
            "You always win ties.",
            "Ann always wins ties.",
            "Ann always wins ties.",
        ),
        (
            say(TWO, verb(TWO, "catches", "catch"), ONE, "and", wins(TWO), "."),
            "bob catches you and wins.",
            "You catch Ann and win.",
            "bob catches Ann and wins.",
        ),
        (
            say("Cell 2 is now", owner(ONE), ", not", owner(TWO), "."),
            "Cell 2 is now yours, not bob's.",
            "Cell 2 is now Ann's, not yours.",
            "Cell 2 is now Ann's, not bob's.",
        ),
        (
            say(whose(ONE), "token fell!", "", whose(TWO), "token stands, and", name(TWO), "won."),
            "Your token fell! bob's token stands, and bob won.",
            "Ann's token fell! Your token stands, and you won.",
            "Ann's token fell! bob's token stands, and bob won.",
        ),
        (say(victory(ONE), victory(TWO)), "You win! bob wins!", "Ann wins! You win!", "Ann wins! bob wins!"),
    ],
)
def test_every_reader_gets_the_right_forms(sentence: Sentence, to_one: str, to_two: str, to_all: str) -> None:
    assert sentence.render(NAMES[ONE]) == to_one
    assert sentence.render(NAMES[TWO]) == to_two
    assert sentence.render(NAMES[None]) == to_all
    assert sentence.render() == to_all.replace("Ann", "Player 1").replace("bob", "Player 2")


def test_a_sentence_names_its_subject() -> None:
    assert say(ONE, "turned OFF light 3.").subject is ONE
    assert say(victory(TWO), "It is over.").subject is TWO
    assert say(whose(ONE), "total exceeds 21.").subject is None
    assert say("Player 1 wins.").subject is None
    assert Sentence(()).subject is None


def test_ink_colours_part_of_a_sentence() -> None:
    won = say(ONE, verb(ONE, "resigns", "resign"), ".", victory(TWO, Ink.WON))
    assert won.render() == f"Player 1 resigns. {Ink.WON('Player 2 wins!')}"


def test_a_plain_sentence_reads_the_same_to_everybody() -> None:
    """A game from another package may use plain sentences: nothing rewrites them."""
    text = "Player 1 was caught by Player 2, who always wins ties. Your move: is it yours?"
    for reader in (*Seat, None):
        assert Narration([text]).render_news(NAMES[reader]) == [text]


def test_omits_a_board_that_is_visible() -> None:
    board = TextBoard("Current Board:\n[X]\n")
    spoken = Narration([say(ONE, "placed X."), board], book=["", "You placed X.", "", board, ""], reader=ONE)
    assert spoken.render() == "\nYou placed X.\n\nCurrent Board:\n[X]\n\n"
    assert spoken.render_news(NAMES[ONE]) == ["You placed X."]
    assert spoken.render_news(NAMES[TWO]) == ["Ann placed X."]
    ours = Narration(["", say("It is", owner(ONE), "."), board], reader=ONE)
    assert ours.render() == "\nIt is yours.\nCurrent Board:\n[X]\n"
    assert ours.render_news(NAMES[TWO]) == ["It is Ann's."]
    assert Narration([say(ONE, "moved.")], book=[], reader=ONE).render_news(NAMES[ONE]) == []
    assert Narration(["Result: Heads."], book=["Result: Heads"]).render_news(NAMES[TWO]) == ["Result: Heads"]


@pytest.mark.parametrize(
    "rules", [*all_rules(), duels_tictactoe.GAME.rules(), duels_liarsdice.GAME.rules()], ids=repr
)
def test_every_game_addresses_its_reader_as_you(rules: AnyRules) -> None:
    """A named player is never called by the seat, and verbs agree with their subjects."""
    words = rules.game.words(rules)
    verbs = "win|lose|have|reach|roll|bid|call|resign"
    wrong = re.compile(rf"Player|\b[Yy]ou \w+s\b|\b(?:Ann|bob) (?:{verbs})\b|  | [.,!]")
    for seed in range(20):
        match = play_randomly(Match.start(rules), Random(seed), 100, resign=seed % 2 == 0)
        narrator = Narrator(words, frozenset(Seat))
        sentences = [
            s
            for after in match.steps()
            for narration in narrator.narrate_last_turn(after)
            for s in narration.sentences
        ]
        sentences += [match.outcome.sentence] if match.outcome else []
        for sentence in sentences:
            for reader in (*Seat, None):
                text = strip_ink(sentence.render(NAMES[reader]))
                assert not wrong.search(text)
                assert text.endswith((".", "!"))
