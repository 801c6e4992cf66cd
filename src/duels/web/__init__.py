"""The web server: matches, reviews and puzzles in the browser. It contains no rules of any game."""
