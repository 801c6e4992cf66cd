"""Steps per second of random play: our environments and their peers, in one run on one machine.

The benchmark measures all cases in turn, for many short rounds of wall-clock time. The best round of each
case counts, so other load on the machine hardly matters. Environments of a single game are warmed up first.
`--json FILE` saves the results, including speed by batch size, for `docs/performance/environments.py`.
"""

import argparse
import json
import random
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import duels
from duels import vector
from duels.core.rules import CHANCE
from duels.games import GAMES

BATCHES = (1, 64, 1024, 16_384)
GROWTH = (1, 8, 64, 512, 4096, 32_768, 262_144, 1_048_576)
ROUNDS = 8
SECONDS = 0.1
WARM_UP = 150_000  # steps; environments of one game cache positions
TABLED = ("lights", "leap", "chain", "hunt")
PGX = ("tic_tac_toe", "connect_four")
AGAINST = 256  # games of a vector environment against a level
MANY_AGAINST = f"Gymnasium, {AGAINST} games, against best"
FAST_ENOUGH = 10_000  # steps a second against any level

Run = Callable[[], int]  # plays for a while and returns the number of steps


@dataclass
class Case:
    """One case; `best` is its steps per second."""

    group: str
    name: str
    batch: int
    run: Run
    best: float = 0.0

    def warm_up(self) -> None:
        steps = 0
        while steps < WARM_UP:
            steps += self.run()

    def measure(self) -> None:
        steps, start = 0, time.perf_counter()
        while True:
            steps += self.run()
            taken = time.perf_counter() - start
            if taken > SECONDS:
                break
        self.best = max(self.best, steps / taken)


# -- duels -----------------------------------------------------------------------------------------


