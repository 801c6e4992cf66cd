"""Replays of recorded matches, and paging through texts on a terminal."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from duels.core.errors import DuelsError
from duels.core.record import Record
from duels.core.rules import Seat
from duels.core.words import Question
from duels.play.narrator import Narrator
from duels.terminal.screen import Screen

_NEXT = ("\x1b[c", "\n", "\r", " ", "n")
_BACK = ("\x1b[d", "\x7f", "b")
_FIRST = ("\x1b[h", "\x1boh", "\x1b[1~")  # Home, as terminals send it
_LAST = ("\x1b[f", "\x1bof", "\x1b[4~")  # End
_LEAVE = "q"


def show_replay(record: Record, seat: Seat | None, step: bool, screen: Screen) -> None:
    """Show a match as both seats saw it, or as one seat saw it.

    With `step`, wait for a key after each turn. Raises DuelsError if the record holds only the other seat.
    """
    scenes = list(_scenes(record, seat, screen))
    if step and screen.on_terminal and screen.can_clear:
        page_through(list(accumulate(scenes)), "turn", screen)
        return
    for number, scene in enumerate(scenes, start=1):
        screen.say(scene)
        if step and 1 < number < len(scenes) and not _wants_next_turn(screen):
            return


def _scenes(record: Record, seat: Seat | None, screen: Screen) -> Iterator[str]:
    """Yield the opening, then one text per turn: the decisions of one seat and their results."""
    if record.seat and seat and record.seat is not seat:
        raise DuelsError(
            f"This record holds only what {record.seat.label} saw. Pass --seat {record.seat.value}."
        )
    seat = seat or record.seat
    match = record.match
    if seat:
        watching = frozenset({seat})
    elif match.over:
        watching = frozenset(Seat)
    else:
        watching = frozenset()
        if match.rules.has_secrets:
            screen.notice(
                "The match is unfinished, so hidden information stays hidden. "
                "Pass --seat to see what one seat knows."
            )
    words = match.rules.game.words(match.rules)
    narrator = Narrator(words, watching)
    yield words.opening().render()
    turns = match.turns if watching == frozenset(Seat) else match.turns_known_to(seat)
    last_actor: Seat | None = None
    text = ""
    for after in match.steps()[: len(turns)]:
        text += narrator.render_entry(after) + narrator.render_events(after)
        last_actor = after.last.actor if after.last and isinstance(after.last.actor, Seat) else last_actor
        if isinstance(after.actor, Seat) and after.actor is not last_actor:
            yield text
            text = ""
    if text:
        yield text


def _wants_next_turn(screen: Screen) -> bool:
    try:
        entry = screen.ask(Question("-- Enter for the next turn, q to stop --")).strip().lower()
    except EOFError:
        return True  # nobody is there to press a key
    return entry not in (_LEAVE, "quit")


def page_through(pages: Sequence[str], unit: str, screen: Screen) -> None:
    """Let a person go forwards and backwards through pages. `unit` names a page, such as `turn`.

    If a page is too long for the screen, show only its end.
    """
    number = 0
    with screen.alternate_screen(), screen.keys([*_NEXT, *_BACK, *_FIRST, *_LAST, _LEAVE]) as read_key:
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
