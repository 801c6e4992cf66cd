"""Names that a reader can rely on: unique public classes, and no participle where a thing has a name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "duels"
GAMES = SOURCE / "games"
# The environment class of each framework has the same name, as in the frameworks' own packages.
SHARED = {"DuelEnv"}
VAGUE = re.compile(
    "_?(?:told|shown|found|asked|kept|known|heard|given|taken|meant|said|begun|gone|few|thus|looks?|ways"
    "|stands?|standing|coming|going|doing|being)"
)


def trees(*, games: bool) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if games or GAMES not in path.parents or path.parent == GAMES:
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def test_public_classes_have_unique_names_outside_the_games() -> None:
    places = defaultdict(list)
    for path, tree in trees(games=False):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in SHARED:
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def defined_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.ClassDef):
            yield node.lineno, node.name.lower()
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.lineno, node.target.id


def test_functions_classes_arguments_and_attributes_name_things() -> None:
    vague = [
        f"{path}:{line}: {name}"
        for path, tree in trees(games=True)
        for line, name in defined_names(tree)
        if VAGUE.fullmatch(name)
    ]
    assert vague == []
