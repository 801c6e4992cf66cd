"""The system calls that change files, with a trap at any of them, and a disk that loses power."""

import fcntl
import io
import json
import os
import shutil
import signal
import stat
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

# Everything in `os` that touches a file, also what nobody uses today.
CHANGING = (
    *("chmod", "chown", "close", "copy_file_range", "fchmod", "fchown", "fdatasync", "fsync", "ftruncate"),
    *("lchown", "link", "mkdir", "mkfifo", "mknod", "open", "posix_fallocate", "pwrite", "pwritev", "remove"),
    *("rename", "replace", "rmdir", "sendfile", "splice", "symlink", "truncate", "unlink", "utime", "write"),
    *("writev",),
)
READING = (
    *(
        "access",
        "fstat",
        "listdir",
        "lseek",
        "lstat",
        "pread",
        "read",
        "readlink",
        "readv",
        "scandir",
        "stat",
    ),
)

Trap = Callable[["Call", Callable[..., Any]], Any]
"""Replaces a call: it gets the call and a function that carries it out. The caller gets its result or error.

A write can be carried out in part: `carry_out(3)` writes three bytes.
"""


@dataclass(frozen=True)
class Call:
    """One system call."""

    number: int
    name: str
    arguments: tuple[Any, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether it may change the disk."""
        return self.name not in READING

    @property
    def size(self) -> int:
        """The number of bytes to write."""
        return len(self.arguments[1]) if self.name == "write" else 0

    def __str__(self) -> str:
        return f"call {self.number} ({self.name})"


class Calls:
    """All system calls within `trapped`, in order. Nothing is really synced, to save time."""

    def __init__(self, trap: Trap = lambda call, carry_out: carry_out()) -> None:
        self.made: list[Call] = []
        self._trap = trap
        self._listening = False

    @contextmanager
    def trapped(self) -> Iterator[None]:
        places: list[tuple[Any, str]] = [(os, name) for name in (*CHANGING, *READING) if hasattr(os, name)]
        places += [(fcntl, "flock"), (io, "open")]
        real = [getattr(module, name) for module, name in places]
        for (module, name), function in zip(places, real, strict=True):
            setattr(
                module, name, self._wrapped(name if module is os else f"{module.__name__}.{name}", function)
            )
        self._listening = True
        try:
            yield
        finally:
            self._listening = False
            for (module, name), function in zip(places, real, strict=True):
                setattr(module, name, function)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within, calls belong to the attacker and are not trapped."""
        before, self._listening = self._listening, False
        try:
            yield
        finally:
            self._listening = before

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            if not self._listening:
                return function(*args, **kwargs)

            def carry_out(size: int | None = None) -> Any:
                if name == "fsync":
                    os.fstat(args[0])  # a handle that is closed is still an error
                    return None
                return function(*args, **kwargs) if size is None else function(args[0], args[1][:size])

            call = Call(len(self.made), name, args)
            self.made.append(call)
            with self.aside():
                return self._trap(call, carry_out)

        return called


# -- a process that may be killed ---------------------------------------------------------------------

_UNEXPECTED = 99
_PATIENCE = 60  # seconds until a child that hangs is killed

Tell = Callable[[Any], None]


def die() -> NoReturn:
    """End as by `kill -9`, without cleanup."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


@dataclass(frozen=True)
class ChildResult:
    """The end of a child, and its messages until then."""

    killed: bool
    messages: list[Any]


def in_child(act: Callable[[Tell], None]) -> ChildResult:
    """Run `act` in a copy of this process. Its messages survive a kill."""
    reading, writing = os.pipe()
    write = os.write

    def tell(thing: Any) -> None:
        write(writing, json.dumps(thing).encode() + b"\n")

    child = os.fork()
    if not child:
        code = 0
        try:
            signal.alarm(_PATIENCE)
            os.close(reading)
            act(tell)
        except BaseException:
            tell(traceback.format_exc())
            code = _UNEXPECTED
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading, "rb") as pipe:
        messages = [json.loads(line) for line in pipe]
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError(messages[-1])
    killed = os.WIFSIGNALED(status)
    assert not killed or os.WTERMSIG(status) == signal.SIGKILL, f"ended by signal {os.WTERMSIG(status)}"
    return ChildResult(killed, messages)


# -- a disk that loses its power ------------------------------------------------------------------------


@dataclass
class Contents:
    """The contents of a folder and its subfolders, by inode: names of folders, bytes of files."""

    folders: dict[int, dict[str, int]]
    files: dict[int, bytes]

    @classmethod
    def of(cls, top: Path) -> "Contents":
        patches = cls({}, {})
        for path in (top, *top.rglob("*")):
            if path.is_dir():
                patches.folders[path.stat().st_ino] = {p.name: p.stat().st_ino for p in path.iterdir()}
            else:
                patches.files[path.stat().st_ino] = path.read_bytes()
        return patches


class Disk:
    """The part of a folder that survives a power cut: synced data, and any part of the rest.

    A file's content is safe when the file was synced, a name when its folder was.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._safe = Contents.of(top)

    def forget(self, path: Path, size: int) -> None:
        """Mark the last `size` bytes of a file as lost: their writer was killed."""
        self._safe.files[path.stat().st_ino] = path.read_bytes()[:-size]

    def trap(self, call: Call, carry_out: Callable[..., Any]) -> Any:
        """Let the call through and mark synced data."""
        result = carry_out()
        if call.name in ("fsync", "fdatasync"):
            handle = call.arguments[0]
            about = os.fstat(handle)
            if stat.S_ISDIR(about.st_mode):
                self._safe.folders[about.st_ino] = Contents.of(self._top).folders[about.st_ino]
            else:
                self._safe.files[about.st_ino] = os.pread(handle, about.st_size, 0)
        return result

    def cut(self, names: bool, share: float) -> None:
        """Cut the power: unsynced names may be missing, and this share of unsynced bytes remains."""
        now = Contents.of(self._top)
        folders = now.folders if names else self._safe.folders
        top = self._top.stat().st_ino

        def survived(node: int) -> bytes:
            safe = self._safe.files.get(node, b"")
            last = now.files.get(node, safe)
            if last.startswith(safe):
                return last[: len(safe) + round(share * (len(last) - len(safe)))]
            return last if share >= 0.5 else safe

        def restore(folder: Path, node: int) -> None:
            folder.mkdir(exist_ok=True)
            for name, inside in folders.get(node, {}).items():
                if inside in now.folders:
                    restore(folder / name, inside)
                else:
                    (folder / name).write_bytes(survived(inside))

        for path in self._top.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        restore(self._top, top)
