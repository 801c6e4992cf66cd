"""Trains hunt's strategy anew as a command does: how much of the work is done, and what came of it."""

from array import array
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt.strategy import CELLS, DATA, Strategy, Tables, pack, shipped
from duels.solving.memory import Window
from duels.solving.progress import Steps

if TYPE_CHECKING:
    from duels.solving.hide_and_seek import Plan

FILE = DATA.name
RESPONDER = 180
"""What a round against the best responder takes, beside one against an adversary that remembers nothing."""


@dataclass(frozen=True)
class Step:
    text: str
    done: float
    """The part of the whole work that is behind it, as far as can be told."""


@dataclass(frozen=True)
class Rebuilt:
    data: bytes
    comparison: str
    """Whether it is the shipped strategy, and if not, how far from it."""


def rebuild(quick: bool = False) -> Generator[Step, None, Rebuilt]:
    """Train from nothing; `quick` takes a plan that is far too short, to see it work."""
    from duels.games.hunt.training import train
    from duels.solving.hide_and_seek import Plan

    plan = Plan(rounds=(2,), depths=(1,), stages=()) if quick else Plan()
    work = _work(plan)
    steps = Steps(train(plan))
    begun: list[str] = []
    for progress in steps:
        if progress.stage not in begun:
            begun.append(progress.stage)
        stage = min(len(begun), len(work)) - 1
        done = (sum(work[:stage]) + work[stage] * progress.done) / sum(work)
        yield Step(f"{progress.stage}, wins {progress.value:.1%} against it", done)
    return _compared(steps.result)


def _work(plan: "Plan") -> list[float]:
    """How much each part takes, for both seats: rounds, times what the adversary can remember."""
    each = [
        rounds * len(Window(CELLS, depth).states)
        for rounds, depth in zip(plan.rounds, plan.depths, strict=True)
    ]
    if plan.stages:
        each.append(RESPONDER * sum(stage.rounds for stage in plan.stages))
    return [float(part) for _ in Seat for part in each]


def _compared(strategy: Strategy) -> Rebuilt:
    data = pack(strategy)
    if data == DATA.read_bytes():
        return Rebuilt(data, "The shipped strategy came out, byte by byte.")
    pairs = [(strategy[seat], shipped()[seat]) for seat in Seat]
    most = max(_furthest(*pair) for pair in pairs)
    return Rebuilt(
        data,
        f"Not the shipped strategy: the chance of some action differs by {most:.4f}, none by more.",
    )


def _furthest(one: Tables, two: Tables) -> float:
    """The largest difference in the chance of any action."""
    import numpy as np

    def chances(weights: "array[int]") -> Any:
        rows = np.array(weights, float).reshape(-1, CELLS)
        return rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)

    pairs = ((one.moves, two.moves), (one.names, two.names))
    return max(float(np.abs(chances(mine) - chances(theirs)).max()) for mine, theirs in pairs)
