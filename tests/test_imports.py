"""Import directions, the modules that a prompt loads, and complete packages of games."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from duels.games import GAMES

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "duels"

# The rooms that each room may import, even inside functions. A room may always import itself.
BELOW = {"core", "files", "paths"}
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "files": {"core"},
    "paths": set(),
    "raster": set(),
    "solving": BELOW,
    "games": BELOW | {"solving"},
    "players": BELOW | {"solving", "games"},
    "play": BELOW | {"solving", "games", "players"},
    "analysis": BELOW | {"solving", "games", "players", "play"},
    "terminal": BELOW | {"solving", "games", "players", "play", "analysis"},
    "web": BELOW | {"solving", "games", "players", "play", "analysis", "raster"},
    "envs": BELOW | {"solving", "games", "players", "play", "analysis", "raster"},
    "arena": BELOW | {"solving", "games", "players", "play", "analysis"},
    "integrations": BELOW | {"solving", "games", "players", "play", "analysis", "arena"},
    "vector": BELOW | {"solving", "games", "envs"},  # duels.vector: the arrays of envs, for everybody
    "": {"core", "games", "players", "analysis", "vector"},  # duels/__init__.py
    "__main__": {"terminal"},  # python -m duels
}
# The third-party modules that start-up modules may import. All others are imported where they are used.
LIGHT = {"core": set[str](), "games": set[str](), "players": set[str](), "paths": {"platformdirs"}}
# Compiled code, imported only where it runs; all of it needs these.
COMPILED = {
    f"duels.games.hunt.certify.{module}": {"numpy", "numba"}
    for module in (
        "agents",
        "certificate",
        "controller",
        "interpolation",
        "opening",
        "pair_values",
        "policies",
        "responder_problem",
    )
}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def modules() -> list[tuple[str, Path]]:
    pairs = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        pairs.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return pairs


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield every module imported anywhere in the source, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written out in full"
            assert node.module
            # `from duels.core import match` imports a module; `from duels.core.match import Match` does too.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_import(module: str, imported: str) -> str | None:
    """Return the reason why `module` may not import `imported`, or None."""
    room = room_of(module)
    if imported.split(".")[0] == "duels":
        other = room_of(imported)
        other = other if other in ALLOWED else ""  # a name of duels/__init__.py
        if other != room and other not in ALLOWED[room]:
            return f"{module} imports {imported}: {room or 'duels'} may not import {other or 'duels'}"
        if room == "games" and other == "games":
            own_room, imported_room = module.split(".")[2:3], imported.split(".")[2:3]
            if own_room and imported_room and imported_room[0] in GAMES and own_room != imported_room:
                return f"{module} imports {imported}: a game knows no other game"
        return None
    top = imported.split(".")[0]
    if top == "tools":
        return f"{module} imports {imported}: the package knows no tools"
    allowed = COMPILED.get(module) or LIGHT.get(room, {top})
    if top not in sys.stdlib_module_names and top not in allowed:
        return f"{module} imports {imported} from outside"
    return None


class _RunTime(ast.NodeTransformer):
    """Removes code that only type checkers read."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if getattr(node.test, "id", "") == "TYPE_CHECKING" else self.generic_visit(node)


