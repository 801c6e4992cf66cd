"""The page about serving: its example runs, and it lists every option and route."""

import re
from pathlib import Path

import pytest

from duels.web.command import serve
from duels.web.reviews import PAGE_ENTRIES
from duels.web.server import MAX_HEAD_BYTES
from duels.web.site import ROUTES
from duels.web.visitors import VisitorLimits
from tests.web.serving import serving

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_the_example_client_plays_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    with serving(str(tmp_path / "web.sqlite3")) as base:
        exec(compile(example.replace("http://127.0.0.1:8321", base), "serving.md", "exec"), {})
    assert "last light" in capsys.readouterr().out


def test_the_docs_list_every_option() -> None:
    for parameter in serve.params:
        assert f"`{parameter.opts[0]}" in PAGE, parameter.opts[0]


def test_the_docs_list_every_route() -> None:
    for method, path, *_ in ROUTES:
        routes = re.sub(
            r"\{(\w+)\}", lambda name: {"id": "ID", "token": "INVITE"}.get(name[1], name[1].upper()), path
        )
        if not path.startswith("/static"):
            assert re.search(
                rf"`[^`]*{method}[^`]* {re.escape(routes)}`|`GET`, `POST {re.escape(routes)}`", PAGE
            ), path


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("A request must arrive within {:.0f} seconds, with its body.", VisitorLimits().request_timeout),
        ("Its headers can have {} KB.", MAX_HEAD_BYTES >> 10),
        ("An address can have {} connections", VisitorLimits().connections),
        ("The players at an address can have {} streams.", VisitorLimits().player_streams_per_address),
        ("`?page=2` for more than {} entries", PAGE_ENTRIES),
        ("The server logs only failures, such as an unreachable database.", None),
    ],
)
def test_the_docs_give_the_servers_limits(sentence: str, value: float | None) -> None:
    """`tests/attack/load.py` and `test_load.py` try them out."""
    assert sentence.format(value) in " ".join(PAGE.split())
