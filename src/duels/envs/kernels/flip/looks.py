"""What many games of Quantum Flip show and allow: kept from step to step, changed where a move changes it.

A move changes a few of some hundred numbers. Those that belong together are written as one item, such as the
scores. What is allowed is kept as bits, and becomes numbers when somebody asks for them.
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

# A mask as bits: as many as two words have, for up to 90 actions.
_MASK_BITS = 128

# NumPy takes arrays of one number quicker than numbers.
_STANDING, _ROW_BITS, _SIGN = np.array(STANDING), np.array(ROW_BITS), np.array(63, np.uint64)


class Layout:
    """Where an observation and a mask have what, and the tables of their parts."""

    def __init__(self, rules: QuantumTiles) -> None:
        self.tables = tables = flip_tables(rules)
        encoding = Encoding(features(rules))
        self.size = encoding.size
        self.values, self.faces = rules.values, 2 * rules.values + 1
        place = {feature.name: encoding.place(feature.name) for feature in encoding.features}
        self.tiles, self.lifted = place["tiles"], slice(place["lifted"].start, self.size)
        """The faces of all tiles; and which are lifted, and at the end whether any are."""
        self.my_quantum, self.other_quantum = place["my_quantum"].start, place["other_quantum"].start
        self.choosing, self.other_score = place["choosing"].start, place["other_score"].start
        self.status = slice(place["my_score"].start, self.lifted.start)
        """Scores, Quantum Flips and whose turn it is: every move writes them anew."""
        pairs = tables.tiles + len(tables.pair_sets)
        self.flips, self.pairs = slice(0, tables.tiles), slice(tables.tiles, pairs)
        self.keeps = slice(pairs, pairs + tables.tiles)
        self.actions = self.keeps.stop
        self.mask = slice(self.size, self.size + self.actions)
        """In rows that have both side by side."""
        # Compiled code writes what is lifted, and the pairs, as 64 numbers each, and to the padding.
        self.row_width = whole_lines(self.size + max(self.actions + 1, tables.tiles + 64))
        """Of what is shown and then the mask, in whole lines of memory."""
        self.face_of = _faces(tables, rules.values)
        """[code, or ROW further if it is face down] a tile's numbers."""
        self.statuses = tuple(_statuses(tables, encoding, mine) for mine in (True, False))
        """[0 for the seat to move][number of a standing] its status."""
        self.start = np.frombuffer(encoding.encode(rules.initial(), Seat.ONE), np.int8)
        """What is shown at the start."""
        self.allowed = np.zeros((2, _MASK_BITS), np.uint8)
        """[whether a pair may be lifted] a mask where all tiles are face down."""
        self.allowed[:, self.flips] = self.allowed[1, self.pairs] = 1
        self.still_open = self._still_open()
        """[tile] 0 where the action needs the tile."""
        self.lifting, self.keeping = self._lifting()
        """[pair] what is shown as lifted, and the mask, until a tile of it is kept."""
        self.pair_faces = np.stack(tables.pair_tiles) * self.faces
        """[first or second, pair] where the faces of its tiles are shown."""

    def _still_open(self) -> Small:
        tables, tiles = self.tables, self.tables.tiles
        still_open = np.ones((tiles + 1, _MASK_BITS), np.uint8)
        for tile in range(tiles):
            still_open[tile, self.flips.start + tile] = 0
            for part in tables.pair_tiles:
                still_open[tile, self.pairs.start + np.flatnonzero(part == tile)] = 0
        return still_open

    def _lifting(self) -> tuple[Bytes, Small]:
        pairs = np.arange(len(self.tables.pair_sets))
        shown = np.zeros((len(pairs), self.size), np.int8)
        masks = np.zeros((len(pairs), _MASK_BITS), np.uint8)
        for tile in self.tables.pair_tiles:
            shown[pairs, self.lifted.start + tile] = masks[pairs, self.keeps.start + tile] = 1
        shown[:, self.choosing] = 1
        return np.ascontiguousarray(shown[:, self.lifted]), masks


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
    for feature in encoding.features:
        if feature.name in said:
            marks = feature.marks()
            table = np.stack([np.frombuffer(marks[value], np.int8) for value in feature.values])
            # No seat has the highest scores that a standing has room for.
            parts.append(table.take(said[feature.name], axis=0, mode="clip"))
    return np.concatenate(parts, axis=1)


