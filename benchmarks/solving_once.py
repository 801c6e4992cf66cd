"""Solve one game once, with our oracle or with OpenSpiel, and print the cost as JSON.

Each measurement runs in its own process, so caches and memory are not shared.
"""

import json
import signal
import sys
import time
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from operator import xor
from typing import Any

from duels.core.rules import AnyRules, Seat
from duels.games import find_game
from duels.solving.nimbers import TakeAndBreak
from duels.solving.oracles import get_oracle

Answer = dict[str, Any]
NIM = (1, 3, 5, 7)


def time_call(work: Callable[[], Answer]) -> Answer:
    """Run `work` and return its result and CPU seconds."""
    start = time.process_time()
    answer = work()
    return {**answer, "seconds": time.process_time() - start}


def make_oracle_without_data(name: str, rules: Any) -> Any:
    """Create the oracle without shipped or cached data."""
    if name != "flip":
        return get_oracle(rules)
    from duels.games.flip.abstraction import Abstraction
    from duels.games.flip.oracle import FlipOracle
    from duels.games.flip.table import Table, solve

    lumped = Abstraction(rules)
    return FlipOracle(rules, Table(lumped, solve(lumped)))


def our_opening(name: str, rules: AnyRules) -> Answer:
    """Judge every action of the opening."""
    verdict = make_oracle_without_data(name, rules).judge(rules.sight(rules.initial(), Seat.ONE))
    return {"states": 1, "opening": verdict.value.number}


def our_nim() -> Answer:
    """Return whether the player to move wins nim, by the nim-values that also solve lights."""
    nim = TakeAndBreak((3,) * max(NIM))
    return {"states": 1, "opening": float(reduce(xor, map(nim.nimber, NIM)) != 0)}


def their_values(game: Any) -> Answer:
    """Run OpenSpiel's value iteration over all states."""
    from open_spiel.python.algorithms import value_iteration

    # With `cyclic_game` it visits a state once instead of once per path, which is far faster.
    values = value_iteration.value_iteration(game, depth_limit=-1, threshold=1e-6, cyclic_game=True)
    return {"states": len(values), "opening": (1 + values[str(game.new_initial_state())]) / 2}


def their_search(game: Any) -> Answer:
    """Run OpenSpiel's alpha-beta search of the opening."""
    from open_spiel.python.algorithms import minimax

    value, _ = minimax.alpha_beta_search(game)
    return {"states": 1, "opening": (1 + value) / 2}


def solve(who: str, name: str, options: dict[str, int]) -> Answer:
    if who.startswith("openspiel"):
        return _theirs(who, name, options)
    if name == "nim":
        return time_call(our_nim)
    rules = find_game(name).rules(**options)
    import_module(f"duels.games.{name}.oracle")  # imports are not measured
    if find_spec("numpy"):
        import numpy  # noqa: F401  flip's
    return time_call(lambda: our_opening(name, rules))


def _theirs(who: str, name: str, options: dict[str, int]) -> Answer:
    import pyspiel
    from open_spiel.python.algorithms import value_iteration  # noqa: F401  imports are not measured

    import duels.envs.openspiel  # noqa: F401  registers the games

    if name == "nim":
        game = pyspiel.load_game("nim", {"pile_sizes": ";".join(map(str, NIM)), "is_misere": False})
    else:
        game = pyspiel.load_game(f"duels_{name}", {**options, "max_moves": 0})
    method = {"openspiel value iteration": their_values, "openspiel alpha-beta": their_search}[who]
    return time_call(lambda: method(game))


def main() -> None:
    who, name, options, limit = sys.argv[1:]
    # A timeout ends the process. (A timer of CPU time would make its clock coarse.)
    signal.alarm(int(limit))
    print(json.dumps(solve(who, name, json.loads(options))))


if __name__ == "__main__":
    main()
