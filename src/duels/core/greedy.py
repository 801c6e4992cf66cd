"""The greedy score for games that define none: whether an action wins or loses at once."""

from collections.abc import Callable

from duels.core.rules import A, Rules, S, Sight, V


def one_ply(rules: Rules[S, A, V]) -> Callable[[Sight[A, S], A], float]:
    """A score: 1 if the action wins at once, 0 if it loses, else (and with hidden states) one half."""

    def score(sight: Sight[A, S], action: A) -> float:
        if rules.has_secrets:  # what an action brings may depend on what the seat cannot know
            return 0.5
        outcome = rules.outcome(rules.apply(sight.view, action).state)
        return float(outcome.score(sight.seat)) if outcome else 0.5

    return score
