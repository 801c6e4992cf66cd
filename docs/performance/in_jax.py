"""The section on environments in JAX of docs/performance.md, from what benchmarks/jax_envs.py measured."""

from environments import BATCHES, amount
from pieces import measured, table


def in_jax() -> str:
    """The section, from its heading to its last line."""
    data = measured("jax")
    speeds = {(row["group"], row["name"], row["batch"]): row["speed"] for row in data["speeds"]}
    found = {(row["group"], row["game"], row["peer"], row["batch"]): row["ratio"] for row in data["ratios"]}
    aims = {(row["game"], row["peer"]): row["aim"] for row in data["ratios"]}
    ratios = [
        (
            how,
            f"{game} by {peer}",
            *(f"{found[how, game, peer, batch]:.3g}" for batch in BATCHES),
            "–"
            if aims[game, peer] is None
            else "yes"
            if all(found[how, game, peer, batch] >= aims[game, peer] for batch in BATCHES)
            else "**no**",
        )
        for how, game, peer in dict.fromkeys(key[:3] for key in found)
    ]
    steps = [
        (how, name, *(amount(speeds[how, name, batch]) for batch in BATCHES))
        for how, name in dict.fromkeys(key[:2] for key in speeds)
    ]
    columns = tuple(f"batch of {batch:,}" for batch in BATCHES)
    return f"""\
## Environments in JAX

`duels.envs.jax` beside Pgx, compiled by the same XLA, on one core and by CPU time (`benchmarks/jax_envs.py`).
Finished games restart, each library's way. The same random player drives all of them; it is cheaper than
Pgx's own, which would take most of the time. Step by step, only the call of the compiled step counts; a
rollout is one call that plays 100 steps, or 20 of the largest batch. The games are measured in turn, for
{data["seconds"]:g} s at a time in {data["rounds"]} rounds; the best call counts.

Our speed as a multiple of Pgx's, at least 1 beside a comparable game: tic-tac-toe for the four small boards.
flip shows 356 numbers and has 90 actions where tic-tac-toe has 18 and 9, and draws tiles; its like is 2048,
with 496 numbers and chance.

{table(("how", "our game by Pgx's", *columns, "at least 1"), ratios)}
Steps a second:

{table(("how", "game", *columns), steps)}"""
