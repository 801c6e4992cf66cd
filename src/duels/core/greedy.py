"""The score of an action for games that have none of their own: what it brings at once."""

from collections.abc import Callable

from duels.core.rules import A, Rules, S, Sight, V


def one_ply(rules: Rules[S, A, V]) -> Callable[[Sight[A, S], A], float]:
    """1 for an action that wins at once, 0 for one that loses; all others alike, as with hidden states."""

    def score(sight: Sight[A, S], action: A) -> float:
        if rules.has_secrets:  # what an action brings may depend on what the seat cannot know
            return 0.5
        outcome = rules.outcome(rules.apply(sight.view, action).state)
        return float(outcome.score(sight.seat)) if outcome else 0.5

    return score
