"""Quantum Flip on integers, in the subset of Python that Numba compiles.

Engines run these functions as plain Python. Batches compile them if Numba is installed. A test compares them
with the rules, move by move.

A game is a row of small integers: the position, the observation of the player to move, and the action mask.
A layout is a tuple of sizes and indices: it says where each part of a game begins under the given rules.
"""

from collections.abc import MutableSequence, Sequence
from functools import lru_cache

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, list_neighbours
from duels.solving.tables import ONGOING

# Indices into a game. The counts at BAG are the unseen tiles of each value. After them comes the face of each
# tile: 0 (never seen), its value (flipped), or its value plus the highest value (seen and face down again).
MOVER, CHOOSING, FIRST_LIFTED, SECOND_LIFTED = range(4)
SCORES = 4  # one per seat
QUANTUM = 6  # whether each seat still has its Quantum Flip
UNSEEN, FACE_DOWN, LEGAL_COUNT = 8, 9, 10  # numbers of tiles and of legal actions
BAG = 11

# Indices into a layout. Actions below the number at TILES flip a tile, those below FIRST_KEEP are Quantum
# Flips, those below ACTIONS keep a lifted tile. The numbers at FACES to IS_CHOOSING are indices into a game.
# From PAIRS on, a layout lists the two tiles of each Quantum Flip.
TILES, VALUES, TARGET, FIRST_KEEP, ACTIONS, FACES, OBSERVATION, MASK = range(8)
MY_SCORE, OTHER_SCORE, MY_QUANTUM, OTHER_QUANTUM, LIFTED, IS_CHOOSING = range(8, 14)
PAIRS = 14

_FEATURES = ("my_score", "other_score", "my_quantum", "other_quantum", "lifted", "choosing")

Game = MutableSequence[int]
Layout = Sequence[int]


@lru_cache(maxsize=16)
def get_layout(rules: QuantumTiles) -> tuple[int, ...]:
    """Return the layout of games under `rules`."""
    encoding, pairs, tiles = Encoding(features(rules)), list_neighbours(rules.side), rules.side**2
    keep, faces = tiles + len(pairs), BAG + rules.values
    observation = faces + tiles
    mask = observation + encoding.size
    feature_starts = (observation + encoding.find_slice(name).start for name in _FEATURES)
    sizes_and_starts = (tiles, rules.values, rules.target, keep, keep + tiles, faces, observation, mask)
    return (*sizes_and_starts, *feature_starts, *(tile for pair in pairs for tile in pair))


@lru_cache(maxsize=16)
def get_first_game(rules: QuantumTiles) -> bytes:
    """Return a game before its first move."""
    layout = get_layout(rules)
    tiles = layout[TILES]
    game = [0] * BAG + [rules.copies] * rules.values + [0] * tiles
    game[QUANTUM] = game[QUANTUM + 1] = 1
    game[UNSEEN] = game[FACE_DOWN] = tiles
    game[LEGAL_COUNT] = layout[FIRST_KEEP]
    observation = Encoding(features(rules)).encode(rules.initial(), Seat.ONE)
    return bytes(game) + observation + bytes([1] * layout[FIRST_KEEP] + [0] * tiles)


def step(game: Game, action: int, chance: int, layout: Layout) -> int:
    """Play a legal action, with 32 random bits for chance. Return the winner or ONGOING."""
    if action >= layout[FIRST_KEEP]:
        put_down(game, layout)
        return flip_tile(game, action - layout[FIRST_KEEP], chance, layout)
    if action < layout[TILES]:
        return flip_tile(game, action, chance, layout)
    pair = PAIRS + 2 * (action - layout[TILES])
    lift_pair(game, layout[pair], layout[pair + 1], chance, layout)
    return ONGOING


def flip_tile(game: Game, tile: int, chance: int, layout: Layout) -> int:
    """Flip a tile, score its value and pass the turn. Return the winner or ONGOING."""
    value = game[layout[FACES] + tile] - layout[VALUES]
    if value < 0:
        value = draw_value(game, chance * game[UNSEEN] >> 32)
    set_face(game, tile, value, layout)
    game[FACE_DOWN] -= 1
    game[layout[MASK] + tile] = 0
    mover = game[MOVER]
    other = 1 - mover
    old_score, other_score = game[SCORES + mover], game[SCORES + other]
    score = old_score + value
    # The observation is now the other player's.
    game[layout[MY_SCORE] + old_score] = game[layout[OTHER_SCORE] + other_score] = 0
    game[layout[MY_SCORE] + other_score] = game[layout[OTHER_SCORE] + score] = 1
    game[SCORES + mover], game[MOVER] = score, other
    game[layout[MY_QUANTUM]], game[layout[OTHER_QUANTUM]] = game[QUANTUM + other], game[QUANTUM + mover]
    game[LEGAL_COUNT] = game[FACE_DOWN]
    is_over = score >= layout[TARGET]
    if game[QUANTUM] or game[QUANTUM + 1]:
        mask_pairs(game, 0 if is_over else game[QUANTUM + other], layout)
    if not is_over:
        return ONGOING
    return mover if score == layout[TARGET] else other


