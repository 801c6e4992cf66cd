"""All matches of a run as one Parquet file."""

import json
import os
from pathlib import Path

from duels.arena.folder import Folder
from duels.core.errors import DuelsError, to_install

_PLAIN = ("key", "game", "pair", "seed", "result", "ending", "score", "adjusted")
_JSON = ("options", "failures", "blunders", "manners")
_BY_SEAT = ("players", "shortfalls", "decisions", "forfeited")


def write_parquet(folder: Folder, path: Path) -> int:
    """Write a row for each match, in the order of their keys; how many there are."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise DuelsError(f"Parquet needs the extra 'data': {to_install('data')}.") from None
    rows = folder.rows()
    table = [
        {
            **{name: row[name] for name in _PLAIN},
            **{f"{name}_{seat}": row[name][seat - 1] for name in _BY_SEAT for seat in (1, 2)},
            "entries": row["entries"],
            **{name: json.dumps(row[name]) for name in _JSON},
        }
        for _, row in sorted(rows.items())
    ]
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        parquet.write_table(arrow.Table.from_pylist(table), draft, compression="zstd")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return len(table)
