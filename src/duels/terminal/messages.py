"""Sentences about a live match that the prompt and the full-screen board share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from duels.analysis.hints import Hint, hint
from duels.analysis.wording import Glossary, format_belief
from duels.core.errors import IllegalMove
from duels.core.narration import PlayerNames
from duels.core.rules import AnySight, Seat
from duels.core.words import Ink, Words
from duels.play.live import LiveMatch
from duels.players import PLAYER_KINDS
from duels.solving.oracle import Oracle

_NEXT_STAGES = ("for advice", "to see why")  # not "for the move": every move may be equally good
"""The reason to ask again after the first and the second stage of a hint."""


def find_solo_seat(live: LiveMatch) -> Seat | None:
    """Return the seat of the only person in a match against a machine, or None."""
    return next(iter(live.people)) if len(live.people) == 1 else None


def make_player_names(live: LiveMatch) -> PlayerNames | None:
    """Return the names for sentences to the only person, or None unless that person plays a machine."""
    you = find_solo_seat(live)
    return PlayerNames(live.names[Seat.ONE], live.names[Seat.TWO], you) if you else None


def format_seat(live: LiveMatch, seat: Seat) -> str:
    """Format a seat with its token, such as `Player 1 (X)`, in the seat's colour."""
    seat_name, person_name = live.words.seat_name(seat), name_people(live).name(seat)
    return Ink.for_seat(seat)(person_name if seat_name == seat.label else f"{person_name} ({seat_name})")


def name_players(live: LiveMatch) -> PlayerNames:
    """Return the players' names. Against a machine, the sentences with them address the only person."""
    return make_player_names(live) or name_people(live)


def name_people(live: LiveMatch, reader: Seat | None = None) -> PlayerNames:
    """Return the names of two people, if known, for sentences that address `reader`."""
    names = live.series.names if live.series and live.series.has_person_names else {}
    return PlayerNames(names.get(Seat.ONE, ""), names.get(Seat.TWO, ""), reader)


def format_score(live: LiveMatch) -> str:
    """Format the score, such as `Score: 2 for Ann, 1 for Bob.`

    Empty before the end, and after the first match unless both people have names.
    """
    outcome, series = live.match.outcome, live.series
    if not outcome or not series or not (series.matches or series.has_person_names):
        return ""
    series = series.add(outcome.winner)
    parts = [f"{wins} for {name}" for name, wins in series.wins.items()]
    if undecided := series.matches - sum(series.wins.values()):
        parts.append(f"{undecided} without a winner")
    return f"Score: {', '.join(parts)}."


def format_matchup(live: LiveMatch, you: Seat) -> str:
    """Format the line with your seat and your opponent."""
    return f"You are {format_seat(live, you)} against {live.names[you.other]}."


def format_result(live: LiveMatch, you: Seat) -> str:
    """Format the result from your point of view, or an empty string while the match is unfinished."""
    outcome = live.match.outcome
    results = {you: "You won", you.other: "You lost", None: "Nobody won"}
    return f"{Ink.CHANGED(results[outcome.winner])}." if outcome else ""


@dataclass(frozen=True)
class Proposal:
    """A player's request to change the match, and the yes-or-no question to ask first."""

    question: str
    """Empty if nobody has to be asked."""
    needs_consent: bool
    """Whether the question is for the other person. Otherwise the player confirms the request."""
    carry_out: Callable[[], None]
    refusal: str
    """The message if the answer is no."""
    confirmation: str = ""


def format_entries(count: int) -> str:
    """Format a number of entries.

    >>> format_entries(1)
    '1 entry'
    """
    return f"{count} {'entry' if count == 1 else 'entries'}"


def propose_resignation(live: LiveMatch, seat: Seat) -> Proposal:
    """Return the proposal to resign."""
    return Proposal("Do you want to resign?", False, partial(live.resign, seat), "The match continues.")


def propose_stop(live: LiveMatch, seat: Seat) -> Proposal:
    """Return the proposal to stop without a winner. Raises IllegalMove if it is too early."""
    live.match.stop()
    needs_consent = len(live.people) == 2
    question = (
        f"{name_people(live).name(seat.other)}, do you agree to stop?"
        if needs_consent
        else "Do you want to stop?"
    )
    refusal = f"{'Proposal declined. ' * needs_consent}The match continues."
    return Proposal(f"{question} Nobody wins.", needs_consent, live.stop, refusal)


