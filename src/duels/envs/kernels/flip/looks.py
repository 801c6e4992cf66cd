"""What many games of Quantum Flip show and allow: kept from step to step, changed where a move changes it.

A move changes a few of some hundred numbers. Those that belong together are written as one item, such as the
scores; masks are put together from words.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duels.core.features import Encoding
from duels.core.rules import Seat
from duels.envs.kernels.flip.games import Games, Places
from duels.envs.kernels.flip.tables import (
    CODE,
    LIFTED,
    MOVER_AT,
    ROW,
    ROW_BITS,
    STANDING,
    FlipTables,
    Ints,
    Small,
    flip_tables,
    standing_of,
)
from duels.games.flip.features import features
from duels.games.flip.rules import QuantumTiles
from duels.solving.lines import in_lines, whole_lines

Bytes = NDArray[np.int8]
Items = NDArray[np.void]

_WORD = 8  # bytes

# NumPy takes arrays of one number quicker than numbers.
_ZERO, _STANDING, _ROW_BITS = map(np.array, (0, STANDING, ROW_BITS))


class Layout:
    """Where an observation and a mask have what, and the tables of their parts."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.tables = tables = flip_tables(rules)
        encoding = Encoding(features(rules))
        self.size = encoding.size
        self.values, self.faces = rules.values, 2 * rules.values + 1
        place = {feature.name: encoding.place(feature.name) for feature in encoding.features}
        self.tiles, self.lifted = place["tiles"], place["lifted"]
        self.my_quantum, self.other_quantum = place["my_quantum"].start, place["other_quantum"].start
        self.choosing, self.other_score = place["choosing"].start, place["other_score"].start
        self.status = slice(place["my_score"].start, self.size)
        """Everything but the tiles."""
        # Words of a mask begin with the last numbers that are shown: so it lies in words if it comes next.
        self.lead = lead = self.size % _WORD
        pairs = lead + tables.tiles + len(tables.pair_sets)
        self.flips, self.pairs = slice(lead, lead + tables.tiles), slice(lead + tables.tiles, pairs)
        self.keeps = slice(pairs, pairs + tables.tiles)
        self.mask, self.actions = slice(lead, self.keeps.stop), self.keeps.stop - lead
        self.mask_width = -(-self.keeps.stop // _WORD) * _WORD
        # Compiled code writes what is lifted, and the pairs, as 64 numbers each, and to the padding.
        self.row_width = whole_lines(self.size + max(self.actions + 1, tables.tiles + 64))
        """Of what is shown and then the mask, in whole lines of memory."""
        self.face_of = _faces(tables, rules.values)
        """[code, or ROW further if it is face down] a tile's numbers."""
        self.statuses = tuple(_statuses(tables, encoding, mine) for mine in (True, False))
        """[0 for the seat to move][number of a standing] its status; nothing is lifted."""
        self.start = np.frombuffer(encoding.encode(rules.initial(), Seat.ONE), np.int8)
        """What is shown at the start."""
        self.allowed = np.zeros((2, self.mask_width), np.int8)
        """[whether a pair may be lifted] a mask where all tiles are face down."""
        self.allowed[:, self.flips] = self.allowed[1, self.pairs] = 1
        self.still_open = self._still_open()
        """[tile] 0 where the action needs the tile."""
        self.lifting, self.keeping = self._lifting()
        """[pair] what is shown as lifted, and the mask, until a tile of it is kept."""
        self.pair_faces = np.stack(tables.pair_tiles) * self.faces
        """[first or second, pair] where the faces of its tiles are shown."""

    def _still_open(self) -> Bytes:
        tables, tiles = self.tables, self.tables.tiles
        still_open = np.ones((tiles + 1, self.mask_width), np.int8)
        for tile in range(tiles):
            still_open[tile, self.flips.start + tile] = 0
            for part in tables.pair_tiles:
                still_open[tile, self.pairs.start + np.flatnonzero(part == tile)] = 0
        return still_open

    def _lifting(self) -> tuple[Bytes, Bytes]:
        pairs = np.arange(len(self.tables.pair_sets))
        shown = np.zeros((len(pairs), self.size), np.int8)
        masks = np.zeros((len(pairs), self.mask_width), np.int8)
        for tile in self.tables.pair_tiles:
            shown[pairs, self.lifted.start + tile] = masks[pairs, self.keeps.start + tile] = 1
        shown[:, self.choosing] = 1
        masks[:, : self.lead] = shown[:, self.size - self.lead :]
        return np.ascontiguousarray(shown[:, self.lifted.start :]), masks


layout_of = lru_cache(maxsize=16)(Layout)


def _faces(tables: FlipTables, values: int) -> Bytes:
    value = np.maximum(np.arange(ROW) - tables.first_code, 0)
    value[-1] = 0  # no tile
    faces = np.append(value, np.where(value > 0, value + values, 0))
    return np.eye(2 * values + 1, dtype=np.int8).take(faces, axis=0)


def _statuses(tables: FlipTables, encoding: Encoding, mine: bool) -> Bytes:
    scores, mover, quantum = standing_of(np.arange(tables.scores**2 << 3) << ROW_BITS, tables.scores)
    seat, rows = mover if mine else 1 - mover, np.arange(len(mover))
    said = {
        "my_score": scores[seat, rows],
        "other_score": scores[1 - seat, rows],
        "my_quantum": quantum[seat, rows],
        "other_quantum": quantum[1 - seat, rows],
        "my_turn": np.full(len(rows), mine, np.int64),
    }
    parts = []
    for feature in encoding.features[1:]:
        if feature.name in said:
            marks = feature.marks()
            table = np.stack([np.frombuffer(marks[value], np.int8) for value in feature.values])
            # No seat has the highest scores that a standing has room for.
            parts.append(table.take(said[feature.name], axis=0, mode="clip"))
        else:
            parts.append(np.zeros((len(rows), feature.size), np.int8))
    return np.concatenate(parts, axis=1)


class Looks:
    """What games under way show to the seats to move, and allow them."""

    def __init__(self, rules: QuantumTiles, games: Games, tiles: Small, side_by_side: bool) -> None:
        self.layout = layout = layout_of(rules)
        self._games, self._tiles = games, tiles
        self._known = self._open_known = False
        count, size, actions = len(tiles), layout.size, layout.actions
        self._own_masks, self.open, self._some = np.zeros((3, count, layout.mask_width), np.int8)
        """Masks; what they were if a pair could be lifted, and none was; and room to work in."""
        self.rows = in_lines(count, layout.row_width if side_by_side else whole_lines(size))
        """[env, number] what is shown; then the mask if they are side by side: then a move changes fewer
        lines of memory, but NumPy is quicker with words."""
        held, place = (
            (self.rows, slice(size, size + actions)) if side_by_side else (self._own_masks, layout.mask)
        )
        self._side_by_side = side_by_side
        self.masks = held[:, place]
        self._flat, self._mask_flat = self.rows.reshape(-1), held.reshape(-1)
        self._flat_seen = self._flat[layout.values :]
        """The same from there on: where a tile shows its value in the one, it shows it in the other once it
        is seen and face down again."""
        self._faces, self._first_code = np.array(layout.faces), np.array(layout.tables.first_code)
        self._row_at = np.arange(0, self.rows.size, self.rows.shape[1])
        self._mask_at = np.arange(place.start, held.size, held.shape[1])
        # Items of all games, and what they can be.
        self._status, self._statuses = _items(self.rows, layout.status), _items(layout.statuses[0])
        self._lifted = _items(self.rows, slice(layout.lifted.start, size))
        self._lifting = _items(layout.lifting)
        self._shown, self._shown_first = _items(self.rows, slice(0, size)), _items(layout.start[None])
        self._mask, self._open_mask = _items(held, place), _items(self.open, layout.mask)
        self._keeping, self._all_allowed = (
            _items(np.ascontiguousarray(table[:, layout.mask]))
            for table in (layout.keeping, layout.allowed[1:])
        )
        self._words = [part.view(np.uint64) for part in (self._own_masks, self.open, self._some)]
        self._still_open, self._allowed = (
            part.view(np.uint64) for part in (layout.still_open, layout.allowed)
        )

    def forget(self) -> None:
        """The games have moved on elsewhere: what they show is worked out anew when it is next asked for."""
        self._known = self._open_known = False

    def stepped(self) -> None:
        """Compiled code has made a step, and brought up to date what is shown and allowed."""
        self._open_known = False

    def look(self) -> None:
        """See to it that all is up to date."""
        if not self._known:
            self._work_out()
            self._known = True

    def look_at_open(self) -> None:
        """See to it that what could be flipped is up to date."""
        if not self._open_known:
            self._work_out_open()

    def shown(self) -> Bytes:
        """[env, number] what the seats to move are shown; kept, and changed by the next step."""
        self.look()
        return self.rows[:, : self.layout.size]

    def allowed(self) -> Bytes:
        """[env, action] 1 where the action is allowed; kept in the same way."""
        self.look()
        return self.masks

    def forbids(self, actions: Ints) -> NDArray[np.bool_]:
        """[env] whether the action is not allowed."""
        self.look()
        forbidden: NDArray[np.bool_] = self._mask_flat.take(self._mask_at + actions) == 0
        return forbidden

    def observe(self, seats: int | Bytes, which: Any) -> Bytes:
        """[env of `which`, number] what `seats` are shown, in a new array."""
        layout, standing = self.layout, self._games.standing[which]
        shown: Bytes = self.shown()[which].copy()
        mover = standing >> (ROW_BITS + MOVER_AT) & 1
        waits = np.flatnonzero(mover != (seats if isinstance(seats, int) else seats[which]))
        lifted = shown[waits, layout.lifted.start :]
        shown[waits, layout.status] = layout.statuses[1].take(_number(standing[waits]), axis=0)
        shown[waits, layout.lifted.start :] = lifted
        shown[waits, layout.other_quantum] |= shown[waits, layout.choosing]
        return shown

    def begin(self, which: Any) -> None:
        """Games have begun."""
        self._shown[which] = self._shown_first
        self._mask[which] = self._open_mask[which] = self._all_allowed

    def play(self, tile: Ints, codes: Ints, places: Places, pairs: Ints, lifted: Small) -> None:
        """A tile has been taken, or a pair lifted at `places`: what `Games.play` was told, and gave."""
        layout, flat = self.layout, self._flat
        masks, still_open, some = self._words
        self.look_at_open()  # after the step: taking its tile once more changes nothing
        # No tile is taken where a pair is lifted: what is written for it here is written over below.
        at = tile * self._faces
        at += self._row_at
        flat[at] = 0
        at += codes
        at -= self._first_code
        flat[at] = 1
        self._flat_seen[at] = 0
        self._status[:] = self._statuses.take(_number(self._games.standing))
        still_open &= self._still_open.take(tile, 0, some, "clip")
        np.bitwise_and(still_open, self._allowed.take(self._games.standing < _ZERO, 0, some, "clip"), masks)
        if self._side_by_side:
            self.masks[:] = self._own_masks[:, layout.mask]
        rows = self._row_at.take(places)
        self._lifted[places] = self._lifting.take(pairs)
        # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
        flat[rows + layout.my_quantum] = 1
        self._mask[places] = self._keeping.take(pairs)
        seen = layout.pair_faces.take(pairs, 1)
        seen += rows
        flat[seen] = 0
        seen += lifted
        seen += layout.values - layout.tables.first_code
        flat[seen] = 1

    def _work_out(self) -> None:
        layout, games, rows = self.layout, self._games, self.rows
        lifted = ((games.standing & LIFTED) != 0)[:, None]
        down = self._bits(games.down)
        face_down = self._work_out_open()
        codes = (self._tiles[:, : layout.tables.tiles] & np.uint8(CODE)) + face_down * np.uint8(ROW)
        rows[:, layout.tiles] = layout.face_of.take(codes, axis=0).reshape(len(rows), -1)
        self._status[:] = self._statuses.take(_number(games.standing))
        rows[:, layout.my_quantum] |= lifted[:, 0]
        rows[:, layout.choosing] = lifted[:, 0]
        rows[:, layout.lifted] = down * lifted
        allowed = self.open * ~lifted & layout.allowed.take(games.standing < 0, axis=0)
        allowed[:, layout.keeps] = down * lifted
        self.masks[:] = allowed[:, layout.mask]

    def _work_out_open(self) -> Small:
        """What could be flipped; gives [env, tile] what is face down."""
        layout = self.layout
        face_down = self._bits(self._games.down + self._games.rest)
        first, second = layout.tables.pair_tiles
        self.open[:, layout.flips] = face_down
        self.open[:, layout.pairs] = face_down[:, first] & face_down[:, second]
        self._open_known = True
        return face_down

    def _bits(self, sets: Ints) -> Small:
        """[env, tile] 1 where the tile is in the set."""
        numbers = (sets >> ROW_BITS).astype("<u4").view(np.uint8).reshape(len(sets), 4)
        return np.unpackbits(numbers, axis=1, count=self.layout.tables.tiles, bitorder="little")


def _items(table: Bytes, place: slice | None = None) -> Items:
    """The rows of a contiguous table, or a part of each, as one item each."""
    part = place or slice(0, table.shape[1])
    return np.ndarray((len(table),), f"V{part.stop - part.start}", table, part.start, (table.shape[1],))


def _number(standings: Ints) -> Ints:
    numbers: Ints = (standings & _STANDING) >> _ROW_BITS
    return numbers
