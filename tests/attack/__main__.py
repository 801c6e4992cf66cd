"""Attack the package and report the results.

python -m tests.attack                            half a minute of each kind, with a new seed
python -m tests.attack --seed 7 --seconds 300     as long as you like
python -m tests.attack --only kills --case 12 --seed 7    one case again
python -m tests.attack --write                    put the figures into docs/reliability.md
"""

import argparse
import secrets
import sys

from tests.attack.attacks import ATTACKS
from tests.attack.figures import figures_of, markdown, write
from tests.attack.harness import run


def main() -> int:
    parser = argparse.ArgumentParser(description="Attack duels.", prog="python -m tests.attack")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="makes the attack repeatable")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each kind of attack")
    parser.add_argument("--cases", type=int, help="of each kind, at most")
    parser.add_argument(
        "--only", action="append", choices=[attack.kind for attack in ATTACKS], help="this kind"
    )
    parser.add_argument("--case", type=int, help="this case alone, of the kinds given by --only")
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    options = parser.parse_args()
    reports = []
    for attack in ATTACKS:
        if options.only and attack.kind not in options.only:
            continue
        cases, first = (1, options.case) if options.case is not None else (options.cases, 0)
        report = run(attack, options.seed, cases, options.seconds, first)
        reports.append(report)
        for failure in report.failures:
            print(failure, file=sys.stderr)
    figures = figures_of(options.seed, reports)
    print(markdown(figures), end="")
    if options.write:
        write(figures)
    return int(any(report.failures for report in reports))


if __name__ == "__main__":  # processes that compute reviews import this module
    sys.exit(main())
