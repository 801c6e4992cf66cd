"""What decided a match, in one line after it, where that is known at once."""

from duels.core.errors import DuelsError
from duels.play.live import LiveMatch
from duels.players import HUMAN

_LONGEST = 200  # entries; a longer match takes more than a moment


def cause(live: LiveMatch) -> str:
    """What decided the match for its one person; empty where nothing did, or finding out takes long."""
    from duels.solving.oracles import is_at_hand, oracle_for  # a match by itself needs none of these

    match = live.match
    if len(match.turns) > _LONGEST or not is_at_hand(match.rules):
        return ""
    from duels.analysis.review import review
    from duels.analysis.review_why import in_a_line

    try:
        players = {seat: HUMAN if seat in live.people else name for seat, name in live.names.items()}
        return in_a_line(review(match, oracle_for(match.rules), players))
    except DuelsError:  # the oracle does not know what was played
        return ""
