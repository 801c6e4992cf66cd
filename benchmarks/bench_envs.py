"""Random play, steps a second: our environments beside their peers, in one run on one machine.

Every case is measured in turn, several rounds over, and its best round counts: what else the machine
does in between then falls on all of them alike. `--plot FILE` also draws how speed grows with the batch.
"""

import argparse
import random
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import duels
from duels import vector
from duels.core.rules import CHANCE
from duels.games import GAMES

BATCHES = (1, 64, 1024, 16_384)
GROWTH = tuple(4**power for power in range(12))
ROUNDS = 3
SECONDS = 0.25
WARM_UP = 8
TABLED = ("lights", "leap", "chain", "hunt")

Run = Callable[[], int]  # plays for a while and says how many steps it was


@dataclass
class Case:
    """One thing to measure; `best` is steps a second."""

    group: str
    name: str
    batch: int
    run: Run
    best: float = 0.0

    def measure(self) -> None:
        steps, start = 0, time.perf_counter()
        while True:
            steps += self.run()
            taken = time.perf_counter() - start
            if taken > SECONDS:
                break
        self.best = max(self.best, steps / taken)


# -- ours ------------------------------------------------------------------------------------------


def rollout(game: str, batch: int, compiled: bool, threads: int = 1) -> Run:
    envs = vector.make(game, batch, compiled=compiled)
    steps = max(100, (4_000_000 if compiled else 40_000) // batch)
    return lambda: envs.rollout(steps, threads=threads).steps


def stepping(game: str, batch: int) -> Run:
    envs = vector.make(game, batch)

    def run() -> int:
        envs.observe()
        envs.step(envs.sample())
        return batch

    return run


def through_match(game: str) -> Run:
    rng = random.Random(0)

    def run() -> int:
        match, steps = duels.start(game), 0
        while (actor := match.actor) is not None:
            action = duels.draw(match, rng) if actor is CHANCE else rng.choice(match.actions)
            match = match.play(actor, action)
            steps += actor is not CHANCE
        return steps

    return run


def through_gymnasium(game: str) -> Run:
    from duels.envs.gymnasium import DuelEnv

    env = DuelEnv(game)
    _, info = env.reset(seed=0)
    last = [info]

    def run() -> int:
        for _ in range(200):
            action = np.random.choice(np.flatnonzero(last[0]["action_mask"]))
            _, _, terminated, truncated, last[0] = env.step(action)
            if terminated or truncated:
                _, last[0] = env.reset()
        return 200

    return run


# -- ours and theirs -------------------------------------------------------------------------------


def through_pettingzoo(env: Any) -> Run:
    """The loop of PettingZoo's own performance benchmark."""
    env.reset(seed=0)

    def run() -> int:
        for _ in range(100):
            for _agent in env.agent_iter(2):
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    action = None
                else:
                    action = random.choice(np.flatnonzero(observation["action_mask"]).tolist())
                env.step(action)
                if all(env.terminations.values()) or all(env.truncations.values()):
                    env.reset()
        return 200

    return run


def through_openspiel(name: str) -> Run:
    import pyspiel

    import duels.envs.openspiel  # noqa: F401  (registers ours)

    game = pyspiel.load_game(name)

    def run() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, odds = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choices(outcomes, odds)[0])
            else:
                state.apply_action(random.choice(state.legal_actions()))
                steps += 1
        return steps

    return run


