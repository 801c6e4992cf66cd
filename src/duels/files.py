"""Files that are whole or not there, and have one writer at a time."""

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
except ImportError:  # not on Windows, where a second writer is not kept out
    fcntl = None  # type: ignore[assignment]


NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""For opening files: a pipe would wait for somebody to write to it."""
_NO_SYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)  # folders that cannot be synced
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK, errno.EXDEV)
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.draft")
_FORGOTTEN = 3600.0  # seconds after which nobody is still writing a draft


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Let errors of the system name the file they are about."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), error.filename or path) from None


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, at once; DuelsError, if it is a folder, a pipe or a device."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_WAIT)) as file:
        _check_regular(file.fileno(), path)
        yield file


def _check_regular(handle: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise DuelsError(f"{path}: this is not a regular file.")


# -- one writer at a time ----------------------------------------------------------------------------


class FileInUse(DuelsError):
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
            raise FileInUse(f"{path} is being written somewhere else right now.") from None
        return False
    return True


@contextmanager
def exclusive_writer(path: Path) -> Iterator[None]:
    """Within, the file is there, and nobody else who asks like this writes to it. It is not left empty."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _check_regular(handle, path)
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


def _is_at(handle: int, path: Path) -> bool:
    """Whether the file still has this name: whoever had the lock before may have removed it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.stat(path))
    return False


# -- whole or not there ------------------------------------------------------------------------------


def write_whole(path: Path, content: bytes, over: bool = False, private: bool = False) -> None:
    """Write a file that appears with all its content or not at all (see `write_and_open`)."""
    close_quietly(write_and_open(path, content, over, private))


def write_and_open(
    path: Path,
    content: bytes,
    over: bool = False,
    private: bool = False,
    prepare: Callable[[int], None] = lambda handle: None,
) -> int:
    """Write a file under another name, then give it its own in one step; the open file.

    FileExistsError, if the name is taken, unless it is a file that is to be written `over`. A `private` file
    is readable by its owner alone; any other keeps the mode of the one that it is written over. `prepare` is
    told of the file before anything is in it. All errors of the system name `path`.
    """
    if over:
        path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():  # whoever is allowed to could replace a device
            raise OSError(errno.EINVAL, "Not a regular file", path)
    _sweep(path.parent)
    draft = str(_draft_of(path))
    handle = -1
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        prepare(handle)
        if over:
            _take_mode(draft, path, private)
        write_all(handle, content)
        os.fsync(handle)
        (_name_again if over else _name_new)(draft, path)
        sync_folder(path.parent)
    except BaseException as problem:
        if handle >= 0:
            close_quietly(handle)
            with suppress(OSError):
                os.unlink(draft)
        if isinstance(problem, OSError):  # nobody knows the draft's name
            raise OSError(problem.errno, problem.strerror, path) from None
        raise
    return handle


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Within, a name for what will be put at `path`; if it is still there at the end, it is removed."""
    _sweep(path.parent)
    draft = _draft_of(path)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{os.urandom(8).hex()}.draft")


def write_all(handle: int, data: bytes) -> None:
    """Write to an open file; a disk that is full before the end is an error."""
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def close_quietly(handle: int) -> None:
    """Close a file; whatever the system then says, all that counts was synced before."""
    with suppress(OSError):
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a new file's name as safe as its content."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows does it by itself
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with name_file_in_errors(folder):
            os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        close_quietly(handle)


def _take_mode(draft: str, path: Path, private: bool) -> None:
    """Let whoever may read the file that is being replaced read the new one."""
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        os.chmod(draft, mode & stat.S_IRWXU if private else mode)


def _name_new(draft: str, path: Path) -> None:
    """Let the file be known by a name that nobody has taken."""
    try:
        os.link(draft, path)
        os.unlink(draft)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No second names on this file system: all that is lost is the guard against a race for the name.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(draft, path)


def _name_again(draft: str, path: Path) -> None:
    """Put the file in the place of the one that is written over."""
    os.replace(draft, path)


def _sweep(folder: Path) -> None:
    """Remove drafts whose writers were killed: they may hold secrets."""
    with suppress(OSError):  # whoever cannot look into a folder may still write to it
        for name in os.listdir(folder):
            draft = folder / name
            if _DRAFT.fullmatch(name) and time() - draft.lstat().st_mtime > _FORGOTTEN:
                draft.unlink()
