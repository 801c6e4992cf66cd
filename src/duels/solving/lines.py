"""Rows of numbers that begin where a line of memory does: a processor fetches whole lines."""

import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Bytes that a processor fetches at once."""

HALF_LINE = LINE // 2


def whole_lines(size: int) -> int:
    """So many bytes, or the next number of them that fills whole lines."""
    return -(-size // LINE) * LINE


def in_lines(count: int, width: int) -> NDArray[np.int8]:
    """[row, number] zeros, in an array that begins where a line does."""
    room = np.zeros(count * width + LINE, np.int8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + count * width].reshape(count, width)
