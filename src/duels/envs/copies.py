"""Copies in the middle of a game."""

from copy import deepcopy
from typing import Self


class Copyable:
    """What goes on by itself once it is copied: not even `copy.copy` shares anything that changes."""

    def __copy__(self) -> Self:
        return deepcopy(self)
