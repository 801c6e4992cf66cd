"""Failures can be sent between processes."""

import pickle

from duels.players.failures import BadAnswer, Failure, NoMove


def test_failures_can_be_pickled() -> None:
    late = BadAnswer(Failure.LATE, "no answer came in time.")
    failure = NoMove("bot", (late, late))
    again = pickle.loads(pickle.dumps(failure))
    assert str(again) == str(failure)
    assert [(each.failure, each.detail) for each in again.failed] == [(late.failure, late.detail)] * 2
