"""Atomic writes, file locks and durable folders."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import BinaryIO

from duels.core.errors import DuelsError

try:
    import fcntl
except ImportError:  # Windows has no fcntl, so files are not locked on Windows
    fcntl = None  # type: ignore[assignment]


NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Flag for `os.open`, so that opening a pipe does not block until another program writes to it."""
_CANNOT_SYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)
_CANNOT_LINK = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK, errno.EXDEV)
_DRAFT_NAME = re.compile(r"\.[0-9a-f]{16}\.draft")
_STALE_AFTER = 3600.0  # seconds: no program writes a draft for that long


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Add the path to operating system errors that name no file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), error.filename or path) from None


@contextmanager
def open_regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading without blocking.

    Raises DuelsError if it is a folder, a pipe or a device.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_WAIT)) as file:
        _check_regular(file.fileno(), path)
        yield file


def _check_regular(handle: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise DuelsError(f"{path}: this is not a regular file.")


class FileInUse(DuelsError):
    """Another program is writing to the file."""


def try_lock(handle: int, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file until it is closed. Return False if another program holds the lock.

    Raises OSError if the file system does not support locks.
    """
    if fcntl:
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(handle, mode if wait else mode | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
    return True


def lock_file(handle: int, path: Path) -> bool:
    """Lock an open file against other writers until it is closed.

    Returns False if the file system does not support locks. Raises FileInUse if another program holds the
    lock.
    """
    try:
        if not try_lock(handle):
            raise FileInUse(f"{path} is in use by another program.")
    except OSError:
        return False
    return True


@contextmanager
def exclusive_writer(path: Path) -> Iterator[None]:
    """Create the file if necessary and hold its lock. Remove the file at the end if it is still empty.

    Raises FileInUse if another program holds the lock.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _check_regular(handle, path)
            lock_file(handle, path)
            if _is_at_path(handle, path):  # the previous writer may have removed it
                try:
                    yield
                finally:
                    if not os.fstat(handle).st_size and _is_at_path(handle, path):
                        path.unlink()
                return
        finally:
            os.close(handle)


def _is_at_path(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.stat(path))
    return False


def write_atomically(path: Path, content: bytes, overwrite: bool = False, private: bool = False) -> None:
    """Write a file that appears with all its content or not at all. See `write_and_open`."""
    close_quietly(write_and_open(path, content, overwrite, private))


def write_and_open(
    path: Path,
    content: bytes,
    overwrite: bool = False,
    private: bool = False,
    prepare: Callable[[int], None] = lambda handle: None,
) -> int:
    """Write a file atomically and return its open handle.

    A `private` file can be read only by its owner. An overwritten file keeps its mode. `prepare` is called
    with the handle while the file is still empty.

    Raises FileExistsError if the file exists and `overwrite` is false. Every OSError names `path`.
    """
    if overwrite:
        path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():  # a privileged user could otherwise replace a device
            raise OSError(errno.EINVAL, "Not a regular file", path)
    _remove_stale_drafts(path.parent)
    draft = str(_make_draft_path(path))
    handle = -1
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        prepare(handle)
        if overwrite:
            _copy_mode(path, draft, private)
        write_all(handle, content)
        os.fsync(handle)
        (_replace_file if overwrite else _rename_new)(draft, path)
        sync_folder(path.parent)
    except BaseException as problem:
        if handle >= 0:
            close_quietly(handle)
            with suppress(OSError):
                os.unlink(draft)
        if isinstance(problem, OSError):  # the user does not know the draft's name
            raise OSError(problem.errno, problem.strerror, path) from None
        raise
    return handle


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder. Remove its file at the end if it is still there."""
    _remove_stale_drafts(path.parent)
    draft = _make_draft_path(path)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _make_draft_path(path: Path) -> Path:
    return path.with_name(f".{os.urandom(8).hex()}.draft")


def write_all(handle: int, data: bytes) -> None:
    """Write to an open file. Raises OSError if the disk is full."""
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def close_quietly(handle: int) -> None:
    """Close a file and ignore errors: its content is already synced."""
    with suppress(OSError):
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names of new files in it survive a power failure."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows does this on its own
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with name_file_in_errors(folder):
            os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        close_quietly(handle)


def _copy_mode(path: Path, draft: str, private: bool) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        os.chmod(draft, mode & stat.S_IRWXU if private else mode)


def _replace_file(draft: str, path: Path) -> None:
    os.replace(draft, path)


def _rename_new(draft: str, path: Path) -> None:
    try:
        os.link(draft, path)
        os.unlink(draft)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        # Without hard links, another program could create `path` between the check and the rename.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(draft, path)


def _remove_stale_drafts(folder: Path) -> None:
    """Remove drafts of programs that were killed: they may contain secrets."""
    with suppress(OSError):  # a folder may be writable but not readable
        for name in os.listdir(folder):
            draft = folder / name
            if _DRAFT_NAME.fullmatch(name) and time() - draft.lstat().st_mtime > _STALE_AFTER:
                draft.unlink()
