"""Trains hunt's strategy anew as a command does: how much of the work is done, and what came of it."""

from array import array
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt.certificate import EFFORT, Certificate, as_stored, certify
from duels.games.hunt.habits import shares
from duels.games.hunt.strategy import CELLS, CLAIM, DATA, Strategy, Tables, pack, shipped
from duels.solving.memory import Window
from duels.solving.pomdp import Bounds, Effort
from duels.solving.progress import Steps

if TYPE_CHECKING:
    from duels.solving.hide_and_seek import Plan

FILES = (DATA.name, CLAIM.name)
QUICK_EFFORT = Effort(sweeps=0, depth=0)
RESPONDER = 180
"""What a round against the best responder takes, beside one against an adversary that remembers nothing."""
CERTIFYING, CERTIFYING_QUICKLY = 14_000, 3_000
"""The same of one seat's certificate."""


@dataclass(frozen=True)
class Step:
    text: str
    done: float
    """The part of the whole work that is behind it, as far as can be told."""


@dataclass(frozen=True)
class Rebuilt:
    files: dict[str, bytes]
    """What is shipped, by name."""
    comparison: str
    """Whether it is the shipped strategy, and if not, how far from it."""


def rebuild(quick: bool = False, certifying: bool = False) -> Generator[Step, None, Rebuilt]:
    """Train from nothing, and certify what comes of it; `quick` does far too little, to see it work."""
    from duels.games.hunt.training import train
    from duels.solving.hide_and_seek import Plan

    plan = Plan(rounds=(2,), depths=(1,), stages=()) if quick else Plan()
    certificates = CERTIFYING_QUICKLY if quick else CERTIFYING
    work = [*_work(plan), *([float(certificates)] * len(Seat) if certifying else [])]
    steps = Steps(train(plan))
    begun: list[str] = []
    for progress in steps:
        if progress.stage not in begun:
            begun.append(progress.stage)
        stage = len(begun) - 1
        done = (sum(work[:stage]) + work[stage] * progress.done) / sum(work)
        yield Step(f"{progress.stage}, wins {progress.value:.1%} against it", done)
    files = {DATA.name: pack(steps.result)}
    if certifying:
        found: dict[Seat, Bounds] = {}
        for seat, bounded in certify(steps.result, QUICK_EFFORT if quick else EFFORT):
            found[seat] = bounded.bounds
            behind = sum(work) - certificates * (len(Seat) - (seat - 1) - bounded.done)
            low, high = bounded.bounds.percent(1)
            told = f"{seat.label}, certificate, {bounded.stage}, a best responder wins {low} to {high} %"
            yield Step(told, behind / sum(work))
        files[CLAIM.name] = as_stored(Certificate(found), files[DATA.name])
    return Rebuilt(files, _compared(steps.result, files[DATA.name]))


def _work(plan: "Plan") -> list[float]:
    """How much each part takes, for both seats: rounds, times what the adversary can remember."""
    each = [
        rounds * len(Window(CELLS, depth).states)
        for rounds, depth in zip(plan.rounds, plan.depths, strict=True)
    ]
    if plan.stages:
        each.append(RESPONDER * sum(stage.rounds for stage in plan.stages))
    return [float(part) for _ in Seat for part in each]


def _compared(strategy: Strategy, data: bytes) -> str:
    if data == DATA.read_bytes():
        return "The shipped strategy came out, byte by byte."
    pairs = [(strategy[seat], shipped()[seat]) for seat in Seat]
    most = max(_furthest(*pair) for pair in pairs)
    return f"Not the shipped strategy: the chance of some action differs by {most:.4f}, none by more."


def _furthest(one: Tables, two: Tables) -> float:
    """The largest difference in the chance of any action."""
    import numpy as np

    def chances(weights: "array[int]") -> Any:
        return shares(np.array(weights, float).reshape(-1, CELLS))

    pairs = ((one.moves, two.moves), (one.names, two.names))
    return max(float(np.abs(chances(mine) - chances(theirs)).max()) for mine, theirs in pairs)
