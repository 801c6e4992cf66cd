"""Requests to models: their log, their cost, and budgets."""

import signal
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from duels.arena.config import Config
from duels.arena.folder import Folder, merge
from duels.arena.report import make_report, summarize_run
from duels.arena.report_views import as_data, make_document
from duels.arena.run import run
from duels.core.errors import BadOption, DuelsError
from duels.players.endpoint import EndpointSettings
from tests.arena.model_server import KEY, Server, played
from tests.players.test_program import wait_until
from tests.support import COMMAND, duels, environment

pytestmark = pytest.mark.usefixtures("quick")


def test_a_budget_stops_a_run_that_can_be_resumed(server: Server, tmp_path: Path) -> None:
    prices: dict[str, Any] = {"input_price": 10_000.0, "output_price": 0.0}  # a request is 1 usd
    model = EndpointSettings(server.url, concurrency=1, max_tokens=4096, **prices)
    small = Config(("random", "model:well"), ("lights",), 10, budget="5usd", model=model)
    folder = run(small, tmp_path / "run")
    assert folder.unfinished == ("The budget of 5 usd is spent.",)
    assert sum(1 for _ in folder.iter_requests()) == 5
    assert 0 < len(folder.load_rows()) < 10
    with pytest.raises(DuelsError, match="has costs in usd, not in eur"):
        run(replace(small, budget="500eur"), folder.path)
    large = Config(("random", "model:well"), ("lights",), 10, budget="500usd", model=model)
    folder = run(large, tmp_path / "run")
    assert len(folder.load_rows()) == 10
    used = as_data(make_report(folder))["usage"]["model well"]
    assert used["cost"] == used["requests"]
    asked = sum(1 for _ in folder.iter_requests())
    with closing(folder.open_request_log("killed")) as log:
        log.add({"id": "1", "match": "never finished", "seat": 1, "status": 200, "usage": [100, 0, 1]})
    expected = f"Including interrupted matches: {asked + 1} requests, cost {asked + 1}.00 usd."
    text = make_document(make_report(folder)).render_text()
    assert expected in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert f"Models took {asked + 1} requests and cost {asked + 1}.00 usd." in text
    assert as_data(make_report(folder))["usage"]["model well"] == used
    with closing(folder.open_request_log("cut")) as log:
        log.add({"id": "2", "match": "never finished", "seat": 1, "status": 0, "at_most": [150, 1000]})
        log.add({"id": "3", "match": "never finished", "seat": 1, "status": 429})
    (cost,) = (each for each in summarize_run(make_report(folder)) if each.startswith("Models took"))
    assert cost == (
        f"Models took {asked + 3} requests and cost {asked + 1}.00 usd. 2 of them had no usable reply "
        "(429, 5xx, timeouts, cut connections, a run that was killed or is still running, damaged lines). "
        "In addition, 1 request without reported tokens may have cost at most 1.50 usd."
    )


@pytest.mark.parametrize(
    ("settings", "budget", "expected"),
    [
        ({}, "5usd", "a budget needs prices"),
        ({"input_price": 1.0, "output_price": 1.0}, "5", "such as 5usd"),
    ],
)
def test_rejects_a_budget_without_prices(settings: dict[str, Any], budget: str, expected: str) -> None:
    with pytest.raises(BadOption, match=expected):
        Config(
            ("random", "model:x"),
            ("lights",),
            2,
            budget=budget,
            model=EndpointSettings("http://x", **settings),
        )


PRICES: dict[str, Any] = {"input_price": 0.0, "output_price": 1000.0, "max_tokens": 1000}
"""Prices of output only: a reply of ten tokens costs 0.01, the longest 1."""


def test_possible_charges_count_against_the_budget(server: Server, tmp_path: Path) -> None:
    before = server.requests_by_model["slow"]
    model = EndpointSettings(server.url, concurrency=1, request_seconds=0.1, total_seconds=60, **PRICES)
    config = Config(("random", "model:slow"), ("lights",), 2, budget="3usd", model=model)
    for budget in ("3usd", "5usd"):
        most = f"counting at most {budget[0]} for requests without a full reply"
        expected = f"The budget of {budget[0]} usd is spent, {most}."
        folder = run(replace(config, budget=budget), tmp_path / "run")
        assert expected in folder.unfinished[0]
        assert server.requests_by_model["slow"] - before == int(budget[0])
    assert not folder.load_rows()


@pytest.mark.parametrize(
    ("damaged", "lost"),
    [
        ((0,), 0),  # a request whose reply is logged
        ((1,), 1),  # a reply, so its usage is unknown
        ((0, 1), 1),
        ((0, 1, 3), 2),
    ],
)
def test_an_unreadable_request_counts_at_its_maximum_cost(
    damaged: tuple[int, ...], lost: int, server: Server, tmp_path: Path
) -> None:
    model = EndpointSettings(server.url, concurrency=1, **PRICES)
    config = Config(("random", "model:well"), ("lights",), 2, budget="1usd", model=model)
    assert not run(config, tmp_path / "run").unfinished
    log = tmp_path / "run" / "requests-models.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(line[place in damaged :] for place, line in enumerate(lines)))
    merge([tmp_path / "run"], tmp_path / "merged")
    for name in ("run", "merged"):
        summary = " ".join(summarize_run(make_report(Folder(tmp_path / name))))
        assert f"Models took {len(lines) // 2} requests" in summary
        assert ("In addition" in summary) is bool(lost)
        assert not lost or f"may have cost at most {lost}.00 usd" in summary
    before = server.requests_by_model["well"]
    folder = run(replace(config, matches=4), tmp_path / "run")
    assert bool(folder.unfinished) is bool(lost)
    assert (server.requests_by_model["well"] == before) is bool(lost)


