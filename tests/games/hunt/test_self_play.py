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
from duels.games.hunt.strategy import CELLS, OFF, OTHER_MEMORY, OWN_MEMORY, load_strategy
from tools.hunt.simulation import SampleMean

PAIR = PairValues(load_strategy(), load_table())


def turn_ahead(mover: Seat, own_memory: int, other_memory: int, own: int, other: int) -> float:
    """Return the chance before a turn from those after it, by the strategy's weights."""
    row = (
        own_memory * len(OTHER_MEMORY.states)
        + OTHER_MEMORY.state_indices[OWN_MEMORY.states[other_memory][:1]]
    )
    moves, chance = load_strategy()[mover].move_weights(row, own), 0.0
    for cell, weight in enumerate(moves):
        if not weight or cell == other:
            continue
        names = load_strategy()[mover].observation_weights(row, cell)
        for named, share in enumerate(names):
            won = PAIR.after_observation(mover, own_memory, other_memory, cell, other, named)
            chance += weight / sum(moves) * share / sum(names) * won
    return chance


def test_every_value_is_the_mean_of_its_successors() -> None:
    rng, latest = Random(1), OWN_MEMORY.latest
    for _ in range(2000):
        mover, own_memory, other_memory = rng.choice(list(Seat)), rng.randrange(1, 400), rng.randrange(1, 400)
        own, other = rng.sample(range(CELLS), 2)
        if own != latest[other_memory]:
            position = (mover, own_memory, other_memory, own, other)
            assert PAIR.before_turn(*position) == pytest.approx(turn_ahead(*position), abs=2 * ROUNDING)


def test_mirrored_positions_have_the_same_value() -> None:
    """After the middle was named last, the table has both mirror images; otherwise it has one of them."""
    rng, latest, mirrored = Random(2), OWN_MEMORY.latest, OWN_MEMORY.mirrored
    in_the_middle = [memory for memory in range(1, 400) if latest[memory] == CELLS // 2]
    compared = 0
    for _ in range(500):
        own_memory, other_memory = rng.choice(in_the_middle), rng.randrange(1, 400)
        own, other = rng.sample(range(CELLS), 2)
        if own == latest[other_memory]:
            continue
        turned = (mirrored[own_memory], mirrored[other_memory], CELLS - 1 - own, CELLS - 1 - other)
        compared += turned != (own_memory, other_memory, own, other)
        assert PAIR.before_turn(Seat.ONE, *turned) == pytest.approx(
            PAIR.before_turn(Seat.ONE, own_memory, other_memory, own, other), abs=2 * ROUNDING
        )
    assert compared > 300


def test_the_opening_agrees_with_exact_sums() -> None:
    """The value agrees with docs/solved.md, which computes it by forward sums."""
    assert PAIR.before_turn(Seat.ONE, 0, 0, OFF, OFF) == pytest.approx(0.5283, abs=0.00005 + ROUNDING)


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
