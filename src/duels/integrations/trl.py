"""Matches for TRL's GRPOTrainer, which calls an environment's public methods as tools.

This module does not import TRL.
"""

from typing import Any

from duels.arena.text_seat import DecisionGrade, MatchTask, TextSeat
from duels.core.errors import DuelsError
from duels.integrations.conversation import format_opening, play_action, start_conversation


class MatchEnvironment:
    """An `environment_factory` for GRPOTrainer: one instance plays one match at a time.

    Make the dataset's rows with `make_rows` and CONVERSATION_CONDITIONS. The text seat computes rewards.

    >>> from duels.integrations.conversation import CONVERSATION_CONDITIONS
    >>> from duels.integrations.tasks import make_rows
    >>> rows = make_rows("lights", "random", 2, options={"lights": 2}, **CONVERSATION_CONDITIONS)
    >>> environment = MatchEnvironment()
    >>> text = environment.reset(**rows[0])
    >>> environment.play("1-2")
    'The match is over. You won.'
    >>> environment.get_reward()
    0.0
    """

    def __init__(self) -> None:
        self._seat: TextSeat | None = None
        self._error: Exception | None = None

    def reset(self, **row: Any) -> str:
        """Start the match of a row, and return the text that TRL appends to the prompt.

        Columns that do not belong to a task are ignored. Raises BadOption if the row does not have
        CONVERSATION_CONDITIONS.
        """
        self._error = None
        self._seat = start_conversation(MatchTask.from_row(row))
        return f"\n\n{format_opening(self._seat)}"  # TRL adds no separator

    # Transformers turns this docstring into the tool's description. It needs Google's style.
    def play(self, action: str) -> str:
        """
        Play an action. The question says how to write it.

        Args:
            action: The action.

        Returns:
            The next question, why the action is not a move, or how the match ended.
        """
        if not self._seat:
            raise DuelsError("Call reset before play.")
        was_over = self._seat.over
        try:
            return play_action(self._seat, action)
        except Exception as error:
            if not was_over:
                self._error = error  # TRL shows the model every error of a tool, and continues
            raise

    @property
    def grades(self) -> list[DecisionGrade]:
        """The grades of the decisions so far, for credit per turn."""
        return self._seat.grades if self._seat else []

    @property
    def scores(self) -> dict[str, float]:
        """The scores of the text seat; empty until the match is over."""
        return (self._seat and self._seat.scores()) or {}

    def get_reward(self) -> float | None:
        """Return the reward. If the match is not over, return None, so that TRL ignores the rollout.

        If an error broke off the match, raises this error.
        """
        if self._error:
            raise self._error
        return self._seat.reward if self._seat else None
