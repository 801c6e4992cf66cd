"""A chat endpoint on the loopback that plays well, badly, illegally, slowly, in streams, or not at all."""

import json
import re
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from duels.arena.config import Config
from duels.arena.folder import Folder
from duels.arena.report import make_report
from duels.arena.report_views import as_data
from duels.arena.run import run
from duels.games import GAMES
from duels.players.endpoint import EndpointSettings
from duels.solving.oracles import get_oracle
from tests.loopback import Endpoint, served

KEY = "sk-a-secret"
USED = {"prompt_tokens": 100, "completion_tokens": 10}


class Server(Endpoint):
    """The number of requests by model name."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.requests_by_model: Counter[str] = Counter()
        self.keys: set[str | None] = set()
        self.prompts: list[str] = []
        self.lock = threading.Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnected."""


def serving() -> AbstractContextManager[Server]:
    return served(Server())


class Handler(BaseHTTPRequestHandler):
    """A request handler; the model's name selects the behaviour."""

    server: Server

    def do_POST(self) -> None:  # noqa: C901 - one branch per behaviour
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        model = request["model"]
        with self.server.lock:
            self.server.requests_by_model[model] += 1
            times = self.server.requests_by_model[model]
            self.server.keys.add(self.headers.get("Authorization"))
            self.server.prompts.append(request["messages"][1]["content"])
        if self.path != "/v1/chat/completions":
            self._send(404, {"error": {"message": "no such page"}})
        elif model == "unknown":
            self._send(404, {"error": {"message": f"there is no model {model}"}})
        elif model == "echoes":
            self._send(401, {"error": {"message": f"wrong key: {self.headers.get('Authorization')}"}})
        elif model == "busy" and times % 3:
            self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.01"})
        elif model == "broken" and times % 2:
            self._send(503, {"error": {"message": "overloaded"}})
        elif model == "down":
            self._send(500, {"error": {"message": "out of order"}})
        elif model == "cut" and times % 2:
            self.connection.close()
        elif model == "garbage" and times % 2:
            self._send(200, ["nothing"])
        elif model == "slow":
            time.sleep(1)
            self._reply("late")
        elif model == "hangs":
            self.rfile.read(1)  # until the client disconnects
        elif model == "flood":
            self._reply("x" * (2 << 20))
        elif model == "silent":
            self._reply(self._move(request, well=True), usage=None)
        elif model == "length":
            self._reply("Let me think", finish="length")
        elif model == "refuses":
            self._reply("", refusal="I do not gamble.")
        elif model == "empty":
            self._reply("   ")
        elif model == "prose":
            self._reply("I would turn off light 4, which wins.")
        elif model == "illegal":
            self._reply('{"action": "1-2"} or rather {"action": "7-8"}')
        elif model == "first":
            self._reply(
                json.dumps({"action": re.findall("You may play: ([^,.]+)", self._question(request))[0]})
            )
        elif model == "learns" and len(request["messages"]) == 2:
            self._reply("4!")
        elif request.get("stream"):
            self._stream(self._move(request, well=True), cut=model == "cut-stream" and times % 2 == 1)
        else:
            self._reply(f"I thought.\n```json\n{self._move(request, well=model != 'badly')}\n```")

    @staticmethod
    def _question(request: dict[str, Any]) -> str:
        return str(request["messages"][1]["content"])

    @staticmethod
    def _move(request: dict[str, Any], well: bool) -> str:
        """Return a move for the position in the prompt, by the oracle or any."""
        system, question = (message["content"] for message in request["messages"][:2])
        (position,) = re.findall(r"^In notation: (.*)$", question, re.MULTILINE)
        (game,) = (game for game in GAMES.values() if game.rules_text() in system)
        rules = game.rules()
        sight = rules.parse_position(position)
        action = get_oracle(rules).judge(sight).best[0] if well else sight.actions[0]
        return json.dumps({"action": rules.format(action)})

    def _reply(
        self, text: str, finish: str = "stop", refusal: str | None = None, usage: object = USED
    ) -> None:
        message = {"role": "assistant", "content": text, "refusal": refusal}
        self._send(200, {"choices": [{"message": message, "finish_reason": finish}], "usage": usage})

    def _stream(self, text: str, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        pieces: list[dict[str, Any]] = [{"choices": [{"delta": {"content": letter}}]} for letter in text]
        pieces.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        pieces.append({"choices": [], "usage": USED})
        for piece in pieces[:3] if cut else pieces:
            self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        if not cut:
            self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def played(server: Server, folder: Path, model: str, matches: int = 2, **settings: Any) -> dict[str, Any]:
    """Return the report on a run of a model against random moves in lights."""
    endpoint = EndpointSettings(server.url, **settings)
    config = Config(("random", f"model:{model}"), ("lights",), matches, model=endpoint)
    run(config, folder)
    return as_data(make_report(Folder(folder)))
