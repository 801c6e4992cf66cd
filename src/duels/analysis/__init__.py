"""Analysis of matches and players: reviews, hints, exercises, levels, grades, exploitability, export."""
