"""The Python code of docs/models.md runs."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_python_code_runs(snippet: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "skyrl_gym" in snippet:
        pytest.importorskip("skyrl_gym")
    exec(compile(snippet, "docs/models.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_page_has_code() -> None:
    assert SNIPPETS
