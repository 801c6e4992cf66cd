"""What a match or a player is worth: review, hints, exercises, levels, grades, exploitability, export."""
