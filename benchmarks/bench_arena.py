"""The speed of runs: matches per second, the overhead of a run, and the overhead of a program.

For comparison it runs the loops of OpenSpiel and TextArena, if installed, on tic-tac-toe, whose matches are
about as long as those of lights. Neither grades moves or writes a log.
"""

import argparse
import json
import os
import random
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from arena_cost import cost_of

from duels.arena.config import Config
from duels.arena.match_plan import Judge, play_match
from duels.arena.run import run
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import GAMES, find_game
from duels.players.program import ProgramPlayer

PLAYERS = ("club", "expert")
MATCHES = {"lights": 6000, "leap": 3000, "chain": 60, "hunt": 300, "flip": 60}
TURNS = 5
MOST = 0.1
"""Of play, what a run may cost besides: what we hold ourselves to."""
ASKED = 500  # questions to a program
LOOPS = 200  # matches of the other arenas
ON_RAY = 800  # matches; more than above, because the start of Ray's workers is timed too
BOT = Path(__file__).parent.parent / "examples" / "bots" / "bot.py"


def timed(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def bare(config: Config, game: str) -> Callable[[], object]:
    """Play and grade the same matches one after another, without a run."""
    rules = config.rules(game)
    judge = Judge(rules)
    players = {name: config.make_player(name, rules) for name in PLAYERS}

    def play() -> None:
        for plan in config.plan_matches(game, *PLAYERS, range(config.count_matches(game) // 2)):
            play_match(plan, judge, {seat: players[plan.players[seat - 1]] for seat in Seat})

    return play


def matches() -> list[dict[str, Any]]:
    """Return the medians of bare play, a run on one core and a run on two, by game."""
    return [of_game(game) for game in GAMES]


def of_game(game: str) -> dict[str, Any]:
    config = Config(PLAYERS, (game,), MATCHES[game])
    timed(bare(config, game))  # create oracles before measuring
    turns = [
        (timed(bare(config, game), process_time), cost_of(config, 1), cost_of(config, 2))
        for _ in range(TURNS)
    ]
    return {
        "game": game,
        "bare": median(MATCHES[game] / alone for alone, _, _ in turns),
        "one": median(1 / (one.inside + one.outside) for _, one, _ in turns),
        "overhead": median(one.share for _, one, _ in turns),
        "overhead_two": median(two.share for _, _, two in turns),
        "wall_one": median(1 / one.wall for _, one, _ in turns),
        "wall_two": median(1 / two.wall for _, _, two in turns),
    }


def program_overhead() -> float:
    """Return the seconds per question to a program that answers at once."""
    rules = find_game("lights").rules()
    player = ProgramPlayer(shlex.join([sys.executable, "-S", str(BOT)]), rules)
    sight, rng = Match.start(rules).sight(Seat.ONE), random.Random(1)
    try:
        player.choose(sight, rng)  # starts the program
        return median(timed(lambda: player.choose(sight, rng)) for _ in range(ASKED))
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

    return LOOPS / timed(play, process_time)


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

    return LOOPS / timed(play, process_time)


def random_lights() -> float:
    """Return the matches per second of our arena between random players, graded and logged."""
    config = Config(("random", "again=random"), ("lights",), LOOPS)
    with tempfile.TemporaryDirectory() as folder:
        return LOOPS / timed(lambda: run(config, Path(folder) / "run", 1), process_time)


def ray_matches() -> float | None:
    """Return the matches per second on Ray on this machine, or None."""
    try:
        import ray
    except ImportError:
        return None
    config = Config(PLAYERS, ("hunt",), ON_RAY)
    ray.init(log_to_driver=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return ON_RAY / timed(lambda: run(config, Path(folder) / "run", on="ray"))
    finally:
        ray.shutdown()


def _two_processes(rows: list[dict[str, Any]]) -> float:
    return float(next(row["wall_two"] for row in rows if row["game"] == "hunt"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    asked = parser.parse_args()
    result: dict[str, Any] = {
        "load": os.getloadavg()[0],
        "matches": matches(),
        "question_seconds": program_overhead(),
    }
    print("Matches a second, club against expert, by CPU time: bare, and in a run on one core;")
    print(f"what the run costs besides playing, on one core and on two, at most {MOST:.0%};")
    print("matches a second by the wall clock on one core and on two")
    for row in result["matches"]:
        print(
            f"  {row['game']:<8}{row['bare']:>8.1f}{row['one']:>8.1f}"
            f"{row['overhead']:>8.1%}{row['overhead_two']:>8.1%}"
            f"{row['wall_one']:>10.1f}{row['wall_two']:>8.1f}"
        )
    dear = [row["game"] for row in result["matches"] if row["overhead_two"] > MOST]
    print(f"  too dear: {', '.join(dear)}" if dear else "  none costs more")
    print(f"A question to a program in Python: {result['question_seconds'] * 1000:.2f} ms")
    loops = {
        "duels, lights, graded": random_lights(),
        "OpenSpiel, tic-tac-toe": openspiel_loop(),
        "TextArena, tic-tac-toe": textarena_loop(),
        "duels in two processes, hunt": _two_processes(result["matches"]),
        "duels on Ray, hunt": ray_matches(),
    }
    result["loops"] = {name: speed for name, speed in loops.items() if speed is not None}
    for name, speed in result["loops"].items():
        print(f"  {name:<30}{speed:>10.1f} matches/s")
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
