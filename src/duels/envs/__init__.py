"""Environments for Gymnasium, PettingZoo, OpenSpiel, NumPy and JAX."""
