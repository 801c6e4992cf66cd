"""Every script of docs/environments/trainers.md runs as it stands and ends in a grade with its spread."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).parents[2] / "docs" / "environments" / "trainers.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
PIECES = [
    pytest.param(piece, id=f"{trainer}-{number}")
    for trainer, text in SCRIPTS
    for number, piece in enumerate(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
]


def test_no_script_is_overlooked() -> None:
    assert len(PIECES) == PAGE.count("```python") == 7


@pytest.mark.parametrize("piece", PIECES)
def test_a_script_ends_in_a_number_with_its_spread(piece: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray.rllib", reason="make trainers-test installs it")
    exec(compile(piece, "docs", "exec"), {})
    last = capsys.readouterr().out.splitlines()[-1]
    told = re.fullmatch(r"(\S+) \((\S+) to (\S+), [23] seeds\)", last)
    assert told, last
    middle, best, worst = map(float, told.groups())
    assert 0 <= best <= middle <= worst <= 0.5
