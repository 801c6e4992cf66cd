"""Damaged folders of runs and probes: reported, skipped and played again."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.caches import DAMAGES
from tests.attack.harness import Case, shuffled
from tests.attack.sessions import Scenario, perform
from tests.fixtures.files import HERE
from tests.support import CommandResult

FOLDERS = {
    "run": HERE / "arena" / "part-1",
    "probe": HERE / "arena" / "probe-lights",
    "run without digests": HERE / "runs_before_digests" / "part-1",
    "probe without digests": HERE / "runs_before_digests" / "probe-lights",
}
_CONFIG = """
players = ["random", "club"]
games = ["lights", "hunt"]
matches = 4
[options.hunt]
max_turns = 6
"""
_REQUESTS = (
    {"id": "1", "match": "m", "seat": 1, "entry": 1, "request": {"model": "it"}, "at_most": [9, 9]},
    {"id": "1", "status": 200, "reply": "{}", "seconds": 0.5, "usage": [3, 4, 1]},
    {"id": "2", "question": "q", "position": "p", "request": {}, "at_most": [9, 9]},
)
"""Requests as they were logged before rows had digests."""
READERS = (
    ("report", "{}/run"),
    ("report", "{}/run", "--json"),
    ("report", "{}/run", "--html", "{}/page.html"),
    ("report", "{}/run", "--parquet", "{}/rows.parquet"),
    ("verify", "{}/run"),
    ("verify", "{}/run", "--json"),
    ("compare", "{}/run", "{}/run"),
    ("merge", "{}/run", "--out", "{}/merged"),
)
"""Every command that reads a folder. Add new ones here."""
_CONTINUE = {
    "run": ("run", "{}/run.toml", "--shard", "1/2", "--workers", "1", "--out", "{}/run"),
    "probe": ("probe", "--player", "greedy", "--games", "lights", "--symmetric", "--out", "{}/run"),
}
_ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 7, 200.0, -0.5, float("inf"), float("nan"), 10**400, "", "x", "9", "\x1b[2J"),
    *("\ud800", "1 won", [], {}, [[]], [1, 2], {"a": 1}, ["a"]),
)
_ODD_NAMES = (
    *("log-0-of-0-1.jsonl", "log-9-of-2-1.jsonl", "log-\u0663-of-2-1.jsonl", "answers-x.jsonl"),
    *("requests-1.jsonl", "continued-by-\x1b[2J", "continued-by-", ".lock-1-of-x", ".workers-1", "bots"),
)


def _add_odd_file(path: Path, rng: Random, others: list[bytes]) -> None:
    (path.parent / rng.choice(_ODD_NAMES)).write_bytes(rng.choice(others))


def _add_brackets(path: Path, rng: Random, others: list[bytes]) -> None:
    bracket = rng.choice((b"[", b'{"v": ', b'{"v": [', b'{"digest": '))
    path.write_bytes(bracket * 50_000 + b"\n" + path.read_bytes())


def _change_value(path: Path, rng: Random, others: list[bytes]) -> None:
    """Change, rename, remove or repeat one value of a row or of the config, without its digest."""
    text = path.read_text(encoding="utf-8")
    lines = [text] if path.suffix == ".json" else text.splitlines()
    number = rng.randrange(len(lines))
    content = json.loads(lines[number])
    node, name = rng.choice([each for each in _nodes(content) if each[1] != "digest"])
    edit = rng.randrange(4)
    if edit == 0 and isinstance(node, dict):
        node[rng.choice((name[:-1], name + "s", "x"))] = node.pop(name)
    elif edit == 1:
        del node[name]
    elif edit == 2 and isinstance(node[name], int | float):
        node[name] += rng.choice((1, -1, 0.01, 200))
    else:
        node[name] = rng.choice(_ODD)
    lines[number] = json.dumps(content)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _nodes(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in JSON: the container, and the key or index."""
    for name in content if isinstance(content, dict) else range(len(content)):
        yield content, name
        if isinstance(content[name], dict | list):
            yield from _nodes(content[name])