class Looks:
    """What games under way show to the seats to move, and allow them."""

    def __init__(self, rules: QuantumTiles, games: Games, tiles: Small, side_by_side: bool) -> None:
        self.layout = layout = layout_of(rules)
        self._games, self._tiles = games, tiles
        self._rows_known = self._words_known = False
        count, size = len(tiles), layout.size
        self.open, self.allowed, self._mask_buffer = np.zeros((3, count, 2), np.int64)
        """[env, word] masks as bits: every flip and pair whose tiles are face down; and what is allowed."""
        self.rows = in_lines(count, layout.row_width if side_by_side else whole_lines(size))
        """[env, number] what is shown; then the mask if they are side by side, as compiled code has them."""
        self._allowed_words, self._counts = self.allowed.view(np.uint64), np.empty((count, 2), np.uint8)
        self._side_by_side = side_by_side
        self._flat = self.rows.reshape(-1)
        self._flat_seen = self._flat[layout.values :]
        """The same from there on: where a tile shows its value in the one, it shows it in the other once it
        is seen and face down again."""
        self._faces, self._first_code = np.array(layout.faces), np.array(layout.tables.first_code)
        self._my_quantum = np.array(layout.my_quantum)
        self._seen_at = np.array(layout.values - layout.tables.first_code)
        self._row_at = np.arange(0, self.rows.size, self.rows.shape[1])
        # Items of all games, and what they can be.
        self._status, self._statuses = _items(self.rows, layout.status), _items(layout.statuses[0])
        self._lifted, self._lifting = _items(self.rows, layout.lifted), _items(layout.lifting)
        self._status_buffer = np.empty(count, self._status.dtype)
        self._nothing_lifted = np.zeros(1, self._lifted.dtype)
        self._shown, self._shown_first = _items(self.rows, slice(0, size)), _items(layout.start[None])
        words = (self.open, self.allowed, self._mask_buffer)
        self._open_items, self._allowed_items, self._buffer_items = (
            _items(part.view(np.int8)) for part in words
        )
        only = np.eye(layout.actions, _MASK_BITS, dtype=np.uint8)
        self._allowing, self._still_open, self._keeping, self._only = (
            _items(packed(table).view(np.int8))
            for table in (layout.allowed, layout.still_open, layout.keeping, only)
        )
        """[whether a pair may be lifted], [tile], [pair] as in the layout; [action] a mask of it alone."""

    def forget(self) -> None:
        """The games have moved on elsewhere: what they show is worked out anew when it is next asked for."""
        self._rows_known = self._words_known = False

    def stepped(self) -> None:
        """Compiled code has made a step, and brought its rows up to date."""
        self._words_known = False

    def look(self) -> None:
        """Bring the rows up to date."""
        if not self._rows_known:
            self._work_out_rows()
            self._rows_known = True

    def look_at_words(self) -> None:
        """Bring `open` and `allowed` up to date."""
        if not self._words_known:
            self._work_out_words()
            self._words_known = True

    def shown(self) -> Bytes:
        """[env, number] what the seats to move are shown; kept, and changed by the next step."""
        self.look()
        return self.rows[:, : self.layout.size]

    def masks(self) -> Bytes:
        """[env, action] 1 where the action is allowed: a view of the rows if they have the masks."""
        if self._side_by_side:
            self.look()
            return self.rows[:, self.layout.mask]
        return self._unpacked()

    def _unpacked(self) -> Bytes:
        self.look_at_words()
        masks = np.unpackbits(self.allowed.view(np.uint8).reshape(-1), bitorder="little")
        return masks.view(np.int8).reshape(-1, _MASK_BITS)[:, : self.layout.actions]

    def forbidden(self, actions: Ints) -> NDArray[np.bool_] | None:
        """[env] where the action is not allowed; None: nowhere."""
        self.look_at_words()
        self._only.take(actions, None, self._buffer_items, "clip")
        np.bitwise_and(self._mask_buffer, self.allowed, self._mask_buffer)
        if np.count_nonzero(self._mask_buffer) == len(actions):
            return None
        first, second = self._mask_buffer.T
        wrong: NDArray[np.bool_] = (first | second) == 0
        return wrong

    def legal_counts(self) -> Ints:
        """[env] how many actions are allowed."""
        self.look_at_words()
        np.bitwise_count(self._allowed_words, self._counts)
        first, second = self._counts.T
        return np.add(first, second).astype(np.int64)

    def observe(self, seats: int | Bytes, which: Any) -> Bytes:
        """[env of `which`, number] what `seats` are shown, in a new array."""
        layout, standing = self.layout, self._games.standing[which]
        shown: Bytes = self.shown()[which].copy()
        mover = standing >> (ROW_BITS + MOVER_AT) & 1
        waits = np.flatnonzero(mover != (seats if isinstance(seats, int) else seats[which]))
        shown[waits, layout.status] = layout.statuses[1].take(_number(standing[waits]), axis=0)
        shown[waits, layout.other_quantum] |= shown[waits, layout.choosing]
        return shown

    def begin(self, which: Any) -> None:
        """Games have begun."""
        self._shown[which] = self._shown_first
        self._open_items[which] = self._allowed_items[which] = self._allowing[1:]
        if self._side_by_side:
            self.rows[which, self.layout.mask] = self.layout.allowed[1, : self.layout.actions]

    def play(self, tile: Ints, codes: Ints, kept: Places, places: Places, pairs: Ints, lifted: Small) -> None:
        """Show a move in every game: a tile taken, at `kept` of a lifted pair; or a pair lifted, at `places`.

        The other arguments are what `Games.play` was told, and gave.
        """
        layout, flat, standing = self.layout, self._flat, self._games.standing
        # No tile is taken where a pair is lifted: what is written for it here is written over below.
        at = tile * self._faces
        at += self._row_at
        flat[at] = 0
        at += codes
        at -= self._first_code
        flat[at] = 1
        self._flat_seen[at] = 0
        self._status[:] = self._statuses.take(_number(standing), None, self._status_buffer, "clip")
        self._lifted[kept] = self._nothing_lifted
        self._lifted[places] = self._lifting.take(pairs)
        rows = self._row_at.take(places)
        seen = layout.pair_faces.take(pairs, 1)
        seen += rows
        # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
        rows += self._my_quantum
        flat[rows] = 1
        flat[seen] = 0
        seen += lifted
        seen += self._seen_at
        flat[seen] = 1
        self._still_open.take(tile, None, self._buffer_items, "clip")
        np.bitwise_and(self.open, self._mask_buffer, self.open)
        self._allow_open()
        self._allowed_items[places] = self._keeping.take(pairs)
        self.show_masks()

    def show_masks(self) -> None:
        """Write the masks into the rows that have them."""
        if self._side_by_side:
            self.rows[:, self.layout.mask] = self._unpacked()

    def _work_out_rows(self) -> None:
        layout, games, rows = self.layout, self._games, self.rows
        lifted = (games.standing & LIFTED) != 0
        face_down = self._bits(games.down + games.rest)
        codes = (self._tiles[:, : layout.tables.tiles] & np.uint8(CODE)) + face_down * np.uint8(ROW)
        rows[:, layout.tiles] = layout.face_of.take(codes, axis=0).reshape(len(rows), -1)
        self._status[:] = self._statuses.take(_number(games.standing))
        rows[:, layout.my_quantum] |= lifted
        rows[:, layout.lifted.start : layout.choosing] = self._bits(games.down) * lifted[:, None]
        rows[:, layout.choosing] = lifted
        self.show_masks()

    def _work_out_words(self) -> None:
        layout, games = self.layout, self._games
        face_down = self._bits(games.down + games.rest)
        first, second = layout.tables.pair_tiles
        masks = np.zeros((len(face_down), _MASK_BITS), np.uint8)
        masks[:, layout.flips] = face_down
        masks[:, layout.pairs] = face_down[:, first] & face_down[:, second]
        self.open[:] = packed(masks)
        self._allow_open()
        (places,) = (games.standing & LIFTED).nonzero()
        masks = np.zeros((len(places), _MASK_BITS), np.uint8)
        masks[:, layout.keeps] = self._bits(games.down.take(places))
        self.allowed[places] = packed(masks)

    def _allow_open(self) -> None:
        """Allow what is open, as if no pair were lifted anywhere."""
        may_lift = (self._games.standing.view(np.uint64) >> _SIGN).view(np.int64)
        self._allowing.take(may_lift, None, self._buffer_items, "clip")
        np.bitwise_and(self.open, self._mask_buffer, self.allowed)

    def _bits(self, sets: Ints) -> Small:
        """[env, tile] 1 where the tile is in the set."""
        numbers = (sets >> ROW_BITS).astype("<u4").view(np.uint8).reshape(len(sets), 4)
        return np.unpackbits(numbers, axis=1, count=self.layout.tables.tiles, bitorder="little")


def packed(masks: Small) -> Ints:
    """[mask, word] masks as bits."""
    return np.packbits(masks.reshape(-1), bitorder="little").view(np.int64).reshape(-1, 2)


def _items(table: Bytes, place: slice | None = None) -> Items:
    """The rows of a contiguous table, or a part of each, as one item each."""
    part = place or slice(0, table.shape[1])
    return np.ndarray((len(table),), f"V{part.stop - part.start}", table, part.start, (table.shape[1],))


def _number(standings: Ints) -> Ints:
    numbers: Ints = (standings & _STANDING) >> _ROW_BITS
    return numbers
