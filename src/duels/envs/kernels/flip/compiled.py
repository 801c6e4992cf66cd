"""Quantum Flip in compiled code, step by step or whole rollouts; by the same tables and streams.

Needs the extra `fast`.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from duels.envs.compiled import GAMMA, HALF, mix
from duels.envs.kernels.flip import tables as form
from duels.envs.kernels.flip.tables import FlipTables, Ints, Small
from duels.solving.compiling import compiled

_32 = np.uint64(32)
_FIRST_WON = form.WON[0]

# Games that are played abreast. Each step is first chosen for all of them, then taken where a tile is taken,
# and so on: no loop has to guess what comes next, and what one game waits for, the next need not wait for.
_ABREAST = 64


def roll(
    tables: FlipTables, state: Ints, tiles: Small, streams: NDArray[np.uint64], steps: int, wins: Ints
) -> None:
    """Random play of every game, `steps` ticks of its stream; a game that ends starts again."""
    board, choices, draws, start = _parts(tables)
    _roll(board, choices, draws, tables.standing, start, tuple(state), tiles, streams, steps, wins)


def _parts(tables: FlipTables) -> tuple[Any, ...]:
    """The tables as compiled code takes them: of boards, of choices, of draws, and how a game begins."""
    board = (
        tables.upper,
        tables.lower_shift,
        tables.half_mask,
        tables.half_shift,
        tables.pair_columns,
    )
    choices = (*tables.pairs_in, *tables.pair_at, *tables.tile_at, *tables.pair_tiles, tables.pair_sets)
    draws = (
        tables.drawn,
        tables.two_ways,
        tables.two_drawn,
        *tables.two_codes,
        tables.taken,
        tables.two_taken,
    )
    return board, choices, draws, (tables.full, tables.bag, tables.start)


class Stepper:
    """One step of many games, what they show and what they allow, in compiled code."""

    def __init__(
        self, tables: FlipTables, values: int, state: Ints, tiles: Small, places: dict[str, slice]
    ) -> None:
        self._tables = tables
        self._state, self._tiles = tuple(state), tiles
        self._parts = _parts(tables)
        names = ("my_score", "other_score", "my_quantum", "other_quantum", "my_turn", "lifted", "choosing")
        self._places = tuple(places[name].start for name in names)
        self._faces = 2 * values + 1
        value = np.maximum(np.arange(form.ROW) - tables.first_code, 0)
        value[form.PAIRED] = 0
        down = np.where(value > 0, value + values, 0)
        points = np.arange(tables.scores**2)
        shown = (np.append(value, down), points // tables.scores, points % tables.scores)
        self._shown = tuple(numbers.astype(np.uint8) for numbers in shown)
        """[code, and whether the tile is face down] its face; [points of both] those of each seat."""

    def play(
        self,
        actions: Ints,
        streams: NDArray[np.uint64],
        autoreset: bool,
        rewards: NDArray[np.float32],
        ended: NDArray[np.bool_],
    ) -> int:
        """Play everywhere; gives the first game whose action is not allowed, or -1."""
        _, choices, draws, start = self._parts
        pairs = choices[-3:]
        wrong = int(_first_illegal(actions, pairs, self._tables.tiles, self._state))
        if wrong < 0:
            games = (self._state, self._tiles, streams)
            _play(actions, pairs, draws, self._tables.standing, start, games, autoreset, rewards, ended)
        return wrong

    def sample(self, streams: NDArray[np.uint64], chosen: Ints) -> None:
        """A random legal action everywhere."""
        board, choices, _, _ = self._parts
        _sample(board, choices, self._tables.tiles, self._state, streams, chosen)

    def masks(self, out: NDArray[np.int8]) -> None:
        """[env, action] 1 where the action is allowed."""
        _masks(self._parts[1][-1], self._tables.tiles, self._state, out)

    def observe(self, seats: NDArray[np.int8], out: NDArray[np.int8]) -> None:
        """[env, number] what the seats are shown, into zeros."""
        numbers = (self._tables.tiles, self._faces, int(self._tables.scores == 2), out.shape[1])
        _observe(numbers, self._shown, self._places, self._state, self._tiles, seats, out.reshape(-1))


@njit(inline="always")
def _at(table: Any, place: Any) -> Any:
    """An entry of a table; a place that cannot be negative needs no check of that."""
    return table[np.uint64(place)]


@compiled(nogil=True)
def _first_illegal(actions: Any, pairs: Any, tiles: int, state: Any) -> int:
    downs, _, _, standings = state
    pair_sets = pairs[2]
    for i in range(len(actions)):
        action, down = actions[i], downs[i]
        lifted = (standings[i] & form.LIFTED) != 0
        if 0 <= action < tiles:
            fine = not lifted and (down >> (form.ROW_BITS + action)) & 1
        elif tiles <= action < tiles + len(pair_sets):
            both = pair_sets[action - tiles] & -form.ROW
            fine = standings[i] < 0 and (down & both) == both
        else:
            kept = action - tiles - len(pair_sets)
            fine = lifted and 0 <= kept < tiles and (down >> (form.ROW_BITS + kept)) & 1
        if not fine:
            return i
    return -1


@compiled(nogil=True)
def _play(
    actions: Any,
    pairs: Any,
    draws: Any,
    after: Any,
    start: Any,
    games: Any,
    autoreset: bool,
    rewards: Any,
    ended: Any,
) -> None:
    firsts, seconds, pair_sets = pairs
    drawn, two_ways, two_drawn, codes_1, codes_2, taken, two_taken = draws
    full, full_bag, start_standing = start
    state, tiles, streams = games
    downs, rests, bags, standings = state
    count = full & form.CODE
    for i in range(len(actions)):
        streams[i] += GAMMA
        chance = np.int64(mix(streams[i]) >> _32)
        action, down, bag = actions[i], downs[i], bags[i]
        row = bag & form.BAG
        rewards[i, 0] = 0.0
        rewards[i, 1] = 0.0
        ended[i] = False
        if count <= action < count + len(pair_sets):
            pair = action - count
            first, second = firsts[pair], seconds[pair]
            known = np.int64(tiles[i, first]), np.int64(tiles[i, second])
            if known[0] | known[1]:
                ticket = (bag >> form.LEFT_AT) * chance >> 32
                one, two = drawn[row + max(ticket, known[0])], drawn[row + max(ticket, known[1])]
                tiles[i, first], tiles[i, second] = one & form.CODE, two & form.CODE
                bags[i] = bag - taken[one] - taken[two]
            else:
                two_way = two_ways[row >> form.ROW_BITS]
                values = two_drawn[(two_way >> form.BEGIN_AT) + ((two_way & form.WAYS) * chance >> 32)]
                tiles[i, first], tiles[i, second] = codes_1[values], codes_2[values]
                bags[i] = bag - two_taken[values]
            downs[i] = pair_sets[pair]
            rests[i] = down - pair_sets[pair]
            standings[i] = after[(standings[i] & form.STANDING) + form.PAIRED]
            continue
        tile = action if action < count else action - count - len(pair_sets)
        ticket = (bag >> form.LEFT_AT) * chance >> 32
        turned = drawn[row + max(ticket, np.int64(tiles[i, tile]))]
        tiles[i, tile] = turned
        bags[i] = bag - taken[turned]
        downs[i] = down + rests[i] - (form.ROW << tile) - 1
        rests[i] = 0
        standings[i] = after[(standings[i] & form.STANDING) + (turned & form.CODE)]
        if standings[i] >= _FIRST_WON:
            winner = standings[i] >> form.WINNER_AT
            rewards[i, winner] = 1.0
            rewards[i, 1 - winner] = -1.0
            ended[i] = True
            if autoreset:
                downs[i], bags[i], standings[i] = full, full_bag, start_standing
                tiles[i, :count] = 0


@compiled(nogil=True)
def _sample(board: Any, choices: Any, tiles: int, state: Any, streams: Any, chosen: Any) -> None:
    upper_mask, lower_shift, half_mask, half_shift, columns = board
    pairs_up, pairs_low, pair_up, pair_low, tile_low, tile_up, _, _, pair_sets = choices
    downs, _, _, standings = state
    for i in range(len(chosen)):
        down = downs[i]
        singles = down & form.CODE
        pairs = np.int64(pairs_up[down >> form.ROW_BITS & upper_mask]) + pairs_low[down >> lower_shift]
        k = np.int64(mix(streams[i] + GAMMA) & HALF) * (singles + (pairs & standings[i] >> 63)) >> 32
        if k < singles:
            tile = np.int64(tile_up[(down >> half_shift & -form.ROW) + tile_low[(down & half_mask) + k]])
            lifted = (standings[i] & form.LIFTED) != 0
            chosen[i] = tile + (tiles + len(pair_sets)) * lifted
        else:
            rank = (down >> form.ROW_BITS & upper_mask) * columns + k - singles
            chosen[i] = tiles + np.int64(pair_low[(down >> lower_shift) * columns + pair_up[rank]])


@compiled(nogil=True)
def _masks(pair_sets: Any, tiles: int, state: Any, out: Any) -> None:
    downs, _, _, standings = state
    keep = tiles + len(pair_sets)
    for i in range(len(out)):
        down = downs[i]
        lifted = np.int8((standings[i] & form.LIFTED) != 0)
        may_pair = standings[i] < 0
        for tile in range(tiles):
            there = np.int8(down >> (form.ROW_BITS + tile) & 1)
            out[i, tile] = there & (1 - lifted)
            out[i, keep + tile] = there & lifted
        for pair in range(len(pair_sets)):
            both = pair_sets[pair] & -form.ROW
            out[i, tiles + pair] = may_pair and (down & both) == both


@compiled(nogil=True)
def _observe(numbers: Any, shown: Any, places: Any, state: Any, tiles: Any, seats: Any, out: Any) -> None:
    """`out` is all zeros, game after game."""
    count, faces, least, size = numbers
    face_of, one_of, two_of = shown
    my_score, other_score, my_quantum, other_quantum, my_turn, lifted_at, choosing_at = places
    downs, rests, _, standings = state
    for game in range(len(seats)):
        i = np.uint64(game)
        standing, seat = standings[i], np.int64(seats[i])
        number = (standing & form.STANDING) >> form.ROW_BITS
        one, two = np.int64(_at(one_of, number >> 3)), np.int64(_at(two_of, number >> 3))
        mine = (number >> 2 & 1) == seat
        lifted = (standing & form.LIFTED) != 0
        face_down = (downs[i] + rests[i]) >> form.ROW_BITS
        begin = i * np.uint64(size)
        at = begin
        for tile in range(np.uint64(count)):
            code = np.int64(tiles[i, tile]) & form.CODE | (face_down & 1) << form.ROW_BITS
            out[at + np.uint64(_at(face_of, code))] = 1
            face_down >>= 1
            at += np.uint64(faces)
        mine_has, other_has = (one, two) if seat == 0 else (two, one)
        # Of a feature with two values only the second is shown.
        if mine_has >= least:
            out[begin + np.uint64(my_score + mine_has - least)] = 1
        if other_has >= least:
            out[begin + np.uint64(other_score + other_has - least)] = 1
        # A Quantum Flip is spent once a tile has been kept; a standing says so from the lifting on.
        out[begin + np.uint64(my_quantum)] = (number >> seat & 1) | (lifted and mine)
        out[begin + np.uint64(other_quantum)] = (number >> (1 - seat) & 1) | (lifted and not mine)
        out[begin + np.uint64(my_turn)] = mine
        out[begin + np.uint64(choosing_at)] = lifted
        if lifted:
            for tile in range(count):
                out[begin + np.uint64(lifted_at + tile)] = downs[i] >> (form.ROW_BITS + tile) & 1


@compiled(nogil=True)
def _roll(
    board: Any,
    choices: Any,
    draws: Any,
    after: Any,
    start: Any,
    state: Any,
    tiles: Any,
    streams: Any,
    steps: int,
    wins: Any,
) -> None:
    upper_mask, lower_shift, half_mask, half_shift, columns = board
    pairs_up, pairs_low, pair_up, pair_low, tile_low, tile_up, firsts, seconds, pair_sets = choices
    drawn, two_ways, two_drawn, codes_1, codes_2, taken, two_taken = draws
    full, full_bag, start_standing = start
    downs, rests, bags, standings = state
    ks, chances, takes, lifts, ended = np.empty((5, _ABREAST), np.int64)
    for low in range(0, len(streams), _ABREAST):
        high = min(low + _ABREAST, len(streams))
        for _ in range(steps):
            n_takes = n_lifts = n_ended = 0
            for number in range(low, high):
                i = np.uint64(number)
                streams[i] += GAMMA
                word = mix(streams[i])
                down = downs[i]
                singles = down & form.CODE
                pairs = np.int64(_at(pairs_up, down >> form.ROW_BITS & upper_mask)) + _at(
                    pairs_low, down >> lower_shift
                )
                ways = singles + (pairs & standings[i] >> 63)
                k = np.int64(word & HALF) * ways >> 32
                ks[number - low], chances[number - low] = k, np.int64(word >> _32)
                takes[n_takes] = lifts[n_lifts] = number
                n_takes += k < singles
                n_lifts += k >= singles
            for i in takes[:n_takes].view(np.uint64):
                j = i - np.uint64(low)
                down, bag = downs[i], bags[i]
                tile = _at(
                    tile_up, (down >> half_shift & -form.ROW) + _at(tile_low, (down & half_mask) + ks[j])
                )
                # The ticket draws a tile, unless the tile is known: that is more than any ticket.
                ticket = (bag >> form.LEFT_AT) * chances[j] >> 32
                turned = _at(drawn, (bag & form.BAG) + max(ticket, np.int64(tiles[i, tile])))
                tiles[i, tile] = turned
                bags[i] = bag - taken[turned]
                downs[i] = down + rests[i] - (form.ROW << np.int64(tile)) - 1
                rests[i] = 0
                standings[i] = _at(after, (standings[i] & form.STANDING) + (turned & form.CODE))
                ended[n_ended] = i
                n_ended += standings[i] >= _FIRST_WON
            for i in lifts[:n_lifts].view(np.uint64):
                j = i - np.uint64(low)
                down, bag, row = downs[i], bags[i], bags[i] & form.BAG
                rank = (down >> form.ROW_BITS & upper_mask) * columns + ks[j] - (down & form.CODE)
                pair = _at(pair_low, (down >> lower_shift) * columns + _at(pair_up, rank))
                first, second = firsts[pair], seconds[pair]
                known = np.int64(tiles[i, first]), np.int64(tiles[i, second])
                if known[0] | known[1]:
                    ticket = (bag >> form.LEFT_AT) * chances[j] >> 32
                    one, two = drawn[row + max(ticket, known[0])], drawn[row + max(ticket, known[1])]
                    tiles[i, first], tiles[i, second] = one & form.CODE, two & form.CODE
                    bags[i] = bag - taken[one] - taken[two]
                else:
                    two_way = _at(two_ways, row >> form.ROW_BITS)
                    values = _at(
                        two_drawn, (two_way >> form.BEGIN_AT) + ((two_way & form.WAYS) * chances[j] >> 32)
                    )
                    tiles[i, first], tiles[i, second] = codes_1[values], codes_2[values]
                    bags[i] = bag - two_taken[values]
                downs[i] = pair_sets[pair]
                rests[i] = down - pair_sets[pair]
                standings[i] = after[(standings[i] & form.STANDING) + form.PAIRED]
            for i in ended[:n_ended]:
                wins[i, standings[i] >> form.WINNER_AT] += 1
                downs[i], bags[i], standings[i] = full, full_bag, start_standing
                tiles[i, : full & form.CODE] = 0
