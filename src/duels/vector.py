"""The vectorised core: any number of games of one kind, stepped together as arrays."""

from duels.envs.vector import Batch, Steps, TableBatch, Tally, make

__all__ = ["Batch", "Steps", "TableBatch", "Tally", "make"]
