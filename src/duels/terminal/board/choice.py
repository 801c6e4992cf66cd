"""Choosing an action: by picking cells, by typing, or from a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from duels.core.rules import AnySight
from duels.core.words import ActionCells, Dialogue, Question, Words

_SEPARATORS = ("-", "+", ",")


@dataclass(frozen=True)
class ChoiceOption:
    """A legal action."""

    action: Any
    name: str
    """The action in notation."""
    entries: tuple[str, ...]
    """The entries that play it at the prompt."""
    action_cells: ActionCells | None

    @property
    def kind(self) -> str | None:
        """The kind of action, such as `challenge`, or None for an action without a place on the board."""
        return self.action_cells.kind if self.action_cells else None

    @property
    def cells(self) -> frozenset[int]:
        return frozenset(self.action_cells.cells if self.action_cells else ())


class Choice:
    """A choice among the legal actions, which typed keys and picked cells narrow down."""

    def __init__(self, sight: AnySight, words: Words[Any, Any], labels: Mapping[str, int]) -> None:
        """`labels` maps the labels of cells to their numbers."""
        self._sight = sight
        self._words = words
        self._labels = {label.lower(): cell for label, cell in labels.items()}
        self._options = tuple(
            ChoiceOption(
                action,
                sight.rules.format(action),
                words.entries(sight, action),
                words.action_cells(sight, action),
            )
            for action in sight.actions
        )
        self.kinds = tuple(dict.fromkeys(option.kind for option in self._options))
        self.kind = self.kinds[0]
        self.picked_cells: tuple[int, ...] = ()
        """The cells picked so far for an action with several cells."""
        self.typed_text = ""
        self.rejection = ""
        """Why the last text or cell was rejected, in the game's words."""

    @property
    def options(self) -> tuple[ChoiceOption, ...]:
        """The actions that are still possible."""
        picked = frozenset(self.picked_cells)
        return tuple(option for option in self._kind_options if picked <= option.cells)

    @property
    def cells(self) -> frozenset[int]:
        """The cells that the person can pick next."""
        cells = frozenset(cell for option in self.options for cell in option.cells)
        return cells.difference(self.picked_cells)

    @property
    def listed_options(self) -> tuple[ChoiceOption, ...]:
        """The actions to choose from a list. Empty if the person chooses by cells."""
        return () if self.cells or self.picked_cells else self.options

    @property
    def question(self) -> str:
        """The question for this kind of action."""
        return self._advance_dialogue()[1].for_solo().prompt.strip().removesuffix("\n>").rstrip()

    def _advance_dialogue(self) -> tuple[Dialogue[Any], Question]:
        """Answer the questions that the picked cells settle. Return the dialogue and its next question."""
        option = self.options[0]
        dialogue = self._words.ask(self._sight)
        question = next(dialogue)
        count = min(self._shared_entry_count + len(self.picked_cells), len(option.entries) - 1)
        for entry in option.entries[:count]:
            question = dialogue.send(entry)
        return dialogue, question

    @property
    def _kind_options(self) -> tuple[ChoiceOption, ...]:
        return tuple(option for option in self._options if option.kind == self.kind)

    @property
    def _shared_entry_count(self) -> int:
        """The number of first entries that all actions of this kind share."""
        columns = zip(*(option.entries for option in self._kind_options), strict=False)
        return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, columns))

    def switch(self, kind: str | None) -> None:
        """Choose another kind of action."""
        self.kind = kind
        self.clear()

    def switch_to_next_kind(self) -> None:
        self.switch(self.kinds[(self.kinds.index(self.kind) + 1) % len(self.kinds)])

    def clear(self) -> None:
        """Start the choice again."""
        self.picked_cells, self.typed_text, self.rejection = (), "", ""

    def select_kind_of(self, action: Any) -> frozenset[int]:
        """Choose the kind of this action, and return the action's cells."""
        option = next(option for option in self._options if option.action == action)
        self.switch(option.kind)
        return option.cells

    def pick(self, cell: int) -> Any | None:
        """Pick a cell, or drop it if it was picked. Return the action if only one remains."""
        self.typed_text = self.rejection = ""
        if cell in self.picked_cells:
            self.picked_cells = tuple(number for number in self.picked_cells if number != cell)
            return None
        if cell not in self.cells:
            self._reject_cell(cell)
            return None
        self.picked_cells += (cell,)
        exact = [option for option in self.options if option.cells == frozenset(self.picked_cells)]
        remaining = exact or self.options
        return remaining[0].action if len(remaining) == 1 else None

    def accepts(self, letter: str) -> bool:
        """Return whether a letter starts or continues an entry, or selects a kind."""
        typed = self.typed_text + letter
        return bool(
            self._is_separator(letter)
            or self._match_options(typed)
            or self._match_cells(typed)
            or self._find_kind(letter)
        )

    def type_letter(self, letter: str) -> Any | None:
        """Type a letter. Return the action if only one remains."""
        self.rejection = ""
        if self._is_separator(letter):
            return None
        typed = self.typed_text + letter
        options, cells = self._match_options(typed), self._match_cells(typed)
        exact = [option for option in options if typed in self._list_spellings(option)]
        is_incomplete = any(label != typed for label in cells)  # 1 may become 10
        if len(options) == 1 and (not options[0].action_cells or exact) and not is_incomplete:
            return options[0].action
        if typed in cells and not exact and not is_incomplete:
            return self.pick(cells[typed])
        if options or cells:
            self.typed_text = typed
        elif kind := self._find_kind(letter):
            self.switch(kind)
        return None

    def confirm(self) -> Any | None:
        """Accept the typed text as a cell or an action. Return the action if only one remains."""
        exact = [option for option in self.options if self.typed_text in self._list_spellings(option)]
        cells, matches = self._match_cells(self.typed_text), self._match_options(self.typed_text)
        typed, self.typed_text, self.rejection = self.typed_text, "", ""
        if len(exact) == 1:
            return exact[0].action
        if typed in cells:
            return self.pick(cells[typed])
        if len(matches) == 1:
            return matches[0].action
        self.reject(typed)
        return None

    def reject(self, entry: str) -> None:
        """Explain why an entry is wrong, or list the legal moves if the prompt would accept it."""
        dialogue, _ = self._advance_dialogue()
        try:
            self.rejection = dialogue.send(entry).notice
        except StopIteration:
            self.rejection = ""
        self.rejection = self.rejection or self._words.moves(self._sight).strip()

    def _reject_cell(self, cell: int) -> None:
        names = {number: label for label, number in self._labels.items()}
        single = [option for option in self.options if len(option.cells) == 1]
        # In leap, people enter a distance, not the name of a cell.
        enters_names = all(names[min(option.cells)] in self._list_spellings(option) for option in single)
        if enters_names and cell in names and not self.listed_options:
            self.reject(names[cell].upper())
        else:
            self.rejection = self._words.moves(self._sight).strip()

    def _match_options(self, typed: str) -> Sequence[ChoiceOption]:
        return [
            o for o in self.options if any(spelling.startswith(typed) for spelling in self._list_spellings(o))
        ]

    def _match_cells(self, typed: str) -> dict[str, int]:
        """Return the next cells whose label starts with the text. Empty if every action has one cell."""
        has_pairs = any(len(option.cells) > 1 for option in self.options)
        labels = self._labels.items() if has_pairs else ()
        return {label: cell for label, cell in labels if cell in self.cells and label.startswith(typed)}

    def _is_separator(self, letter: str) -> bool:
        """Return whether the letter separates two cells, such as - in 1-2."""
        return letter in _SEPARATORS and bool(self.picked_cells) and not self.typed_text

    def _find_kind(self, letter: str) -> str | None:
        return next((kind for kind in self.kinds if kind and kind[0].lower() == letter), None)

    def _list_spellings(self, option: ChoiceOption) -> set[str]:
        """Return the ways to type an action: its notation without the kind, and its entry at the prompt."""
        name = option.name.split()[-1].lower()
        # Without the separator, two cells would read like another cell: 1-2 like 12.
        spellings = {name} if len(option.cells) > 1 else {name, _strip_punctuation(name)}
        spellings.add(self._words.name_action(self._sight, option.action).split()[-1].lower())  # `stay`
        if not option.action_cells:
            spellings.add(_strip_punctuation(option.name))
        if len(option.entries) - self._shared_entry_count <= 1 and option.entries:
            spellings.add(_strip_punctuation(option.entries[-1].split()[-1]))
        return spellings


def _strip_punctuation(text: str) -> str:
    """Return the letters and digits of a text in lower case, or the whole text if it has none."""
    return "".join(letter for letter in text.lower() if letter.isalnum()) or text.lower()
