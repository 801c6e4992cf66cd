"""Quantum Flip as numbers: one game on a list of integers, many games on arrays, by tables."""
