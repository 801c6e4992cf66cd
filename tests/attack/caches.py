"""Damaged files in the cache are detected and rebuilt."""

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import fields
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from duels.games import find_game
from tests.attack.fuzzing import smashed
from tests.attack.harness import Case, shuffled
from tests.attack.sessions import Scenario, perform
from tests.attack.system_calls import Tell, in_child
from tests.support import home

Answer = Callable[[], Any]


def _solved(*arguments: str) -> Answer:
    def answer() -> Any:
        result = perform(Scenario("", ("solve", *arguments, "--json")), Path(os.environ["DUELS_HOME"]).parent)
        assert result.code == 0, result
        return json.loads(result.out)

    return answer


def _compiled() -> Any:
    from duels.solving.tables import load_tables

    rules = find_game("chain").rules(cells=4, run=3)
    tables = load_tables(rules, rules.game.encoding(rules))
    return [getattr(tables, part.name).tolist() for part in fields(tables)]


CACHED: dict[str, Answer] = {
    "flip's table": _solved("flip", "--side", "2", "--values", "2", "--copies", "2", "--target", "3"),
    "chain's arrays": _compiled,
}
"""The commands that read files in the cache. Add new ones here."""


def _become_folder(path: Path, rng: Random, others: list[bytes]) -> None:
    path.unlink()
    path.mkdir()


def _become_link(path: Path, rng: Random, others: list[bytes]) -> None:
    path.unlink()
    path.symlink_to(rng.choice((path.name, "nowhere", "/dev/null")))


def _smash(path: Path, rng: Random, others: list[bytes]) -> None:
    data = path.read_bytes()
    for _ in range(rng.choice((1, 1, 3))):
        data = smashed(rng, data)
    path.write_bytes(data)


def _flip_bit(path: Path, rng: Random, others: list[bytes]) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, rng: Random, others: list[bytes]) -> None:
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


def _exchange(path: Path, rng: Random, others: list[bytes]) -> None:
    path.write_bytes(rng.choice(others))


def _remove(path: Path, rng: Random, others: list[bytes]) -> None:
    path.unlink()


DAMAGES = (_smash, _flip_bit, _cut, _exchange, _become_folder, _become_link, _remove)


def _ask(answer: Answer, folder: Path) -> Any:
    """Return the answer of a new process."""

    def act(tell: Tell) -> None:
        with home(folder / "home"), redirect_stderr(io.StringIO()):
            tell(answer())

    return in_child(act).messages[-1]


def caches(rng: Random) -> Iterator[Case]:
    """A damaged cache never changes an answer."""
    import duels.games.flip.oracle
    import duels.solving.tables  # noqa: F401  (once, not in every child)

    right: dict[str, Any] = {}
    files: dict[str, dict[str, bytes]] = {}
    for name, answer in CACHED.items():
        with tempfile.TemporaryDirectory() as folder:
            right[name] = _ask(answer, Path(folder))
            cache = Path(folder) / "home" / "cache"
            files[name] = {path.name: path.read_bytes() for path in sorted(cache.iterdir())}
            assert files[name], f"{name} is not kept in the cache"

    def attack(name: str, damage: Any, own: Random, folder: Path) -> None:
        cache = folder / "home" / "cache"
        cache.mkdir(parents=True)
        for file, data in files[name].items():
            (cache / file).write_bytes(data)
            others = [other for kept in files.values() for other in kept.values() if other != data]
            damage(cache / file, own, [*others, b"", os.urandom(500)])
        assert _ask(CACHED[name], folder) == right[name]

    while True:
        for name, damage in shuffled(rng, [(name, damage) for name in CACHED for damage in DAMAGES]):
            own = Random(rng.random())
            yield Case(
                f"{name}: {damage.__name__.strip('_')}",
                partial(attack, name, damage, own),
            )
