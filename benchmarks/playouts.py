"""Random play through `Match`, the gate everything passes: steps a second for each game."""

import time
from random import Random

import duels
from duels.core.rules import CHANCE

SECONDS = 1.0


def steps_a_second(game: str) -> float:
    """Whole random matches until the time is up; every action and chance outcome is a step."""
    rng = Random(0)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        match = duels.start(game)
        while (actor := match.actor) is not None:
            action = duels.draw(match, rng) if actor is CHANCE else rng.choice(match.actions)
            match = match.play(actor, action)
            steps += 1
    return steps / (time.perf_counter() - start)


def main() -> None:
    print("Random playouts through Match, one core")
    for game in duels.games():
        print(f"  {game.name:<8}{steps_a_second(game.name):>10,.0f} steps/s")


if __name__ == "__main__":
    main()
