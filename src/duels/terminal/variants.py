"""Longer forms of games that are exhausted once their trick is known."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from duels.core.rules import Outcome, Rules, Seat
from duels.play.library import kept_matches
from duels.play.live import LiveMatch
from duels.players import HUMAN, STRONGEST

AnyRules = Rules[Any, Any, Any]

_OFTEN_ENOUGH = 2  # wins against the strongest player
_RECENT = 200  # matches among which these are looked for


def longer_form(rules: AnyRules) -> AnyRules | None:
    """The next longer form of these rules; None if the game has none, or not one so long."""
    options = _next_options(rules)
    return rules.game.rules(**{**rules.options(), **options}) if options else None


def _next_options(rules: AnyRules) -> dict[str, int]:
    longer = (
        form
        for form in rules.longer_forms
        if all(value > getattr(rules, option) for option, value in form.items())
    )
    return next(longer, {})


def knows_the_trick(live: LiveMatch) -> bool:
    """Whether somebody has just beaten the strongest player, not for the first time, in a game that grows."""
    players = {seat: HUMAN if seat in live.people else live.names[seat] for seat in Seat}
    return (
        bool(_next_options(live.match.rules))
        and _beat_the_strongest(players, live.match.outcome)
        and _wins(live.match.rules, _OFTEN_ENOUGH) == _OFTEN_ENOUGH
    )


def suggestion(live: LiveMatch, key: str) -> str:
    """A line to somebody who knows the trick, with the key to press; empty if it has been said before."""
    rules = live.match.rules
    if _wins(rules, _OFTEN_ENOUGH + 1) > _OFTEN_ENOUGH:
        return ""
    tried = ", ".join(
        f"{value} {option}" if option.endswith("s") else f"{option} {value}"  # 12 lights, goal 50
        for option, value in _next_options(rules).items()
    )
    return f"You have beaten perfect play twice: you know the trick. Try {tried}: press {key}."


def _wins(rules: AnyRules, most: int) -> int:
    """How often people have beaten the strongest player by these rules lately, counted up to `most`."""
    return sum(1 for _ in islice(_won(rules), most))


def _won(rules: AnyRules) -> Iterator[None]:
    for kept in islice(kept_matches(lambda text: None), _RECENT):
        match, players = kept.record.match, dict(zip(Seat, kept.players, strict=True))
        if match.rules == rules and _beat_the_strongest(players, match.outcome):
            yield


def _beat_the_strongest(players: dict[Seat, str], outcome: Outcome | None) -> bool:
    winner = outcome.winner if outcome else None
    return winner is not None and players[winner] == HUMAN and players[winner.other] in STRONGEST
