"""Messages to the people at a match: who is who, takebacks, and hints, in one wording for every surface."""

from collections.abc import Sequence
from typing import Any

from duels.analysis.hints import Hint, hint
from duels.analysis.wording import Glossary, format_belief
from duels.core.rules import AnySight, Seat
from duels.core.words import Ink, Words
from duels.play.live import LiveMatch, Takeback
from duels.solving.oracle import Oracle

TAKEBACK_REFUSED = "It stands."
RESIGN_QUESTION = "Do you want to resign?"
_AGAIN = "Why: enter hint again."


def find_solo_seat(live: LiveMatch) -> Seat | None:
    """The one person who plays, against a machine."""
    return next(iter(live.people)) if len(live.people) == 1 else None


def format_seat(live: LiveMatch, seat: Seat) -> str:
    """`Player 1 (X)`, in the seat's ink."""
    token = live.words.seat_name(seat)
    return Ink.for_seat(seat)(seat.label if token == seat.label else f"{seat.label} ({token})")


def format_matchup(live: LiveMatch, you: Seat) -> str:
    """Who you are, and against whom."""
    return f"You are {format_seat(live, you)} against {live.names[you.other]}."


def format_result(live: LiveMatch, you: Seat) -> str:
    """Whether you won; empty while the match goes on."""
    outcome = live.match.outcome
    told = {you: "You won", you.other: "You lost", None: "Nobody won"}
    return f"{Ink.CHANGED(told[outcome.winner])}." if outcome else ""


def explain_takeback_refusal(live: LiveMatch, back: Takeback | None) -> str:
    """Why nothing can be taken back, whoever agrees; empty if it can.

    Against a machine nothing that was told is untold.
    """
    if not back:
        return "There is no decision of yours to take back."
    if len(live.people) < 2 and not back.revocable:
        return "That cannot be taken back: it has shown something that was hidden or left to chance."
    return ""


def format_consent_question(live: LiveMatch, back: Takeback) -> str:
    """What the other person is asked before anything is taken back; empty against a machine."""
    return f"{back.seat.other.label}, do you agree to take it back?" if len(live.people) == 2 else ""


def format_takeback(back: Takeback) -> str:
    """That it was done."""
    return f"Taken back: {back.entries} {'entry' if back.entries == 1 else 'entries'}."


# -- a hint in two layers: the advice and what to enter for it; asked again, the reason too ---------------


class HintLayers:
    """Remembers which decision a hint was last asked for, and which terms were explained."""

    def __init__(self, glossary: Glossary | None = None) -> None:
        self._asked: AnySight | None = None
        self._glossary = glossary or Glossary()

    def layer(self, sight: AnySight, advice: str, reason: str) -> str:
        """`advice`; when it is asked again at the same decision, `reason`. Terms are explained once."""
        again, self._asked = self._asked == sight, sight
        return self._glossary.explain(reason if again else advice)

    def text(
        self, sight: AnySight, words: Words[Any, Any], entered: Sequence[str], oracle: Oracle[Any, Any]
    ) -> str:
        """The hint at a prompt for the seat to move, which has `entered` some of its answer."""
        found = hint(sight, oracle)
        advice = _advice(found, sight, words, entered)
        reason = f"{advice} {found.theory}\n{format_belief(found.belief)}"
        return self.layer(sight, f"{advice} {_AGAIN}\n", reason)


def _advice(found: Hint[Any], sight: AnySight, words: Words[Any, Any], entered: Sequence[str]) -> str:
    enter = _enter(sight, words, found.actions[0], found.best, entered) if found.best else ""
    return f"Hint: {found.describe_actions(Ink.CHANGED)} ({found.chance}{enter})."


def _enter(sight: AnySight, words: Words[Any, Any], action: Any, advice: str, entered: Sequence[str]) -> str:
    """How to enter the action, where that is not just its name."""
    name = sight.rules.format(action)
    entry = format_entries_left(words.entries(sight, action), entered)
    if entry.lower() == f"enter {name}".lower():
        return ""
    return f"; {entry}" if advice == name else f"; for {name} {entry}"


def format_entries_left(entries: Sequence[str], entered: Sequence[str]) -> str:
    """The entries that an action still takes, where some have been made, maybe others than these."""
    made = [entry.strip().lower() for entry in entered]
    on_the_way = [entry.lower() for entry in entries[: len(made)]] == made
    left = entries[len(made) :] if on_the_way else ("back", *entries)
    return f"enter {', then '.join(left)}"
