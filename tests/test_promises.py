"""Every promise of SECURITY.md, docs/serving.md and docs/reliability.md names the tests that pin it."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.attack.attacks import ATTACKS
from tests.test_books_page import exists

ROOT = Path(__file__).parent.parent
PROMISES = tomllib.loads((ROOT / "docs" / "promises.toml").read_text(encoding="utf-8"))
SECTIONS = [(page, section) for page, sections in PROMISES.items() for section in sections]
_ATTACK = "attack: "
_END_OF_SENTENCE = re.compile(r"(?<=[.;:])\s+(?=[A-Z`])")


def read_sentences(page: str, section: str) -> set[str]:
    """The sentences of a section: of its paragraphs, its list items and the first column of its table."""
    text = (ROOT / page).read_text(encoding="utf-8")
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in body.splitlines() if line.startswith("| **")]
    lines = [line for line in body.splitlines() if not line.startswith("|")]
    paragraphs = re.split(r"\n\s*\n|\n- ", "\n".join(lines))
    joined = (" ".join(paragraph.split()).removeprefix("- ") for paragraph in (*rows, *paragraphs))
    return {sentence for text in joined for sentence in _END_OF_SENTENCE.split(text) if sentence}


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_every_sentence_is_listed(page: str, section: str) -> None:
    assert set(PROMISES[page][section]) == read_sentences(page, section)


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_every_promise_names_tests_that_exist(page: str, section: str) -> None:
    kinds = {attack.kind for attack in ATTACKS}
    for sentence, tests in PROMISES[page][section].items():
        for test in tests:
            is_attack = test.startswith(_ATTACK)
            assert test.removeprefix(_ATTACK) in kinds if is_attack else exists(test), (sentence, test)
