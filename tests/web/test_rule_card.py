"""Rule cards as parts of a page: every rule is kept, and nothing describes the terminal."""

import pytest

from duels.games import GAMES
from duels.web.pages import parse_rule_card


@pytest.mark.parametrize("name", GAMES)
def test_every_word_appears_once(name: str) -> None:
    card = GAMES[name].card()
    texts = []
    for part in parse_rule_card(card):
        texts += [part.heading, *part.paragraphs, *part.points]
    title, _, rest = card.partition("\n")
    rest, terminal, _ = rest.partition("\nAt the terminal\n")
    assert title
    assert terminal, "what one enters is no part of the rules"
    assert sorted(" ".join(texts).split()) == sorted(word for word in rest.split() if word != "-")


def test_wrapped_lines_are_joined() -> None:
    card = "NIM\n\nGoal      Take the\n          last stone.\nNotes\n- One\n  two\n"
    goal, notes = parse_rule_card(card)
    assert (goal.heading, goal.paragraphs) == ("Goal", ["Take the last stone."])
    assert (notes.heading, notes.points) == ("Notes", ["One two"])


def test_other_cards_are_kept_unchanged() -> None:
    (part,) = parse_rule_card("NIM\n  Take stones.\n")
    assert part.paragraphs == ["Take stones."]


@pytest.mark.parametrize("name", GAMES)
def test_the_guide_describes_the_board(name: str) -> None:
    guide = GAMES[name].drawing(GAMES[name].rules()).guide
    assert guide
    *_, last = parse_rule_card(GAMES[name].card(), guide)
    assert (last.heading, tuple(last.points)) == ("On the board", guide)
