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
  python -m tools.hunt train --out strategy           run again to continue after an interruption
  python -m tools.hunt train --quick --out strategy   far too short, to see it work
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
    training = commands.add_parser("train", help="rebuild the strategy (an hour)")
    training.add_argument("--quick", action="store_true", help="use a very short plan, as a test")
    training.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="write checkpoints, the strategy, its self-play and its certificate to this folder",
    )
    studying = commands.add_parser("study", help="analyse the shipped strategy (takes minutes)")
    studying.add_argument("--json", action="store_true", help="print the numbers as JSON")
    return parser


def train(quick: bool, folder: Path) -> None:
    """Rebuild the strategy, write it to `folder`, and compare it with the shipped one."""
    from tools.hunt import rebuild  # compiling is slow, and --help does not need it

    _check_folder(folder, rebuild.FILES)
    print(f"Checkpoints and results will be written to {folder}.", file=sys.stderr)
    files = rebuild.rebuild(rebuild.QUICK_PLAN if quick else rebuild.PLAN, folder, Progress())
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"Wrote {folder / name}.")
    print(rebuild.compare(files))
    if quick:
        print("This plan was too short on purpose. Do not use the strategy.")


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
