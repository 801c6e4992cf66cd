"""Failures are told between processes as they are."""

import pickle

from duels.players.completions import Usage
from duels.players.failures import Failed, Failure, NoMove
from duels.players.model import ModelGaveNone


def test_failures_go_from_one_process_to_another() -> None:
    late = Failed(Failure.LATE, "no answer came in time.")
    for told in (NoMove("bot", (late, late)), ModelGaveNone("bot", (late, late), Usage(1, 2, 3))):
        again = pickle.loads(pickle.dumps(told))
        assert type(again) is type(told)
        assert str(again) == str(told)
        assert [(each.failure, each.detail) for each in again.failed] == [(late.failure, late.detail)] * 2
        assert getattr(again, "used", None) == getattr(told, "used", None)
