"""Reads what a request brings, and refuses whatever it should not."""

import json
from ipaddress import ip_network
from typing import Any

from starlette.requests import Request

from duels.web.decisions import clean_name
from duels.web.refusals import Refusal

_CALLED: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


def address(request: Request) -> str:
    """Where a request comes from: of IPv6 the network, for a household has all of its addresses."""
    host = request.client.host if request.client else ""
    return str(ip_network(f"{host}/64", strict=False)) if ":" in host and "%" not in host else host


def event_number(text: str | None) -> int | None:
    """The number in a header; None if there is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


async def body(request: Request, **kinds: type) -> dict[str, Any]:
    """The fields of a request, of these names and kinds and no others."""
    try:
        data = json.loads((await request.body()).decode() or "{}")
    except (ValueError, RecursionError):
        raise Refusal("That is no JSON.") from None
    if not isinstance(data, dict):
        raise Refusal("Send a JSON object.")
    for name, value in data.items():
        if name not in kinds:
            raise Refusal(f"There is no field '{clean_name(str(name))}' here; there are {', '.join(kinds)}.")
        if type(value) is not kinds[name]:
            raise Refusal(f"'{name}' has to be {_CALLED[kinds[name]]}.")
    return data
