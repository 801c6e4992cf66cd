"""Compiled loops: imported only where they run, since they need numpy and numba."""