def through_pgx(name: str, batch: int, whole: bool) -> Run:
    """Random play, games that end starting again: a hundred steps in one compiled call, or one by one."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step_one = auto_reset(env.step, env.init)

    def step(state: Any, key: Any) -> Any:
        for_actions, for_steps = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(for_actions, logits, axis=-1)
        return jax.vmap(step_one)(state, actions, jax.random.split(for_steps, batch))

    count = 100 if whole else 1

    def play(state: Any, key: Any) -> Any:
        return jax.lax.scan(lambda s, k: (step(s, k), None), state, jax.random.split(key, count))[0]

    advance = jax.jit(play if whole else step)
    last = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))]
    keys = [jax.random.PRNGKey(number) for number in range(64)]

    def run() -> int:
        last[0] = jax.block_until_ready(advance(last[0], random.choice(keys)))
        return batch * count

    run()  # compiles
    return run


# -- the run ---------------------------------------------------------------------------------------


def all_cases() -> list[Case]:
    from pettingzoo.classic import connect_four_v3, tictactoe_v3

    from duels.envs import pettingzoo as ours

    cases = []
    for batch in BATCHES:
        for game in GAMES:
            for threads in (1, 2):
                name = f"{game}, {threads} thread{'s' * (threads > 1)}"
                cases.append(Case("rollout, NumPy", name, batch, rollout(game, batch, False, threads)))
                cases.append(Case("rollout, compiled", name, batch, rollout(game, batch, True, threads)))
            cases.append(Case("step by step", game, batch, stepping(game, batch)))
        for peer in ("tic_tac_toe", "connect_four"):
            cases.append(Case("rollout, Pgx", peer, batch, through_pgx(peer, batch, True)))
            cases.append(Case("step by step, Pgx", peer, batch, through_pgx(peer, batch, False)))
    for game in GAMES:
        cases.append(Case("Match", game, 1, through_match(game)))
        cases.append(Case("Gymnasium", game, 1, through_gymnasium(game)))
        cases.append(Case("PettingZoo", game, 1, through_pettingzoo(getattr(ours, f"{game}_v0").env())))
        cases.append(Case("OpenSpiel", f"duels_{game}", 1, through_openspiel(f"duels_{game}")))
    cases.append(Case("PettingZoo's own", "tictactoe_v3", 1, through_pettingzoo(tictactoe_v3.env())))
    cases.append(Case("PettingZoo's own", "connect_four_v3", 1, through_pettingzoo(connect_four_v3.env())))
    for name in ("nim", "tic_tac_toe"):
        cases.append(Case("OpenSpiel's own", name, 1, through_openspiel(name)))
    return cases


def report(cases: list[Case]) -> None:
    for group in dict.fromkeys(case.group for case in cases):
        print(f"\n{group} (million steps/s)")
        mine = [case for case in cases if case.group == group]
        batches = sorted({case.batch for case in mine})
        print(" " * 26 + "".join(f"{f'batch {batch:,}':>15}" for batch in batches))
        for name in dict.fromkeys(case.name for case in mine):
            speeds = [
                case.best for batch in batches for case in mine if (case.name, case.batch) == (name, batch)
            ]
            print(f"  {name:<24}" + "".join(f"{speed / 1e6:>15,.3f}" for speed in speeds))
    report_ratios(cases)


def report_ratios(cases: list[Case]) -> None:
    """The slowest of our games by the fastest of theirs."""

    def speeds(group: str, batch: int, *, only: tuple[str, ...] = (), ends: str = "") -> list[float]:
        found = (c for c in cases if c.group == group and c.batch == batch and c.name.endswith(ends))
        return [c.best for c in found if not only or c.name.split(",")[0] in only]

    print("\nOur slowest game by their fastest")
    for batch in BATCHES:
        theirs = max(speeds("rollout, Pgx", batch))
        for group, ends in (
            ("rollout, NumPy", "1 thread"),
            ("rollout, compiled", "1 thread"),
            ("rollout, compiled", "2 threads"),
        ):
            for only in (TABLED, ("flip",)):
                ratio = min(speeds(group, batch, only=only, ends=ends)) / theirs
                games = "flip" if only == ("flip",) else "games with tables"
                print(f"  batch {batch:>6,}  {f'{group}, {ends}, {games}':<50} Pgx x {ratio:,.1f}")
        ratio = min(speeds("step by step", batch, only=TABLED)) / max(speeds("step by step, Pgx", batch))
        print(f"  batch {batch:>6,}  {'step by step, games with tables':<50} Pgx x {ratio:,.1f}")
    tictactoe = next(case.best for case in cases if case.name == "tictactoe_v3")
    for case in cases:
        if case.group == "PettingZoo":
            print(f"  PettingZoo {case.name:<8} tictactoe_v3 x {case.best / tictactoe:,.1f}")


def memory_per_environment(game: str, envs: int = 100_000) -> float:
    """Bytes that a batch holds for each of its environments."""
    vector.make(game)  # what all batches share
    tracemalloc.start()
    batch = vector.make(game, envs)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del batch
    return held / envs


def plot_growth(file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    for compiled, style in ((False, "-"), (True, "--")):
        for number, game in enumerate(GAMES):
            cases = [Case("growth", game, batch, rollout(game, batch, compiled)) for batch in GROWTH]
            for case in cases:
                case.measure()
            label = f"{game}, {'compiled' if compiled else 'NumPy'}"
            axes.plot(GROWTH, [case.best for case in cases], style, color=f"C{number}", label=label)
    axes.set(xscale="log", yscale="log", xlabel="games in the batch", ylabel="steps a second, one core")
    axes.set_title("Random play, whole rollouts")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8, ncols=2)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="also draw speed against the size of the batch")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = all_cases()
    for case in cases:
        if case.batch == 1:  # environments that remember the positions they have met
            for _ in range(WARM_UP):
                case.measure()
            case.best = 0.0
    for _ in range(ROUNDS):
        for case in cases:
            case.measure()
    report(cases)
    print("\nBytes an environment of a batch")
    for game in GAMES:
        print(f"  {game:<8}{memory_per_environment(game):>8,.0f}")
    if arguments.plot:
        plot_growth(arguments.plot)


if __name__ == "__main__":
    main()
