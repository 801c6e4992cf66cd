"""Rebuild hunt's shipped files: strategy, self-play and certificate."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from duels.core.rules import Seat
from duels.games.hunt.certify.certificate import Effort, certify
from duels.games.hunt.certify.pair_values import TOLERANCE, solve_self_play
from duels.games.hunt.self_play import SELF_PLAY_FILE
from duels.games.hunt.strategy import CERTIFICATE_FILE, STRATEGY_FILE, Certificate, Tables
from duels.solving.oracle import Bounds
from tools.hunt import opening_training
from tools.hunt.opening_training import add_opening, make_trainer
from tools.hunt.self_play import Plan as TablesPlan
from tools.hunt.self_play import Step
from tools.hunt.shipping import pack_strategy, write_certificate, write_self_play
from tools.hunt.training import train_seat

FILES = (STRATEGY_FILE.name, SELF_PLAY_FILE.name, CERTIFICATE_FILE.name)
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    tables: TablesPlan
    openings: dict[Seat, opening_training.Plan]
    """The seats whose opening is trained. Any other opening plays like the memory rows."""
    tolerance: float
    """The tolerance of the self-play values."""
    effort: Effort


PLAN = Plan(TablesPlan(), opening_training.PLANS, TOLERANCE, Effort())
QUICK_PLAN = Plan(
    TablesPlan(rounds=2, depth=1, stages=()),
    {Seat.ONE: opening_training.Plan(iterations=2, section=2, initial_regret=100.0)},
    tolerance=0.1,
    effort=Effort(sweeps=0, batches=0),
)


def rebuild(plan: Plan, folder: Path, tell: Tell) -> dict[str, bytes]:
    """Train from scratch, with checkpoints in `folder`. Return the files to ship by name."""
    strategy = {seat: _train(seat, plan, folder, tell) for seat in Seat}
    data = pack_strategy(strategy)
    self_play = solve_self_play(strategy, tell, plan.tolerance)
    against: dict[Seat, Bounds] = {}
    for seat, step in certify(strategy, plan.effort):
        against[seat] = step.bounds
        tell(f"{seat.label}, {step.stage}: a best responder wins {step.bounds.in_words()}")
    return {
        STRATEGY_FILE.name: data,
        SELF_PLAY_FILE.name: write_self_play(self_play, data),
        CERTIFICATE_FILE.name: write_certificate(Certificate(against), data),
    }


def _train(seat: Seat, plan: Plan, folder: Path, tell: Tell) -> Tables:
    """Train one seat, or continue from its checkpoints."""

    def report(step: Step) -> None:
        tell(f"{step.stage}, {step.done:.0%} done, wins {step.value:.1%} against it")

    checkpoint = folder / f"tables-{seat.value}.npz"
    if not checkpoint.exists():
        tables = train_seat(seat, plan.tables, report)
        np.savez(checkpoint, moves=tables.moves, observations=tables.observations)
    stored = np.load(checkpoint)
    tables = Tables(*(array("H", stored[name].tobytes()) for name in ("moves", "observations")))
    tables = add_opening(seat, tables)
    if seat not in plan.openings:
        return tables
    trainer = make_trainer(seat, tables)
    for done, value in trainer.train(plan.openings[seat], folder / f"opening-{seat.value}.npz"):
        report(Step(f"{seat.label}, opening", done, 1 - value))
    return trainer.make_tables()


def compare(files: dict[str, bytes]) -> str:
    """Say whether the files are the shipped ones."""
    same = [name for name in FILES if files[name] == STRATEGY_FILE.with_name(name).read_bytes()]
    if len(same) == len(FILES):
        return "The shipped files came out, byte by byte."
    return f"Not the shipped files: {', '.join(name for name in FILES if name not in same)} differ."
