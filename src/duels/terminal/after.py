"""What comes after a match: the keys, and what they lead to."""

from enum import Enum

from duels.play.live import LiveMatch


class After(Enum):
    """What comes after a match. The value is the key for it, where there is one to press."""

    REMATCH = "r"
    SWAP = "s"
    LONGER = "l"
    REVIEW = "v"
    NEW_GAME = "n"
    QUIT = "q"
    LEFT = ""
    """It was left before its end, or nobody was asked."""


_KEYS = {
    After.REMATCH: "rematch",
    After.SWAP: "swap seats",
    After.LONGER: "longer game",
    After.REVIEW: "review",
    After.NEW_GAME: "new game",
    After.QUIT: "quit",
}


def ways_on(live: LiveMatch) -> tuple[str, dict[After, str]]:
    """A suggestion to whoever won, or nothing, and what can be chosen after the match."""
    from duels.terminal.variants import suggestion

    outcome = live.match.outcome
    won = outcome is not None and outcome.winner in live.people
    suggested = suggestion(live.match.rules) if won else ""
    return suggested, {after: what for after, what in _KEYS.items() if suggested or after is not After.LONGER}
