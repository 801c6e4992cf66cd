"""Solution methods that work for any game; each game's `oracle.py` uses one of them."""
