"""Quantum Flip in JAX: the tables of many games at once, looked up by what 32-bit numbers can hold.

A test plays it beside the rules, move by move.
"""

from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.envs.form import Form
from duels.envs.jax.bits import WORD, pack, settled, unpack, words_for
from duels.envs.jax.chance import share
from duels.envs.jax.env import Env, Standing
from duels.envs.kernels.flip import tables as kernel
from duels.envs.kernels.flip.engine import action_of
from duels.envs.kernels.flip.single import FLIP, KEEP, PAIR
from duels.envs.kernels.flip.tables import CODE, PAIRED, ROW, ROW_BITS, flip_tables, standing_of
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles, State
from duels.solving.tables import FIRST_WON, ONGOING, SECOND_WON

Words = NDArray[np.uint32]

# A bag: the number of what it holds, in rows, and how many tiles that are.
_LEFT_AT = 20

# A standing: its number, and what the kernel's has in bits that are too high for here.
_NUMBER = (1 << 20) - 1
_MAY_PAIR, _LIFTED, _FIRST_WON, _SECOND_WON = (1 << place for place in range(20, 24))
_LIFTED_AT = 21


class Position(NamedTuple):
    """A game."""

    shown: Any
    """[word] the observation without what depends on the seat: the tiles, and which of them are lifted."""
    down: Any
    """The tiles that are face down, a bit each."""
    bag: Any
    standing: Any