def test_requests_in_several_folders_are_counted_once(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well", **PRICES)
    copytree(tmp_path / "run", tmp_path / "copy")
    merge([tmp_path / "run", tmp_path / "copy"], tmp_path / "merged")
    run_requests, merged_requests = (
        list(Folder(tmp_path / name).iter_requests()) for name in ("run", "merged")
    )
    assert merged_requests == run_requests


def test_a_request_that_was_never_sent_costs_nothing(tmp_path: Path) -> None:
    model = EndpointSettings("http://127.0.0.1:1/v1", concurrency=1, total_seconds=0.05, **PRICES)
    config = Config(("random", "model:none"), ("lights",), 2, budget="1usd", model=model)
    folder = run(config, tmp_path / "run")
    assert "ConnectError" in folder.unfinished[0]
    assert not [row for row in folder.iter_requests() if "at_most" in row]


def test_a_budget_needs_an_endpoint_that_reports_tokens(server: Server, tmp_path: Path) -> None:
    config = Config(("random", "model:silent"), ("lights",), 2, model=EndpointSettings(server.url, **PRICES))
    assert len(run(config, tmp_path / "free").load_rows()) == 2
    with pytest.raises(DuelsError, match="does not report tokens, so a budget cannot be enforced"):
        run(replace(config, budget="5usd"), tmp_path / "run")
    with pytest.raises(BadOption, match="pass --max-tokens"):
        replace(config, budget="5usd", model=replace(config.model, max_tokens=0))


def test_shards_share_a_budget(server: Server, tmp_path: Path) -> None:
    before = server.requests_by_model["well"]
    model = EndpointSettings(server.url, concurrency=1, **PRICES)
    config = Config(("random", "model:well"), ("lights",), 100, budget="0.1usd", model=model)
    for _ in range(2):
        for part in (1, 2):
            folder = run(config, tmp_path / "run", shard=(part, 2))
            expected = "The budget of 0.05 usd for one of 2 shards is spent."
            assert folder.unfinished == (expected,)
        assert server.requests_by_model["well"] - before == 10


def test_the_key_is_sent_and_never_stored(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well")
    assert f"Bearer {KEY}" in server.keys
    contents = [each.read_text() for each in (tmp_path / "run").rglob("*") if each.is_file()]
    assert not [text for text in contents if KEY in text or server.url in text]


def test_a_key_in_a_reply_is_not_stored(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DuelsError, match=r"status 401, 'wrong key: Bearer \[key\]'"):
        played(server, tmp_path / "run", "echoes")
    (asked,) = (each.read_text() for each in (tmp_path / "run").glob("requests-*.jsonl"))
    assert "Bearer [key]" in asked
    assert KEY not in asked


def test_every_request_and_reply_is_kept(server: Server, tmp_path: Path) -> None:
    before = server.requests_by_model["badly"]
    played(server, tmp_path / "run", "badly", matches=4)
    logged_requests = list(Folder(tmp_path / "run").iter_requests())
    assert len(logged_requests) == server.requests_by_model["badly"] - before
    assert {"id", "match", "seat", "entry", "request", "status", "reply", "seconds", "usage"} == set(
        logged_requests[0]
    )
    assert logged_requests[0]["request"]["model"] == "badly"


def test_requests_in_flight_at_kill_9_are_kept_and_counted(server: Server, tmp_path: Path) -> None:
    words = ["arena", "run", "--players", "random,model:hangs", "--games", "lights", "--matches", "6"]
    words += ["--base-url", server.url, "--budget", "3usd", "--input-price", "0", "--output-price", "1000"]
    command = [*COMMAND, *words, "--max-tokens", "1000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: server.requests_by_model["hangs"] == 6)
    finally:
        process.kill()
        process.wait()
    for folder in (tmp_path / "run", tmp_path / "merged"):
        logged_requests = list(Folder(folder).iter_requests())
        assert [each["request"]["model"] for each in logged_requests] == ["hangs"] * 6
        assert [each["at_most"][1] for each in logged_requests] == [1000] * 6
        (cost,) = (
            each for each in summarize_run(make_report(Folder(folder))) if each.startswith("Models took")
        )
        assert "Models took 6 requests and cost 0.00 usd. 6 of them had no usable reply" in cost
        assert "6 requests without reported tokens may have cost at most 6.00 usd." in cost
        if folder.name == "run":
            merge([folder], tmp_path / "merged")
    again = duels(tmp_path, *words, "--max-tokens", "1000", "--out", tmp_path / "run")
    assert "The budget of 3 usd is spent, counting at most 6 for requests without a full reply" in again.err
    assert server.requests_by_model["hangs"] == 6


def test_interrupting_a_run_does_not_wait_for_a_model(server: Server, tmp_path: Path) -> None:
    before = server.requests_by_model["hangs"]
    words = ["arena", "run", "--players", "random,model:hangs", "--games", "lights", "--matches", "6"]
    command = [*COMMAND, *words, "--base-url", server.url, "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: server.requests_by_model["hangs"] == before + 6)
    process.send_signal(signal.SIGINT)
    _, expected = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "To continue, run the same command again." in expected
    assert len(list(Folder(tmp_path / "run").iter_requests())) == 6


def test_a_line_that_is_not_a_request_is_reported(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well")
    log = tmp_path / "run" / "requests-models.jsonl"
    log.write_bytes(log.read_bytes() + b'{"request": {}}\n')
    folder = Folder(tmp_path / "run")
    assert [row["id"] for row in folder.iter_requests() if "request" not in row]
    assert folder.damage.startswith(
        "Skipped 1 damaged line of logs, the first in requests-models.jsonl, line "
    )
