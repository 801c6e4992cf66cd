"""The section on environments of docs/performance.md, from what benchmarks/bench_envs.py measured.

python docs/performance/environments.py  draws its picture (needs matplotlib)
"""

from pieces import HERE, measured, table

PICTURE = HERE.parent / "images" / "environments-growth.svg"
BATCHES = (1, 64, 1024, 16_384)


def amount(speed: float) -> str:
    """Steps a second as a person reads them."""
    return f"{speed / 1e6:.3g} M" if speed >= 1e6 else f"{speed / 1e3:.3g} k"


def environments() -> str:
    """The section, from its heading to its last line."""
    data = measured("environments")
    speeds = {(row["group"], row["name"], row["batch"]): row["speed"] for row in data["speeds"]}
    batched = [
        (group, name, *(amount(speeds[group, name, batch]) for batch in BATCHES))
        for group, name in dict.fromkeys((group, name) for group, name, _ in speeds)
        if (group, name, BATCHES[-1]) in speeds
    ]
    single = [
        (group, name, amount(speed))
        for (group, name, _), speed in speeds.items()
        if (group, name) not in {row[:2] for row in batched}
    ]
    aims = [
        (
            row["what"],
            f"{row['aim']:g}",
            f"{row['ratio']:.3g}",
            "yes" if row["ratio"] >= row["aim"] else "**no**",
        )
        for row in data["aims"]
    ]
    held = [(game, f"{size:,.0f}") for game, size in data["state"].items()]
    return f"""\
## Environments

Random play in steps a second, beside the peers in one run (`benchmarks/bench_envs.py`): PettingZoo's and
OpenSpiel's own games driven from Python, and Pgx on the CPU. Finished games restart. All are measured in
turn, by the wall clock, for {data["seconds"]:g} s at a time; the best of {data["rounds"]} rounds counts.
Environments that play one game at a time, the peers' and ours, first play {data["warm_up"]:,} steps to warm
up, because ours remember positions they have met. Step by step, every step also returns observations and
masks.

### Goals and results

Ratios of speeds, step by step: the slowest of our games to the fastest of Pgx's.

{table(("what", "at least", "measured", "met"), aims)}
Steps are measured with the batch's own arrays (`copy=False`), which suits a training loop that copies them
into its own buffer at once; Pgx's are measured with donated ones. The goals are for this mode. With the
default, `copy=True`, every step also makes new arrays of all that it returns, and is slower by that: flip
copies 446 bytes a game.

Pgx's random player is that of its documentation, which draws a number for every action
(`jax.random.categorical`); ours draws one for every game. With such a player Pgx's steps are nearly twice as
fast in a batch of 16,384. The goals are for steps with each side's own random player.

flip is slower than the other four. They are tables: a step is one lookup. flip has too many positions for a
table. Its observation and mask are 446 numbers, those of tic-tac-toe 27; both are kept from step to step, and
a move changes only what it changes. It is measured with the extra `fast`, which compiles its step.

PettingZoo's environments come in two forms: `env()` with its usual checks, and `raw_env()` without them. Both
are compared with tic-tac-toe in the same form. PettingZoo's checks are wrappers around the environment, ours
are part of it: the first ratio is larger.

Environments against `best` are warmed up in the same way. In flip, positions in which both players keep their
Quantum Flip for long take some milliseconds when they are first met.

### Many games at once

{table(("how", "game", *(f"batch of {batch:,}" for batch in BATCHES)), batched)}
### One game at a time

{table(("how", "game", "steps a second"), single)}
### Growth

![Steps a second by the size of the batch](images/{PICTURE.name})

The state that a running batch holds for each environment between steps, in bytes, including its reused
buffers. All batches of a game share its tables; temporary arrays within a step come on top.

{table(("game", "bytes of state"), held)}"""


def draw() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "duels"
    rows = measured("environments")["growth"]
    figure, (speed, state) = plt.subplots(1, 2, figsize=(11, 4.5), width_ratios=(3, 2))
    games = list(dict.fromkeys(row["game"] for row in rows))
    for number, game in enumerate(games):
        mine = [row for row in rows if row["game"] == game]
        sizes, speeds = [row["batch"] for row in mine], [row["speed"] for row in mine]
        speed.plot(sizes, speeds, color=f"C{number}", label=game)
    speed.set(xscale="log", yscale="log", xlabel="games in the batch", ylabel="steps a second, one core")
    speed.set_title("Random play, whole rollouts")
    speed.grid(alpha=0.3)
    speed.legend(fontsize=7)
    held = measured("environments")["state"]
    state.bar(list(held), list(held.values()), color=[f"C{number}" for number in range(len(held))])
    state.set(title="State held per environment", ylabel="bytes")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
