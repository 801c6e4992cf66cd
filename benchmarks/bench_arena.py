"""Matches per second of the arena, and the time of a question to a program.

OpenSpiel's bots and TextArena play tic-tac-toe in the same run: its matches are about as long as those of
lights. Neither of them grades a move or keeps a log.
"""

import argparse
import json
import random
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from duels.arena.config import Config
from duels.arena.run import run
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import GAMES, find_game
from duels.players.program import ProgramPlayer

PLAYERS = ("club", "expert")
MATCHES = {"lights": 6000, "leap": 3000, "chain": 60, "hunt": 300, "flip": 60}
TURNS = 5
ASKED = 500  # questions to a program
LOOPS = 200  # matches of the other arenas
BOT = Path(__file__).parent.parent / "examples" / "bots" / "bot.py"


def time_call(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def measure_game(game: str) -> dict[str, Any]:
    """Return the matches of a run per second of CPU time."""
    config = Config(PLAYERS, (game,), MATCHES[game])
    time_run(config)  # makes the oracles
    return {"game": game, "in_run": median(MATCHES[game] / time_run(config) for _ in range(TURNS))}


def time_run(config: Config) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return time_call(lambda: run(config, Path(folder) / "run", 1), process_time)


def program_overhead() -> float:
    """Return the seconds per question to a program that answers at once."""
    rules = find_game("lights").rules()
    player = ProgramPlayer(shlex.join([sys.executable, "-S", str(BOT)]), rules)
    sight, rng = Match.start(rules).sight(Seat.ONE), random.Random(1)
    try:
        player.choose(sight, rng)  # starts the program
        return median(time_call(lambda: player.choose(sight, rng)) for _ in range(ASKED))
    finally:
        player.close()


def openspiel_loop() -> float | None:
    """Return the matches per second of OpenSpiel's loop with random bots, or None."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import evaluate_bots
        from open_spiel.python.bots.uniform_random import UniformRandomBot
    except ImportError:
        return None
    import numpy as np

    game = pyspiel.load_game("tic_tac_toe")
    rng = np.random.RandomState(1)
    bots = [UniformRandomBot(seat, rng) for seat in (0, 1)]

    def play() -> None:
        for _ in range(LOOPS):
            evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)

    return LOOPS / time_call(play, process_time)


def textarena_loop() -> float | None:
    """Return the matches per second of TextArena's loop with random legal moves, or None."""
    try:
        import textarena
    except ImportError:
        return None
    rng = random.Random(1)

    def play() -> None:
        for _ in range(LOOPS):
            env = textarena.make("TicTacToe-v0")
            env.reset(num_players=2, seed=rng.randrange(1 << 30))
            free, done = list(range(9)), False
            rng.shuffle(free)
            while not done:
                env.get_observation()
                done, _ = env.step(action=f"[{free.pop()}]")
            env.close()

    return LOOPS / time_call(play, process_time)


def random_lights() -> float:
    """Return the matches per second of our arena between random players, graded and logged."""
    config = Config(("random", "again=random"), ("lights",), LOOPS)
    with tempfile.TemporaryDirectory() as folder:
        return LOOPS / time_call(lambda: run(config, Path(folder) / "run", 1), process_time)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to this file")
    arguments = parser.parse_args()
    loops = {
        "duels, lights, graded and logged": random_lights(),
        "OpenSpiel, tic-tac-toe": openspiel_loop(),
        "TextArena, tic-tac-toe": textarena_loop(),
    }
    result = {
        "matches": [measure_game(game) for game in GAMES],
        "question_seconds": program_overhead(),
        "loops": {name: speed for name, speed in loops.items() if speed is not None},
    }
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
