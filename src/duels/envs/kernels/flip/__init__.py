"""Quantum Flip on integers: one game, batches, JAX, and levels in many games."""
