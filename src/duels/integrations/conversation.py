"""A match as one conversation, in which the model calls the tool `play`.

The texts contain no grades and no rewards.
"""

import json
from typing import Any

from duels.arena.text_seat import Forfeit, MatchTask, RetryRequest, TextSeat
from duels.core.errors import BadOption
from duels.players.prompt import TOOL
from duels.players.text_player import CONVERSATION

CONVERSATION_CONDITIONS: dict[str, Any] = {"memory": CONVERSATION, "form": TOOL}
"""The conditions of a match that is played in one conversation, for `make_rows` and `Conditions`."""
_CALL_ID = "play"


def start_conversation(task: MatchTask) -> TextSeat:
    """Return the seat of a match. Raises BadOption unless the task has CONVERSATION_CONDITIONS."""
    for name, needed in CONVERSATION_CONDITIONS.items():
        if (value := getattr(task.conditions, name)) != needed:
            raise BadOption(f"A match in one conversation needs {name}={needed!r}, not {value!r}.")
    return TextSeat(task)


def format_opening(seat: TextSeat) -> str:
    """Return the first text of a conversation: the rules and the first question.

    >>> from duels.integrations.tasks import make_rows
    >>> row = make_rows("lights", matches=2, **CONVERSATION_CONDITIONS)[0]
    >>> seat = start_conversation(MatchTask.from_row(row))
    >>> format_opening(seat).splitlines()[0]
    'You play this game to win.'
    """
    return f"{seat.briefing}\n\n{format_next_question(seat)}"


def play_action(seat: TextSeat, action: str) -> str:
    """Play the action of a tool call, and return the tool's answer.

    The answer is the next question, the reason why the action is not a move, or the result of the match.
    Raises GameOver after the end. Errors of the opponent pass through.
    """
    result = seat.reply(json.dumps({"action": action}), call_id=_CALL_ID)
    if isinstance(result, RetryRequest):
        return result.text
    if isinstance(result, Forfeit):
        return f"No attempt is left: {result.reason} {_format_end(seat)}"
    return format_next_question(seat)


def format_next_question(seat: TextSeat) -> str:
    """Return the question of a seat that has to decide, or the result of the match."""
    return _format_end(seat) if seat.over else seat.question


def _format_end(seat: TextSeat) -> str:
    scores = seat.scores()
    assert scores
    result = {1.0: "You won", 0.0: "You lost"}.get(scores["win"], "Nobody won")
    return f"The match is over. {result}."
