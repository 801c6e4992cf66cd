"""The MCP server, through the clients of the MCP SDK: in memory, over pipes and over HTTP."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duels.arena.config import MODEL, make_match_seed
from duels.arena.text_seat import MatchTask, TextSeat
from duels.games import GAMES
from duels.integrations.conversation import CONVERSATION_CONDITIONS
from tests.integrations.one_game import dump, make_task, play_at_seat_by_tool
from tests.integrations.test_page import PAGE

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client

from duels.integrations.match_store import MatchStore
from duels.integrations.mcp_server import make_server

pytestmark = pytest.mark.slow

MODES = "legacy", "auto"
"""The protocol with a handshake, and the newest that both sides know."""


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return its structured content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that fails, and return its message."""
    result: Any = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


def make_seeded_task(game: str, seat: int) -> MatchTask:
    """Return the task of a match that a server with the seed `1` starts."""
    task = make_task(game, seat, **CONVERSATION_CONDITIONS)
    task = replace(task, conditions=replace(task.conditions, retries=2))
    return replace(task, seed=make_match_seed("1", game, MODEL, task.opponent, 0))


async def start(client: Client, task: MatchTask, **arguments: Any) -> Any:
    return await call(
        client,
        "start_match",
        game=task.game,
        opponent=task.opponent,
        player=task.seat,
        options=dict(task.options),
        **arguments,
    )