class FlipEnv(Env):
    """Quantum Flip by its kernel's tables."""

    rules: QuantumTiles
    has_chance = True

    def __init__(self, rules: QuantumTiles, form: Form) -> None:
        super().__init__(rules, form)
        self._kernel = tables = flip_tables(rules)
        kinds, ones, twos = np.array([action_of(action) for action in rules.all_actions()]).T
        self._kinds, self._ones, self._twos = kinds, ones, twos
        self._faces = 2 * rules.values + 1
        encoding = Encoding(features(rules))
        self._size = encoding.size
        self._places = {feature.name: encoding.place(feature.name) for feature in encoding.features}
        own = self._places["my_score"].start // WORD, words_for(self._places["my_turn"].stop)
        self._own = slice(*own)
        """The words of an observation that depend on the seat, and others."""
        with jax.ensure_compile_time_eval():
            self._moves = jnp.asarray(np.column_stack([kinds, ones, twos]), jnp.int32)
            self._lifts = jnp.asarray(self._lift_words())
            self._drawn = jnp.asarray(tables.drawn)
            self._taken = jnp.asarray(_narrow_bag(tables.taken))
            self._two_begin = jnp.asarray(
                tables.two_ways[2 :: 1 << kernel.WAYS_BITS] >> kernel.BEGIN_AT, jnp.int32
            )
            self._two_drawn = jnp.asarray(tables.two_drawn)
            self._two_codes = jnp.asarray(tables.two_codes.T, jnp.int32)
            self._two_taken = jnp.asarray(_narrow_bag(tables.two_taken))
            self._standings = jnp.asarray(_narrow_standing(tables.standing))
            self._standing_words = jnp.asarray(self._words_of_standings())

    # -- tables ------------------------------------------------------------------------------------

    def _lift_words(self) -> Words:
        """[action, word] what a Quantum Flip changes of what is shown, besides the two tiles' values."""
        bits = np.zeros((len(self._kinds), self._size), np.uint8)
        pairs = np.flatnonzero(self._kinds == PAIR)
        for tiles in (self._ones, self._twos):
            bits[pairs, self._places["lifted"].start + tiles[pairs]] = 1
        bits[pairs, self._places["choosing"]] = 1
        return pack(bits)

    @cached_property
    def _lifted(self) -> Words:
        """[word] the bits that show which tiles are lifted, if any."""
        bits = np.zeros(self._size, np.uint8)
        bits[self._places["lifted"]] = bits[self._places["choosing"]] = 1
        return pack(bits)

    def _words_of_standings(self) -> Words:
        """[whether two tiles are lifted, seat, standing, word] what a seat is shown of a standing."""
        numbers = np.arange(len(self._kernel.standing) // ROW)
        scores, mover, quantum = standing_of(numbers << ROW_BITS, self._kernel.scores)
        marks = np.eye(self._kernel.scores, dtype=np.uint8)[:, : self.rules.target + self.rules.values]
        bits = np.zeros((2, 2, len(numbers), self._size), np.uint8)
        for choosing in (0, 1):
            for seat in (0, 1):
                my_turn = mover == seat
                # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
                parts = {
                    "my_score": marks[scores[seat]],
                    "other_score": marks[scores[1 - seat]],
                    "my_quantum": quantum[seat] | (choosing & my_turn),
                    "other_quantum": quantum[1 - seat] | (choosing & ~my_turn),
                    "my_turn": my_turn,
                }
                for name, shown in parts.items():
                    place = self._places[name]
                    # Of a feature with two values only the second is shown.
                    wide = shown.reshape(len(numbers), -1)
                    bits[choosing, seat, :, place] = wide[:, place.start - place.stop :]
        return pack(bits)[..., self._own]

    # -- playing -----------------------------------------------------------------------------------

    def _begin(self, bits: Any) -> Position:
        unknown = np.zeros(self._size, np.uint8)
        unknown[self._places["tiles"]][:: self._faces] = 1
        return Position(
            jnp.asarray(pack(unknown)),
            jnp.uint32((1 << self._kernel.tiles) - 1),
            jnp.int32(_narrow_bag(np.array(self._kernel.bag))),
            jnp.int32(_narrow_standing(np.array(self._kernel.start))),
        )

    def _play(self, position: Position, action: Any, bits: Any) -> tuple[Position, Any]:
        kind, one, two = self._moves[action]
        pair = kind == PAIR
        first, second = self._face(position, one), self._face(position, two)
        up_first, up_second, taken = self._turn_up(position.bag, pair, first, second, bits)
        values = self.rules.values
        toggled = self._bit(one, first) ^ self._bit(one, up_first + jnp.where(pair, values, 0))
        other = self._bit(two, second) ^ self._bit(two, up_second + values)
        shown = position.shown & jnp.where(kind == KEEP, ~self._lifted, ~np.uint32(0))
        shown = shown ^ toggled ^ jnp.where(pair, other, 0) ^ self._lifts[action]
        down = position.down & ~jnp.where(pair, 0, jnp.uint32(1) << one.astype(jnp.uint32))
        row = (position.standing & _NUMBER) << ROW_BITS
        standing = self._standings[row + jnp.where(pair, PAIRED, self._code(up_first))]
        return Position(shown, down, position.bag - taken, standing), 0

    def _face(self, position: Position, tile: Any) -> Any:
        """What is shown of a tile: 0 if nobody has seen it, its value, or more if it is face down again."""
        place = tile * self._faces
        word, offset = place >> 5, (place & 31).astype(jnp.uint32)
        # Shifted twice, for a shift by all 32 bits is undefined.
        bits = (position.shown[word] >> offset) | (position.shown[word + 1] << 1 << (31 - offset))
        return lax.population_count((bits & ((1 << self._faces) - 1)) - 1).astype(jnp.int32)

    def _bit(self, tile: Any, face: Any) -> Any:
        """[word] the bit that shows a face of a tile."""
        place = tile * self._faces + face
        words = np.arange(words_for(self._size))
        return jnp.where(place >> 5 == words, jnp.uint32(1) << (place & 31).astype(jnp.uint32), 0)

    def _code(self, value: Any) -> Any:
        """A tile of this value as the kernel has it; 0 if nobody has seen it."""
        return jnp.where(value > 0, value + self._kernel.first_code, 0)

    def _turn_up(self, bag: Any, pair: Any, first: Any, second: Any, bits: Any) -> tuple[Any, Any, Any]:
        """The values of one tile or two, as `Games` draws them, and what the bag then loses."""
        values = self.rules.values
        seen = [self._code(face - jnp.where(face > values, values, 0)) for face in (first, second)]
        left, row = bag >> _LEFT_AT, bag & kernel.BAG
        both = pair & (seen[0] == 0) & (seen[1] == 0)
        ticket = share(bits, jnp.where(both, left * (left - 1), left))
        # Two tickets at once where neither tile is known; a known tile is more than any ticket.
        two = self._two_drawn[self._two_begin[row >> ROW_BITS] + jnp.where(both, ticket, 0)].astype(jnp.int32)
        single = jnp.where(both, 0, ticket)
        up = [self._drawn[row + jnp.maximum(single, code)].astype(jnp.int32) for code in seen]
        taken = self._taken[up[0]] + jnp.where(pair, self._taken[up[1]], 0)
        codes = jnp.where(both, self._two_codes[two], jnp.stack(up) & CODE) - self._kernel.first_code
        return codes[0], codes[1], jnp.where(both, self._two_taken[two], taken)

    # -- looking -----------------------------------------------------------------------------------

    def _standing(self, position: Position) -> Standing:
        standing = position.standing
        won = jnp.where((standing & _SECOND_WON) != 0, SECOND_WON, ONGOING)
        result = jnp.where((standing & _FIRST_WON) != 0, FIRST_WON, won)
        return Standing(standing >> kernel.MOVER_AT & 1, result)

    def _legal(self, position: Position) -> Any:
        place = self._places["lifted"].start
        word, offset = divmod(place, WORD)
        lifted = position.shown[word] >> offset
        if offset and word + 1 < words_for(self._size):
            lifted = lifted | (position.shown[word + 1] << (WORD - offset))
        flips = jnp.where((position.standing & _LIFTED) != 0, 0, position.down)
        pairs = jnp.where((position.standing & _MAY_PAIR) != 0, flips, 0)
        sets = zip((FLIP, PAIR, KEEP), settled(jnp.stack([flips, pairs, lifted])), strict=True)
        chosen = sum(jnp.where(self._kinds == kind, tiles, 0) for kind, tiles in sets)
        ones, twos = self._ones.astype(np.uint32), self._twos.astype(np.uint32)
        return (chosen >> ones & chosen >> twos & 1).astype(jnp.bool_)

    def _features(self, position: Position, seat: Any) -> Any:
        lifted = position.standing >> _LIFTED_AT & 1
        own = self._standing_words[lifted, seat, position.standing & _NUMBER]
        start, stop = self._own.start, self._own.stop
        shown = position.shown
        words = jnp.concatenate([shown[:start], shown[self._own] | own, shown[stop:]])
        return unpack(settled(words), 0, self._size)

    def rules_state(self, position: Position) -> State:
        bits = np.unpackbits(np.asarray(position.shown).astype("<u4").view(np.uint8), bitorder="little")
        tiles = bits[self._places["tiles"]].reshape(self._kernel.tiles, self._faces).argmax(axis=1)
        lifted = np.flatnonzero(bits[self._places["lifted"]])
        row = np.array((int(position.standing) & _NUMBER) << ROW_BITS)
        scores, mover, quantum = standing_of(row, self._kernel.scores)
        if len(lifted):
            quantum[int(mover)] = True
        return State(
            "".join(str(features(self.rules)[0].values[face]) for face in tiles),
            (int(scores[0]), int(scores[1])),
            (bool(quantum[0]), bool(quantum[1])),
            Seat(int(mover) + 1),
            tuple(lifted.tolist()),
            len(lifted) > 0,
        )


def _narrow_bag(bags: NDArray[np.int64]) -> NDArray[np.int32]:
    """The kernel's bags, or what they lose, in 32 bits."""
    return ((bags & kernel.BAG) | bags >> kernel.LEFT_AT << _LEFT_AT).astype(np.int32)


def _narrow_standing(standings: NDArray[np.int64]) -> NDArray[np.int32]:
    """The kernel's standings in 32 bits."""
    narrow = (standings & kernel.STANDING) >> ROW_BITS
    flags = (
        (kernel.MAY_PAIR, _MAY_PAIR),
        (kernel.LIFTED, _LIFTED),
        (kernel.WON[0], _FIRST_WON),
        (kernel.WON[1], _SECOND_WON),
    )
    for theirs, ours in flags:
        narrow = narrow | np.where(standings & theirs, ours, 0)
    return narrow.astype(np.int32)


ENV = FlipEnv
