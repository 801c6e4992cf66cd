"""Runs every baseline on every game over five seeds, and keeps its exploitability against steps.

python examples/baselines.py docs/baselines  writes a file for each form; runs that are there are not repeated
"""

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import Any

from self_play import FORMS, grades

import duels

SEEDS = range(5)
# Until when each of them learns.
STEPS = {
    ("lights", "masked_ppo"): 200_000,
    ("lights", "masked_dqn"): 200_000,
    ("lights", "q_learning"): 200_000,
    ("leap", "masked_ppo"): 20_000,
    ("leap", "masked_dqn"): 100_000,
    ("leap", "q_learning"): 100_000,
    ("short-chain", "masked_ppo"): 100_000,
    ("short-chain", "masked_dqn"): 200_000,
    ("short-chain", "q_learning"): 2_000_000,
    ("chain", "masked_ppo"): 100_000,
    ("chain", "masked_dqn"): 1_000_000,
    ("chain", "q_learning"): 20_000_000,
}
Run = dict[str, Any]


def run(form: str, learner: str, seed: int, steps: int) -> Run:
    """Learn once, from nothing."""
    start = time.process_time()
    found = list(grades(import_module(learner).learn, form, steps, seed))
    return {
        "learner": learner,
        "seed": seed,
        "until": steps,
        "seconds": round(time.process_time() - start, 1),
        "steps": [taken for taken, _ in found],
        "exploitability": [round(grade, 6) for _, grade in found],
    }


def read(path: Path) -> dict[str, Any]:
    """What a file holds of the runs that are wanted; without it, what one that has no runs yet would hold."""
    game, options = FORMS[path.stem]
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (kept["game"], kept["options"]) == (game, options):
            wanted = [run for run in kept["runs"] if run["until"] == STEPS.get((path.stem, run["learner"]))]
            return kept | {"runs": wanted}
    return {
        "game": game,
        "options": options,
        "random": duels.exploitability("random", game, **options),
        "runs": [],
    }


def write(path: Path, kept: dict[str, Any]) -> None:
    """Write a file, a run a line and in order; if this is interrupted, the old one stays."""
    runs = sorted(kept["runs"], key=lambda found: (found["learner"], found["seed"]))
    lines = ",\n".join(json.dumps(found) for found in runs)
    draft = path.with_suffix(".draft")
    draft.write_text(f"{json.dumps(kept | {'runs': []})[:-2]}\n{lines}\n]}}\n", encoding="utf-8")
    os.replace(draft, path)


def told(found: Run) -> str:
    """A run in a line."""
    return (
        f"{found['learner']}, seed {found['seed']}: exploitability {found['exploitability'][-1]:.4f} "
        f"after {found['steps'][-1]:,} steps ({found['seconds']:.0f} s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="processes; 2 without it")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    files = {form: arguments.folder / f"{form}.json" for form, _ in STEPS}
    kept = {form: read(path) for form, path in files.items()}
    there = {
        (form, found["learner"], found["seed"], found["until"])
        for form in kept
        for found in kept[form]["runs"]
    }
    wanted = [(*which, seed, steps) for which, steps in STEPS.items() for seed in SEEDS]
    missing = [each for each in wanted if each not in there]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} runs are there", flush=True)
    # Learners start afresh: what torch has started does not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(arguments.jobs, context)
    try:
        running = {pool.submit(run, *each): each[0] for each in missing}
        for number, future in enumerate(as_completed(running), len(wanted) - len(missing) + 1):
            form, found = running[future], future.result()
            kept[form]["runs"].append(found)
            write(files[form], kept[form])
            print(f"{number} of {len(wanted)}: {form}, {told(found)}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()
