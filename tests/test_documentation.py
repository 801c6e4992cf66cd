"""The documentation stays short: at most 2,000 words on a hand-written page, and 22,000 in all."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = re.compile(
    r"(api|environments/games)/.+|(books|ladder|counts|baselines|performance|environments/reference)\.md"
)
"""Pages that a script writes. `solved.md` is one too, but its sentences are written by hand."""
SKIPPED = re.compile(r"^```.*?^```$|<!-- figures -->.*?<!-- end of figures -->", re.MULTILINE | re.DOTALL)


def count_words(page: Path) -> int:
    """Return the number of words outside code blocks and generated figures."""
    return len(SKIPPED.sub("", page.read_text(encoding="utf-8")).split())


def test_hand_written_pages_are_short() -> None:
    pages = {str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md"))}
    words = {name: count_words(page) for name, page in pages.items() if not GENERATED.fullmatch(name)}
    assert len(words) > 25
    assert {name: count for name, count in words.items() if count > 2000} == {}
    assert sum(words.values()) <= 22_000
