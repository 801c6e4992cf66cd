"""The real command in a pseudo-terminal: keys go in, raw bytes come out."""

import fcntl
import os
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests.support import COMMAND, environment

PASS = "Pass the keyboard to {}, then press Enter. "
HIDE = "Press Enter to hide this. "
PATIENCE = 30  # seconds until a test that waits in vain fails
CLEAR = "\x1b[2J\x1b[H"


class Terminal:
    """A terminal with `duels` running in it. Use as a context manager."""

    shell: Sequence[str] = ()
    """What runs the command, if it is not the terminal itself."""

    def __init__(
        self,
        folder: Path,
        *arguments: str | Path,
        size: tuple[int, int] = (80, 24),
        program: str = COMMAND[-1],
        **variables: Any,
    ) -> None:
        self.master, worker = os.openpty()
        columns, rows = size
        termios.tcsetwinsize(worker, (rows, columns))
        self.found = termios.tcgetattr(self.master)
        self.process = subprocess.Popen(
            [*self.shell, *COMMAND[:-1], program, *map(str, arguments)],
            stdin=worker,
            stdout=worker,
            stderr=worker,
            env=environment(folder, **variables),
            start_new_session=True,
            # Ctrl-C reaches only the session that the terminal controls.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(worker)
        self.output = b""
        self._read_to = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def expect(self, text: str) -> None:
        """Wait until `text` comes, after what was waited for before."""
        while (found := self.output.find(text.encode(), self._read_to)) < 0:
            if not self._receive():
                raise AssertionError(f"waited for {text!r}, got {self.output[self._read_to :]!r}")
        self._read_to = found + len(text)

    def send(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def ask(self, prompt: str) -> None:
        """Wait until the cursor stands after `prompt`: a match told again shows old prompts as well."""
        self.ask_any(prompt)

    def answer(self, prompt: str, line: str | bytes) -> None:
        """Wait for the question, then enter `line`."""
        self.ask(prompt)
        self.send((line.encode() if isinstance(line, str) else line) + b"\n")

    def ask_any(self, *prompts: str) -> str:
        """Wait until the cursor stands after one of them; which one that is."""
        while True:
            shown = self.output[self._read_to :]
            for prompt in prompts:
                if shown.endswith(prompt.encode()):
                    self._read_to = len(self.output)
                    self._wait_until_idle()
                    return prompt
            if not self._receive():
                raise AssertionError(f"waited for {prompts}, got {shown!r}")

    def _wait_until_idle(self) -> None:
        """Wait until the command waits for a key: readline hears an earlier signal only after one."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            try:
                status = Path(f"/proc/{os.tcgetpgrp(self.master)}/stat").read_text()
            except OSError:  # no such system, or the command has left
                time.sleep(0.05)
                return
            if status.rpartition(")")[2].split()[0] in "ST":
                return
            time.sleep(0.002)

    def press(self, prompt: str, key: str) -> None:
        """Wait for the question, then press one key."""
        self.ask(prompt)
        self.send(key)

    def wait(self) -> int:
        """Read to the end; the exit code."""
        while self._receive():
            pass
        return self.process.wait(timeout=PATIENCE)

    @property
    def left_as_found(self) -> bool:
        return termios.tcgetattr(self.master) == self.found

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def wait_for_hiding(self) -> None:
        """Wait until nothing that is typed is shown any more."""
        give_up = time.monotonic() + PATIENCE
        while self.echoes and time.monotonic() < give_up:
            time.sleep(0.01)

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace").replace("\r\n", "\n")

    @property
    def left_behind(self) -> str:
        """All that was ever on the main screen, the only one with a scroll-back."""
        pieces = re.split(r"\x1b\[\?1049h(.*?)\x1b\[\?1049l", self.text, flags=re.DOTALL)
        assert "\x1b[?1049" not in "".join(pieces[::2]), "the other screen was entered and left in turn"
        return "".join(pieces[::2])

    @property
    def screens(self) -> list[str]:
        """Everything shown, from one clearing of the screen to the next."""
        return self.text.split(CLEAR)

    @property
    def whispered(self) -> str:
        """All that was shown to one of two people and then cleared away."""
        return "\n".join(screen for screen in self.screens if HIDE in screen)

    @property
    def said_aloud(self) -> str:
        """All that was on a screen at which both may have looked."""
        return CLEAR.join(screen for screen in self.screens if HIDE not in screen)

    def _receive(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], PATIENCE)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the command has left the terminal
            return False
        self.output += data
        return bool(data)


# The shell of a terminal: it starts a job, and when that is stopped, waits for Enter and lets it go on.
_SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    os.write(1, b"stopped$ ")
    os.read(0, 100)
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
"""
STOPPED = "stopped$ "


class Job(Terminal):
    """The command as a job of a shell, which can be stopped and go on."""

    shell = (sys.executable, "-c", _SHELL)

    def signal(self, number: int) -> None:
        """Send a signal to the job, not to the shell."""
        os.killpg(os.tcgetpgrp(self.master), number)
