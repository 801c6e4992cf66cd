"""A user's program: `mypy --strict` finds the type of everything in it."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, assert_type

import duels
from duels import vector
from duels.envs.pettingzoo import GuardedDuelEnv, chain_v0
from duels.envs.pettingzoo.aec import Observation

AnyMatch = duels.Match[Any, Any, Any]


def play(name: str) -> AnyMatch:
    """A match of two greedy players."""
    match = assert_type(duels.start(name), AnyMatch)
    player = assert_type(duels.make_player("greedy", match.rules), duels.Player)
    rng = Random(0)
    while (actor := match.actor) is not None:
        if isinstance(actor, duels.Seat):
            match = match.play(actor, player.choose(match.sight(actor), rng))
        else:
            assert_type(actor is duels.CHANCE, bool)
            match = match.play(actor, duels.draw(match, rng))
    return assert_type(match, AnyMatch)


def games() -> None:
    for game in assert_type(duels.all_games(), tuple[duels.Game, ...]):
        assert_type(game.rules(), duels.Rules[Any, Any, Any])
    chain = assert_type(duels.find_game("chain"), duels.Game)
    assert_type(duels.start(chain, max_boards=3), AnyMatch)
    assert_type(duels.start(chain.rules(max_boards=3)), AnyMatch)
    assert_type(duels.__version__, str)


def records(match: AnyMatch) -> None:
    text = assert_type(duels.dump_record(match), str)
    record = assert_type(duels.load_record(text), duels.Record)
    assert_type(record.match, AnyMatch)
    outcome = assert_type(record.match.outcome, duels.Outcome | None)
    if outcome:
        assert_type(outcome.ending, duels.Ending)
        assert_type(outcome.winner, duels.Seat | None)
        assert_type(outcome.code, str)


def sights(match: AnyMatch) -> None:
    sight = assert_type(match.sight(duels.Seat.ONE), duels.Sight[Any, Any])
    assert_type(sight.events, Sequence[duels.Event])


def errors(match: AnyMatch) -> None:
    try:
        match.play_text("nonsense")
    except duels.NotationError as error:
        assert_type(error, duels.NotationError)
    except (duels.IllegalMove, duels.GameOver, duels.NotYourTurn, duels.DuelsError):
        raise


def arrays() -> None:
    batch = assert_type(vector.make("chain", 64, seed=1), vector.Batch)
    assert_type(duels.vector.make("chain"), vector.Batch)
    assert_type(batch.num_envs, int)


def grading() -> None:
    assert_type(duels.exploitability("random", "lights"), float)
    bounds = duels.exploitability_bounds("random", "lights")
    assert_type(bounds.low, float)


def analysis(match: AnyMatch) -> None:
    review = assert_type(duels.review(match), duels.Review)
    assert_type(review.score, float)
    assert_type(review.loss(duels.Seat.ONE), float)
    assert_type(review.entries[0].luck, float)
    hint = assert_type(duels.hint(match.sight(duels.Seat.ONE)), duels.Hint[Any])
    assert_type(hint.text, str)
    assert_type(hint.value.number, float)
    for exercise in assert_type(duels.exercises("lights", lights=12), Iterator[duels.Exercise]):
        assert_type(exercise.sight, duels.Sight[Any, Any])
        assert_type(exercise.grade(exercise.sight.actions[0]).right, bool)


def environments() -> None:
    env = assert_type(chain_v0.env(max_boards=3), GuardedDuelEnv)
    assert_type(env.agents, list[str])
    assert_type(env.agent_selection, str)
    assert_type(env.rewards, dict[str, float])
    assert_type(env.terminations, dict[str, bool])
    assert_type(env.truncations, dict[str, bool])
    assert_type(env.infos, dict[str, dict[str, Any]])
    last = env.last()
    assert_type(last, tuple[Observation | None, float, bool, bool, dict[str, Any]])


def mistakes() -> None:
    """Strict mypy complains of an `ignore` that ignores nothing: each of these is noticed."""
    chain_v0.env().no_such_thing()  # type: ignore[attr-defined]
    chain_v0.env(max_moves=3)  # type: ignore[call-arg]
    duels.find_game("chain").rules_class().no_such_thing()  # type: ignore[attr-defined]
    duels.find_game("chain").rules().no_such_thing()  # type: ignore[attr-defined]
    vector.make("chain").no_such_thing()  # type: ignore[attr-defined]
