"""Mirror descent towards an equilibrium of policies with limited memory."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def descend(
    policy: Array, allowed: Array, worth: Array, reach: Array, step: float, temperature: float
) -> None:
    """Move every decision of `policy` (last axis: actions) towards what is worth more, in place.

    `worth` is each action's value times the decision's `reach`. The pull of `temperature` towards playing
    everything alike is what makes the last policy converge instead of circling; where a decision is never
    reached it stays as it is.
    """
    met = reach > 1e-13
    values = np.divide(worth, reach[..., None], out=np.zeros_like(worth), where=met[..., None])
    scores = (np.log(policy + 1e-12) + step * values) / (1 + step * temperature)
    scores = np.where(allowed, scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    # A trace of everything that is allowed keeps every decision reachable, and beliefs well defined.
    floor = 1e-6
    scores = scores * (1 - floor * allowed.sum(axis=-1, keepdims=True)) + floor * allowed
    np.copyto(policy, scores, where=met[..., None])
