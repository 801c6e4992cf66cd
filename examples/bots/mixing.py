"""A bot that answers with a policy. `duels` draws the action, so measurements are more precise."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1, "name": "mixing"}), flush=True)
    elif message["type"] == "choose":
        actions = message["actions"]
        policy = {action: 1 / len(actions) for action in actions}
        print(json.dumps({"id": message["id"], "policy": policy}), flush=True)
