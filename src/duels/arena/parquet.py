"""What a run or a probe has on disk as one Parquet file, for tools that read tables."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.core.extras import MissingExtra, extra
from duels.files import write_whole

MATCHES, ANSWERS = "matches.parquet", "answers.parquet"
_PLAIN = ("key", "game", "pair", "seed", "result", "ending", "score", "adjusted")
_JSON = ("options", "failures", "blunders", "manners")
_BY_SEAT = ("players", "shortfalls", "decisions", "forfeited")
_USAGE = ("prompt_tokens", "completion_tokens", "requests")
_ANSWER = ("key", "game", "seat", "position", "sample", "action")


def compact(folder: Folder) -> str:
    """Write all that is in the logs as one table beside them; what is missing for that, or nothing."""
    try:
        write_parquet(folder, folder.path / (ANSWERS if folder.is_probe else MATCHES), over=True)
    except MissingExtra as missing:
        return str(missing)
    return ""


def write_parquet(folder: Folder, path: Path, over: bool = False) -> int:
    """Write a row for each match, or each answer of a probe, in the order of their keys; how many."""
    kept = folder.rows()
    row = _answer if folder.is_probe else _match
    content = parquet_of(row(kept[key]) for key in sorted(kept))
    write_whole(path, content, over)
    return len(kept)


def parquet_of(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A table as the bytes of a Parquet file."""
    with extra("arena"):
        import pyarrow as arrow
        from pyarrow import parquet
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out, compression="zstd")
    content: bytes = out.getvalue().to_pybytes()
    return content


def _match(row: Row) -> dict[str, Any]:
    used = row.get("usage", [[0] * len(_USAGE)] * 2)
    return {
        **{name: row[name] for name in _PLAIN},
        **{f"{name}_{seat}": row[name][seat - 1] for name in _BY_SEAT for seat in (1, 2)},
        **{f"{name}_{seat}": used[seat - 1][place] for place, name in enumerate(_USAGE) for seat in (1, 2)},
        "entries": row["entries"],
        **{name: json.dumps(row[name]) for name in _JSON},
    }


def _answer(row: Row) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _ANSWER},
        **dict(zip(_USAGE, row["usage"], strict=True)),
        **{name: json.dumps(row[name]) for name in ("policy", "failures")},
    }
