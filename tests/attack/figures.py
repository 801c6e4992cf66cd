"""The figures of an attack, as the docs show them."""

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.attack.harness import Report

DOCS = Path(__file__).parent.parent.parent / "docs"
FIGURES = DOCS / "reliability" / "figures.json"
PAGE = DOCS / "reliability.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def figures_of(seed: str, reports: Sequence[Report]) -> dict[str, Any]:
    return {
        "seed": seed,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "attacks": [
            {
                "kind": report.attack.kind,
                "what": report.attack.what,
                "cases": report.cases,
                "failures": len(report.failures),
                "seconds": round(report.seconds, 1),
            }
            for report in reports
        ],
    }


def markdown(figures: dict[str, Any]) -> str:
    """The table, and how to repeat it."""
    rows = figures["attacks"]
    total = {name: sum(row[name] for row in rows) for name in ("cases", "failures", "seconds")}
    lines = ["| attack | method | cases | failures | seconds |", "|---|---|--:|--:|--:|"]
    for row in [*rows, {"kind": "all", "what": "", **total}]:
        numbers = f"{row['cases']:,} | {row['failures']} | {row['seconds']:.0f}"
        lines.append(f"| {row['kind']} | {row['what']} | {numbers} |")
    lines += ["", f"Seed `{figures['seed']}`, {figures['date']}, {figures['system']}."]
    return "\n".join(lines) + "\n"


def together(parts: Sequence[dict[str, Any]]) -> str:
    """Combine the figures of several runs into one table."""
    rows = [row for part in parts for row in part["attacks"]]
    seeds = ", ".join(part["seed"] for part in parts)
    return markdown({**parts[0], "seed": seeds, "attacks": rows})


def write(figures: dict[str, Any]) -> None:
    """Save the figures and put the table into the page."""
    FIGURES.parent.mkdir(exist_ok=True)
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{markdown(figures)}{END}{after}", encoding="utf-8")
