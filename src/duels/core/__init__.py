"""The contracts of a game, and the matches, records and checks built on them."""
