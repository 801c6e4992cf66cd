"""What a duel is: rules, matches, records, and the laws that check any game."""
