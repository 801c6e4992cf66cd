"""The duels as environments: arrays of games, Gymnasium, PettingZoo, OpenSpiel."""
