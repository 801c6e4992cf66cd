"""A match being played, without a screen: seats, dice, scripted chance, takebacks, the record on disk."""
