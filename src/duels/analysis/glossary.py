"""A few words on terms of the theory, said once: at their first use."""

_MEANINGS = {
    "nim-sum": "Nim-sum: every run is worth a number, and these are added in binary without carrying. "
    "Whoever leaves 0 wins.",
    "strategy": "The strategy: the best play that was computed for this game.",
    "mixture": "The mixture: which actions it takes by chance, and how often, so that nobody can foresee it.",
}


def meaning(term: str) -> str:
    """What a term means, in a sentence or two."""
    return _MEANINGS[term]


class Glossary:
    """Remembers which terms somebody has been told the meaning of."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def explain(self, text: str) -> str:
        """The text, and below it what the terms mean that it uses for the first time."""
        new = [term for term in _MEANINGS if term in text and term not in self._told]
        self._told.update(new)
        end = "\n" if text.endswith("\n") else ""
        return "\n".join([text.removesuffix("\n"), *(f"({_MEANINGS[term]})" for term in new)]) + end
