"""What boards ask: one short sentence wherever a seat decides, which tells nothing that is hidden."""

from random import Random

import pytest

from duels.core.match import Match
from duels.core.rules import Seat
from tests.support import AnyRules, all_rules, play_randomly


@pytest.mark.parametrize("rules", all_rules(), ids=repr)
def test_boards_ask_in_one_sentence(rules: AnyRules) -> None:
    drawing = rules.game.drawing(rules)
    asked = set()
    for seed in range(12):
        match = play_randomly(Match.start(rules), Random(seed), seed)
        if isinstance(match.actor, Seat):
            asked.add(drawing.asked(match.sight(match.actor)))
    assert asked
    for sentence in asked:
        assert sentence[0].isupper()
        assert sentence[-1] in ".?"
        assert len(sentence) < 90
