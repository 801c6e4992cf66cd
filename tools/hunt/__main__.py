"""Builds hunt's strategy anew, or tells what the shipped one does and is worth."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from duels.core.errors import DuelsError
from duels.core.extras import require_extra
from duels.terminal.signals import INTERRUPTED, interruptible_computation
from tools.hunt.progress import Progress

EXAMPLES = """\
examples:
  python -m tools.hunt train                     compare what comes out with the shipped strategy
  python -m tools.hunt train --out strategy      also solve its self-play, certify it and keep it
  python -m tools.hunt train --quick             far too short, to see it work
  python -m tools.hunt study
  python -m tools.hunt study --json > docs/solved/hunt.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with require_extra("fast"), interruptible_computation():
            if options.command == "train":
                train(options.quick, options.out)
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
    training = commands.add_parser(
        "train", help="build the strategy from nothing; about 15 minutes, with --out 20"
    )
    training.add_argument("--quick", action="store_true", help="a plan far too short, to see it work")
    training.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where to write the strategy, its self-play and its certificate; nothing is written without it",
    )
    studying = commands.add_parser("study", help="what the shipped strategy does and is worth; minutes")
    studying.add_argument("--json", action="store_true", help="the numbers as one JSON object")
    return parser


def train(quick: bool, folder: Path | None) -> None:
    """Build the strategy from nothing and compare it with the shipped one; keep it if there is a `folder`."""
    from tools.hunt import rebuild  # compiles: not for those who ask for help

    if folder:
        _refuse(folder, rebuild.FILES)
        print(
            f"The strategy, its self-play and its certificate are written to {folder} at the end.",
            file=sys.stderr,
        )
    else:
        print("Nothing is written: --out keeps it.", file=sys.stderr)
    built = rebuild.rebuild(quick, certifying=folder is not None, tell=Progress())
    if folder:
        for name, data in built.files.items():
            (folder / name).write_bytes(data)
            print(f"Wrote {folder / name}.")
    print(built.comparison)
    if quick:
        print("The plan was far too short on purpose: this is no strategy to play.")


def _refuse(folder: Path, files: Sequence[str]) -> None:
    """Refuse a folder that holds such files or cannot be written, now rather than after all the work."""
    for name in files:
        if (folder / name).exists():
            raise DuelsError(f"{folder / name} exists already and is not written over.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"?")


def study(as_json: bool) -> None:
    """Print everything that is known about the shipped strategy, worked out anew."""
    from tools.hunt import study as studying
    from tools.hunt.report import report

    found = studying.study(Progress())
    sys.stdout.write(f"{json.dumps(found, indent=2)}\n" if as_json else report(found))


if __name__ == "__main__":
    sys.exit(main())
