"""The texts of liar's dice."""

from collections.abc import Sequence

from duels.core.narration import Narration, TextBoard, say, verb, victory
from duels.core.rules import Event, Seat, Sight
from duels.core.words import Ink, Words
from duels_liarsdice.rules import HIDDEN, Action, Bid, BidMade, Called, FaceSeen, State


class LiarsDiceWords(Words[Action, State]):
    def prompt(self, sight: Sight[Action, State]) -> str:
        return f"{self.player(sight.seat)}, your bid{' or liar' if sight.view.bid else ''}: "

    def is_secret(self, sight: Sight[Action, State]) -> bool:
        return False  # bids are open, and dice are never entered

    def narrate(self, seen: Sequence[Event]) -> Narration:
        event = seen[-1]
        if isinstance(event, FaceSeen):
            return Narration([say(event.seat, verb(event.seat, "rolls", "roll"), f"a {event.face}.")])
        if isinstance(event, BidMade):
            return Narration([say(event.seat, verb(event.seat, "bids", "bid"), f"{_describe(event.bid)}.")])
        if isinstance(event, Called):
            dice = " and ".join(map(str, event.dice))
            calls = say(event.seat, verb(event.seat, "calls", "call"), ".")
            why = f"The bid is {_describe(event.bid)}, the dice are {dice}."
            return Narration([say(calls, why, victory(event.winner, Ink.WON))])
        return Narration()

    def board(self, sight: Sight[Action, State]) -> TextBoard:
        view = sight.view
        faces = [*view.dice, *[None] * (len(Seat) - len(view.dice))]
        dice = "".join(f"{seat.label}'s die: {_die(face)}\n" for seat, face in zip(Seat, faces, strict=True))
        return TextBoard(dice + (f"Last bid: {_describe(view.bid)}\n" if view.bid else "No bid yet.\n"))


def _die(face: int | None) -> str:
    return "not rolled" if face is None else "hidden" if face == HIDDEN else str(face)


def _describe(bid: Bid) -> str:
    return f"{'one' if bid.quantity == 1 else 'two'} {bid.face}{'s' * (bid.quantity > 1)}"


WORDS = LiarsDiceWords
