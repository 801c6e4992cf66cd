"""A program that is run beside us and spoken to line by line, with limits and a certain end."""

import os
import selectors
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

from duels.core.errors import DuelsError, quote
from duels.players.failures import BadAnswer, Failure

MAX_OUTPUT = 1 << 20
"""Bytes that a program may write before we stop reading an answer."""
MAX_LOG = 1 << 20
"""Bytes of a program's stderr that are kept."""
_CHUNK = 1 << 16
_GRACE = 0.5  # seconds to leave by itself once its input is closed
KEY_ENV = "OPENAI_API_KEY"
"""The environment variable that holds a model's key, unless another one is named."""
_MARK = "DUELS_PROGRAM"
"""In the environment of a program and of all that it starts: how those are found that left its session."""
# Wait until the input ends, because we close it or are gone. Then end the program and, on Linux, all that it
# started. Each of those may start another while we look, so look again, but not for ever.
_WATCH = """
read -r _
kill -s KILL -- "-$1"
looks=0
while [ $looks -lt 50 ]; do
  looks=$((looks + 1))
  left=$(grep -alsF "$2" /proc/[0-9]*/environ)
  [ -n "$left" ] || break
  for each in $left; do
    each=${each#/proc/}
    kill -s KILL "${each%/environ}"
  done
done
"""


class Child:
    """A running program: its input and output are pipes, its stderr goes to a log.

    It gets our environment without `secret`, the variable with a model's key: it might log it.
    """

    def __init__(self, command: str, memory_mb: int | None, log: Path | None, secret: str = KEY_ENV) -> None:
        words = split_command(command)
        mark = f"{_MARK}={os.urandom(16).hex()}"
        environment = os.environ | dict([mark.split("=")])
        environment.pop(secret, None)
        try:
            self._process = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that what it starts can be ended with it
            )
            _limit(self._process.pid, memory_mb)
            self._watchdog = _watch(self._process, mark)
        except (OSError, subprocess.SubprocessError) as error:
            told = getattr(error, "strerror", None) or str(error)
            raise DuelsError(f"{quote(command, 80)} cannot be started: {told}.") from None
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._in, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self._log = log.open("ab") if log else None
        self._logged = log.stat().st_size if log else 0
        self._buffer = bytearray()
        self._tail = b""  # of stderr, to say what a program that crashed last said

    def send(self, line: str, deadline: float) -> None:
        """Write one line; Failed if the program is gone, or does not read."""
        data = memoryview(line.encode() + b"\n")
        self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            while data:
                try:
                    data = data[os.write(self._in.fileno(), data) :]
                except BlockingIOError:
                    if not self._wait(deadline):
                        raise BadAnswer(Failure.LATE, "it does not read what it is asked.") from None
                except OSError:
                    raise self._crashed() from None
        finally:
            self._selector.unregister(self._in)

    def receive(self, deadline: float) -> str:
        """Read one line; Failed if none comes in time, or the program ends."""
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_OUTPUT:
                raise BadAnswer(Failure.FLOODED, f"it wrote a line of more than {MAX_OUTPUT:,} bytes.")
            if not self._wait(deadline) and b"\n" not in self._buffer:
                raise BadAnswer(Failure.LATE, "no answer came in time.")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.decode("utf-8", "replace")

    def _wait(self, deadline: float) -> bool:
        """Wait until a pipe is ready, and take in what the program wrote; whether there was time left."""
        left = deadline - monotonic()
        for key, _ in self._selector.select(max(0.0, left)):
            if key.fileobj is self._err:
                self._drain_stderr()
            elif key.fileobj is self._out:
                try:
                    data = os.read(self._out.fileno(), _CHUNK)
                except BlockingIOError:
                    continue
                if not data:
                    raise self._crashed()
                self._buffer += data
        return left > 0

    def _drain_stderr(self) -> None:
        try:
            data = os.read(self._err.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(self._err)
            return
        self._tail = (self._tail + data)[-2000:]
        if self._log and self._logged < MAX_LOG:
            self._log.write(data[: MAX_LOG - self._logged])
            self._log.flush()
            self._logged += len(data)

    def _crashed(self) -> BadAnswer:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        for _ in range(MAX_LOG // _CHUNK):
            if self._err not in {key.fileobj for key, _ in self._selector.select(0)}:
                break
            self._drain_stderr()
        code = self._process.poll()
        how = "it closed its output" if code is None else _ended(code)
        said = self._tail.decode("utf-8", "replace").strip().splitlines()
        return BadAnswer(Failure.CRASHED, f"{how}{f', saying {quote(said[-1], 200)}' if said else ''}.")

    def close(self) -> bool:
        """End the program and all that it started; whether it left by itself when its input was closed."""
        with suppress(OSError):
            self._in.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        left = self._process.poll() is not None
        self.kill()
        return left

    def kill(self) -> None:
        """End the program and all that it started, at once."""
        self.signal()
        if self._watchdog:
            self._watchdog.communicate()
        self._process.wait()
        self._selector.close()
        for pipe in (self._in, self._out, self._err, self._log):
            with suppress(OSError):
                if pipe:
                    pipe.close()

    def signal(self) -> None:
        """Tell the program to end, and leave the rest to whoever is reading from it."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def split_command(command: str) -> list[str]:
    """The words of a command line; DuelsError where there are none or a quote is left open."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DuelsError(f"{quote(command, 80)} cannot be read as a command: {error}.") from None
    if not words:
        raise DuelsError("cmd: needs a command, such as cmd:python bot.py.")
    return words


def _watch(program: subprocess.Popen[bytes], mark: str) -> subprocess.Popen[bytes] | None:
    """Start the shell that ends the program when we close its input, or are killed."""
    if os.name != "posix":
        return None
    try:
        return subprocess.Popen(
            ["sh", "-c", _WATCH, "sh", str(program.pid), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that it outlives what ends our group
        )
    except BaseException:
        program.kill()
        program.wait()
        raise


def _limit(pid: int, memory_mb: int | None) -> None:
    """Limit a program that has just been started, on Linux.

    Not before it becomes the program: no code of ours may run between the two, where there are threads.
    """
    if sys.platform != "linux":
        return
    import resource

    with suppress(ProcessLookupError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if memory_mb:
            # Not the address space: some runtimes reserve far more of that than they ever use.
            most = memory_mb * 1024 * 1024
            _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
            if hard == resource.RLIM_INFINITY or most < hard:
                resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def _ended(code: int) -> str:
    """How a process ended, by what Python gives back of it."""
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:  # one without a name, such as a real-time signal
        return f"it was ended by signal {-code}"
