"""Every script of docs/environments/trainers.md runs and prints an exploitability with its spread."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[2] / "docs" / "environments"
SCRIPTS = sorted((FOLDER / "trainers").glob("*.py"))


def test_the_page_shows_every_script() -> None:
    page = (FOLDER / "trainers.md").read_text(encoding="utf-8")
    included = re.findall(r"^```{literalinclude} (\S+)$", page, flags=re.MULTILINE)
    assert sorted(included) == [str(script.relative_to(FOLDER)) for script in SCRIPTS]
    assert len(SCRIPTS) == 8


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
