"""List the files of `src/duels` that one move executes, on four surfaces: `make trace`.

Each surface plays one move before the traced one, so lazy imports and caches do not count. Tracing does not
see code compiled by Numba: a compiled step shows only the files that drive it.
"""

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any
from unittest import mock

PACKAGE = f"{Path(__file__).parent.parent / 'src' / 'duels'}{os.sep}"
GAME = "chain"


class Tracer:
    """Collects the files of the package that any thread executes while `recording`."""

    def __init__(self) -> None:
        self.recording = False
        self.files: set[str] = set()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install the trace function in this thread and in threads started meanwhile."""
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)

    @contextmanager
    def record(self) -> Iterator[None]:
        """Collect files in the `with` block."""
        self.recording = True
        try:
            yield
        finally:
            self.recording = False

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(PACKAGE):
            return None
        if self.recording and event == "line":
            self.files.add(path.removeprefix(PACKAGE))
        return self._trace


def play_at_terminal(tracer: Tracer, folder: Path) -> None:
    """Record the code between the prompts of two people."""
    from duels.core.words import Question
    from duels.games import find_game
    from duels.play.new_match import MatchSetup
    from duels.terminal.play import play_new_match
    from duels.terminal.screen import Screen

    questions = 0
    ask = Screen.ask

    def ask_and_record(screen: Screen, question: Question, unseen: bool = False) -> str:
        nonlocal questions
        questions += 1
        tracer.recording = questions == 2
        return ask(screen, question, unseen)

    new = MatchSetup(find_game(GAME).rules(), "human", "human", path=folder / "terminal.duel")
    with (
        mock.patch.object(Screen, "ask", ask_and_record),
        mock.patch.object(sys, "stdin", io.StringIO("4\n1\n7\n")),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        play_new_match(new, Screen())


def play_in_browser(tracer: Tracer, folder: Path) -> None:
    """Record from a click until both players have received the new board."""
    from tests.web.serving import pair, serving

    with serving(str(folder / "web.sqlite3")) as base:
        ann, bob, match = pair(base, GAME)
        players = [ann, bob] if ann.see(match)["turn"] == "you" else [bob, ann]
        with ann.watching(match, form="") as at_ann, bob.watching(match, form="") as at_bob:
            for player, action in zip(players, ("4", "1"), strict=True):
                event: int = player.see(match)["event"]
                with tracer.record() if action == "1" else nullcontext():
                    answer = player.act(match, action, event)
                    assert answer.status_code == 204, answer.text
                    for events in (at_ann, at_bob):
                        while events.next_text()[0] <= event:
                            pass
        ann.close()
        bob.close()


def step_pettingzoo(tracer: Tracer, folder: Path) -> None:
    """Record one step and the observation after it."""
    from duels.envs.pettingzoo import chain_v0

    env = chain_v0.env()
    env.reset(seed=1)
    env.step(3)
    env.last()
    with tracer.record():
        env.step(0)
        env.last()


def step_compiled_flip(tracer: Tracer, folder: Path) -> None:
    """Record one step of 64 games in compiled code."""
    from duels import vector

    batch = vector.make("flip", 64, seed=1)
    batch.step(batch.sample())
    actions = batch.sample()
    with tracer.record():
        batch.step(actions)


SURFACES: dict[str, Callable[[Tracer, Path], None]] = {
    "a terminal move": play_at_terminal,
    "a browser move": play_in_browser,
    "a PettingZoo step": step_pettingzoo,
    "a compiled flip step": step_compiled_flip,
}


def trace(play: Callable[[Tracer, Path], None]) -> list[str]:
    """Return the files that a move on a surface executes."""
    tracer = Tracer()
    with TemporaryDirectory() as folder, mock.patch.dict(os.environ, DUELS_HOME=folder), tracer.installed():
        play(tracer, Path(folder))
    return sorted(tracer.files)


def main() -> None:
    for name, play in SURFACES.items():
        files = trace(play)
        print(f"{name}: {len(files)} files")
        print("".join(f"  {file}\n" for file in files))


if __name__ == "__main__":
    main()
