"""The base class for the rules of games with hidden information."""

import re

from duels.core.errors import NotationError, quote
from duels.core.information_sets import InformationSet, format_seen_entries, prefer_ongoing
from duels.core.rules import A, Outcome, Rules, S, Seat, Sight, V


class SecretRules(Rules[S, A, V]):
    """Rules of a game in which some events are hidden from a seat.

    A position is a list of the entries that one seat has seen: `1: 4, ?, 1-3`, with `?` for a hidden entry
    (see `core.information_sets`). After the end of a match the result follows: `1: 4, ?, 1-3, liar; 2 won`.
    """

    has_hidden_information = True

    def parse_position(self, text: str) -> Sight[A, V]:
        parts = re.fullmatch(r"\s*([12])\s*:([^;]*)(?:;(.*))?", text, flags=re.DOTALL)
        if not parts:
            raise NotationError(
                f"Cannot read {quote(text)} as a position: write the entries that a seat has seen, "
                "like '1: entry, ?, entry', with '?' for a hidden entry."
            )
        entries = [entry.strip() for entry in parts[2].split(",") if entry.strip()]
        result = (parts[3] or "").strip().lower()
        if concession := re.fullmatch(r"[12] won, ([12]) (resigned|forfeited)", result):
            entries.append(f"resign {concession[1]}" if concession[2] == "resigned" else "forfeit")
        current = InformationSet.start(self, Seat(int(parts[1])))
        for entry in entries[:-1]:
            current = current.parse_entry(entry, prefer_ongoing)
        for entry in entries[-1:]:
            current = current.parse_entry(entry, lambda outcome: _code(outcome) != result)
        if _code(current.match.outcome) != result:
            raise NotationError(f"Cannot read {quote(text)}: the result does not follow from the entries.")
        return current.match.sight(current.seat)

    def format_position(self, sight: Sight[A, V]) -> str:
        result = f"; {sight.outcome.code}" if sight.outcome else ""
        return f"{sight.seat.value}: {', '.join(format_seen_entries(self, sight))}".rstrip() + result


def _code(outcome: Outcome | None) -> str:
    return outcome.code if outcome else ""
