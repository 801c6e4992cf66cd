"""What a person is choosing: an action of a sight, by the cells it is about, by typing, or from a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from duels.core.rules import AnySight
from duels.core.words import Dialogue, Place, Question, Words

_BETWEEN = ("-", "+", ",")


@dataclass(frozen=True)
class ChoiceOption:
    """One action that can be chosen."""

    action: Any
    name: str
    """In notation."""
    entries: tuple[str, ...]
    """What it takes at the prompt."""
    place: Place | None

    @property
    def kind(self) -> str | None:
        """What is done; None for an action that is chosen from a list."""
        return self.place.kind if self.place else None

    @property
    def cells(self) -> frozenset[int]:
        """The cells that it is about."""
        return frozenset(self.place.cells if self.place else ())


class Choice:
    """Is narrowed down by keys and cells until one action is left. Holds no rule: what is legal is given."""

    def __init__(self, sight: AnySight, words: Words[Any, Any], labels: Mapping[str, int]) -> None:
        """`labels` are what the cells are called."""
        self._sight = sight
        self._words = words
        self._labels = {label.lower(): cell for label, cell in labels.items()}
        self._options = tuple(
            ChoiceOption(
                action,
                sight.rules.format(action),
                words.entries(sight, action),
                words.place(sight, action),
            )
            for action in sight.actions
        )
        self.kinds = tuple(dict.fromkeys(option.kind for option in self._options))
        """What can be done; None for what is chosen from a list."""
        self.kind = self.kinds[0]
        self.chosen: tuple[int, ...] = ()
        """The cells named so far of an action that is about several."""
        self.typed = ""
        self.refusal = ""
        """Why what was last typed or named cannot be, in the game's words."""

    # -- what there is to choose from ---------------------------------------------------------------

    @property
    def options(self) -> tuple[ChoiceOption, ...]:
        """The actions that are left."""
        chosen = frozenset(self.chosen)
        return tuple(option for option in self._of_kind if chosen <= option.cells)

    @property
    def cells(self) -> frozenset[int]:
        """The cells that can be named next."""
        return frozenset(cell for option in self.options for cell in option.cells).difference(self.chosen)

    @property
    def listed(self) -> tuple[ChoiceOption, ...]:
        """The actions to be chosen from a list, if that is how it is chosen now."""
        return () if self.cells or self.chosen else self.options

    @property
    def question(self) -> str:
        """What the book asks here, once the kind of action is settled."""
        return self._asked()[1].prompt.strip().removesuffix("\n>").rstrip()

    def _asked(self) -> tuple[Dialogue[Any], Question]:
        """The dialogue as far as it is settled, and the question that it has come to."""
        option = self.options[0]
        dialogue = self._words.ask(self._sight)
        question = next(dialogue)
        for entry in option.entries[: min(self._settled + len(self.chosen), len(option.entries) - 1)]:
            question = dialogue.send(entry)
        return dialogue, question

    @property
    def _of_kind(self) -> tuple[ChoiceOption, ...]:
        return tuple(option for option in self._options if option.kind == self.kind)

    @property
    def _settled(self) -> int:
        """How many entries are the same for every action of this kind."""
        columns = zip(*(option.entries for option in self._of_kind), strict=False)
        return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, columns))

    # -- choosing -------------------------------------------------------------------------------------

    def switch(self, kind: str | None) -> None:
        """Do something of another kind."""
        self.kind = kind
        self.clear()

    def switch_on(self) -> None:
        """The next kind."""
        self.switch(self.kinds[(self.kinds.index(self.kind) + 1) % len(self.kinds)])

    def clear(self) -> None:
        """Begin again."""
        self.chosen, self.typed, self.refusal = (), "", ""

    def turn_to(self, action: Any) -> frozenset[int]:
        """Choose the kind of this action; the cells that it is about."""
        option = next(option for option in self._options if option.action == action)
        self.switch(option.kind)
        return option.cells

    def pick(self, cell: int) -> Any | None:
        """Name a cell; the action, if that settles it. A cell named twice is named no more."""
        self.typed = self.refusal = ""
        if cell in self.chosen:
            self.chosen = tuple(number for number in self.chosen if number != cell)
            return None
        if cell not in self.cells:
            self._refuse_cell(cell)
            return None
        self.chosen += (cell,)
        exact = [option for option in self.options if option.cells == frozenset(self.chosen)]
        left = exact or self.options
        return left[0].action if len(left) == 1 else None

    def takes(self, letter: str) -> bool:
        """Whether a letter means something here: it begins or goes on with an entry, or names a kind."""
        typed = self.typed + letter
        return bool(
            self._parts(letter) or self._meant_by(typed) or self._named_by(typed) or self._kind_of(letter)
        )

    def type(self, letter: str) -> Any | None:
        """Type a letter; the action, if that settles it."""
        self.refusal = ""
        if self._parts(letter):
            return None
        typed = self.typed + letter
        meant, named = self._meant_by(typed), self._named_by(typed)
        exact = [option for option in meant if typed in self._forms(option)]
        goes_on = any(label != typed for label in named)  # 1 may become 10, a cell to be named
        if len(meant) == 1 and (not meant[0].place or exact) and not goes_on:
            return meant[0].action
        if typed in named and not exact and not goes_on:
            return self.pick(named[typed])
        if meant or named:
            self.typed = typed
        elif kind := self._kind_of(letter):
            self.switch(kind)
        return None

    def confirm(self) -> Any | None:
        """Take what is typed as it stands, a cell or an action; the action, if that settles it."""
        exact = [option for option in self.options if self.typed in self._forms(option)]
        named = self._named_by(self.typed)
        typed, self.typed, self.refusal = self.typed, "", ""
        if len(exact) == 1:
            return exact[0].action
        if typed in named:
            return self.pick(named[typed])
        self.refuse(typed)
        return None

    def refuse(self, entry: str) -> None:
        """Say why an entry cannot be, as the prompt does, or what can be done where it would take it."""
        dialogue, _ = self._asked()
        try:
            self.refusal = dialogue.send(entry).notice
        except StopIteration:
            self.refusal = ""
        self.refusal = self.refusal or self._words.moves(self._sight).strip()

    def _refuse_cell(self, cell: int) -> None:
        """Refuse what the cell is called, where that is what one enters: in leap one enters how far."""
        names = {number: label for label, number in self._labels.items()}
        single = [option for option in self.options if len(option.cells) == 1]
        entered = all(names[min(option.cells)] in self._forms(option) for option in single)
        if entered and cell in names and not self.listed:
            self.refuse(names[cell].upper())
        else:
            self.refusal = self._words.moves(self._sight).strip()

    def _meant_by(self, typed: str) -> Sequence[ChoiceOption]:
        return [o for o in self.options if any(form.startswith(typed) for form in self._forms(o))]

    def _named_by(self, typed: str) -> dict[str, int]:
        """The cells that are called so and can be named next, where actions are about several."""
        several = any(len(option.cells) > 1 for option in self.options)
        labels = self._labels.items() if several else ()
        return {label: cell for label, cell in labels if cell in self.cells and label.startswith(typed)}

    def _parts(self, letter: str) -> bool:
        """Whether a letter only stands between two cells, one of which has been named."""
        return letter in _BETWEEN and bool(self.chosen) and not self.typed

    def _kind_of(self, letter: str) -> str | None:
        return next((kind for kind in self.kinds if kind and kind[0].lower() == letter), None)

    def _forms(self, option: ChoiceOption) -> set[str]:
        """How the action can be typed: in notation without its kind, or as the last question takes it."""
        name = option.name.split()[-1].lower()
        # Without what stands between two cells their names could be read as that of a third: 1-2 as 12.
        forms = {name} if len(option.cells) > 1 else {name, _letters(name)}
        if not option.place:
            forms.add(_letters(option.name))
        if len(option.entries) - self._settled <= 1 and option.entries:
            forms.add(_letters(option.entries[-1].split()[-1]))
        return forms


def _letters(text: str) -> str:
    """The letters and digits of a text in lower case; all of it, if it has none."""
    return "".join(letter for letter in text.lower() if letter.isalnum()) or text.lower()
