"""The step of Quantum Flip on integers, in the subset of Python that Numba compiles.

Engines run these functions as plain Python; batches compile them if Numba is installed. A test compares them
with the rules, move by move.

A game is a row of small integers: the position, then the observation of the player to move, then the mask of
legal actions.
"""

from collections.abc import MutableSequence, Sequence
from functools import lru_cache

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, neighbours
from duels.solving.tables import ONGOING

# Places in a game: the mover, 0 or 1; whether two tiles are lifted, and which; both scores; both Quantum
# Flips; the number of tiles that are unseen, of tiles that are face down, and of legal actions. Then come the
# number of unseen tiles of each value, and the face of each tile: 0 (never seen), its value (flipped), or its
# value plus the highest value (seen and face down again).
MOVER, CHOOSING, ONE, TWO = range(4)
SCORES = 4
QUANTUM = 6
UNSEEN, DOWN, LEGAL = 8, 9, 10
BAG = 11

# Places in a layout: options of the rules; the number of the first action that keeps a tile, and of all
# actions (flips begin at 0, Quantum Flips at TILES); the places in a game of the faces, of the observation,
# of the mask and of features. Then come the two tiles of each Quantum Flip.
TILES, VALUES, TARGET, KEEP, ACTIONS, FACES, OBSERVATION, MASK = range(8)
MY_SCORE, OTHER_SCORE, MY_QUANTUM, OTHER_QUANTUM, LIFTED, CHOICE = range(8, 14)
PAIRS = 14

_FEATURES = ("my_score", "other_score", "my_quantum", "other_quantum", "lifted", "choosing")

Game = MutableSequence[int]
Layout = Sequence[int]


@lru_cache(maxsize=16)
def get_layout(rules: QuantumTiles) -> tuple[int, ...]:
    """Return the layout of `rules`."""
    encoding, pairs, tiles = Encoding(features(rules)), neighbours(rules.side), rules.side**2
    keep, faces = tiles + len(pairs), BAG + rules.values
    shown = faces + tiles
    places = (shown + encoding.place(name).start for name in _FEATURES)
    first = (tiles, rules.values, rules.target, keep, keep + tiles, faces, shown, shown + encoding.size)
    return (*first, *places, *(tile for pair in pairs for tile in pair))


@lru_cache(maxsize=16)
def get_start(rules: QuantumTiles) -> bytes:
    """Return a game at the start."""
    layout = get_layout(rules)
    tiles = layout[TILES]
    game = [0] * BAG + [rules.copies] * rules.values + [0] * tiles
    game[QUANTUM] = game[QUANTUM + 1] = 1
    game[UNSEEN] = game[DOWN] = tiles
    game[LEGAL] = layout[KEEP]
    shown = Encoding(features(rules)).encode(rules.initial(), Seat.ONE)
    return bytes(game) + shown + bytes([1] * layout[KEEP] + [0] * tiles)


def step(game: Game, action: int, chance: int, layout: Layout) -> int:
    """Play a legal action, with 32 random bits for chance; return the winner or ONGOING."""
    if action >= layout[KEEP]:
        put_down(game, layout)
        return take(game, action - layout[KEEP], chance, layout)
    if action < layout[TILES]:
        return take(game, action, chance, layout)
    pair = PAIRS + 2 * (action - layout[TILES])
    lift(game, layout[pair], layout[pair + 1], chance, layout)
    return ONGOING


def take(game: Game, tile: int, chance: int, layout: Layout) -> int:
    """Flip a tile and give the turn to the other player; return the winner or ONGOING."""
    value = game[layout[FACES] + tile] - layout[VALUES]
    if value < 0:
        value = draw(game, chance * game[UNSEEN] >> 32)
    show_face(game, tile, value, layout)
    game[DOWN] -= 1
    game[layout[MASK] + tile] = 0
    mover = game[MOVER]
    other = 1 - mover
    before, theirs = game[SCORES + mover], game[SCORES + other]
    score = before + value
    game[layout[MY_SCORE] + before] = game[layout[OTHER_SCORE] + theirs] = 0
    game[layout[MY_SCORE] + theirs] = game[layout[OTHER_SCORE] + score] = 1
    game[SCORES + mover], game[MOVER] = score, other
    game[layout[MY_QUANTUM]], game[layout[OTHER_QUANTUM]] = game[QUANTUM + other], game[QUANTUM + mover]
    game[LEGAL] = game[DOWN]
    is_over = score >= layout[TARGET]
    if game[QUANTUM] or game[QUANTUM + 1]:
        allow_pairs(game, 0 if is_over else game[QUANTUM + other], layout)
    if not is_over:
        return ONGOING
    return mover if score == layout[TARGET] else other