def rollout(game: str, batch: int) -> Run:
    envs = vector.make(game, batch)
    steps = max(20, 40_000 // batch)
    return lambda: envs.rollout(steps).steps


def stepping(game: str, batch: int, copy: bool = False) -> Run:
    """Step with observations and masks, as Pgx does, in new arrays or in the same ones."""
    envs = vector.make(game, batch, copy=copy)

    def run() -> int:
        envs.observe()
        envs.masks()
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


def through_gymnasium(game: str, opponent: str = "random") -> Run:
    from duels.envs.gymnasium import DuelEnv

    env = DuelEnv(game, opponent)
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


def many_against(game: str, opponent: str, batch: int) -> Run:
    """Step the vector environment against a level."""
    from duels.envs.gymnasium import DuelVectorEnv

    envs = DuelVectorEnv(game, batch, opponent)
    last = [envs.reset(seed=0)[1]]
    rng = np.random.default_rng(0)

    def run() -> int:
        masks = last[0]["action_mask"]
        last[0] = envs.step((masks * rng.random(masks.shape)).argmax(axis=1))[4]
        return batch

    return run


# -- duels and peers -------------------------------------------------------------------------------


def through_pettingzoo(env: Any) -> Run:
    """Run the loop of PettingZoo's performance benchmark."""
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


def choose_as_pgx(key: Any, masks: Any) -> Any:
    """Choose random legal actions as in Pgx's documentation: one random number per action."""
    import jax
    import jax.numpy as jnp

    return jax.random.categorical(key, jnp.where(masks, 0.0, -jnp.inf), axis=-1)


def choose_by_one_draw(key: Any, masks: Any) -> Any:
    """Choose random legal actions as we do: one random number per game."""
    import jax
    import jax.numpy as jnp

    legal = jnp.cumsum(masks, axis=-1)
    k = (jax.random.uniform(key, masks.shape[:1]) * legal[:, -1]).astype(jnp.int32)
    return jnp.argmax(legal > k[:, None], axis=-1)


def through_pgx(name: str, batch: int, whole: bool, choose: Callable[[Any, Any], Any] = choose_as_pgx) -> Run:
    """Play at random with resets: many steps in one compiled call, or one by one."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step_one = auto_reset(env.step, env.init)

    def step(state: Any, key: Any) -> Any:
        for_actions, for_steps = jax.random.split(key)
        actions = choose(for_actions, state.legal_action_mask)
        return jax.vmap(step_one)(state, actions, jax.random.split(for_steps, batch))

    count = (100 if batch <= 1024 else 20) if whole else 1

    def play(state: Any, key: Any) -> Any:
        return jax.lax.scan(lambda s, k: (step(s, k), None), state, jax.random.split(key, count))[0]

    advance = jax.jit(play if whole else step, donate_argnums=0)  # into the same arrays
    last = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))]
    keys = [jax.random.PRNGKey(number) for number in range(64)]

    def run() -> int:
        last[0] = jax.block_until_ready(advance(last[0], random.choice(keys)))
        return batch * count

    run()  # compiles
    return run


# -- the run ---------------------------------------------------------------------------------------


def batches() -> list[Case]:
    """Return the cases with many games at once."""
    cases = [Case(MANY_AGAINST, game, AGAINST, many_against(game, "best", AGAINST)) for game in GAMES]
    for batch in BATCHES:
        for game in GAMES:
            cases.append(Case("rollout", game, batch, rollout(game, batch)))
            cases.append(Case("step by step", game, batch, stepping(game, batch)))
            cases.append(Case("step by step, copied", game, batch, stepping(game, batch, copy=True)))
        for peer in PGX:
            cases.append(Case("rollout, Pgx", peer, batch, through_pgx(peer, batch, True)))
            cases.append(Case("step by step, Pgx", peer, batch, through_pgx(peer, batch, False)))
            one_draw = through_pgx(peer, batch, False, choose_by_one_draw)
            cases.append(Case("step by step, Pgx, one draw a game", peer, batch, one_draw))
    return cases


def singles() -> list[Case]:
    """Return the cases with one game at a time."""
    from pettingzoo.classic import connect_four_v3, tictactoe_v3

    from duels.envs import pettingzoo as ours

    cases = []
    for game in GAMES:
        cases.append(Case("Match", game, 1, through_match(game)))
        cases.append(Case("Gymnasium", game, 1, through_gymnasium(game)))
        cases.append(Case("Gymnasium, against best", game, 1, through_gymnasium(game, "best")))
        module = getattr(ours, f"{game}_v0")
        cases.append(Case("PettingZoo", game, 1, through_pettingzoo(module.env())))
        cases.append(Case("PettingZoo, raw", game, 1, through_pettingzoo(module.raw_env())))
        cases.append(Case("OpenSpiel", f"duels_{game}", 1, through_openspiel(f"duels_{game}")))
    cases.append(Case("PettingZoo's own", "tictactoe_v3", 1, through_pettingzoo(tictactoe_v3.env())))
    cases.append(Case("PettingZoo's own", "connect_four_v3", 1, through_pettingzoo(connect_four_v3.env())))
    raw = through_pettingzoo(tictactoe_v3.raw_env())
    cases.append(Case("PettingZoo's own, raw", "tictactoe_v3, raw", 1, raw))
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


@dataclass
class Aim:
    """A target ratio of speeds and the measured one: our slowest by their fastest."""

    what: str
    aim: float
    ratio: float

    def __str__(self) -> str:
        verdict = "met" if self.ratio >= self.aim else "MISSED"
        return f"{self.what:<76} {self.ratio:>7,.1f}   aim {self.aim:<4g} {verdict}"


def aims(cases: list[Case]) -> list[Aim]:
    def speeds(batch: int, names: set[str], group: str) -> list[float]:
        return [c.best for c in cases if (c.batch, c.group) == (batch, group) and c.name in names]

    results = []
    for batch in BATCHES[1:]:
        theirs = max(speeds(batch, set(PGX), "step by step, Pgx"))
        for games, named, aim in ((TABLED, "the other four", 2), (("flip",), "flip", 1)):
            ratio = min(speeds(batch, set(games), "step by step")) / theirs
            results.append(Aim(f"batch of {batch:,}, step by step, {named}, by Pgx", aim, ratio))
    for group in ("Gymnasium, against best", MANY_AGAINST):
        results += [
            Aim(f"{group} {case.name}, by {FAST_ENOUGH:,} steps a second", 1, case.best / FAST_ENOUGH)
            for case in cases
            if case.group == group
        ]
    # Without its wrappers the peer checks nothing; ours still does.
    for kind, peer, aim in (("PettingZoo", "tictactoe_v3", 5), ("PettingZoo, raw", "tictactoe_v3, raw", 1)):
        theirs = next(case.best for case in cases if case.name == peer)
        results += [
            Aim(f"{kind} {case.name} by {peer}", aim, case.best / theirs)
            for case in cases
            if case.group == kind
        ]
    return results


def state_per_environment(game: str, envs: int = 100_000) -> float:
    """Return the bytes of state per environment, without temporary arrays of a step."""
    small = vector.make(game)
    small.step(small.sample())  # creates the shared tables
    tracemalloc.start()
    batch = vector.make(game, envs)
    batch.step(batch.sample())  # allocates its buffers
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del batch
    return held / envs


def growth() -> list[dict[str, Any]]:
    """Return the steps per second on one core, by batch size."""
    results = []
    for game in GAMES:
        for batch in GROWTH:
            case = Case("growth", game, batch, rollout(game, batch))
            case.run()  # compiles
            for _ in range(3):
                case.measure()
            results.append({"game": game, "batch": batch, "speed": case.best})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="also measure growth, and keep everything")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    alone = singles()
    for case in alone:
        case.warm_up()
    cases = batches() + alone
    for _ in range(ROUNDS):
        for case in cases:
            case.measure()
    report(cases)
    reached = aims(cases)
    print("\nOur slowest by their fastest")
    for aim in reached:
        print(f"  {aim}")
    held = {game: state_per_environment(game) for game in GAMES}
    print("\nBytes of state an environment of a batch, held between steps")
    for game, size in held.items():
        print(f"  {game:<8}{size:>8,.0f}")
    if arguments.json:
        speeds = [{"group": c.group, "name": c.name, "batch": c.batch, "speed": c.best} for c in cases]
        results = {
            "rounds": ROUNDS,
            "seconds": SECONDS,
            "warm_up": WARM_UP,
            "speeds": speeds,
            "aims": [asdict(a) for a in reached],
            "state": held,
            "growth": growth(),
        }
        arguments.json.write_text(json.dumps(_rounded(results), indent=1) + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    """Round all numbers to four significant digits."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
