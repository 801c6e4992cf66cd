"""Table files with checksums, so that a damaged file or another table is rejected.

A file has a line with the table's name, a line with the checksum, and the compressed table. This module uses
only the standard library, so that the first move of a perfect player is quick.
"""

import logging
import lzma
import sys
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from duels.core.errors import DuelsError
from duels.files import open_regular_file, write_atomically

MAGIC = "duels table 1"
log = logging.getLogger("duels")


class DamagedTable(DuelsError):
    """A table file is missing, truncated, altered, or contains another table."""


@dataclass(frozen=True)
class ShippedTable:
    """A table that is part of the package. The code contains its digest."""

    path: Path
    table_name: str
    digest: str
    """The SHA-256 of the unpacked table."""

    def check(self, table: bytes) -> bytes:
        """Return `table`. Raises DamagedTable if its digest differs from the shipped one."""
        if sha256(table).hexdigest() != self.digest:
            raise DamagedTable(f"the table '{self.table_name}' is not the one that duels comes with")
        return table


def make_cache_key(subject: object, sources: Iterable[Path]) -> str:
    """Return a key that changes with `subject` and with the content of `sources`."""
    digest = sha256(repr(subject).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def pack_table(table_name: str, table: bytes) -> bytes:
    """Return the content of a table file. `table_name` must not contain a line break."""
    packed = lzma.compress(table, preset=1)  # a tenth larger than the default preset, but three times as fast
    return f"{MAGIC}: {table_name}\n{sha256(packed).hexdigest()}\n".encode() + packed


def unpack_table(content: bytes, table_name: str) -> bytes:
    """Return the table in a file. Raises DamagedTable if the file is damaged or has another table."""
    head, _, body = content.partition(b"\n")
    checksum, _, packed = body.partition(b"\n")
    if head != f"{MAGIC}: {table_name}".encode():
        raise DamagedTable(f"this is not the table '{table_name}'")
    if checksum != sha256(packed).hexdigest().encode():
        raise DamagedTable(f"the table '{table_name}' does not match its checksum")
    try:
        return lzma.decompress(packed)
    except lzma.LZMAError as problem:
        raise DamagedTable(f"the table '{table_name}' cannot be unpacked") from problem


def pack_shorts(numbers: "array[int]") -> bytes:
    """Return the bytes of 16-bit numbers, little-endian."""
    return _little_endian(numbers).tobytes()


def unpack_shorts(stored: bytes | memoryview, typecode: str = "H") -> "array[int]":
    """Return the 16-bit numbers that `pack_shorts` packed. Signed numbers need the type code "h"."""
    numbers = array(typecode)
    numbers.frombytes(stored)
    return _little_endian(numbers)


def _little_endian(numbers: "array[int]") -> "array[int]":
    if sys.byteorder == "little":
        return numbers
    swapped = array(numbers.typecode, numbers)
    swapped.byteswap()
    return swapped


def load_or_build(
    table_name: str, file_name: str, build: Callable[[], bytes], shipped: ShippedTable | None = None
) -> bytes:
    """Return the table from the package or the cache. If both fail, build and cache it.

    If a table is shipped, only that table is accepted. `table_name` should contain a digest of the code that
    builds the table (see `make_cache_key`).
    """
    problems = []
    if shipped:
        try:
            return shipped.check(unpack_table(shipped.path.read_bytes(), shipped.table_name))
        except (DamagedTable, OSError) as problem:
            problems.append(f"{shipped.path}: {problem}")
    from duels.paths import cache_dir  # imported late: most runs find the table in the package

    cached = cache_dir() / file_name
    try:
        with open_regular_file(cached) as file:
            table = unpack_table(file.read(), table_name)
        table = shipped.check(table) if shipped else table
    except FileNotFoundError:
        pass
    except (DuelsError, OSError) as problem:
        problems.append(f"{cached}: {problem}")
    else:
        _warn(problems, "using the copy in the cache")
        return table
    _warn(problems, "building the table again")
    table = build()
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(cached, pack_table(table_name, table), overwrite=True, private=True)
    except OSError as problem:  # not fatal: the next start builds the table again
        log.warning("Cannot write %s: %s", cached, problem)
    return table


def _warn(problems: list[str], fallback: str) -> None:
    if problems:
        log.warning("%s; %s", "; ".join(problems), fallback)
