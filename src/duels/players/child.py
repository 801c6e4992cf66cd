"""A child process that exchanges lines with us, within limits, and never outlives us."""

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
"""The maximum number of bytes in a line of output."""
MAX_LOG = 1 << 20
"""The maximum number of bytes of stderr that are logged."""
_CHUNK_BYTES = 1 << 16
_GRACE_SECONDS = 0.5  # to exit after the input is closed
KEY_ENV = "OPENAI_API_KEY"
"""The environment variable that holds a model's key by default."""
_MARK = "DUELS_PROGRAM"
"""An environment variable by which we find descendants of a program that left its session."""
# Wait until the input ends, because we closed it or exited. Then kill the program and, on Linux, its
# descendants. They may start others meanwhile, so repeat, but not forever.
WATCHDOG_SCRIPT = """
read -r _
kill -s KILL -- "-$1"
rounds=0
while [ $rounds -lt 50 ]; do
  rounds=$((rounds + 1))
  files=$(grep -alsF "$2" /proc/[0-9]*/environ)
  [ -n "$files" ] || break
  for file in $files; do
    pid=${file#/proc/}
    kill -s KILL "${pid%/environ}"
  done
done
"""


class Child:
    """A running program with pipes for input and output; its stderr goes to a log.

    The program does not inherit `key_env`, the environment variable with a model's key, so it does not log
    the key by accident. It can still read the environment of this process (`/proc`).
    """

    def __init__(self, command: str, memory_mb: int | None, log: Path | None, key_env: str = KEY_ENV) -> None:
        words = split_command(command)
        mark = f"{_MARK}={os.urandom(16).hex()}"
        environment = os.environ | dict([mark.split("=")])
        environment.pop(key_env, None)
        try:
            self._process = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that its descendants can be killed with it
            )
            _limit_memory(self._process.pid, memory_mb)
            self._watchdog = _start_watchdog(self._process, mark)
        except (OSError, subprocess.SubprocessError) as error:
            problem = getattr(error, "strerror", None) or str(error)
            raise DuelsError(f"{quote(command, 80)} cannot be started: {problem}.") from None
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
        self._log_size = log.stat().st_size if log else 0
        self._buffer = bytearray()
        self._stderr_tail = b""  # for the message after a crash

    def send(self, line: str, deadline: float) -> None:
        """Write one line. Raises BadAnswer if the program has exited or does not read."""
        data = memoryview(line.encode() + b"\n")
        self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            while data:
                try:
                    data = data[os.write(self._in.fileno(), data) :]
                except BlockingIOError:
                    if not self._wait(deadline):
                        raise BadAnswer(Failure.LATE, "it does not read its requests.") from None
                except OSError:
                    raise self._make_crash_error() from None
        finally:
            self._selector.unregister(self._in)

    def receive(self, deadline: float) -> str:
        """Read one line. Raises BadAnswer if the program exits, times out or writes too much."""
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_OUTPUT:
                raise BadAnswer(Failure.FLOODED, f"it wrote a line of more than {MAX_OUTPUT:,} bytes.")
            if not self._wait(deadline) and b"\n" not in self._buffer:
                raise BadAnswer(Failure.LATE, "no answer came in time.")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.decode("utf-8", "replace")

    def _wait(self, deadline: float) -> bool:
        """Wait until a pipe is ready and read the output. Return False if the deadline had passed."""
        seconds = deadline - monotonic()
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fileobj is self._err:
                self._drain_stderr()
            elif key.fileobj is self._out:
                try:
                    data = os.read(self._out.fileno(), _CHUNK_BYTES)
                except BlockingIOError:
                    continue
                if not data:
                    raise self._make_crash_error()
                self._buffer += data
        return seconds > 0

    def _drain_stderr(self) -> None:
        try:
            data = os.read(self._err.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(self._err)
            return
        self._stderr_tail = (self._stderr_tail + data)[-2000:]
        if self._log and self._log_size < MAX_LOG:
            self._log.write(data[: MAX_LOG - self._log_size])
            self._log.flush()
            self._log_size += len(data)

    def _make_crash_error(self) -> BadAnswer:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        for _ in range(MAX_LOG // _CHUNK_BYTES):
            if self._err not in {key.fileobj for key, _ in self._selector.select(0)}:
                break
            self._drain_stderr()
        code = self._process.poll()
        reason = "it closed its output" if code is None else _describe_exit(code)
        lines = self._stderr_tail.decode("utf-8", "replace").strip().splitlines()
        return BadAnswer(Failure.CRASHED, f"{reason}{f', saying {quote(lines[-1], 200)}' if lines else ''}.")

    def close(self) -> bool:
        """Close the input, kill remaining processes, and return whether the program exited before that."""
        with suppress(OSError):
            self._in.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        exited = self._process.poll() is not None
        self.kill()
        return exited

    def kill(self) -> None:
        """Kill the program and its descendants, and release the pipes."""
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
        """Send SIGKILL; the thread that reads from the program cleans up."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def split_command(command: str) -> list[str]:
    """Split a command line. Raises DuelsError if it is empty or a quote is not closed."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DuelsError(f"Cannot parse the command {quote(command, 80)}: {error}.") from None
    if not words:
        raise DuelsError("cmd: needs a command, such as cmd:python bot.py.")
    return words


def _start_watchdog(program: subprocess.Popen[bytes], mark: str) -> subprocess.Popen[bytes] | None:
    """Start a shell that kills the program when we close its input or exit."""
    if os.name != "posix":
        return None
    try:
        return subprocess.Popen(
            ["sh", "-c", WATCHDOG_SCRIPT, "sh", str(program.pid), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that it survives a signal to our process group
        )
    except BaseException:
        program.kill()
        program.wait()
        raise


def _limit_memory(pid: int, memory_mb: int | None) -> None:
    """Limit a running program, on Linux only: code between fork and exec would not be thread-safe."""
    if sys.platform != "linux":
        return
    import resource

    with suppress(ProcessLookupError):  # it has already exited
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if memory_mb:
            # Not the address space, of which some runtimes reserve far more than they use.
            limit = memory_mb * 1024 * 1024
            _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
            if hard == resource.RLIM_INFINITY or limit < hard:
                resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:  # real-time signals have no name
        return f"it was ended by signal {-code}"