async def play(client: Client, task: MatchTask, actions: list[str]) -> tuple[list[str], Any]:
    """Play a match. Each call is made twice. Returns the texts and the review."""
    view = await start(client, task)
    assert (view["game"], view["player"], view["opponent"]) == (task.game, task.seat, task.opponent)
    texts = [view["text"]]
    for action in actions:
        arguments = {"match": view["match"], "question": view["question"], "action": action}
        view = await call(client, "play", **arguments)
        assert await call(client, "play", **arguments) == view
        texts.append(view["text"])
        if view["over"]:
            break
    return texts, await call(client, "review_match", match=view["match"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("game", GAMES)
def test_mcp_plays_the_same_game(game: str, mode: Any, tmp_path: Path) -> None:
    task = make_seeded_task(game, 1)
    legal = list_legal_actions(task)
    expected = play_at_seat_by_tool(task, legal)

    async def check() -> None:
        async with Client(make_server(MatchStore(tmp_path), seed="1"), mode=mode) as client:
            texts, review = await play(client, task, legal)
        assert texts == expected.texts
        assert review["entries"] == expected.row["entries"]
        assert review["result"] == expected.row["result"]
        assert review["scores"]["reward"] == expected.reward
        assert (
            review["grades"] == dump({"grades": [vars(grade) for grade in expected.grades or ()]})["grades"]
        )

    asyncio.run(check())


def list_legal_actions(task: MatchTask) -> list[str]:
    """Return actions that end the match, a failed attempt among them."""
    seat, actions = TextSeat(task), ["I pass"]
    seat.reply("I pass")
    while not seat.over:
        actions.append(seat.actions[len(actions) % len(seat.actions)])
        seat.reply(f'{{"action": "{actions[-1]}"}}')
    return actions


def run_in_memory(folder: Path, check: Callable[[Client], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        async with Client(make_server(MatchStore(folder), **settings)) as client:
            await check(client)

    asyncio.run(run())


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        assert "lights" in await fail(client, "start_match", game="light")
        assert "club" in await fail(client, "start_match", game="lights", opponent="clubs")
        assert "There is no match 'lights-1'" in await fail(client, "show_match", match="lights-1")
        view = await call(client, "start_match", game="lights")
        assert "is not over" in await fail(client, "review_match", match=view["match"])
        assert "has not been asked" in await fail(client, "play", match=view["match"], question=5, action="1")
        assert "hint" not in {tool.name for tool in (await client.list_tools()).tools}

    run_in_memory(tmp_path, check)


def test_after_a_forfeit_the_match_is_over(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        view = await call(client, "start_match", game="lights")
        while not view["over"]:
            view = await call(client, "play", match=view["match"], question=view["question"], action="9")
        assert view["text"].endswith("The match is over. You lost.")
        assert (await call(client, "show_match", match=view["match"])) == view
        message = await fail(client, "play", match=view["match"], question=view["question"], action="1")
        assert "The match is over." in message
        assert (await call(client, "review_match", match=view["match"]))["scores"]["reward"] == -1.0

    run_in_memory(tmp_path, check)


def test_hints_and_lists_of_actions_come_if_they_are_allowed(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        view = await call(client, "start_match", game="leap", show_actions=True)
        hints = (await call(client, "hint", match=view["match"]))["result"]
        assert len(hints) == 3
        assert view["actions"]
        assert all(action in view["text"] for action in view["actions"])
        assert (await call(client, "start_match", game="leap"))["actions"] == []

    run_in_memory(tmp_path, check, allow_hints=True)


def test_games_rules_and_opponents_are_listed(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        games = (await call(client, "list_games"))["result"]
        assert {game["name"] for game in games} >= set(GAMES)
        for game in games:
            default = await call(client, "start_match", game=game["name"])
            listed = await call(client, "start_match", game=game["name"], options=game["options"])
            assert listed["text"] == default["text"]
        options = {game["name"]: game["options"] for game in games}
        assert options["chain"] == {"cells": 7, "run": 4, "max_boards": 50}
        opponents = await call(client, "list_opponents")
        assert {"club", "best"} <= set(opponents.get("result", opponents))
        assert "Turn off one light" in (await call(client, "show_rules", game="lights"))["result"]

    run_in_memory(tmp_path, check)


def test_a_seat_never_sees_the_seed_or_the_opponents_secrets(tmp_path: Path) -> None:
    """Matches that differ only in what the seat may not know give the same views."""

    async def check(client: Client) -> None:
        task = make_seeded_task("flip", 1)
        views = []
        for seed in ("1", "2"):
            match = MatchStore(tmp_path).start(replace(task, seed=seed))
            view = await call(client, "show_match", match=match.handle)
            views.append(view | {"match": ""})
        assert views[0] == views[1]

    run_in_memory(tmp_path, check)


COMMAND = [sys.executable, "-c", "from duels.terminal.commands import main; main()"]


def read_page(pattern: str) -> str:
    """Return what docs/models.md tells users to paste."""
    (text,) = re.findall(pattern, PAGE, re.MULTILINE)
    return str(text)


@asynccontextmanager
async def connect_over_pipes(folder: Path) -> AsyncIterator[Client]:
    environment = {**os.environ, "DUELS_HOME": str(folder)}
    entry: dict[str, Any] = json.loads(read_page(r"`(\{\"mcpServers\".*?\})`"))["mcpServers"]["duels"]
    assert entry["command"] == "duels"
    arguments = [*COMMAND[1:], *entry["args"]]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=environment)
    async with Client(stdio_client(parameters)) as client:
        yield client


def test_a_match_continues_after_a_restart(tmp_path: Path) -> None:
    async def check() -> None:
        async with connect_over_pipes(tmp_path) as client:
            view = await call(client, "start_match", game="chain", opponent="novice")
            arguments = {"match": view["match"], "question": 1, "action": "4"}
            view = await call(client, "play", **arguments)
        async with connect_over_pipes(tmp_path) as client:
            assert await call(client, "show_match", match=view["match"]) == view
            assert await call(client, "play", **arguments) == view

    asyncio.run(check())


def test_clients_connect_over_http(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = read_page(r"^duels (mcp --http .*)$").replace("8322", str(port)).split()
    server = subprocess.Popen([*COMMAND, *arguments], env={**os.environ, "DUELS_HOME": str(tmp_path)})
    address = read_page(r"`(http://\S+/mcp)`").replace("8322", str(port))

    async def check() -> None:
        mode: Any
        for mode in MODES:
            async with Client(address, mode=mode) as client:
                view = await call(client, "start_match", game="lights")
                assert await call(client, "hint", match=view["match"])

    try:
        wait_for_port(port)
        asyncio.run(check())
    finally:
        server.terminate()
        server.wait()


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
