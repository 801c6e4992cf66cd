"""How much the strategy for hunt can give away at most, recomputed from its tables; needs numpy and numba."""