def _forge_value(path: Path, rng: Random, others: list[bytes]) -> None:
    """Change a value and its digest."""
    _change_value(path, rng, others)
    lines = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
    for number, line in enumerate(lines):
        content = json.loads(line)
        if "digest" in content:
            del content["digest"]
            with suppress(UnicodeEncodeError):
                signed = content.get("config", content)
                text = json.dumps(signed, ensure_ascii=False)
                content["digest"] = sha256(text.encode()).hexdigest()[:16]
            lines[number] = json.dumps(content)
    path.write_text("\n".join([*lines, ""]))


_Damage = Callable[[Path, Random, list[bytes]], None]
ALL_DAMAGES: tuple[_Damage, ...] = (
    *DAMAGES,
    _add_odd_file,
    _add_brackets,
    *[_change_value] * 5,
    *[_forge_value] * 5,
)


def attack_folder(name: str, file: str, damage: _Damage, rng: Random, folder: Path) -> None:
    path = folder / "run"
    shutil.copytree(FOLDERS[name], path)
    (folder / "run.toml").write_text(_CONFIG)
    if "without" in name:
        (path / "requests-models.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _REQUESTS))
    right = _read(folder, "report", "{}/run", "--json").out
    contents = [each.read_bytes() for each in sorted(path.iterdir())]
    (chosen,) = path.glob(file) if list(path.glob(file)) else path.glob("config.json")
    damage(chosen, rng, [*contents, b"", rng.randbytes(500), b'{"v": 2}\n'])
    before = {each: each.read_bytes() for each in path.iterdir() if each.is_file()}
    for reader in rng.sample(READERS, 3):
        _read(folder, *reader)
    assert {each: each.read_bytes() for each in path.iterdir() if each.is_file()} == before, "a reader wrote"
    result = _read(folder, *_CONTINUE[name.split()[0]])
    if result.code == 0 and "without" not in name and damage is not _forge_value:
        _check_repaired(folder, json.loads(right))


def _read(folder: Path, *arguments: str) -> CommandResult:
    shutil.rmtree(folder / "merged", ignore_errors=True)
    for name in ("page.html", "rows.parquet"):
        (folder / name).unlink(missing_ok=True)
    result = perform(Scenario("", ("arena", *arguments)), folder)
    assert result.code in (0, 1, 75), result
    assert all(text.isprintable() for text in (*result.err.split("\n"), *result.out.split("\n"))), result
    if result.code == 1 and arguments[0] != "verify":
        assert result.err.splitlines()[-1].startswith("duels: "), result.err
    assert len(result.err) < 2000, result.err
    return result


def _check_repaired(folder: Path, right: dict[str, Any]) -> None:
    """Check that a continued and merged run equals the run before the damage."""
    assert _read(folder, "merge", "{}/run", "--out", "{}/merged").code == 0
    shutil.move(folder / "merged", folder / "repaired")
    again = json.loads(_read(folder, "report", "{}/repaired", "--json").out)
    for report in (again, right):
        report.pop("notes", None)
    assert again == right, f"{again} is reported, and it was {right}"
    result = _read(folder, "verify", "{}/repaired")
    assert result.code == 0, result


def runs(rng: Random) -> Iterator[Case]:
    """Damage every file of a folder in every way, and read it with every command."""
    while True:
        kinds = [(name, file, damage) for name in FOLDERS for file in _FILES for damage in ALL_DAMAGES]
        for name, file, damage in shuffled(rng, kinds):
            own = Random(rng.random())
            what = f"{name}, {file}: {damage.__name__.strip('_')}"
            yield Case(what, partial(attack_folder, name, file, damage, own))


_FILES = ("config.json", "[la][on]*.jsonl", "[la][on]*.jsonl", "requests-*.jsonl")
