"""One step of a match: the only place that draws chance outcomes and asks players.

The terminal, the server, the arena and the exports call `decide_next_entry` in their own loops. With the same
seed and players, they all play the same match.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from duels.core.errors import GameOver, NotYourTurn
from duels.core.match import AnyMatch
from duels.core.rules import CHANCE, Actor, AnySight, Seat
from duels.play.dice import Dice, StreamDice
from duels.players import Player
from duels.players.failures import Answer, NoMove

if TYPE_CHECKING:
    from random import Random

R = TypeVar("R")
Randomness: TypeAlias = Dice | StreamDice


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A request for a player's decision."""

    seat: Seat
    sight: AnySight
    rng: "Random"


DecisionDialogue: TypeAlias = Generator[DecisionRequest, Answer | NoMove, R]
"""A generator that yields requests, receives the players' answers and returns a result."""


@dataclass(frozen=True, slots=True)
class NextEntry:
    """The next entry of a match: an action, a chance outcome, or a forfeit."""

    actor: Actor
    answer: Answer | NoMove

    @property
    def no_move(self) -> NoMove | None:
        """The reason for a forfeit, or None if there is an action."""
        return self.answer if isinstance(self.answer, NoMove) else None

    @property
    def action(self) -> Any:
        """The action or the chance outcome. Raises NoMove if the player made none."""
        if isinstance(self.answer, NoMove):
            raise self.answer
        return self.answer.action

    def play(self, match: AnyMatch) -> AnyMatch:
        """Return the match after this entry. Raises the errors of `Match.play`."""
        if isinstance(self.answer, NoMove):
            assert isinstance(self.actor, Seat)  # chance always has an outcome
            return match.forfeit(self.actor)
        return match.play(self.actor, self.answer.action)


def ask_for_entry(match: AnyMatch, dice: Randomness) -> DecisionDialogue[NextEntry]:
    """Draw the next entry, or request it from the player to move. Raises GameOver after the end."""
    actor = match.actor
    if actor is None:
        raise GameOver("The match is over.")
    if actor is CHANCE:
        return NextEntry(CHANCE, Answer(dice.draw_chance(match)))
    seat = Seat(actor)
    return NextEntry(
        seat, (yield DecisionRequest(seat, match.sight(seat), dice.get_generator(match, seat.label)))
    )


def decide_next_entry(match: AnyMatch, players: Mapping[Seat, Player | None], dice: Randomness) -> NextEntry:
    """Draw the next entry of a match, or ask the player to move for it.

    Raises NotYourTurn if a person is to move, and GameOver after the end.
    """

    def answer(request: DecisionRequest) -> Answer | NoMove:
        player = players.get(request.seat)
        if player is None:
            raise NotYourTurn(f"{request.seat.label} is a person: a screen must ask for the action.")
        return ask_player(player, request)

    return run_dialogue(ask_for_entry(match, dice), answer)


def ask_player(player: Player, request: DecisionRequest, by_policy: bool = False) -> Answer | NoMove:
    """Ask a player for its decision. Return NoMove if it makes none.

    With `by_policy`, the answer includes the player's policy, if it has one. The decision is the same.
    """
    sight, rng = request.sight, request.rng
    odds: Callable[..., dict[Any, float]] | None = getattr(player, "odds", None) if by_policy else None
    decide: Callable[..., Answer] | None = getattr(player, "decide", None)
    try:
        answer = decide(sight, rng) if decide else Answer(player.choose(sight, rng))
    except NoMove as no_move:
        return no_move
    return replace(answer, policy=odds(sight)) if odds else answer


def run_dialogue(dialogue: DecisionDialogue[R], answer: Callable[[DecisionRequest], Answer | NoMove]) -> R:
    """Answer every request of a dialogue and return its result."""
    try:
        request = next(dialogue)
        while True:
            request = dialogue.send(answer(request))
    except StopIteration as done:
        result: R = done.value
        return result


def play_out(
    match: AnyMatch, players: Mapping[Seat, Player | None], dice: Randomness, limit: int | None = None
) -> AnyMatch:
    """Play on to the end, or for at most `limit` further entries, and return the match."""
    max_length = None if limit is None else match.length + limit
    while match.actor is not None and match.length != max_length:
        match = decide_next_entry(match, players, dice).play(match)
    return match
