import threading
import time

import pytest

from duels.envs import running


def test_nothing_is_played_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FEWEST", 1)
    caller, helping = threading.current_thread(), threading.Event()
    begun, done = list[slice](), list[slice]()

    def play(part: slice) -> None:
        if threading.current_thread() is caller:
            helping.wait()
            raise KeyboardInterrupt
        begun.append(part)
        helping.set()
        time.sleep(0.01)  # the caller is interrupted meanwhile
        done.append(part)

    with pytest.raises(KeyboardInterrupt):
        running.Parts(200, threads=2).run(play)
    assert begun == done
    assert len(done) < 199, "What was left was played before the interrupt was told."
