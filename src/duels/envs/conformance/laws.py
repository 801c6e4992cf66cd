"""What every environment promises, and the error that names a broken promise."""

from enum import Enum

from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.rules import AnyRules


class EnvironmentLaw(Enum):
    """What every environment promises. The value says it in a line."""

    LEGALITY = (
        "the seat to move is the rules', and it may do what the rules allow; after the end, nothing, "
        "but a game that is cut off tells what could have been done next, as far as a seat knows"
    )
    ENDING = "a game ends when it ends by the rules: won or drawn it is terminated, cut off it is truncated"
    REWARD = "a win is worth 1, a loss -1, a draw and a game that is cut off 0"
    OBSERVATION = "a seat is shown the features of its view, the same whatever else is asked for"
    COUNTING = "a rollout counts every game that ends, as what it ended"
    GRADING = "values are from 0 to 1, a game that is over is worth its score, and no regret is negative"
    POLICY = "perfect play takes legal actions, with probabilities that sum to 1"
    EXPLOITABILITY = "perfect play is exploited by nothing where its values are exact, else by what is proven"


class EnvironmentBroken(DuelsError):
    """An environment breaks `law`; `match` is the way to where it does, None if it needs no play."""

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
