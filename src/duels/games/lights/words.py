"""The prompts, messages and text board of Light Out Duel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from duels.core.narration import Line, Narration, Row, TextBoard, say, verb, wins
from duels.core.rules import Event, Sight
from duels.core.words import (
    ActionCells,
    Dialogue,
    Ink,
    InvalidEntry,
    Words,
    ask_until,
    join_and,
    join_or,
    parse_number,
    quote_entry,
)
from duels.games.lights.rules import ON, LastLightOff, Lights, State, TurnedOff, TurnOff

_OPTIONS = "Enter 1 for one light or 2 for two adjacent lights."
_MAX_UNNUMBERED = 7  # the book prints its seven lights without numbers
_MAX_LIGHTS_PER_LINE, _MAX_LINE_LENGTH = 20, 71


@dataclass(frozen=True)
class LightsWords(Words[TurnOff, State]):
    """The book's prompts and lines for lights."""

    rules: Lights

    def opening(self) -> Narration:
        return Narration([self._render_row(self.rules.initial().row), ""])

    def ask(self, sight: Sight[TurnOff, State]) -> Dialogue[TurnOff]:
        notice = ""
        while True:
            option = yield from ask_until(
                f"{self.player(sight.seat)}, choose your action:\n"
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
            notice = pair  # as in the book's example, a refused pair leads back to the choice of action

    def _read_option(self, entry: str, sight: Sight[TurnOff, State]) -> int | TurnOff:
        word, pairs = entry.strip(), _list_first_lights(sight, 2)
        if numbers := _parse_pair(word):
            pair = self._make_pair(numbers, pairs, sight.view.row)
            if isinstance(pair, str):
                raise InvalidEntry(pair)
            return pair
        if word not in ("1", "2"):
            raise InvalidEntry(f"{quote_entry(entry)} is not an option. {_OPTIONS}")
        if word == "2" and not pairs:
            raise InvalidEntry("No two adjacent lights are ON. Enter 1 to turn OFF one light.")
        return int(word)

    def _read_single(self, entry: str, sight: Sight[TurnOff, State]) -> TurnOff:
        singles = _list_first_lights(sight, 1)
        if _parse_pair(entry):
            raise InvalidEntry(f"{quote_entry(entry)} are two lights. Choose one: {join_or(singles)}.")
        light = parse_number(entry, f"Enter {join_or(singles)}.")
        if light not in singles:
            raise InvalidEntry(f"{self._explain_single(light)} Enter {join_or(singles)}.")
        return TurnOff(light)

    def _read_pair(self, entry: str, sight: Sight[TurnOff, State]) -> TurnOff | str:
        pairs = _list_first_lights(sight, 2)
        if numbers := _parse_pair(entry):
            return self._make_pair(numbers, pairs, sight.view.row)
        first = parse_number(entry, _format_first_lights(pairs))
        if first not in pairs:
            raise InvalidEntry(f"{self._explain_pair(first, sight.view.row)} {_format_first_lights(pairs)}")
        return TurnOff(first, 2)

    def _make_pair(self, numbers: tuple[int, int], pairs: Sequence[int], row: str) -> TurnOff | str:
        """Return the action for two lights in either order, or the reason why it is not allowed."""
        first, second = sorted(numbers)
        if second != first + 1:
            return f"Invalid move (lights {numbers[0]} and {numbers[1]} are not adjacent). {_OPTIONS}"
        return TurnOff(first, 2) if first in pairs else f"{self._explain_pair(first, row)} {_OPTIONS}"

    def _explain_single(self, light: int) -> str:
        if 1 <= light <= self.rules.lights:
            return f"Light {light} is already OFF."
        return f"There is no light {light}."

    def _explain_pair(self, first: int, row: str) -> str:
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
            board: list[Line] = ["", self._render_row(event.row, event.lights), ""]
            return Narration(
                [say(event.seat, verb(event.seat, "turns", "turn"), f"OFF {lights}."), *board],
                book=[f"Turning OFF {lights}.", *board],
                reader=event.seat,
            )
        assert isinstance(event, LastLightOff)
        return Narration([say(event.seat, wins(event.seat), "by turning OFF the last light.", ink=Ink.WON)])

    def board(self, sight: Sight[TurnOff, State]) -> TextBoard:
        return self._render_row(sight.view.row, numbered=True)

    def action_cells(self, sight: Sight[TurnOff, State], action: TurnOff) -> ActionCells:
        return ActionCells(action.lights, "one light" if action.count == 1 else "two adjacent lights")

    def label_action(self, sight: Sight[TurnOff, State], action: TurnOff) -> str:
        return f"light{'s' if action.count > 1 else ''} {self.rules.format(action)}"

    def answer_forms(self, sight: Sight[TurnOff, State]) -> dict[str, list[TurnOff]]:
        forms = (
            "the name of one light, to turn off that light alone",
            "the names of two neighbours with a hyphen, to turn off both",
        )
        return {form: [a for a in sight.actions if a.count == count] for count, form in enumerate(forms, 1)}

    def facts(self, sight: Sight[TurnOff, State]) -> list[str]:
        return ["O is a light that is ON, X is a light that is OFF."]

    def moves(self, sight: Sight[TurnOff, State]) -> str:
        singles = [a.first for a in sight.actions if a.count == 1]
        pairs = ["-".join(map(str, a.lights)) for a in sight.actions if a.count == 2]
        one = f"1. One light: {', '.join(map(str, singles))}\n"
        return one + f"2. Two adjacent lights: {', '.join(pairs) or 'none'}\n"

    def _render_row(self, row: str, changed: Sequence[int] = (), numbered: bool = False) -> TextBoard:
        """Render the row. A long row gets numbers and is split into lines that fit a terminal."""
        lights = [
            Ink.CHANGED(state) if i in changed else state if state == ON else Ink.DIM(state)
            for i, state in enumerate(row, start=1)
        ]
        width = len(str(len(lights)))
        length, gap = min(_MAX_LIGHTS_PER_LINE, _MAX_LINE_LENGTH // (width + 1)), " " * (width - 1)
        numbered = numbered or len(lights) > _MAX_UNNUMBERED
        rows = []
        for start in range(0, len(lights), length):
            row_lights = tuple(lights[start : start + length])
            numbers = " ".join(f"{light:>{width}}" for light in range(start + 1, start + 1 + len(row_lights)))
            above = f"Lights: {numbers}\n" if numbered else ""
            rows.append(Row(row_lights, f"States: {gap}", f" {gap}", "", above=above))
        return TextBoard(rows=tuple(rows))


def _list_first_lights(sight: Sight[TurnOff, State], count: int) -> list[int]:
    return [action.first for action in sight.actions if action.count == count]


def _parse_pair(entry: str) -> tuple[int, int] | None:
    """Parse `3-4`, `3 4` or `4, 3`."""
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*[-, ]\s*([0-9]{1,9})\s*", entry)
    return (int(match[1]), int(match[2])) if match else None


def _format_first_lights(pairs: Sequence[int]) -> str:
    return f"The first of two adjacent lights that are ON can be {join_or(pairs)}."


WORDS = LightsWords
