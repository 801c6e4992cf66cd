"""Joins folders of one run, such as shards that several machines played."""

from collections.abc import Callable, Iterable
from pathlib import Path

from duels.arena.config import GROWS
from duels.arena.folder import CONFIG, Folder, name_of_part, note_version, part_of, write_config, writing_to
from duels.arena.logs import Joined, placed_rows, write_rows
from duels.arena.rows import Row
from duels.core.errors import DuelsError


def merge(sources: Iterable[Path], target: Path, tell: Callable[[str], None] = lambda text: None) -> int:
    """Join runs, or probes, of one config into a new folder; how many matches, or answers, it has."""
    folders = [Folder(source) for source in sources]
    first = folders[0]
    for other in folders[1:]:
        for name, value in first.config.items():
            if name not in GROWS and other.config.get(name) != value:
                raise DuelsError(f"{first.path} and {other.path} are different runs: their {name} differ.")
    currencies = sorted({folder.config["currency"] for folder in folders} - {""})
    if len(currencies) > 1:
        raise DuelsError(f"These runs count money in {' and in '.join(currencies)}.")
    with writing_to(target):
        if target.exists() and any(target.iterdir()):
            raise DuelsError(f"{target} is not empty; name another folder with --out.")
        target.mkdir(parents=True, exist_ok=True)
    rows = Joined()
    by_log: dict[str, dict[str, Row]] = {}
    for folder in folders:
        for log in folder.answer_logs() if folder.is_probe else folder.logs():
            part = name_of_part(part_of(log))
            name = "answers-merged.jsonl" if folder.is_probe else f"log-{part and part + '-'}merged.jsonl"
            joined = by_log.setdefault(name, {})
            for where, row in placed_rows(log, folder.damaged):
                if rows.add(str(folder.path / where), row):
                    joined[row["key"]] = row
    for name, joined in by_log.items():  # the names say which parts of the run are here
        write_rows(target / name, (joined[key] for key in sorted(joined)))
    asked: dict[str, Row] = {}
    for folder in folders:
        for row in folder.requests():
            if row["id"] not in asked or "status" in row:
                asked[row["id"]] = row
    if asked:
        write_rows(target / "requests-merged.jsonl", asked.values())
    largest = max(folders, key=lambda folder: sum(folder.config.get("matches", {}).values()))
    began_by, *others = dict.fromkeys(each for folder in (largest, *folders) for each in folder.versions)
    for each in others:
        note_version(target, each)
    config = {**largest.config, "currency": "".join(currencies)}
    write_config(target / CONFIG, config, began_by)
    for folder in folders:
        if folder.damage:
            tell(f"{folder.path}: {folder.damage}")
    if differences := rows.differences(first.is_probe):
        tell(differences)
    return len(rows.rows())
