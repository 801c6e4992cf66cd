"""The table of self-play: consistent, true in simulation, and rejected if damaged."""

from pathlib import Path
from random import Random

import pytest

from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games.hunt.oracle import make_oracle
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.self_play import ROUNDING, SELF_PLAY_FILE, PairValues, load_table
from duels.games.hunt.strategy import (
    CELLS,
    OPENING_TURNS,
    PATHS,
    Cells,
    PublicState,
    get_position,
    load_strategy,
    mirror_cells,
)
from tools.hunt.simulation import SampleMean

PAIR = PairValues(load_strategy(), load_table())


def make_public_state(observations: Cells) -> PublicState:
    public = PublicState()
    for cell in observations:
        public = public.observe(cell)
    return public


def draw_state(rng: Random, digits: int) -> tuple[PublicState, Cells, Cells]:
    """Return a public state after `digits` observations, and paths of tokens that it allows."""
    observations: Cells = ()
    for _ in range(digits):
        observations += (rng.choice([c for c in range(CELLS) if c not in observations[-2:-1]]),)
    while True:
        own, other = (
            rng.choice(PATHS[turns]) if turns < OPENING_TURNS else (rng.randrange(CELLS),)
            for turns in (digits // 2, (digits + 1) // 2)
        )
        if not own or own[-1] not in (get_position(other), observations[-1]):
            return make_public_state(observations), own, other


def turn_ahead(public: PublicState, own: Cells, other: Cells) -> float:
    """Return the chance before a turn from those after it, by the strategy's weights."""
    tables, chance = load_strategy()[public.mover], 0.0
    moves = tables.move_weights(public, own)
    for cell, weight in enumerate(moves):
        path = public.extend_path(own, cell)
        if not weight or cell == get_position(other):
            continue
        names = tables.observation_weights(public, path)
        for named, share in enumerate(names):
            if not share:
                continue
            won = PAIR.after_observation(public, path, other, named)
            chance += weight / sum(moves) * share / sum(names) * won
    return chance


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 4, 5, 6, 7, 12, 19])
def test_every_value_is_the_mean_of_its_successors(digits: int) -> None:
    rng = Random(digits)
    for _ in range(100):
        state = draw_state(rng, digits)
        assert PAIR.before_turn(*state) == pytest.approx(turn_ahead(*state), abs=2 * ROUNDING)


def test_mirrored_positions_have_the_same_value() -> None:
    """After the mover observed the middle, the table has both mirror images; otherwise it has one of them."""
    rng, compared = Random(2), 0
    while compared < 300:
        public, own, other = draw_state(rng, rng.randrange(2 * OPENING_TURNS, 15))
        image = make_public_state(mirror_cells(public.observations)), mirror_cells(own), mirror_cells(other)
        assert PAIR.before_turn(*image) == pytest.approx(
            PAIR.before_turn(public, own, other), abs=2 * ROUNDING
        )
        compared += public.observations[-2] == CELLS // 2


@pytest.mark.parametrize(
    "entries",
    [
        ("move 3", "observe 5", "move 2", "observe 6"),
        (
            "move 4",
            "observe 1",
            "tunnel 7",
            "observe 1",
            "move 5",
            "observe 4",
            "move 7",
            "observe 3",
            "move 6",
        ),
    ],
)
def test_values_agree_with_simulated_matches(entries: tuple[str, ...]) -> None:
    oracle, rng = make_oracle(QuantumHunt()), Random(3)
    start = Match.start(QuantumHunt()).play_text(*entries)
    won = []
    for _ in range(1500):
        match = start
        while match.actor is not None:
            sight = match.sight(match.actor)  # type: ignore[arg-type]
            match = match.play(sight.seat, rng.choices(sight.actions, oracle.weights(sight))[0])
        assert match.outcome
        won.append(float(match.outcome.winner is Seat.ONE))
    value = oracle.full_information_value(start.sight(Seat.ONE), start.sight(Seat.TWO)).number
    assert SampleMean.from_samples(won).agrees(value)


def test_rejects_a_damaged_table(tmp_path: Path) -> None:
    content = bytearray(SELF_PLAY_FILE.read_bytes())
    content[len(content) // 2] ^= 1
    broken = tmp_path / SELF_PLAY_FILE.name
    broken.write_bytes(content)
    for path in (broken, tmp_path / "missing.bin"):
        with pytest.raises(DuelsError, match="reinstall duels"):
            load_table(path)