class _Outer(_RunTime):
    """Also removes function bodies."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        return None

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        return None


def at_run_time(tree: ast.AST) -> ast.AST:
    """Return the source that runs, functions included."""
    return _RunTime().visit(tree)  # type: ignore[no-any-return]


def at_import(tree: ast.AST) -> ast.AST:
    """Return the source that runs on import."""
    return _Outer().visit(tree)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("module", "path"), modules(), ids=[name for name, _ in modules()])
def test_imports_point_one_way(module: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert room_of(module) in ALLOWED, f"say in ALLOWED what {module} may import"
    inside = [name for name in imports(tree) if name.split(".")[0] == "duels"]
    outside = [name for name in imports(at_import(tree)) if name.split(".")[0] != "duels"]
    assert [reason for name in (*inside, *outside) if (reason := wrong_import(module, name))] == []


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("duels.core.match", "duels.games.GAMES"),
        ("duels.core.match", "duels.paths.data_dir"),
        ("duels.core.match", "click"),
        ("duels.core.match", "duels.start"),
        ("duels.games.hunt.rules", "duels.terminal.screen.Screen"),
        ("duels.games.hunt.rules", "duels.games.flip.rules.State"),
        ("duels.games.hunt.rules", "numpy"),
        ("duels.games.hunt.certify.controller", "scipy"),
        ("duels.terminal.solve", "tools.hunt.study"),
        ("duels.games.hunt.greedy", "duels.players.Player"),
        ("duels.solving.oracle", "duels.games.find_game"),
        ("duels.players.person", "duels.terminal.screen.Screen"),
        ("duels.envs.gym", "duels.terminal.screen.Screen"),
        ("duels.play.live", "duels.analysis.review.Review"),
        ("duels.play.live", "duels.terminal.screen.Screen"),
        ("duels.analysis.grading", "duels.envs.engine.Engine"),
        ("duels.terminal.solve", "duels.envs.vector.make"),
        ("duels.terminal.play", "duels.web.service.MatchService"),
        ("duels.web.site", "duels.terminal.screen.Screen"),
        ("duels.arena.text_seat", "duels.integrations.tasks.make_rows"),
        ("duels.integrations.seat", "duels.envs.engine.Engine"),
    ],
)
def test_the_guard_rejects(module: str, imported: str) -> None:
    assert wrong_import(module, imported)


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("duels.core.match", "duels.core.rules.Seat"),
        ("duels.core.match", "json"),
        ("duels.games.hunt.words", "duels.games.hunt.rules.State"),
        ("duels.games.hunt.oracle", "duels.solving.oracle.Oracle"),
        ("duels.games.hunt.certify.controller", "numba"),
        ("duels.terminal.commands", "click"),
        ("duels.players", "duels.games.Game"),
        ("duels.analysis.export", "duels.play.step.decide_next_entry"),
        ("duels.integrations.seat", "duels.arena.text_seat.TextSeat"),
    ],
)
def test_the_guard_accepts(module: str, imported: str) -> None:
    assert wrong_import(module, imported) is None


def loaded(tmp_path: Path, *arguments: str, entered: str = "") -> set[str]:
    """Return the modules that a command has loaded when it exits."""
    program = (
        "import sys; before = set(sys.modules)\n"
        "from duels.terminal.commands import run\n"
        f"run({list(arguments)!r})\n"
        "found = sorted(set(sys.modules) - before)\n"
        "import json; print(json.dumps(found), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        input=entered,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DUELS_HOME": str(tmp_path)},
    )
    return set(json.loads(result.stderr.splitlines()[-1]))


def imported_modules(tree: ast.AST, our_modules: set[str]) -> set[str]:
    """Return our modules that a source imports, also in functions, but not for type checkers only."""
    modules = set()
    for name in imports(at_run_time(tree)):
        modules |= {part for part in (name, name.rpartition(".")[0]) if part in our_modules}
    return modules


def test_modules_have_no_import_cycles() -> None:
    """No cycle between modules, lazy imports included."""
    our_modules = dict(modules())
    needs = {
        module: imported_modules(ast.parse(path.read_text(encoding="utf-8")), set(our_modules)) - {module}
        for module, path in our_modules.items()
    }
    # A package is imported before its modules; what its own __init__ lists is not a way back.
    graph = {
        module: {other for other in others if not module.startswith(f"{other}.")}
        for module, others in needs.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as cycle:
        pytest.fail(f"a cycle of imports: {' -> '.join(cycle.args[1])}")


LIGHT_PACKAGES = {"duels", "click", "lazy_loader", "platformdirs"}
# Slow to load, and needed only once something is computed, or has gone wrong.
SLOW = {
    *("asyncio", "concurrent.futures", "importlib.metadata", "logging", "multiprocessing", "readline"),
    *("secrets", "shutil", "sqlite3", "subprocess", "tempfile", "unittest"),
}


def packages_from_outside(modules: set[str]) -> set[str]:
    """Return the packages of these modules that belong neither to Python nor to us."""
    tops = {module.split(".")[0] for module in modules}
    return {top for top in tops if top not in sys.stdlib_module_names and not top.startswith("_")}


@pytest.mark.parametrize("name", GAMES)
def test_the_prompt_loads_no_heavy_package(name: str, tmp_path: Path) -> None:
    for arguments in (["play", name], ["play", name, "--seat2", "greedy"]):
        modules = loaded(tmp_path, *arguments)  # the end of input comes at the first prompt
        assert f"duels.games.{name}.rules" in modules
        assert packages_from_outside(modules) <= LIGHT_PACKAGES
        others = {module for module in modules if module.startswith("duels.games.") and module.count(".") > 2}
        assert {module.split(".")[2] for module in others} == {name}, "one game loads no other"
        assert not SLOW & modules


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["games"]])
def test_lists_need_no_heavy_package(arguments: list[str], tmp_path: Path) -> None:
    assert packages_from_outside(loaded(tmp_path, *arguments)) <= LIGHT_PACKAGES


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "needed",
    [
        "src/duels/games/{}/__init__.py",
        "src/duels/games/{}/rules.py",
        "src/duels/games/{}/words.py",
        "src/duels/games/{}/greedy.py",
        "src/duels/games/{}/features.py",
        "src/duels/games/{}/card.txt",
        "docs/{}.md",
        "tests/golden/{}",
        "tests/games/{}",
    ],
)
def test_every_game_has_all_required_files(name: str, needed: str) -> None:
    path = ROOT / needed.format(name)
    assert path.exists(), "a game is complete only with all of these"
    if path.is_dir():
        assert [file for file in path.iterdir() if file.name not in ("__init__.py", "__pycache__")]
    elif path.suffix in (".md", ".txt"):
        assert len(path.read_text(encoding="utf-8").splitlines()) > 5


@pytest.mark.parametrize("name", GAMES)
def test_every_part_of_a_game_loads(name: str) -> None:
    game = GAMES[name]
    rules = game.rules()
    assert rules.name == game.name == name
    assert game.words(rules).opening()
    assert callable(game.greedy(rules))
    assert game.encoding(rules).size > 1
    assert game.card()


def test_every_folder_of_games_is_listed() -> None:
    rooms = {path.name for path in (PACKAGE / "games").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert rooms == set(GAMES)
