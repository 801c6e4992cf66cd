"""What a level does with flip's intervals, compiled: `FlipOracle` and `levels.mixture` once more."""

import math
from typing import Any

import numpy as np

from duels.games.flip.bounds import ENOUGH
from duels.games.flip.oracle import ALIKE
from duels.solving.compiling import compiled, inner

_COLDEST, _HOTTEST, _HALVINGS = -12.0, 12.0, 60  # as in `levels.mixture`


@compiled(error_model="numpy")
def weigh(lows: Any, highs: Any, bounds: Any, share: float, odds: Any) -> None:
    """[position, action] how likely a level takes the action; the first is -1 where it is not known.

    The intervals and bounds are those of `intervals.judge`, and are changed.
    """
    for i in range(len(lows)):
        if not _weigh(lows[i], highs[i], bounds[i], share, odds[i]):
            odds[i, 0] = -1.0


@inner
def _weigh(lows: Any, highs: Any, bounds: Any, share: float, odds: Any) -> bool:
    low = high = -1.0
    for a in range(len(lows)):
        low, high = max(low, lows[a]), max(high, highs[a])
    low, high = max(low, bounds[0]), min(high, bounds[1])
    if high - low > ENOUGH or not bounds[2]:
        return False
    legal = taken = 0
    top = -1.0
    for a in range(len(lows)):
        if lows[a] >= 0:
            legal += 1
            # No action is better than the position.
            lows[a], highs[a] = min(lows[a], high), min(highs[a], high)
            top = max(top, (lows[a] + highs[a]) / 2)
    value = -1.0
    for a in range(len(lows)):
        if lows[a] >= 0 and (lows[a] + highs[a]) / 2 >= top - ALIKE:
            taken += 1
            value = max(value, min(max((low + high) / 2, lows[a]), highs[a]))
    value = min(max(value, low), high)
    # From here on `lows` are the losses, and `highs` whether an action is best, and whether it is taken.
    total = 0.0
    for a in range(len(lows)):
        if lows[a] >= 0:
            middle = (lows[a] + highs[a]) / 2
            is_taken = middle >= top - ALIKE
            best = is_taken or highs[a] >= low
            lows[a] = 0.0 if best else max(0.0, value - middle)
            highs[a] = 2.0 if is_taken else 1.0 if best else 0.0
            total += lows[a]
            odds[a] = is_taken / taken
        else:
            odds[a] = 0.0
    if share * total / legal > 0:
        _temper(lows, highs, share * total / legal, taken, odds)
    return True


@inner
def _temper(losses: Any, kinds: Any, giveaway: float, taken: int, odds: Any) -> None:
    """Spread the odds so that so much is given away; those of illegal actions are left alone."""
    amounts, counts = np.empty(len(losses)), np.zeros(len(losses))
    different = 0
    for a in range(len(losses)):
        if losses[a] >= 0:
            k = 0
            while k < different and amounts[k] != losses[a]:
                k += 1
            different += k == different
            amounts[k] = losses[a]
            counts[k] += 1
    cold, hot = _COLDEST, _HOTTEST
    for _ in range(_HALVINGS):
        middle = (cold + hot) / 2
        given = weights = 0.0
        for k in range(different):
            weight = counts[k] * math.exp(-amounts[k] / math.exp(middle))
            given += amounts[k] * weight
            weights += weight
        if given / weights < giveaway:
            cold = middle
        else:
            hot = middle
    best = total = 0.0
    for a in range(len(losses)):
        if losses[a] >= 0:
            weight = math.exp(-losses[a] / math.exp(hot))
            total += weight
            best += weight * (kinds[a] > 0)
    for a in range(len(losses)):
        if losses[a] >= 0:
            weight = math.exp(-losses[a] / math.exp(hot))
            odds[a] = (best * (kinds[a] > 1) / taken if kinds[a] > 0 else weight) / total
