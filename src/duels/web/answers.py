"""Answers to requests: pages for people, JSON for programs, and one line where something is refused."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response


def plain_answer(status: int, text: str) -> Response:
    """One line."""
    return Response(f"{text}\n", status, media_type="text/plain")


def json_answer(data: Any, status: int = 200) -> Response:
    """Data for programs."""
    return Response(json.dumps(data, ensure_ascii=False) + "\n", status, media_type="application/json")


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept
