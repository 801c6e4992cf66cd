"""Sentences about a live match that the prompt and the full-screen board share."""

from collections.abc import Sequence
from typing import Any

from duels.analysis.hints import Hint, hint
from duels.analysis.wording import Glossary, format_belief
from duels.core.narration import PlayerNames
from duels.core.rules import AnySight, Seat
from duels.core.words import Ink, Words
from duels.play.live import LiveMatch, Takeback
from duels.players import PLAYER_KINDS
from duels.solving.oracle import Oracle

TAKEBACK_REFUSED = "Takeback refused."
RESIGN_QUESTION = "Do you want to resign?"
STOP_REFUSED = "Proposal declined. The match goes on."
_AGAIN = ("for the move", "to see why")
"""What the next request for a hint is for, after the first and the second."""


def find_solo_seat(live: LiveMatch) -> Seat | None:
    """Return the seat of the only person in a match against a machine, or None."""
    return next(iter(live.people)) if len(live.people) == 1 else None


def make_player_names(live: LiveMatch) -> PlayerNames | None:
    """Return the names for the only person in a match against a machine, or None."""
    you = find_solo_seat(live)
    return PlayerNames(live.names[Seat.ONE], live.names[Seat.TWO], you) if you else None


def format_seat(live: LiveMatch, seat: Seat) -> str:
    """Format a seat with its token, such as `Player 1 (X)`, in the seat's ink."""
    token = live.words.seat_name(seat)
    return Ink.for_seat(seat)(seat.label if token == seat.label else f"{seat.label} ({token})")


def format_matchup(live: LiveMatch, you: Seat) -> str:
    """Format the line that says which seat you have and whom you play."""
    return f"You are {format_seat(live, you)} against {live.names[you.other]}."


def format_result(live: LiveMatch, you: Seat) -> str:
    """Format the result from your point of view, or an empty text while the match is unfinished."""
    outcome = live.match.outcome
    results = {you: "You won", you.other: "You lost", None: "Nobody won"}
    return f"{Ink.CHANGED(results[outcome.winner])}." if outcome else ""


def explain_takeback_refusal(live: LiveMatch, takeback: Takeback | None) -> str:
    """Explain why a takeback is impossible. Return an empty text if it is possible.

    Against a machine, a person cannot take back an entry that revealed something.
    """
    if not takeback:
        return "You have no decision to take back."
    if len(live.people) < 2 and not takeback.revocable:
        return "You cannot take this back: it revealed hidden information or a chance outcome."
    return ""


def format_consent_question(live: LiveMatch, takeback: Takeback) -> str:
    """Format the question to the other person, or an empty text against a machine."""
    if len(live.people) < 2:
        return ""
    return f"{takeback.seat.other.label}, do you agree to take it back?"


def format_takeback(takeback: Takeback) -> str:
    """Format the confirmation of a takeback."""
    return f"Taken back: {takeback.entries} {'entry' if takeback.entries == 1 else 'entries'}."


def format_stop_question(live: LiveMatch, seat: Seat) -> str:
    """Format the question to the other person, or, against a machine, to the person who proposes to stop."""
    if len(live.people) < 2:
        return "Do you want to stop? Nobody wins."
    return f"{seat.other.label}, do you agree to stop? Nobody wins."


def find_known_opponent(live: LiveMatch, seat: Seat) -> str | None:
    """Return the name of the seat's opponent if it is a machine player whose policy is known."""
    name = live.names[seat.other]
    return name if name in PLAYER_KINDS and live.players[seat.other] is not None else None


class HintStages:
    """Hints in three stages: where to look; if the player asks again, the move; then also the theory.

    Each term is explained once.
    """

    def __init__(self, glossary: Glossary | None = None) -> None:
        self._last_sight: AnySight | None = None
        self._stage = 0
        self._glossary = glossary or Glossary()

    @property
    def names_move(self) -> bool:
        """Whether the last hint named the move."""
        return self._stage > 0

    def select(self, sight: AnySight, stages: Sequence[str], how: str) -> str:
        """Return the text of the next stage. `how` says how to ask again."""
        self._stage = min(self._stage + 1, 2) if self._last_sight == sight else 0
        self._last_sight = sight
        again = f" {how} {_AGAIN[self._stage]}." if self._stage < len(_AGAIN) else ""
        return self._glossary.explain(f"Hint: {stages[self._stage]}{again}")

    def render(
        self,
        sight: AnySight,
        words: Words[Any, Any],
        previous_entries: Sequence[str],
        oracle: Oracle[Any, Any],
        against: str | None = None,
    ) -> str:
        """Return the hint for the seat to move, after some entries of the same decision."""
        result = hint(sight, oracle, against)
        advice = " ".join(filter(None, [_format_advice(result, sight, words, previous_entries), result.tip]))
        stages = (result.pointer, advice, f"{advice} {result.theory}")
        text = self.select(sight, stages, "Enter hint again")
        return f"{text}\n{format_belief(result.belief) if self._stage != 1 else ''}"


def _format_advice(
    result: Hint[Any], sight: AnySight, words: Words[Any, Any], previous_entries: Sequence[str]
) -> str:
    entries = (
        _format_entries(sight, words, result.actions[0], result.best, previous_entries) if result.best else ""
    )
    return f"{result.describe_actions(Ink.CHANGED)} ({result.chance}{entries})."


def _format_entries(
    sight: AnySight, words: Words[Any, Any], action: Any, advice: str, previous_entries: Sequence[str]
) -> str:
    name = sight.rules.format(action)
    entries = format_remaining_entries(words.entries(sight, action), previous_entries)
    if entries.lower() == f"enter {name}".lower():
        return ""
    return f"; {entries}" if advice == name else f"; for {name} {entries}"


def format_remaining_entries(entries: Sequence[str], previous_entries: Sequence[str]) -> str:
    """Format the remaining entries for an action. Start with `back` if the previous entries differ."""
    previous = [entry.strip().lower() for entry in previous_entries]
    is_prefix = [entry.lower() for entry in entries[: len(previous)]] == previous
    remaining = entries[len(previous) :] if is_prefix else ("back", *entries)
    return f"enter {', then '.join(remaining)}"
