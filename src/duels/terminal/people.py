"""What people at a match are told about themselves and each other, wherever it is shown."""

from duels.core.rules import Seat
from duels.core.words import Ink
from duels.play.live import LiveMatch, Takeback


def alone(live: LiveMatch) -> Seat | None:
    """The one person who plays, against a machine."""
    return next(iter(live.people)) if len(live.people) == 1 else None


def named(live: LiveMatch, seat: Seat) -> str:
    """`Player 1 (X)`, in the seat's ink."""
    token = live.words.called(seat)
    return Ink.of(seat)(seat.label if token == seat.label else f"{seat.label} ({token})")


def who_is_who(live: LiveMatch, you: Seat) -> str:
    """Who you are, and against whom."""
    return f"You are {named(live, you)} against {live.names[you.other]}."


def who_won(live: LiveMatch, you: Seat) -> str:
    """Whether you won; empty while the match goes on."""
    outcome = live.match.outcome
    told = {you: "You won", you.other: "You lost", None: "Nobody won"}
    return f"{Ink.CHANGED(told[outcome.winner])}." if outcome else ""


def why_it_stands(live: LiveMatch, back: Takeback | None) -> str:
    """Why nothing can be taken back, whoever agrees; empty if it can.

    Against a machine nothing that was told is untold.
    """
    if not back:
        return "There is no decision of yours to take back."
    if len(live.people) < 2 and not back.revocable:
        return "That cannot be taken back: it has shown something that was hidden or left to chance."
    return ""


def consent(live: LiveMatch, back: Takeback) -> str:
    """What the other person is asked before anything is taken back; empty against a machine."""
    return f"{back.seat.other.label}, do you agree to take it back?" if len(live.people) == 2 else ""


def taken_back(back: Takeback) -> str:
    """That it was done."""
    return f"Taken back: {back.entries} {'entry' if back.entries == 1 else 'entries'}."


REFUSED = "It stands."
RESIGN = "Do you want to resign?"
