"""The voice of Light Out Duel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.narration import Narration, Row, TextBoard, say, wins
from duels.core.notation import join_and
from duels.core.rules import Event, Seat, Sight
from duels.core.words import (
    Dialogue,
    Ink,
    InvalidEntry,
    Place,
    Words,
    ask_until,
    join_or,
    parse_number,
    quote_entry,
)
from duels.games.lights.rules import ON, LastLightOff, Lights, State, TurnedOff, TurnOff

_OPTIONS = "Enter 1 for one light or 2 for two adjacent lights."
_AT_A_GLANCE = 7  # lights that are shown without numbers, as in the book
_LONGEST, _ROOM = 20, 71  # of a part of a longer row: lights, and letters, at most


@dataclass(frozen=True)
class LightsWords(Words[TurnOff, State]):
    rules: Lights

    def opening(self) -> Narration:
        return Narration([self._states(self.rules.initial().row), ""])

    def ask(self, sight: Sight[TurnOff, State]) -> Dialogue[TurnOff]:
        notice = ""
        while True:
            option = yield from ask_until(
                f"{_player(sight.seat)}, choose your action:\n"
                "1. Turn OFF one light.\n2. Turn OFF two adjacent lights.\n> ",
                lambda entry: self._read_option(entry, sight),
                notice=notice,
            )
            if isinstance(option, TurnOff):
                return option
            if option == 1:
                prompt = "Enter the number of the light to turn OFF:\n> "
                return (yield from ask_until(prompt, lambda entry: self._read_single(entry, sight)))
            prompt = "Enter the number of the first light to turn OFF:\n> "
            pair = yield from ask_until(prompt, lambda entry: self._read_pair(entry, sight))
            if isinstance(pair, TurnOff):
                return pair
            notice = pair  # a refused pair goes back to the choice of action, as in the book's example

    def _read_option(self, entry: str, sight: Sight[TurnOff, State]) -> int | TurnOff:
        word, pairs = entry.strip(), _firsts(sight, 2)
        if both := _two_numbers(word):  # the program's own notation, or both lights at once
            pair = self._pair(both, pairs, sight.view.row)
            if isinstance(pair, str):
                raise InvalidEntry(pair)
            return pair
        if word not in ("1", "2"):
            raise InvalidEntry(f"{quote_entry(entry)} is not an option. {_OPTIONS}")
        if word == "2" and not pairs:
            raise InvalidEntry("No two adjacent lights are ON. Enter 1 to turn OFF one light.")
        return int(word)

    def _read_single(self, entry: str, sight: Sight[TurnOff, State]) -> TurnOff:
        singles = _firsts(sight, 1)
        light = parse_number(entry, f"Enter {join_or(singles)}.")
        if light not in singles:
            raise InvalidEntry(f"{self._why_not(light)} Enter {join_or(singles)}.")
        return TurnOff(light)

    def _read_pair(self, entry: str, sight: Sight[TurnOff, State]) -> TurnOff | str:
        pairs = _firsts(sight, 2)
        if both := _two_numbers(entry):
            return self._pair(both, pairs, sight.view.row)
        first = parse_number(entry, _first_of(pairs))
        if first not in pairs:
            raise InvalidEntry(f"{self._why_no_pair(first, sight.view.row)} {_first_of(pairs)}")
        return TurnOff(first, 2)

    def _pair(self, both: tuple[int, int], pairs: Sequence[int], row: str) -> TurnOff | str:
        """Both lights, named in either order; or why they cannot be turned off."""
        first, second = sorted(both)
        if second != first + 1:
            return f"Invalid move (lights {both[0]} and {both[1]} are not adjacent). {_OPTIONS}"
        return TurnOff(first, 2) if first in pairs else f"{self._why_no_pair(first, row)} {_OPTIONS}"

    def _why_not(self, light: int) -> str:
        if 1 <= light <= self.rules.lights:
            return f"Light {light} is already OFF."
        return f"There is no light {light}."

    def _why_no_pair(self, first: int, row: str) -> str:
        if not 1 <= first <= self.rules.lights:
            return f"There is no light {first}."
        if first == self.rules.lights:
            return f"Light {first} is the last one, so it cannot be the first of two."
        off = [str(light) for light in (first, first + 1) if row[light - 1] != ON]
        return f"Light{'s' * (len(off) > 1)} {join_and(off)} {'are' if len(off) > 1 else 'is'} already OFF."

    def entries(self, sight: Sight[TurnOff, State], action: TurnOff) -> tuple[str, ...]:
        return str(action.count), str(action.first)

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, TurnedOff):
            lights = (
                f"light{'s' * (len(event.lights) > 1)} {join_and([str(light) for light in event.lights])}"
            )
            return Narration(
                [say(event.seat, f"turned OFF {lights}.")],
                book=[f"Turning OFF {lights}.", "", self._states(event.row, event.lights), ""],
                to=event.seat,
            )
        assert isinstance(event, LastLightOff)
        return Narration([say(event.seat, wins(event.seat), "by turning OFF the last light.", ink=Ink.WON)])

    def board(self, sight: Sight[TurnOff, State]) -> TextBoard:
        return self._states(sight.view.row, numbered=True)

    def place(self, sight: Sight[TurnOff, State], action: TurnOff) -> Place:
        return Place(action.lights, "one light" if action.count == 1 else "two adjacent lights")

    def label_action(self, sight: Sight[TurnOff, State], action: TurnOff) -> str:
        return f"light{'s' if action.count > 1 else ''} {self.rules.format(action)}"

    def moves(self, sight: Sight[TurnOff, State]) -> str:
        singles = [a.first for a in sight.actions if a.count == 1]
        pairs = ["-".join(map(str, a.lights)) for a in sight.actions if a.count == 2]
        one = f"1. One light: {', '.join(map(str, singles))}\n"
        return one + f"2. Two adjacent lights: {', '.join(pairs) or 'none'}\n"

    def _states(self, row: str, changed: Sequence[int] = (), numbered: bool = False) -> TextBoard:
        """The row of lights; a long one in parts that fit a terminal, and always under their numbers."""
        lights = [
            Ink.CHANGED(state) if i in changed else state if state == ON else Ink.DIM(state)
            for i, state in enumerate(row, start=1)
        ]
        width = len(str(len(lights)))
        length, gap = min(_LONGEST, _ROOM // (width + 1)), " " * (width - 1)
        numbered = numbered or len(lights) > _AT_A_GLANCE
        parts = []
        for start in range(0, len(lights), length):
            part = tuple(lights[start : start + length])
            numbers = " ".join(f"{light:>{width}}" for light in range(start + 1, start + 1 + len(part)))
            above = f"Lights: {numbers}\n" if numbered else ""
            parts.append(Row(part, f"States: {gap}", f" {gap}", "", above=above))
        return TextBoard(rows=tuple(parts))


def _firsts(sight: Sight[TurnOff, State], count: int) -> list[int]:
    """The first lights of the actions that turn off `count` lights."""
    return [action.first for action in sight.actions if action.count == count]


def _two_numbers(entry: str) -> tuple[int, int] | None:
    """`3-4`, `3 4` or `4, 3`."""
    found = re.fullmatch(r"\s*([0-9]{1,9})\s*[-, ]\s*([0-9]{1,9})\s*", entry)
    return (int(found[1]), int(found[2])) if found else None


def _first_of(pairs: Sequence[int]) -> str:
    return f"The first of two adjacent lights that are ON can be {join_or(pairs)}."


def _player(seat: Seat) -> str:
    return Ink.for_seat(seat)(seat.label)


WORDS = LightsWords
