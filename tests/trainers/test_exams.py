"""The code in docs/arena.md loads an exam with datasets and asks a model through lm-eval."""

import json
import re
import subprocess
import sys
import threading
from ast import literal_eval
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("lm_eval", reason="make trainers-test installs it")

PAGE = (Path(__file__).parents[2] / "docs" / "arena.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8000/"


def answer(rows: list[dict[str, Any]], text: str) -> str:
    """Answer the first position in prose only, and the others with their worst action."""
    (number,) = (row["number"] for row in rows if row["messages"][1]["content"] in text)
    worst = max(rows[number]["actions"], key=lambda action: action["loss"])
    return "I resign." if number == 0 else f'I think.\n{{"action": "{worst["action"]}"}}'


def test_lm_eval_scores_a_model_as_the_card_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    command = "exam", "all", "--positions", "6", "--out", "exams"
    subprocess.run([sys.executable, "-m", "duels", *command], check=True, capture_output=True)
    rows = [json.loads(line) for line in (tmp_path / "exams" / "lights.jsonl").read_text().splitlines()]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = answer(rows, request["messages"][-1]["content"])
            choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [choice]}).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert ADDRESS in CODE
    exec(CODE.replace(ADDRESS, f"http://127.0.0.1:{server.server_port}/"), {})
    server.shutdown()
    losses = [row["value"] if row["number"] == 0 else max(a["loss"] for a in row["actions"]) for row in rows]
    expected = sum(row["weight"] * loss for row, loss in zip(rows, losses, strict=True))
    assert expected > 0
    printed = literal_eval(capsys.readouterr().out.splitlines()[-1])
    assert printed["loss,none"] == pytest.approx(expected)
