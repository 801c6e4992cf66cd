"""The parts that all tasks share: a sample's score, and the settings of a task."""

from typing import Any

from duels.core.errors import require_extra
from duels.players.prompt import PROMPT_VERSION

with require_extra("inspect"):
    from inspect_ai import Task
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import TaskState

SCORE = "duels"
"""The key of the score in a sample's store. It is missing if an error or a limit ended the sample."""


def end_sample(
    state: TaskState, value: dict[str, float], answer: str, explanation: str = "", **metadata: Any
) -> None:
    """Store the score of a sample for `grade`."""
    state.store.set(
        SCORE, {"value": value, "answer": answer, "explanation": explanation, "metadata": metadata}
    )
    state.completed = True


@scorer(metrics={"*": [mean()]})
def grade() -> Scorer:
    """Return a scorer that reads the stored score. A sample without one stays unscored."""

    async def score(state: TaskState, target: Target) -> Score:
        stored = state.store.get(SCORE)
        if not stored:
            return Score.unscored(reason="no_response", explanation="The sample did not end.")
        return Score(**stored)

    return score


def make_task(**settings: Any) -> Task:
    """Return a task that `grade` scores, with the version of the prompt."""
    return Task(
        scorer=grade(),
        score_on_error=True,
        metadata={"prompt": PROMPT_VERSION},
        version=PROMPT_VERSION,
        **settings,
    )
