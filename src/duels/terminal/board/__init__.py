"""A live match on a full screen (the extra `tui`): the same match, drawn in place, chosen by pointing."""