def allow_pairs(game: Game, held: int, layout: Layout) -> None:
    """Allow the Quantum Flips of neighbours that are face down, if the mover holds one."""
    mask, count = layout[MASK], 0
    for pair in range(layout[KEEP] - layout[TILES]):
        place = PAIRS + 2 * pair
        legal = held & game[mask + layout[place]] & game[mask + layout[place + 1]]
        game[mask + layout[TILES] + pair] = legal
        count += legal
    game[LEGAL] += count


def lift(game: Game, one: int, two: int, chance: int, layout: Layout) -> None:
    """Turn up two tiles, of which the mover then keeps one."""
    first, second, unseen = layout[FACES] + one, layout[FACES] + two, game[UNSEEN]
    if game[first] == 0 and game[second] == 0:
        # One ticket draws both tiles: the tickets of a first value are divided among the remaining tiles.
        ticket = chance * (unseen * (unseen - 1)) >> 32
        value = draw(game, ticket // (unseen - 1))
        for lower in range(value - 1):
            ticket -= game[BAG + lower] * (unseen - 1)
        show_face(game, one, layout[VALUES] + value, layout)
        show_face(game, two, layout[VALUES] + draw(game, ticket // (game[BAG + value - 1] + 1)), layout)
    elif game[first] == 0:
        show_face(game, one, layout[VALUES] + draw(game, chance * unseen >> 32), layout)
    elif game[second] == 0:
        show_face(game, two, layout[VALUES] + draw(game, chance * unseen >> 32), layout)
    game[ONE], game[TWO] = one, two
    show_lifted(game, 1, layout)
    for place in range(layout[MASK], layout[MASK] + layout[KEEP]):
        game[place] = 0
    game[LEGAL] = 2


def put_down(game: Game, layout: Layout) -> None:
    """End a Quantum Flip: it is spent, and tiles can be flipped again."""
    show_lifted(game, 0, layout)
    game[QUANTUM + game[MOVER]] = 0
    for tile in range(layout[TILES]):
        face = game[layout[FACES] + tile]
        game[layout[MASK] + tile] = (face == 0) | (face > layout[VALUES])


def show_lifted(game: Game, lifted: int, layout: Layout) -> None:
    """Show two tiles as lifted and allow to keep them, or the reverse."""
    game[CHOOSING] = game[layout[CHOICE]] = lifted
    keep = layout[MASK] + layout[KEEP]
    for tile in (game[ONE], game[TWO]):
        game[layout[LIFTED] + tile] = game[keep + tile] = lifted


def draw(game: Game, ticket: int) -> int:
    """Take the tile at a place in the bag, laid out in order, and return its value."""
    value = 0
    while ticket >= 0:
        ticket -= game[BAG + value]
        value += 1
    game[BAG + value - 1] -= 1
    game[UNSEEN] -= 1
    return value


def show_face(game: Game, tile: int, face: int, layout: Layout) -> None:
    """Change the face of a tile."""
    place, shown = layout[FACES] + tile, layout[OBSERVATION] + tile * (2 * layout[VALUES] + 1)
    game[shown + game[place]] = 0
    game[shown + face] = 1
    game[place] = face


def choose(game: Game, bits: int, layout: Layout) -> int:
    """Return a uniformly random legal action from 32 random bits, or 0 if there is none."""
    if game[LEGAL] == 0:
        return 0
    ticket = bits * game[LEGAL] >> 32
    action = layout[KEEP] - 1 if game[CHOOSING] else -1
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
    """Play a legal action in every game that is not idle."""
    for i in range(len(results)):
        if not idle[i]:
            results[i] = step(games[i], actions[i], chance[i], layout)


def choose_all(
    games: Sequence[Game], bits: Sequence[int], layout: Layout, actions: MutableSequence[int]
) -> None:
    """Choose a legal action in every game."""
    for i in range(len(actions)):
        actions[i] = choose(games[i], bits[i], layout)


INNER = (draw, show_face, show_lifted, put_down, allow_pairs, lift, take, step, choose)
"""The functions that the loops over games need, callees first."""
