"""The laws of environments, and the error that names a broken one."""

from enum import Enum

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.rules import AnyRules


class EnvironmentLaw(Enum):
    """What every environment guarantees. The value is the law in one line."""

    LEGALITY = (
        "the seat to move and its legal actions are those of the rules; after the end there are none, "
        "except that a truncated game has the actions that were possible next as far as a seat knows"
    )
    ENDING = "a game that is won or drawn by the rules is terminated, a game that is cut off is truncated"
    REWARD = "the reward is 1 for a win, -1 for a loss, 0 for a draw and for a game that is cut off"
    OBSERVATION = "an observation has the features of the seat's view, whatever other options are set"
    COUNTING = "a rollout counts every game that ends, by its ending"
    GRADING = "values are from 0 to 1, a game that is over is worth its score, and no regret is negative"
    POLICY = "perfect play takes legal actions, with probabilities that sum to 1"
    EXPLOITABILITY = (
        "perfect play has exploitability 0 if its values are exact, else at most the proven bound"
    )


class EnvironmentBroken(DuelsError):
    """An environment breaks `law` in `match`, or without a match if None."""

    def __init__(
        self,
        law: EnvironmentLaw,
        environment: str,
        rules: AnyRules,
        what: str,
        match: AnyMatch | None = None,
    ) -> None:
        entries = [rules.format(turn.action) for turn in match.turns] if match else []
        where = f" after '{', '.join(entries)}'" if entries else ""
        super().__init__(f"{rules.name} in {environment}: {what}{where} (law: {law.value})")
        self.law = law
        self.match = match
