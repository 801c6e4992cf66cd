"""Small games from outside the package, each one module: what ours do not do, these do.

tictactoe can be drawn; nim has options of every kind and may begin with chance; highcard has secrets, begins
with chance, can be drawn, and can be cut off by a limit.
"""
