"""Quantum Flip as numbers: one game on a list of integers, many games on arrays of bits."""
