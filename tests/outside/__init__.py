"""Small games from outside the package, each in one module, with properties that ours do not have.

nim has options of every kind and may begin with chance. highcard has secrets, begins with chance, can be
drawn, and can be cut off by a limit.
"""
