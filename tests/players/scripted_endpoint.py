"""A chat endpoint on the loopback that sends scripted bytes."""

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import Endpoint, served

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""


class Scripted(Endpoint):
    """Answers in turn and repeats the last one. It records all requests."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        super().__init__(_Handler)
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(request))
        answers = self.server.answers
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def answering(*answers: Answer) -> AbstractContextManager[Scripted]:
    return served(Scripted(answers))


USED = {"prompt_tokens": 100, "completion_tokens": 10}


def completion(text: str | None, finish: str = "stop", usage: object = USED) -> Answer:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return as_json(200, {"choices": [choice], "usage": usage})


def as_json(status: int, body: object, **headers: str) -> Answer:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


def stream(*events: str, end: str = "\n\n", result: bool = True) -> Answer:
    """The events unchanged, with only the end added."""
    lines = [*events, "data: [DONE]"] if result else [*events]
    return 200, {"Content-Type": "text/event-stream"}, "".join(line + end for line in lines).encode()
