"""Fast implementations of flip: single games, batches, JAX environments and levels."""
