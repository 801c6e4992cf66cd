"""One step of a match: the only place where chance is drawn and a player is asked.

Terminal, server, arena, export and measurements wrap `next_entry` in loops of their own. The same seed and
players give the same match in all of them.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from duels.core.errors import GameOver, NotYourTurn
from duels.core.match import AnyMatch
from duels.core.rules import CHANCE, Actor, AnySight, Seat
from duels.players import Player
from duels.players.failures import Answer, NoMove

if TYPE_CHECKING:
    from random import Random

R = TypeVar("R")


class Randomness(Protocol):
    """The source of a match's draws: `Dice`, or `StreamDice` where nothing is resumed."""

    def chance(self, match: AnyMatch) -> Any:
        """Return the outcome of the chance node at which `match` stands."""

    def at(self, match: AnyMatch, purpose: str) -> "Random":
        """Return the generator for one decision."""


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A decision that a player has to make."""

    seat: Seat
    sight: AnySight
    rng: "Random"


DecisionDialogue: TypeAlias = Generator[DecisionRequest, Answer | NoMove, R]
"""Yields questions, is sent the answers, and returns a result: whoever drives it asks the players."""


@dataclass(frozen=True, slots=True)
class NextEntry:
    """The next entry of a match: an action, a chance outcome, or a forfeit."""

    actor: Actor
    answer: Answer | NoMove

    @property
    def no_move(self) -> NoMove | None:
        """The reason why the match is forfeited; None if there is an action."""
        return self.answer if isinstance(self.answer, NoMove) else None

    @property
    def action(self) -> Any:
        """The action or the chance outcome; NoMove is raised if there is none."""
        if isinstance(self.answer, NoMove):
            raise self.answer
        return self.answer.action

    def play(self, match: AnyMatch) -> AnyMatch:
        """Return the match after this entry; raises what `Match.play` raises."""
        if isinstance(self.answer, NoMove):
            assert isinstance(self.actor, Seat)  # chance always has an outcome
            return match.forfeit(self.actor)
        return match.play(self.actor, self.answer.action)


def ask_for_entry(match: AnyMatch, dice: Randomness) -> DecisionDialogue[NextEntry]:
    """Draw the next entry, or yield the question that decides it; raises GameOver after the end."""
    actor = match.actor
    if actor is None:
        raise GameOver("The match is over.")
    if actor is CHANCE:
        return NextEntry(CHANCE, Answer(dice.chance(match)))
    seat = Seat(actor)
    return NextEntry(seat, (yield DecisionRequest(seat, match.sight(seat), dice.at(match, seat.label))))


def next_entry(match: AnyMatch, players: Mapping[Seat, Player | None], dice: Randomness) -> NextEntry:
    """Draw the next entry of a match, or have the player to move decide it.

    Raises NotYourTurn if a person is to move, GameOver after the end.
    """

    def answer(question: DecisionRequest) -> Answer | NoMove:
        player = players.get(question.seat)
        if player is None:
            raise NotYourTurn(f"{question.seat.label} is a person: only a screen can ask.")
        return ask_player(player, question)

    return run_dialogue(ask_for_entry(match, dice), answer)


def ask_player(player: Player, question: DecisionRequest, by_policy: bool = False) -> Answer | NoMove:
    """Ask a player for its decision; NoMove if it makes none.

    With `by_policy` the answer includes the player's odds, if it has any. The decision is the same.
    """
    sight, rng = question.sight, question.rng
    odds: Callable[..., dict[Any, float]] | None = getattr(player, "odds", None) if by_policy else None
    decide: Callable[..., Answer] | None = getattr(player, "decide", None)  # reports failed attempts, too
    try:
        answer = decide(sight, rng) if decide else Answer(player.choose(sight, rng))
    except NoMove as none:
        return none
    return replace(answer, policy=odds(sight)) if odds else answer


def run_dialogue(asking: DecisionDialogue[R], answer: Callable[[DecisionRequest], Answer | NoMove]) -> R:
    """Answer every question; the result of `asking`."""
    try:
        question = next(asking)
        while True:
            question = asking.send(answer(question))
    except StopIteration as done:
        result: R = done.value
        return result


def play_out(
    match: AnyMatch, players: Mapping[Seat, Player | None], dice: Randomness, most: int | None = None
) -> AnyMatch:
    """Return the match after its end, or after `most` further entries."""
    stop = None if most is None else match.length + most
    while match.actor is not None and match.length != stop:
        match = next_entry(match, players, dice).play(match)
    return match
