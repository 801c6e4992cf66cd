"""Files with one writer at a time, and files that are written in one step."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from duels.core.errors import DuelsError

try:
    import fcntl
except ImportError:  # not on Windows, where a second writer is not kept out
    fcntl = None  # type: ignore[assignment]


class InUse(DuelsError):
    """Another program is writing to the file."""


def lock(handle: int, path: Path) -> bool:
    """Keep other writers out of the open file until it is closed; InUse, if there is one.

    False, if files cannot be locked there, as on some network file systems.
    """
    if not fcntl:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise InUse(f"{path} is being written somewhere else right now.") from None
        return False
    return True


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Within, the file is there, and nobody else who asks like this writes to it. It is not left empty."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise DuelsError(f"{path}: this is not a regular file.")
            lock(handle, path)
            if _is_at(handle, path):
                try:
                    yield
                finally:
                    if not os.fstat(handle).st_size and _is_at(handle, path):
                        path.unlink()
                return
        finally:
            os.close(handle)


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in the place of the one that is there: whoever reads it finds either, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")  # another program may be writing it too
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _is_at(handle: int, path: Path) -> bool:
    """Whether the file still has this name: whoever had the lock before may have removed it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.stat(path))
    return False
