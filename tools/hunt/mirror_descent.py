"""Mirror descent towards an equilibrium of policies with limited memory."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def descend(
    policy: Array, allowed: Array, weighted_values: Array, reach: Array, step: float, temperature: float
) -> None:
    """Move every decision of `policy` (last axis: actions) towards better actions, in place.

    `weighted_values` has each action's value times the decision's `reach`. `temperature` pulls towards the
    uniform policy, so that the last policy converges instead of cycling. Unreached decisions do not change.
    """
    is_reached = reach > 1e-13
    values = np.divide(
        weighted_values, reach[..., None], out=np.zeros_like(weighted_values), where=is_reached[..., None]
    )
    scores = (np.log(policy + 1e-12) + step * values) / (1 + step * temperature)
    scores = np.where(allowed, scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    # A small weight on every legal action keeps all decisions reachable and beliefs well defined.
    floor = 1e-6
    scores = scores * (1 - floor * allowed.sum(axis=-1, keepdims=True)) + floor * allowed
    np.copyto(policy, scores, where=is_reached[..., None])