def mask_pairs(game: Game, is_available: int, layout: Layout) -> None:
    """Set the mask of all Quantum Flips: legal if one is available and both tiles are face down."""
    mask, count = layout[MASK], 0
    for pair in range(layout[FIRST_KEEP] - layout[TILES]):
        index = PAIRS + 2 * pair
        legal = is_available & game[mask + layout[index]] & game[mask + layout[index + 1]]
        game[mask + layout[TILES] + pair] = legal
        count += legal
    game[LEGAL_COUNT] += count


def lift_pair(game: Game, tile_1: int, tile_2: int, chance: int, layout: Layout) -> None:
    """Lift two tiles. The mover must then keep one of them."""
    face_1, face_2, unseen = layout[FACES] + tile_1, layout[FACES] + tile_2, game[UNSEEN]
    if game[face_1] == 0 and game[face_2] == 0:
        # One ticket draws both tiles: the tickets of a first value are divided among the remaining tiles.
        ticket = chance * (unseen * (unseen - 1)) >> 32
        value = draw_value(game, ticket // (unseen - 1))
        for lower in range(value - 1):
            ticket -= game[BAG + lower] * (unseen - 1)
        set_face(game, tile_1, layout[VALUES] + value, layout)
        value_2 = draw_value(game, ticket // (game[BAG + value - 1] + 1))
        set_face(game, tile_2, layout[VALUES] + value_2, layout)
    elif game[face_1] == 0:
        set_face(game, tile_1, layout[VALUES] + draw_value(game, chance * unseen >> 32), layout)
    elif game[face_2] == 0:
        set_face(game, tile_2, layout[VALUES] + draw_value(game, chance * unseen >> 32), layout)
    game[FIRST_LIFTED], game[SECOND_LIFTED] = tile_1, tile_2
    set_lifted(game, 1, layout)
    for index in range(layout[MASK], layout[MASK] + layout[FIRST_KEEP]):
        game[index] = 0
    game[LEGAL_COUNT] = 2


def put_down(game: Game, layout: Layout) -> None:
    """Put the lifted tiles down, use up the Quantum Flip and make face-down tiles legal again."""
    set_lifted(game, 0, layout)
    game[QUANTUM + game[MOVER]] = 0
    for tile in range(layout[TILES]):
        face = game[layout[FACES] + tile]
        game[layout[MASK] + tile] = (face == 0) | (face > layout[VALUES])


def set_lifted(game: Game, lifted: int, layout: Layout) -> None:
    """Set whether the two tiles are lifted, in the observation and in the mask."""
    game[CHOOSING] = game[layout[IS_CHOOSING]] = lifted
    keep = layout[MASK] + layout[FIRST_KEEP]
    for tile in (game[FIRST_LIFTED], game[SECOND_LIFTED]):
        game[layout[LIFTED] + tile] = game[keep + tile] = lifted


def draw_value(game: Game, ticket: int) -> int:
    """Remove the tile number `ticket` from the bag, in the order of values, and return its value."""
    value = 0
    while ticket >= 0:
        ticket -= game[BAG + value]
        value += 1
    game[BAG + value - 1] -= 1
    game[UNSEEN] -= 1
    return value


def set_face(game: Game, tile: int, face: int, layout: Layout) -> None:
    """Set the face of a tile, in the position and in the observation."""
    index, one_hot = layout[FACES] + tile, layout[OBSERVATION] + tile * (2 * layout[VALUES] + 1)
    game[one_hot + game[index]] = 0
    game[one_hot + face] = 1
    game[index] = face


def choose_action(game: Game, bits: int, layout: Layout) -> int:
    """Return a uniformly random legal action from 32 random bits, or 0 if there is none."""
    if game[LEGAL_COUNT] == 0:
        return 0
    ticket = bits * game[LEGAL_COUNT] >> 32
    action = layout[FIRST_KEEP] - 1 if game[CHOOSING] else -1
    while ticket >= 0:
        action += 1
        ticket -= game[layout[MASK] + action]
    return action


def step_all(
    games: Sequence[Game],
    actions: Sequence[int],
    chance: Sequence[int],
    idle: Sequence[bool],
    layout: Layout,
    results: MutableSequence[int],
) -> None:
    """Play a legal action in every game that is not idle, and write the winners into `results`."""
    for i in range(len(results)):
        if not idle[i]:
            results[i] = step(games[i], actions[i], chance[i], layout)


def choose_all(
    games: Sequence[Game], bits: Sequence[int], layout: Layout, actions: MutableSequence[int]
) -> None:
    """Write a random legal action of every game into `actions`."""
    for i in range(len(actions)):
        actions[i] = choose_action(games[i], bits[i], layout)


INLINED = (draw_value, set_face, set_lifted, put_down, mask_pairs, lift_pair, flip_tile, step, choose_action)
"""The functions that `step_all` and `choose_all` call, each after those that it calls itself."""