def find_undo_seats(live: LiveMatch, seat: Seat) -> tuple[Seat, ...]:
    """Return the seats whose last decision `undo` could take back when `seat` is to move.

    Two people at one keyboard may both mean their own last decision.
    """
    own, others = live.find_takeback(seat), live.find_takeback(seat.other)
    if len(live.people) < 2 or not others:
        return (seat,)
    if not own:
        return (seat.other,)
    return (seat,) if own.entries < others.entries else tuple(Seat)


def propose_takeback(live: LiveMatch, seat: Seat) -> Proposal:
    """Return the proposal to take back the seat's last decision.

    Raises IllegalMove if there is none, or if it revealed something in a match against a machine.
    """
    takeback = live.find_takeback(seat)
    if not takeback:
        raise IllegalMove("You have no decision to take back.")
    needs_consent = len(live.people) == 2
    if not needs_consent and not takeback.revocable:
        raise IllegalMove("You cannot take this back: it revealed hidden information or a chance outcome.")
    question = f"{name_people(live).name(seat.other)}, do you agree to take it back?" if needs_consent else ""
    carry_out = partial(live.take_back, takeback)
    return Proposal(
        question,
        needs_consent,
        carry_out,
        "Takeback refused.",
        f"Taken back: {format_entries(takeback.entries)}.",
    )


def find_known_opponent(live: LiveMatch, seat: Seat) -> str | None:
    """Return the name of the seat's opponent if it is a machine player whose policy is known."""
    name = live.names[seat.other]
    return name if name in PLAYER_KINDS and live.players[seat.other] is not None else None


class HintStages:
    """Hints in three stages: where to look, the move, and the move with its theory.

    The player asks again to see the next stage. Each term is explained once.
    """

    def __init__(self, glossary: Glossary | None = None) -> None:
        self._last_sight: AnySight | None = None
        self._stage = 0
        self._glossary = glossary or Glossary()

    @property
    def names_move(self) -> bool:
        """Whether the last hint named the move."""
        return self._stage > 0

    def select(self, sight: AnySight, result: Hint[Any], advice: str, request: str) -> str:
        """Return the text of the next stage. `advice` names the move, `request` says how to ask again."""
        self._stage = min(self._stage + 1, 2) if self._last_sight == sight else 0
        self._last_sight = sight
        text = (result.pointer, advice, f"{advice} {result.theory}")[self._stage]
        again = f" {request} {_NEXT_STAGES[self._stage]}." if self._stage < len(_NEXT_STAGES) else ""
        return self._glossary.explain(f"Hint: {text}{again}")

    def render(
        self,
        sight: AnySight,
        words: Words[Any, Any],
        previous_entries: Sequence[str],
        oracle: Oracle[Any, Any],
        opponent: str | None = None,
    ) -> str:
        """Return the hint for the seat to move, after some entries of the same decision."""
        result = hint(sight, oracle, opponent)
        entries = _format_entries(sight, words, result, previous_entries) if result.best else ""
        advice = f"{result.describe_actions(Ink.CHANGED)} ({result.chance}{entries})."
        text = self.select(sight, result, result.put_tip_first(advice), "Enter hint again")
        belief = format_belief(result.belief) if self._stage != 1 else ""
        return f"{text}\n{belief and f'The other {oracle.hidden}: {belief}'}"


def _format_entries(
    sight: AnySight, words: Words[Any, Any], result: Hint[Any], previous_entries: Sequence[str]
) -> str:
    """Format the remaining entries for the best action. Start with `back` if the previous entries differ."""
    action = sight.rules.format(result.actions[0])
    entries = words.entries(sight, result.actions[0])
    previous = [entry.strip().lower() for entry in previous_entries]
    is_prefix = [entry.lower() for entry in entries[: len(previous)]] == previous
    remaining = entries[len(previous) :] if is_prefix else ("back", *entries)
    if [entry.lower() for entry in remaining] == [action.lower()]:
        return ""
    text = f"enter {', then '.join(remaining)}"
    return f"; {text}" if result.best == action else f"; for {action} {text}"
