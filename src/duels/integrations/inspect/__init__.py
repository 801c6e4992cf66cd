"""Tasks of inspect_ai: `inspect eval duels/lights -T opponent=club`.

There is a task for each game. `duels/match -T game=NAME` plays any installed game; `duels/probe` and
`duels/exam` ask about single positions.
"""

from duels.integrations.inspect.matches import GAME_TASKS, match
from duels.integrations.inspect.questions import exam, probe

__all__ = ["GAME_TASKS", "exam", "match", "probe"]
