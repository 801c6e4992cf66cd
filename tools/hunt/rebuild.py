"""Rebuild hunt's shipped files (strategy, self-play, certificate) and compare them."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.pair_values import TOLERANCE, solve_self_play
from duels.games.hunt.certify.policies import normalize
from duels.games.hunt.certify.pomdp import EFFORT, Effort, certify
from duels.games.hunt.memory import Window
from duels.games.hunt.self_play import SELF_PLAY_FILE
from duels.games.hunt.strategy import (
    CELLS,
    CERTIFICATE_FILE,
    STRATEGY_FILE,
    Certificate,
    Strategy,
    Tables,
    load_strategy,
)
from duels.solving.oracle import Bounds
from tools.hunt.self_play import Plan, Step
from tools.hunt.shipping import pack_strategy, write_certificate, write_self_play
from tools.hunt.training import train

FILES = (STRATEGY_FILE.name, SELF_PLAY_FILE.name, CERTIFICATE_FILE.name)
QUICK_PLAN = Plan(rounds=2, depth=1, stages=())
QUICK_EFFORT = Effort(sweeps=0, depth=0)
RESPONDER = 180
"""Cost of a round against the best responder, relative to an adversary without memory."""
CERTIFYING, CERTIFYING_QUICKLY = 14_000, 3_000
"""Relative cost of one seat's certificate."""
SOLVING, SOLVING_QUICKLY = 9_000, 600
"""Relative cost of self-play."""
QUICK_CLOSE = 0.1

Tell = Callable[[str, float], None]
"""Called with the current step and, if known, the finished share of the work."""


@dataclass(frozen=True)
class Rebuilt:
    files: dict[str, bytes]
    """The shipped files, by name."""
    comparison: str
    """Whether it equals the shipped strategy, and otherwise the difference."""


def rebuild(quick: bool, certifying: bool, tell: Tell) -> Rebuilt:
    """Train from scratch and certify the result. `quick` uses a very short plan, as a test."""
    plan = QUICK_PLAN if quick else Plan()
    certificates = (CERTIFYING_QUICKLY if quick else CERTIFYING) * certifying
    training, solving = _work(plan), (SOLVING_QUICKLY if quick else SOLVING) * certifying
    work = [*training, float(solving), *[float(certificates)] * len(Seat)]
    stages: list[str] = []

    def trained(step: Step) -> None:
        if step.stage not in stages:
            stages.append(step.stage)
        stage = len(stages) - 1
        done = (sum(work[:stage]) + work[stage] * step.done) / sum(work)
        tell(f"{step.stage}, wins {step.value:.1%} against it", done)

    strategy = train(plan, trained)
    files = {STRATEGY_FILE.name: pack_strategy(strategy)}
    if certifying:
        values = solve_self_play(
            strategy,
            lambda message: tell(message, sum(training) / sum(work)),
            QUICK_CLOSE if quick else TOLERANCE,
        )
        files[SELF_PLAY_FILE.name] = write_self_play(values, files[STRATEGY_FILE.name])
        seat_bounds: dict[Seat, Bounds] = {}
        for seat, bounded in certify(strategy, QUICK_EFFORT if quick else EFFORT):
            seat_bounds[seat] = bounded.bounds
            behind = sum(work) - certificates * (len(Seat) - (seat - 1) - bounded.finished_share)
            low, high = bounded.bounds.percent(1)
            stage = f"{seat.label}, certificate, {bounded.stage}"
            tell(f"{stage}, a best responder wins {low} to {high} %", behind / sum(work))
        files[CERTIFICATE_FILE.name] = write_certificate(Certificate(seat_bounds), files[STRATEGY_FILE.name])
    return Rebuilt(files, _compared(strategy, files[STRATEGY_FILE.name]))


def _work(plan: Plan) -> list[float]:
    """Return the cost of each part for both seats: rounds times the adversary's memory."""
    each = [plan.rounds * len(Window(CELLS, plan.depth).states)]
    if plan.stages:
        each.append(RESPONDER * sum(stage.rounds for stage in plan.stages))
    return [float(part) for _ in Seat for part in each]


def _compared(strategy: Strategy, data: bytes) -> str:
    if data == STRATEGY_FILE.read_bytes():
        return "The shipped strategy came out, byte by byte."
    pairs = [(strategy[seat], load_strategy()[seat]) for seat in Seat]
    most = max(_furthest(*pair) for pair in pairs)
    return f"Not the shipped strategy: the chance of some action differs by {most:.4f}, none by more."


def _furthest(one: Tables, two: Tables) -> float:
    """Return the largest difference in the probability of any action."""

    def chances(weights: "array[int]") -> Any:
        return normalize(np.array(weights, float).reshape(-1, CELLS))

    pairs = ((one.moves, two.moves), (one.observations, two.observations))
    return max(float(np.abs(chances(mine) - chances(theirs)).max()) for mine, theirs in pairs)
