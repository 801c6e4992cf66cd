"""Shows a recorded match again, turn by turn if wanted, backwards too."""

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
    """Show a match as it was played, or as one seat saw it; step by step on request."""
    scenes = list(_scenes(record, seat, screen))
    if step and screen.on_terminal and screen.can_clear:
        page_through(list(accumulate(scenes)), "turn", screen)
        return
    for number, scene in enumerate(scenes, start=1):
        screen.say(scene)
        if step and 1 < number < len(scenes) and not _go_on(screen):
            return


def _scenes(record: Record, seat: Seat | None, screen: Screen) -> Iterator[str]:
    """The opening, then what each turn shows; a turn is all that one seat decides, and what comes of it."""
    if record.seat and seat and record.seat is not seat:
        raise DuelsError(f"This record holds only what {record.seat.label} saw.")
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
                "The match is unfinished: what was hidden stays hidden. --seat shows one seat's own."
            )
    words = match.rules.game.words(match.rules)
    narrator = Narrator(words, watching)
    yield words.opening().render()
    known = match.turns if watching == frozenset(Seat) else match.turns_known_to(seat)
    decided: Seat | None = None
    told = ""
    for after in match.steps()[: len(known)]:
        told += narrator.render_entry(after) + narrator.render_events(after)
        decided = after.last.actor if after.last and isinstance(after.last.actor, Seat) else decided
        if isinstance(after.actor, Seat) and after.actor is not decided:
            yield told
            told = ""
    if told:
        yield told


def _go_on(screen: Screen) -> bool:
    try:
        entry = screen.ask(Question("-- Enter for the next turn, q to stop --")).strip().lower()
    except EOFError:
        return True  # nobody is there to press a key
    return entry not in (_LEAVE, "quit")


def page_through(pages: Sequence[str], what: str, screen: Screen) -> None:
    """Show the end of each page, forwards and backwards, until the person has seen enough."""
    number = 0
    with screen.aside(), screen.keys([*_NEXT, *_BACK, *_FIRST, *_LAST, _LEAVE]) as next_key:
        while True:
            screen.show_end(pages[number])
            place = f"{what} {number} of {len(pages) - 1}"
            pressed = next_key(f"\n-- {place}: right arrow or Enter next, left arrow back, q stop --")
            if pressed == _LEAVE:
                return
            number = _turned(number, pressed, len(pages) - 1)


def _turned(number: int, pressed: str, last: int) -> int:
    """The page to which a key leads from this one."""
    if pressed in _FIRST or pressed in _LAST:
        return 0 if pressed in _FIRST else last
    return max(0, number - 1) if pressed in _BACK else min(last, number + 1)
