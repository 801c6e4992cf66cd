"""A bot with a bad habit, named by its first argument. Each test starts its own."""

import json
import os
import signal
import subprocess
import sys
import time

habit = sys.argv[1]


def say(message: object) -> None:
    print(json.dumps(message), flush=True)


def reply(question: dict) -> None:  # type: ignore[type-arg]  # noqa: C901 - one branch per habit
    number, first = question["id"], question["actions"][0]
    good = {"id": number, "action": first}
    if habit == "hang" or (habit == "hang-once" and not os.path.exists(sys.argv[2])):
        if habit == "hang-once":
            open(sys.argv[2], "w").close()
        time.sleep(60)
    elif habit == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif habit == "many-lines":
        for _ in range(300):
            say({"id": -1, "action": first})
    elif habit == "stderr":
        sys.stderr.write("y" * 3_000_000 + "\n")
        say(good)
    elif habit == "chatters":
        while True:
            sys.stderr.write("still thinking\n")
    elif habit == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif habit == "die":
        sys.exit("no more")
    elif habit in ("fork", "leave"):
        child = subprocess.Popen(["sleep", "60"], start_new_session=habit == "leave")
        with open(sys.argv[2], "w") as file:
            file.write(str(child.pid))
        time.sleep(60)
    elif habit == "twice":
        say(good)
        say(good)
    elif habit == "older":
        say({"id": number - 1, "action": "resign"})
        say(good)
    elif habit == "unknown":
        say({"id": number, "action": "pass"})
    elif habit == "learns":
        say(good if "error" in question else {"id": number, "action": "pass"})
    elif habit == "prose":
        print("I think I will take the first one.", flush=True)
    elif habit == "no-id":
        say({"action": first})
    elif habit == "empty":
        say({"id": number})
    elif habit == "policy":
        say({"id": number, "policy": {first: 0.5}})
    elif habit == "huge-policy":
        say({"id": number, "policy": {first: 10**400}})
    elif habit == "memory":
        say({"id": number, "action": "x" * len(bytearray(1 << 30))})
    else:
        say(good)


if habit == "early":
    print("Loading the model...", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready", "protocol": 2 if habit == "newer" else 1, "card": habit == "card"})
    elif message["type"] == "choose":
        reply(message)
if habit == "stays":
    time.sleep(60)
