"""Longer forms of games that are exhausted once their trick is known."""

from typing import Any

from duels.core.rules import Rules, Seat
from duels.play.library import Kept, kept_matches
from duels.players import HUMAN, STRONGEST

AnyRules = Rules[Any, Any, Any]

_LONGER = {"lights": ("lights", (12, 20, 40)), "leap": ("goal", (50, 100, 200))}
_OFTEN_ENOUGH = 2  # wins against the strongest player


def longer_form(rules: AnyRules) -> AnyRules | None:
    """The next longer form of these rules; None if the game has none, or not one so long."""
    if rules.name not in _LONGER:
        return None
    option, sizes = _LONGER[rules.name]
    size = next((size for size in sizes if size > getattr(rules, option)), None)
    return rules.game.rules(**{**rules.options(), option: size}) if size else None


def suggestion(rules: AnyRules) -> str:
    """A line to somebody who has beaten the strongest player often enough; empty to others."""
    longer = longer_form(rules)
    if not longer or not _exhausted(rules):
        return ""
    option, _ = _LONGER[rules.name]
    return f"You have beaten perfect play twice: you know the trick. Try {option} {getattr(longer, option)}."


def _exhausted(rules: AnyRules) -> bool:
    wins = 0
    for kept in kept_matches(lambda text: None):
        wins += kept.record.match.rules == rules and _beat_the_strongest(kept)
        if wins == _OFTEN_ENOUGH:
            return True
    return False


def _beat_the_strongest(kept: Kept) -> bool:
    outcome = kept.record.match.outcome
    if not outcome or not outcome.winner:
        return False
    players = dict(zip(Seat, kept.players, strict=True))
    return players[outcome.winner] == HUMAN and players[outcome.winner.other] in STRONGEST
