"""Example games that are passed in: everything that works with ours works with them."""

import json
import pickle
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, cast
from xml.etree import ElementTree

import duels_liarsdice
import duels_tictactoe
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import duels
from duels.analysis.export import Export, export
from duels.analysis.levels import measure_levels
from duels.analysis.review_page import render_review_page
from duels.core.errors import TooLarge
from duels.core.match import AnyMatch, Match
from duels.core.narration import Narration
from duels.core.record import dump_record
from duels.core.rules import AnyRules, Ending, Seat
from duels.core.words import strip_ink
from duels.envs import gymnasium as gymnasium_duels
from duels.envs import openspiel as openspiel_duels
from duels.envs import pettingzoo as pettingzoo_duels
from duels.envs.conformance import check_environments
from duels.play.narrator import Narrator
from duels.players import PLAYER_KINDS
from duels.terminal.board.story import Story
from tests.support import lines_of, play_randomly
from tests.terminal.board.pilot import live_match

pyspiel = pytest.importorskip("pyspiel")

TICTACTOE = duels_tictactoe.GAME.rules()
LIARSDICE = duels_liarsdice.GAME.rules(sides=2)
BOTH = pytest.mark.parametrize("rules", [TICTACTOE, LIARSDICE], ids=lambda rules: rules.name)


def whole_match(rules: AnyRules, seed: int = 1) -> AnyMatch:
    return play_randomly(Match.start(rules), Random(seed), 100)


@BOTH
def test_every_environment(rules: AnyRules) -> None:
    checked = check_environments(rules)
    assert not checked.skip_reasons
    assert len(checked.environments) > 5


def test_every_environment_reaches_a_draw() -> None:
    assert check_environments(TICTACTOE, games=30).endings[Ending.DRAWN] > 0


@BOTH
def test_the_frameworks_own_suites_pass(rules: AnyRules) -> None:
    game = rules.game
    env = gymnasium.make(gymnasium_duels.register(game), **cast(Any, rules.options())).unwrapped
    check_env(env, skip_render_check=True)
    api_test(pettingzoo_duels.env(rules), num_cycles=100)
    seed_test(lambda: pettingzoo_duels.env(rules), num_cycles=10)
    pyspiel.random_sim_test(openspiel_duels.load_game(rules), num_sims=10, serialize=False, verbose=False)


@BOTH
def test_rollouts_count_every_game(rules: AnyRules) -> None:
    tally = duels.vector.make(rules, 64, seed=1).rollout(500)
    assert tally.games == int(tally.wins.sum() + tally.draws.sum() + tally.truncated.sum()) > 1000
    assert bool(tally.draws.sum()) == (rules is TICTACTOE)
    assert not tally.truncated.any()


@pytest.mark.slow
def test_perfect_play_of_tictactoe_is_not_exploitable() -> None:
    assert duels.exploitability("perfect", TICTACTOE) == 0
    assert 0.05 < duels.exploitability("random", duels_tictactoe.GAME) < 0.5
    first = duels.table_of(lambda observation, mask: int(np.flatnonzero(mask)[0]), TICTACTOE)
    assert 0 < duels.exploitability(first, TICTACTOE) <= 0.5


def test_perfect_play_of_liarsdice_is_within_its_bound() -> None:
    bounds = duels.exploitability_bounds("perfect", LIARSDICE)
    assert 0 <= bounds.low <= bounds.high < 0.002
    assert duels.exploitability("random", LIARSDICE) > 0.1


@pytest.mark.slow
def test_default_liarsdice_can_be_searched() -> None:
    assert duels.exploitability("random", duels_liarsdice.GAME) > 0.3


def test_errors_about_large_games_suggest_smaller_options() -> None:
    with pytest.raises(TooLarge, match=r"too large to search completely.*: choose smaller options\.$"):
        duels.exploitability("random", duels_liarsdice.GAME, sides=9)


@BOTH
@pytest.mark.parametrize("level", [name for name, kind in PLAYER_KINDS.items() if kind.make])
def test_every_player_can_play(rules: AnyRules, level: str) -> None:
    player = duels.make_player(level, rules)
    match = Match.start(rules)
    while (actor := match.actor) is not None:
        rng = Random(1)
        if isinstance(actor, Seat):
            match = match.play(actor, player.choose(match.sight(actor), rng))
        else:
            match = match.play(actor, duels.draw(match, rng))


@BOTH
def test_hints_reviews_exercises_and_levels(rules: AnyRules) -> None:
    match = whole_match(rules)
    review = duels.review(match)
    parts = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
    assert parts == pytest.approx(review.score)
    assert rules.game.title in render_review_page(review)
    deciding = next(step for step in match.steps() if isinstance(step.actor, Seat))
    assert duels.hint(deciding.sight(deciding.actor)).actions  # type: ignore[arg-type]
    for exercise in islice(duels.exercises(rules, seed="1"), 2):
        assert exercise.grade(exercise.verdict.best[0]).text
    rows = measure_levels(rules, 4, "1", lambda text: None)
    assert next(row.name for row in rows) == "random"


@BOTH
def test_records_round_trip_with_a_given_game(rules: AnyRules) -> None:
    for seed in range(5):
        match = whole_match(rules, seed)
        for seat in (None, *Seat):
            record = duels.load_record(dump_record(match, {}, seat), rules.game)
            if seat is None:
                assert lines_of(record.match) == lines_of(match)
            else:
                assert record.match.sight(seat) == match.sight(seat)
        assert pickle.loads(pickle.dumps(match)).outcome == match.outcome
    with pytest.raises(duels.RecordError, match="no game"):
        duels.load_record(dump_record(match))


def test_plain_sentences_in_the_third_person_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the prompt and beside the full-screen board; `tests/web/test_log.py` has the pages."""
    text = "Player 1 was caught on cell 4 and always loses ties."
    monkeypatch.setattr("duels_tictactoe.words.TicTacToeWords.narrate", lambda words, seen: Narration([text]))
    for one, two in (("human", "random"), ("random", "human"), ("human", "human")):
        live = live_match(duels_tictactoe.GAME, one, two, entries="4")
        assert strip_ink(Story(live, live.people).text).endswith(f": 4\n{text}")
    assert "".join(Narrator(live.words, live.people).render_match(live.match)).endswith(f": 4\n{text}\n")


@BOTH
def test_boards_are_drawn(rules: AnyRules) -> None:
    drawing = rules.game.drawing(rules)
    for step in whole_match(rules).steps():
        for seat in Seat:
            svg = ElementTree.fromstring(drawing.draw(step.sight(seat)))
            assert svg.tag.endswith("svg")
            assert "".join(svg.itertext()).strip()


@BOTH
def test_exports_have_what_learners_need(rules: AnyRules, tmp_path: Path) -> None:
    for name in ("matches.jsonl", "matches.parquet"):
        assert export(Export(rules, ("club", "random"), "1", 3), tmp_path / name) == 0
    lines = [json.loads(line) for line in (tmp_path / "matches.jsonl").read_text().splitlines()]
    assert len(lines) == 3
    assert {line["ending"] for line in lines} <= {"won", "drawn"}
