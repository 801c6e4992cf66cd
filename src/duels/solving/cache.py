"""Arrays that took time to compute, kept in the user's cache directory and never trusted unchecked."""

import hashlib
import io
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.paths import cache_dir
from duels.solving.store import write

Arrays = dict[str, NDArray[Any]]


def cached(name: str, key: str, compute: Callable[[], Arrays]) -> Arrays:
    """The arrays stored as `name` under `key`; computed, and stored if that can be done, otherwise."""
    path = cache_dir() / f"{name}-{key}.npz"
    arrays = _load(path)
    if arrays is None:
        arrays = compute()
        _save(path, arrays)
    return arrays


def key_of(subject: object, sources: Iterable[Path]) -> str:
    """A key that changes with `subject` and with the content of `sources`."""
    digest = hashlib.sha256(repr(subject).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _load(path: Path) -> Arrays | None:
    """The arrays at `path`; None if they are missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, data = content[:32], content[32:]
    if hashlib.sha256(data).digest() != checksum:
        return None
    with np.load(io.BytesIO(data)) as stored:
        return dict(stored)


def _save(path: Path, arrays: Arrays) -> None:
    """Store for the next time; a place that cannot be written is no error."""
    buffer = io.BytesIO()
    named: dict[str, Any] = {**arrays}  # newer stubs take any name for allow_pickle, which older NumPy lacks
    np.savez_compressed(buffer, **named)
    data = buffer.getvalue()
    with suppress(OSError):
        write(path, hashlib.sha256(data).digest() + data)
