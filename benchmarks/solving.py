"""What perfect play costs: solving from nothing, a lookup, the first perfect move, growth with size.

Where OpenSpiel is installed, its own algorithms solve the same games in the same run.
"""

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duels.core.rules import Rules, Seat
from duels.games import GAMES, find_game

DUELS = str(Path(sys.executable).with_name("duels"))
GROWTH: dict[str, tuple[str, tuple[int, ...]]] = {
    "lights": ("lights", (7, 100, 1000, 10_000)),
    "leap": ("goal", (21, 1000, 100_000, 1_000_000)),
    "chain": ("cells", (7, 9, 11, 13)),
}


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def solve_opening(name: str, rules: Rules[Any, Any, Any]) -> object:
    """Make the oracle from nothing and judge the opening."""
    return find_game(name).oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE))


def solved_apart(name: str) -> float:
    """Seconds for the opening in a new process that has no cache, imports and table included."""
    program = (
        "import time; start = time.perf_counter(); from duels.games import find_game; "
        "from duels.core.rules import Seat; "
        f"game = find_game({name!r}); rules = game.rules(); "
        "game.oracle(rules).judge(rules.sight(rules.initial(), Seat.ONE)); "
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "DUELS_HOME": home},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def lookup(name: str) -> float:
    """Seconds to judge the opening once the oracle is there."""
    game = find_game(name)
    rules = game.rules()
    oracle = game.oracle(rules)
    sight = rules.sight(rules.initial(), Seat.ONE)
    oracle.judge(sight)
    rounds = 50
    return seconds(lambda: [oracle.judge(sight) for _ in range(rounds)]) / rounds


def first_perfect_move(home: str) -> float:
    """Seconds until `duels play flip` with a perfect Player 1 has moved and asks the person."""
    return seconds(
        lambda: subprocess.run(
            [DUELS, "play", "flip", "--seat1", "perfect"],
            input=b"quit\n",
            env={**os.environ, "DUELS_HOME": home},
            capture_output=True,
            check=True,
        )
    )


def growth(name: str) -> None:
    option, sizes = GROWTH[name]
    for size in sizes:
        rules = find_game(name).rules(**{option: size})
        taken = seconds(lambda rules=rules: solve_opening(name, rules))  # type: ignore[misc]
        tracemalloc.start()
        solve_opening(name, rules)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"  {name} {option}={size:<10,}{taken:>10.4f} s{peak / 2**20:>8.1f} MB")


def peers() -> None:
    """OpenSpiel's value iteration on the very same games, as a multiple of our time."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import minimax, value_iteration

        import duels.envs.openspiel  # noqa: F401  registers the games
    except ImportError:
        print("  (OpenSpiel is not installed; make bench installs it)")
        return
    for name in ("lights", "leap", "chain"):
        game = pyspiel.load_game(f"duels_{name}")
        cyclic = name == "chain"
        theirs = seconds(
            lambda game=game, cyclic=cyclic: value_iteration.value_iteration(  # type: ignore[misc]
                game, depth_limit=-1, threshold=1e-6, cyclic_game=cyclic
            )
        )
        ours = solved_apart(name)
        print(
            f"  {name}: OpenSpiel value iteration {theirs:.2f} s = {theirs / ours:,.0f} x ours ({ours:.3f} s)"
        )
    game = pyspiel.load_game("duels_lights")
    theirs = seconds(lambda: minimax.alpha_beta_search(game))
    ours = solved_apart("lights")
    print(f"  lights: OpenSpiel alpha-beta {theirs:.2f} s = {theirs / ours:,.0f} x ours")


def main() -> None:
    print("Solving the opening from nothing, in a new process")
    for name in GAMES:
        print(f"  {name:<8}{solved_apart(name):>8.3f} s   then a lookup: {1e3 * lookup(name):.3f} ms")
    print("First perfect move of flip, whole command")
    with tempfile.TemporaryDirectory() as home:
        print(f"  cold cache {first_perfect_move(home):.2f} s, warm {first_perfect_move(home):.2f} s")
    print("Growth with size: opening judged from nothing, peak memory")
    for name in GROWTH:
        growth(name)
    print("Beside OpenSpiel's own algorithms")
    peers()


if __name__ == "__main__":
    main()
