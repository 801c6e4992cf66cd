"""Best responses over public states agree with the search of the whole tree."""

from hashlib import sha256
from typing import Any

import duels_liarsdice
import pytest

import duels
from duels.core.rules import AnyRules, AnySight
from tools.public_states import exploitability

HUNT = duels.find_game("hunt")
FORMS = [
    HUNT.rules(cells=2, max_turns=5),
    HUNT.rules(cells=3, max_turns=3),
    duels.find_game("flip").rules(side=2, values=2, copies=2, target=3),  # with chance
    duels_liarsdice.GAME.rules(sides=2),  # with hidden chance
]


def weigh(text: str, sight: AnySight) -> dict[Any, float]:
    """Return arbitrary probabilities of the actions that depend on `text`."""
    weights = [1 + byte for byte in sha256(text.encode()).digest()[: len(sight.actions)]]
    odds = [weight / sum(weights) for weight in weights]
    return dict(zip(sight.actions, odds, strict=True))


def play_from_memory(sight: AnySight) -> dict[Any, float]:
    return weigh(repr(sight.events), sight)


def play_from_view(sight: AnySight) -> dict[Any, float]:
    return weigh(repr(sight.view), sight)


# Without hidden information, `duels.exploitability` asks a policy once for each position.
@pytest.mark.parametrize("rules", [form for form in FORMS if form.has_hidden_information], ids=repr)
def test_a_policy_with_memory_is_graded_exactly(rules: AnyRules) -> None:
    expected = duels.exploitability(play_from_memory, rules)
    assert exploitability(play_from_memory, rules) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rules", FORMS, ids=repr)
def test_a_policy_without_memory_is_graded_exactly(rules: AnyRules) -> None:
    expected = duels.exploitability(play_from_view, rules)
    for memoryless in (False, True):
        assert exploitability(play_from_view, rules, memoryless) == pytest.approx(expected, abs=1e-12)
