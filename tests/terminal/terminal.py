"""The `duels` command in a pseudo-terminal."""

import fcntl
import json
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

from duels.games import GAMES
from tests.support import COMMAND, environment

PASS = "Pass the keyboard to {}, then press Enter. "
HIDE = "Press Enter to hide this. "
PATIENCE = 30  # seconds
CLEAR = "\x1b[2J\x1b[H"


class Terminal:
    """A terminal with `duels` running in it. Use as a context manager."""

    shell: Sequence[str] = ()
    """The command line of a shell that runs the command, if any."""

    def __init__(
        self,
        folder: Path,
        *arguments: str | Path,
        size: tuple[int, int] = (80, 24),
        program: str = COMMAND[-1],
        offers_lesson: bool = False,
        **variables: Any,
    ) -> None:
        if not offers_lesson:
            folder.joinpath("lessons.json").write_text(json.dumps(dict.fromkeys(GAMES, True)))
        self.master, worker = os.openpty()
        columns, rows = size
        termios.tcsetwinsize(worker, (rows, columns))
        self._settings = termios.tcgetattr(self.master)
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
        """Wait for `text` in the output after the last expected text."""
        while (index := self.output.find(text.encode(), self._read_to)) < 0:
            if not self._receive():
                raise AssertionError(f"waited for {text!r}, got {self.output[self._read_to :]!r}")
        self._read_to = index + len(text)

    def send(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def ask(self, prompt: str) -> None:
        """Wait until the output ends with `prompt`. A replayed match may show it before."""
        self.ask_any(prompt)

    def answer(self, prompt: str, line: str | bytes) -> None:
        """Wait for the prompt, then enter `line`."""
        self.ask(prompt)
        self.send((line.encode() if isinstance(line, str) else line) + b"\n")

    def ask_any(self, *prompts: str) -> str:
        """Wait until the output ends with one of the prompts, and return it."""
        while True:
            output = self.output[self._read_to :]
            for prompt in prompts:
                if output.endswith(prompt.encode()):
                    self._read_to = len(self.output)
                    self._wait_until_idle()
                    return prompt
            if not self._receive():
                raise AssertionError(f"waited for {prompts}, got {output!r}")

    def _wait_until_idle(self) -> None:
        """Wait until the command waits for a key. Until then, readline delays signals."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                status = Path(f"/proc/{os.tcgetpgrp(self.master)}/stat").read_text()
            except OSError:  # no /proc, or the command has exited
                time.sleep(0.05)
                return
            if status.rpartition(")")[2].split()[0] in "ST":
                return
            time.sleep(0.002)

    def press(self, prompt: str, key: str) -> None:
        """Wait for the prompt, then press one key."""
        self.ask(prompt)
        self.send(key)

    def wait(self) -> int:
        """Read the output to its end and return the exit code."""
        while self._receive():
            pass
        return self.process.wait(timeout=PATIENCE)

    @property
    def is_restored(self) -> bool:
        return termios.tcgetattr(self.master) == self._settings

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def wait_for_no_echo(self) -> None:
        """Wait until the terminal does not echo input."""
        deadline = time.monotonic() + PATIENCE
        while self.echoes and time.monotonic() < deadline:
            time.sleep(0.01)

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace").replace("\r\n", "\n")

    @property
    def main_screen(self) -> str:
        """Everything written to the main screen, the only one with a scroll-back."""
        pieces = re.split(r"\x1b\[\?1049h(.*?)\x1b\[\?1049l", self.text, flags=re.DOTALL)
        assert "\x1b[?1049" not in "".join(pieces[::2]), "each switch to the alternate screen must be undone"
        return "".join(pieces[::2])

    @property
    def screens(self) -> list[str]:
        """The output, split at each clearing of the screen."""
        return self.text.split(CLEAR)

    @property
    def private_text(self) -> str:
        """Everything shown to one of two people only."""
        return "\n".join(screen for screen in self.screens if HIDE in screen)

    @property
    def public_text(self) -> str:
        """Everything that both people may have seen."""
        return CLEAR.join(screen for screen in self.screens if HIDE not in screen)

    def _receive(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], PATIENCE)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the command has closed the terminal
            return False
        self.output += data
        return bool(data)


# A shell that starts a job. When the job is suspended, the shell waits for Enter and resumes it.
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
    """The command as a job of a shell, which can be suspended and resumed."""

    shell = (sys.executable, "-c", _SHELL)

    def signal(self, number: int) -> None:
        """Send a signal to the job, not to the shell."""
        os.killpg(os.tcgetpgrp(self.master), number)
