"""Steps per second of random play through `Match`, for each game."""

import argparse
import json
import time
from pathlib import Path
from random import Random

import duels
from duels.core.rules import CHANCE

SECONDS = 1.0


def steps_a_second(game: str) -> float:
    """Play random matches until the time is up. Every action and chance outcome is a step."""
    rng = Random(0)
    steps, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        match = duels.start(game)
        while (actor := match.actor) is not None:
            action = duels.draw(match, rng) if actor is CHANCE else rng.choice(match.actions)
            match = match.play(actor, action)
            steps += 1
    return steps / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    asked = parser.parse_args()
    print("Random playouts through Match, one core")
    speeds = {}
    for game in duels.all_games():
        speeds[game.name] = steps_a_second(game.name)
        print(f"  {game.name:<8}{speeds[game.name]:>10,.0f} steps/s")
    if asked.json:
        asked.json.write_text(json.dumps(speeds, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
