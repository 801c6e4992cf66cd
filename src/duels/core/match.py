"""A match: an immutable history, and the one gate where turn and legality are checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from math import lcm
from random import Random
from typing import Generic, cast

from duels.core.errors import GameOver, IllegalMove, NotYourTurn
from duels.core.rules import CHANCE, A, Actor, Ending, Event, Outcome, Rules, S, Seat, Sight, V


class Concession(Enum):
    """What ends a match on a seat's turn whatever the rules: it gives up, or has to. The other seat wins.

    The value is the line that records write.
    """

    RESIGN = "resign"
    FORFEIT = "forfeit"

    @property
    def ending(self) -> Ending:
        """How a match ends in which this is done."""
        return Ending.RESIGNED if self is Concession.RESIGN else Ending.FORFEITED


_CONCESSIONS = frozenset(how.value for how in Concession)
_MOST_NAMED = 70  # legal actions that a message lists, enough for every book's game


@dataclass(frozen=True, slots=True)
class Conceded(Event):
    """A seat resigned, or forfeited the match."""

    seat: Seat
    ending: Ending

    @property
    def outcome(self) -> Outcome:
        """The result: the other seat won."""
        done = "resigns" if self.ending is Ending.RESIGNED else "forfeits"
        return Outcome(self.ending, self.seat.other, f"{self.seat.label} {done}.")


def _watching(seat: Seat | None) -> frozenset[Seat]:
    return frozenset() if seat is None else frozenset({seat})


@dataclass(frozen=True, slots=True)
class Turn(Generic[A]):
    """One entry of a match's history."""

    actor: Actor
    action: A | Concession
    events: tuple[Event, ...]

    def hidden_from(self, seat: Seat | None) -> bool:
        """Whether `seat` (None: a bystander) may not know which action this was."""
        return not all(event.visible_to(_watching(seat)) for event in self.events)

    def seen(self, seat: Seat | None) -> tuple[Event, ...]:
        """The events of this turn that `seat` (None: a bystander) may know of."""
        return tuple(event for event in self.events if event.visible_to(_watching(seat)))

    @property
    def revocable(self) -> bool:
        """Whether it can be taken back as if it had never been: it told nobody anything new."""
        return self.actor is not CHANCE and not any(event.reveals for event in self.events)


