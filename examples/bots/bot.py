"""A bot for duels: it speaks the protocol of docs/protocol.md and takes a random legal action."""

import json
import random
import sys
from typing import Any


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Answer one question. It contains everything the seat knows, so the bot needs no memory."""
    return {"id": question["id"], "action": random.choice(question["actions"])}


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        reply = {"type": "ready", "protocol": 1, "name": "example in Python"}
    elif message["type"] == "choose":
        reply = answer(message)
    else:
        continue  # a message of a later version
    print(json.dumps(reply), flush=True)
