"""Methods know no game, and perfect play needs nothing that the base install lacks."""

import ast
import subprocess
import sys
from pathlib import Path

import duels.solving

SOLVING = Path(duels.solving.__file__).parent


def test_methods_import_nothing_of_the_package_but_core_files_and_each_other() -> None:
    modules = [node for file in SOLVING.glob("*.py") for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    imported = {node.module or "" for node in modules if isinstance(node, ast.ImportFrom)}
    ours = {name for name in imported if name.split(".")[0] == "duels"}
    assert ours
    assert all(
        name.startswith(("duels.core", "duels.files", "duels.paths", "duels.solving")) for name in ours
    )


def test_the_perfect_players_need_no_numpy() -> None:
    program = (
        "import sys; from duels.games.lights import oracle; from duels.games.leap import oracle; "
        "from duels.games.chain import oracle; from duels.games.flip import oracle; "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
