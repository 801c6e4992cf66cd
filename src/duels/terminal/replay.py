"""Replays of recorded matches, and paging through texts on a terminal."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import Seat
from duels.play.narrator import Narrator
from duels.terminal.screen import Screen

_NEXT = ("\x1b[c", "\n", "\r", " ", "n")
_BACK = ("\x1b[d", "\x7f", "b")
_FIRST = ("\x1b[h", "\x1boh", "\x1b[1~")  # Home, as terminals send it
_LAST = ("\x1b[f", "\x1bof", "\x1b[4~")  # End
_LEAVE = "q"


def show_replay(record: Record, seat: Seat | None, step: bool, screen: Screen) -> None:
    """Show a match as both seats saw it, or as one seat saw it.

    With `step`, page through the turns on a terminal. Raises DuelsError if the record holds only what the
    other seat saw.
    """
    turns = list(_render_turns(record, seat, screen))
    if step and screen.can_page:
        page_through(list(accumulate(turns)), "turn", screen)
    else:
        screen.say("".join(turns))


def _render_turns(record: Record, seat: Seat | None, screen: Screen) -> Iterator[str]:
    """Yield the opening, then one text per turn: the decisions of one seat and their results."""
    if record.seat and seat and record.seat is not seat:
        raise DuelsError(
            f"This record holds only what {record.seat.label} saw. Pass --seat {record.seat.value}."
        )
    seat = seat or record.seat
    match = record.match
    if seat:
        viewers = frozenset({seat})
    elif match.over:
        viewers = frozenset(Seat)
    else:
        viewers = frozenset()
        if match.rules.has_hidden_information:
            screen.notice(
                "The match is unfinished, so hidden information stays hidden. "
                "Pass --seat to see what one seat knows."
            )
    words = match.rules.game.words(match.rules)
    narrator = Narrator(words, viewers)
    yield words.opening().render()
    entries = match.turns if viewers == frozenset(Seat) else match.turns_known_to(seat)
    last_actor: Seat | None = None
    text = ""
    for step in match.steps()[: len(entries)]:
        text += narrator.render_entry(step) + narrator.render_events(step)
        last_actor = step.last.actor if step.last and isinstance(step.last.actor, Seat) else last_actor
        if isinstance(step.actor, Seat) and step.actor is not last_actor:
            yield text
            text = ""
    if text:
        yield text


def page_through(pages: Sequence[str], unit: str, screen: Screen) -> None:
    """Let a person go forwards and backwards through pages. `unit` names a page, such as `turn`.

    If a page is too long for the screen, show only its end.
    """
    number = 0
    with screen.alternate_screen(), screen.key_reader([*_NEXT, *_BACK, *_FIRST, *_LAST, _LEAVE]) as read_key:
        while True:
            screen.show_end(pages[number])
            position = f"{unit} {number} of {len(pages) - 1}"
            key = read_key(f"\n-- {position}: right arrow or Enter next, left arrow back, q stop --")
            if key == _LEAVE:
                return
            number = _find_page(number, key, len(pages) - 1)


def _find_page(current: int, key: str, last: int) -> int:
    if key in _FIRST or key in _LAST:
        return 0 if key in _FIRST else last
    return max(0, current - 1) if key in _BACK else min(last, current + 1)
