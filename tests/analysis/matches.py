"""Matches for tests of analysis."""

from itertools import islice
from random import Random

import duels
from duels.core.match import AnyMatch, play_through
from duels.games import find_game


def random_match(game: str, rng: Random, max_entries: int = 80) -> AnyMatch:
    """Play a match of random moves with at most this many entries."""
    *_, match = islice(
        play_through(duels.start(game), rng, lambda match, _: rng.choice(match.actions)), max_entries + 1
    )
    return match


def level_match(game: str, level: str, rng: Random) -> AnyMatch:
    """A match of two players of a level."""
    player = duels.make_player(level, find_game(game).rules())
    *_, match = play_through(
        duels.start(game), rng, lambda match, seat: player.choose(match.sight(seat), rng)
    )
    return match
