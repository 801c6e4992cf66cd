"""Train every baseline on every game with five seeds, and save its exploitability at checkpoints.

python examples/baselines.py docs/baselines  write a file per game and options; skip existing runs
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
# The number of training steps, by form of the game and learner.
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
    """Train one learner with one seed and return its results."""
    start = time.process_time()
    results = list(grades(import_module(learner).learn, form, steps, seed))
    return {
        "learner": learner,
        "seed": seed,
        "until": steps,
        "seconds": round(time.process_time() - start, 1),
        "steps": [taken for taken, _ in results],
        "exploitability": [round(grade, 6) for _, grade in results],
    }


def read(path: Path) -> dict[str, Any]:
    """Return the results in a file without runs of other settings. Without a file, return empty results."""
    game, options = FORMS[path.stem]
    if path.exists():
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (data["game"], data["options"]) == (game, options):
            valid = [run for run in data["runs"] if run["until"] == STEPS.get((path.stem, run["learner"]))]
            return data | {"runs": valid}
    return {
        "game": game,
        "options": options,
        "random": duels.exploitability("random", game, **options),
        "runs": [],
    }


def write(path: Path, data: dict[str, Any]) -> None:
    """Replace a results file atomically, with one sorted run per line."""
    runs = sorted(data["runs"], key=lambda run: (run["learner"], run["seed"]))
    lines = ",\n".join(json.dumps(run) for run in runs)
    draft = path.with_suffix(".draft")
    draft.write_text(f"{json.dumps(data | {'runs': []})[:-2]}\n{lines}\n]}}\n", encoding="utf-8")
    os.replace(draft, path)


def summarize(run: Run) -> str:
    """Return a summary of a run, in one line."""
    return (
        f"{run['learner']}, seed {run['seed']}: exploitability {run['exploitability'][-1]:.4f} "
        f"after {run['steps'][-1]:,} steps ({run['seconds']:.0f} s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="number of processes  [default: 2]")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    files = {form: arguments.folder / f"{form}.json" for form, _ in STEPS}
    results = {form: read(path) for form, path in files.items()}
    finished = {
        (form, run["learner"], run["seed"], run["until"]) for form in results for run in results[form]["runs"]
    }
    planned = [
        (*form_and_learner, seed, steps) for form_and_learner, steps in STEPS.items() for seed in SEEDS
    ]
    missing = [settings for settings in planned if settings not in finished]
    print(f"{len(planned) - len(missing)} of {len(planned)} runs exist already", flush=True)
    # torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(arguments.jobs, context)
    try:
        running = {pool.submit(run, *settings): settings[0] for settings in missing}
        for number, future in enumerate(as_completed(running), len(planned) - len(missing) + 1):
            form, result = running[future], future.result()
            results[form]["runs"].append(result)
            write(files[form], results[form])
            print(f"{number} of {len(planned)}: {form}, {summarize(result)}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()
