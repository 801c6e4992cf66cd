"""Packages of games, installed without a network: their modules, and the metadata that pip would write."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
NAMES = ("tictactoe", "liarsdice")
_DUELS = (sys.executable, "-c", "from duels.terminal.commands import main; main()")


def install(project: Path, site: Path) -> Path:
    """Install the package in the folder `project` into `site`, which is then to be put on the path."""
    stated = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(
        project / "src", site, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    about = site / f"{stated['name'].replace('-', '_')}-{stated['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {stated['name']}\nVersion: {stated['version']}\n", encoding="utf-8"
    )
    groups = stated["entry-points"].items()
    (about / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups
        ),
        encoding="utf-8",
    )
    return site


def run(site: Path, home: Path, *command: str, entered: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command where the packages in `site` are installed beside ours."""
    paths = os.pathsep.join((str(site), str(ROOT / "src")))
    return subprocess.run(
        command,
        input=entered,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=home,
        env={**os.environ, "PYTHONPATH": paths, "DUELS_HOME": str(home), "PYTHONUTF8": "1"},
    )


def duels(site: Path, home: Path, *arguments: str, entered: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command `duels` there."""
    return run(site, home, *_DUELS, *arguments, entered=entered)
