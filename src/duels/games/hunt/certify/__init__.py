"""Bounds on the exploitability of hunt's strategy, recomputed from its tables. Needs numpy and numba."""
