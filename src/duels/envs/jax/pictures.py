"""Pictures of states, drawn as everywhere else."""

from collections.abc import Sequence
from typing import Any

from duels.core.rules import Rules, Seat
from duels.core.svg import WIDTH


def boards(rules: Rules[Any, Any, Any], states: Sequence[Any]) -> str:
    """The boards of states under one another, with the secrets of both seats, as one `<svg>` element."""
    drawing = rules.game.drawing(rules)
    drawn, top = [], 0
    for state in states:
        board = drawing.open_picture(*(rules.sight(state, seat) for seat in Seat))
        drawn.append(f'<svg y="{top}" width="{WIDTH}" height="{board.height}">{board}</svg>')
        top += board.height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}">{"".join(drawn)}</svg>'
