"""Rebuild hunt's strategy, or study the shipped one."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from duels.core.errors import DuelsError, require_extra
from duels.terminal.signals import INTERRUPTED, interruptible_computation
from tools.hunt.progress import Progress

EXAMPLES = """\
examples:
  python -m tools.hunt train                     compare the result with the shipped strategy
  python -m tools.hunt train --out strategy      also solve its self-play, certify it and keep it
  python -m tools.hunt train --quick             far too short, to see it work
  python -m tools.hunt opening --out build/opening   train and bound an opening; run again to continue
  python -m tools.hunt study
  python -m tools.hunt study --json > docs/solved/hunt.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with require_extra("fast"), interruptible_computation():
            if options.command == "train":
                train(options.quick, options.out)
            elif options.command == "opening":
                train_openings(options.out, options.quick)
            else:
                study(options.json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DuelsError, OSError) as error:
        print(f"tools.hunt: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tools.hunt",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="rebuild the strategy (15 minutes; 20 with --out)")
    training.add_argument("--quick", action="store_true", help="use a very short plan, as a test")
    training.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="write the strategy, its self-play and its certificate to this folder",
    )
    opening = commands.add_parser("opening", help="train and bound an opening for the shipped strategy")
    opening.add_argument("--quick", action="store_true", help="use a very short plan, as a test")
    opening.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="folder for checkpoints")
    studying = commands.add_parser("study", help="analyse the shipped strategy (takes minutes)")
    studying.add_argument("--json", action="store_true", help="print the numbers as JSON")
    return parser


def train(quick: bool, folder: Path | None) -> None:
    """Rebuild the strategy, compare it with the shipped one, and write it to `folder` if given."""
    from tools.hunt import rebuild  # compiling is slow, and --help does not need it

    if folder:
        _check_folder(folder, rebuild.FILES)
        print(
            f"The strategy, its self-play and its certificate will be written to {folder}.",
            file=sys.stderr,
        )
    else:
        print("The result will not be saved. To save it, pass --out.", file=sys.stderr)
    built = rebuild.rebuild(quick, certifying=folder is not None, tell=Progress())
    if folder:
        for name, data in built.files.items():
            (folder / name).write_bytes(data)
            print(f"Wrote {folder / name}.")
    print(built.comparison)
    if quick:
        print("This plan was too short on purpose. Do not use the strategy.")


def train_openings(folder: Path, quick: bool) -> None:
    """Train an opening for each seat of the shipped strategy, with checkpoints in `folder`, and bound it."""
    from duels.core.rules import Seat
    from duels.games.hunt.strategy import load_strategy
    from tools.hunt.opening_bounds import Effort, bound_opening
    from tools.hunt.opening_training import Plan, make_trainer

    folder.mkdir(parents=True, exist_ok=True)
    tell = Progress()
    for seat in Seat:
        trainer = make_trainer(seat, load_strategy()[seat])
        plan = Plan(iterations=2, section=2) if quick else Plan()
        for done, value in trainer.train(plan, folder / f"opening-{seat.value}.npz"):
            tell(f"{seat.label}, a responder wins {value:.1%} against the current opening", done)
        trainer.average()
        trainer.opening.round_probs()
        trainer.tail.write_to(trainer.problem)
        effort = Effort(sweeps=1, batches=1, trials=10) if quick else Effort()
        for done, bounds in bound_opening(trainer.opening, trainer.problem, effort):
            tell(f"{seat.label}, a best responder wins {bounds.in_words()}", done)
        print(f"A best responder wins {bounds.in_words()} against {seat.label}.")


def _check_folder(folder: Path, files: Sequence[str]) -> None:
    """Raise before the long computation if `folder` contains such files or is not writable."""
    for name in files:
        if (folder / name).exists():
            raise DuelsError(f"{folder / name} exists already. Choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"?")


def study(as_json: bool) -> None:
    """Analyse the shipped strategy and print the results."""
    from tools.hunt import study as studying
    from tools.hunt.report import report

    results = studying.study(Progress())
    sys.stdout.write(f"{json.dumps(results, indent=2)}\n" if as_json else report(results))


if __name__ == "__main__":
    sys.exit(main())
