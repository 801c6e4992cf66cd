"""Rules of games with secrets, with a default notation of positions."""

import re

from duels.core.errors import NotationError, quote
from duels.core.information_sets import InformationSet, format_seen_entries, prefer_ongoing
from duels.core.match import Match
from duels.core.rules import A, Ending, Outcome, Rules, S, Seat, Sight, V


class SecretRules(Rules[S, A, V]):
    """Rules of a game in which some events are hidden from a seat.

    A position is written as what one seat has seen: `1: 4, ?, 1-3`, with `?` for a hidden entry (see
    `core.information_sets`). Of a match that is over, the result follows: `1: 4, ?, 1-3, liar; 2 won`.
    """

    has_secrets = True

    def parse_position(self, text: str) -> Sight[A, V]:
        found = re.fullmatch(r"\s*([12])\s*:([^;]*)(?:;(.*))?", text, flags=re.DOTALL)
        if not found:
            raise NotationError(
                f"Cannot read {quote(text)} as a position: write what a seat has seen, "
                "like '1: entry, ?, entry', with '?' for a hidden entry."
            )
        entries = [entry.strip() for entry in found[2].split(",") if entry.strip()]
        result = found[3].strip().lower() if found[3] else None
        seen = InformationSet.start(self, Seat(int(found[1])))
        given_up = re.fullmatch(r"[12] won, ([12]) (resigned|forfeited)", result or "")
        for entry in entries[:-1]:
            seen = seen.read(entry, prefer_ongoing)
        for entry in entries[-1:]:
            seen = seen.read(entry, lambda outcome: _code(outcome) != (None if given_up else result))
        if given_up:
            loser, how = Seat(int(given_up[1])), given_up[2]
            concede = Match.resign if how == Ending.RESIGNED.value else Match.forfeit
            waiting = [match for match in seen.possible if match.actor is loser]
            if how == Ending.RESIGNED.value and not waiting:  # on the other's turn, then
                waiting = [match for match in seen.possible if match.actor is loser.other]
            seen = InformationSet(seen.seat, tuple(concede(match, loser) for match in waiting))
            if not seen.possible:
                raise NotationError(f"Cannot read {quote(text)}: it was not for {loser.label} to give up.")
        if _code(seen.match.outcome) != result:
            raise NotationError(f"Cannot read {quote(text)}: the match cannot stand like that there.")
        return seen.match.sight(seen.seat)

    def format_position(self, sight: Sight[A, V]) -> str:
        result = f"; {sight.outcome.code}" if sight.outcome else ""
        return f"{sight.seat.value}: {', '.join(format_seen_entries(self, sight))}".rstrip() + result


def _code(outcome: Outcome | None) -> str | None:
    return outcome.code if outcome else None
