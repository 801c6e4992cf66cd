"""Every script and every piece of code in docs/environments/trainers runs."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[2] / "docs" / "environments" / "trainers"
SCRIPTS = sorted(FOLDER.glob("*.py"))
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md"))


def test_the_pages_show_every_script() -> None:
    included = re.findall(r"^```{literalinclude} (\S+)$", PAGES, flags=re.MULTILINE)
    assert sorted(included) == [script.name for script in SCRIPTS]
    assert len(SCRIPTS) == 8


@pytest.mark.parametrize("piece", re.findall(r"^```python\n(.*?)^```", PAGES, flags=re.MULTILINE | re.DOTALL))
def test_every_code_block_runs(piece: str) -> None:
    pytest.importorskip("torchrl", reason="make trainers-test installs it")
    exec(compile(piece, "docs", "exec"), {})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_an_exploitability_with_its_spread(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray.rllib", reason="make trainers-test installs it")
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {})
    last = capsys.readouterr().out.splitlines()[-1]
    spread = re.fullmatch(r"(\S+) \((\S+) to (\S+), [23] seeds\)", last)
    assert spread, last
    middle, best, worst = map(float, spread.groups())
    assert 0 <= best <= middle <= worst <= 0.5