@dataclass(frozen=True, slots=True, eq=False)
class Match(Generic[S, A, V]):
    """A game in progress or over. Playing gives a new match; the old one stays as it was."""

    rules: Rules[S, A, V]
    state: S
    previous: "Match[S, A, V] | None" = field(default=None, repr=False)
    last: Turn[A] | None = None

    @classmethod
    def start(cls, rules: Rules[S, A, V]) -> "Match[S, A, V]":
        """A new match, before its first move."""
        return cls(rules, rules.initial())

    # -- now ------------------------------------------------------------------------------------

    @property
    def actor(self) -> Actor | None:
        """Who decides now; None when the match is over."""
        return None if self._conceded() else self.rules.actor(self.state)

    @property
    def actions(self) -> tuple[A, ...]:
        """What the actor may do, or what chance may bring."""
        return () if self._conceded() else self.rules.actions(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended; None while it goes on."""
        conceded = self._conceded()
        return conceded.outcome if conceded else self.rules.outcome(self.state)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.outcome is not None

    def sight(self, seat: Seat) -> Sight[A, V]:
        """What `seat` knows now: what a player at that seat decides on."""
        sight = self.rules.sight(self.state, seat, self.seen(seat), self.redacted(seat))
        if self._conceded():
            return replace(sight, actor=None, actions=(), outcome=self.outcome)
        return sight

    # -- until now ------------------------------------------------------------------------------

    @property
    def turns(self) -> tuple[Turn[A], ...]:
        """Everything that was played or drawn, in order."""
        return tuple(match.last for match in self.steps() if match.last)

    def steps(self) -> list["Match[S, A, V]"]:
        """The match after each of its turns, in order, this one last."""
        return [match for match in self._back() if match.last][::-1]

    def seen(self, seat: Seat | None) -> tuple[Event, ...]:
        """The events `seat` (None: a bystander) may know of, in order."""
        return tuple(event for turn in self.turns for event in turn.seen(seat))

    def redacted(self, seat: Seat | None) -> tuple[A | None, ...]:
        """The history's actions, None where `seat` (None: a bystander) may not know them."""
        return tuple(
            None if turn.hidden_from(seat) else turn.action
            for turn in self.turns_known_to(seat)
            if not isinstance(turn.action, Concession)
        )

    def turns_known_to(self, seat: Seat | None) -> tuple[Turn[A], ...]:
        """The turns up to the last of which `seat` (None: a bystander) saw anything.

        That the other has moved in secret already, and is now thinking, is its own affair.
        """
        turns = self.turns
        while turns and not turns[-1].seen(seat):
            turns = turns[:-1]
        return turns

    def _back(self) -> Iterator["Match[S, A, V]"]:
        match: Match[S, A, V] | None = self
        while match:
            yield match
            match = match.previous

    def _conceded(self) -> Conceded | None:
        if self.last and isinstance(self.last.action, Concession):
            return cast(Conceded, self.last.events[0])
        return None

    # -- next -----------------------------------------------------------------------------------

    def play(self, actor: Actor, action: A) -> "Match[S, A, V]":
        """Play one action, or one outcome of chance.

        Raises GameOver, NotYourTurn or IllegalMove; this match is never changed.
        """
        legal = self._legal(actor)
        if action not in legal:
            allowed = [self.rules.format(a) for a in legal[:_MOST_NAMED]]
            if len(legal) > _MOST_NAMED:
                allowed.append(f"{len(legal) - _MOST_NAMED} more")
            raise IllegalMove(f"{self._name(action)} is not allowed now; allowed: {', '.join(allowed)}.")
        step = self.rules.apply(self.state, action)
        return Match(self.rules, step.state, self, Turn(actor, action, step.events))

    def play_text(self, *entries: str) -> "Match[S, A, V]":
        """Play entries in notation, each by whoever is to act."""
        match = self
        for entry in entries:
            actor = match.actor
            if actor is None:
                raise GameOver("The match is over.")
            word = entry.strip().lower()
            if isinstance(actor, Seat) and word in _CONCESSIONS:
                match = match._concede(actor, Concession(word))
            else:
                match = match.play(actor, self.rules.parse(entry))
        return match

    def resign(self, seat: Seat) -> "Match[S, A, V]":
        """Give the match up, on one's own turn."""
        return self._concede(seat, Concession.RESIGN)

    def forfeit(self, seat: Seat) -> "Match[S, A, V]":
        """Lose the match on one's own turn, because no legal action came in time."""
        return self._concede(seat, Concession.FORFEIT)

    def _concede(self, seat: Seat, how: Concession) -> "Match[S, A, V]":
        self._legal(seat)
        if not isinstance(seat, Seat):
            raise NotYourTurn(f"Only a player can {how.value}, not chance.")
        return Match(self.rules, self.state, self, Turn(seat, how, (Conceded(seat, how.ending),)))

    def _legal(self, actor: Actor) -> tuple[A, ...]:
        expected = self.actor
        if expected is None:
            raise GameOver("The match is over.")
        if actor is not expected:
            name = expected.label if isinstance(expected, Seat) else "chance"
            raise NotYourTurn(f"It is for {name} to act now.")
        return self.rules.actions(self.state)

    def _name(self, action: A) -> str:
        try:
            return f"'{self.rules.format(action)}'"
        except Exception:  # not even an action of this game: nothing is known about it
            return repr(action)


def draw(match: Match[S, A, V], rng: Random) -> A:
    """An outcome for the chance node that `match` stands at, with exactly the rules' odds."""
    odds = match.rules.odds(match.state)
    scale = lcm(*(chance.denominator for chance in odds))
    ticket = rng.randrange(scale)
    for outcome, chance in zip(match.actions, odds, strict=True):
        ticket -= int(chance * scale)
        if ticket < 0:
            return outcome
    raise AssertionError("odds sum to 1")


def playing(
    match: Match[S, A, V], rng: Random, decide: Callable[[Match[S, A, V], Seat], A]
) -> Iterator[Match[S, A, V]]:
    """The match as it is and after every further entry until it is over; `rng` draws for chance."""
    yield match
    while (actor := match.actor) is not None:
        match = match.play(actor, decide(match, actor) if isinstance(actor, Seat) else draw(match, rng))
        yield match
