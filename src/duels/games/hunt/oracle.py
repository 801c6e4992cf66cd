"""Play for hunt by the shipped strategy: certified to give away little, never called optimal.

Beliefs follow the rules of probability from what one seat has seen. Values are what the strategy wins against
itself: exact as that, and estimates of what perfect play would win. A seat's value is its mean over what the
seat may believe.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

from duels.core.errors import DuelsError
from duels.core.notation import join_and
from duels.core.rules import Seat, Sight
from duels.core.words import join_or
from duels.games.hunt.beliefs import Names, Track, follow
from duels.games.hunt.rules import (
    Action,
    Known,
    Move,
    Observe,
    Phase,
    QuantumHunt,
    Tunnel,
)
from duels.games.hunt.self_play import PairValues, place_of, round_of, shipped_table
from duels.games.hunt.strategy import CELLS, OFF, Strategy, claimed, row_of, shipped
from duels.solving.bounds import Bounds
from duels.solving.oracle import OFTEN, ActionValue, Check, Exactness, Finding, Oracle, Value, Verdict
from duels.solving.progress import Progress, no_progress

MOSTLY = 0.6
"""Above it one action is what to do, with exceptions; below, mixing itself is the advice."""
SELF_PLAY = "chances when both play the strategy"
"""What the values are."""

_DID = {Observe: "named", Move: "went to", Tunnel: "tunneled to"}


def make_oracle(rules: QuantumHunt, progress: Progress = no_progress) -> "HuntOracle":
    """The oracle for the book's seven cells; a limit of turns does not change the strategy."""
    if rules.cells != CELLS:
        raise DuelsError(f"There is a strategy for {CELLS} positions only, not for {rules.cells}.")
    return HuntOracle(rules, shipped())


def how_perfect() -> str:
    return f"{_certified(claimed().nash_conv)}, both seats together"


class HuntOracle(
    Oracle[Action, Known],
):
    rules: QuantumHunt
    mixes = True
    hidden = "token"
    equivalence_note = (
        "What would the strategy do? It mixes: whatever it often takes is right, and whatever is worth about "
        "as much as its mixture, or more. Tunnelling to where a step leads counts as the step."
    )

    def __init__(self, rules: QuantumHunt, strategy: Strategy) -> None:
        self.rules = rules
        self.strategy = strategy

    @cached_property
    def pair(self) -> PairValues:
        return PairValues(
            self.strategy, shipped_table()
        )  # read when it is asked for: players need weights only

    # -- answers --------------------------------------------------------------------------------

    def _value_of(self, sight: Sight[Action, Known]) -> Value:
        if sight.actor is sight.seat:
            return self.judge(sight).value
        # Between its move and its observation the other has told nothing: judge by what was known before.
        track = follow(self.strategy, sight.seat, sight.history[: len(sight.history) // 2 * 2])
        mover = sight.seat.other
        mine, theirs = _rounds(track.names, mover)
        others: float = sum(
            p * self.pair.before_turn(mover, mine, theirs, x, track.own) for (x, _), p in track.other.items()
        )
        return _estimate(1 - others)

    def _verdict_on(self, sight: Sight[Action, Known]) -> Verdict[Action]:
        """The position's value is that of the mixture; best is what the strategy takes OFTEN.

        Whatever else it mixes in is no loss either, however far it lies below the mixture.
        """
        track = self._track(sight)
        weights = self.weights(sight)
        worths = [self._worth(sight.seat, track, action) for action in sight.actions]
        mixture = sum(weight * worth for weight, worth in zip(weights, worths, strict=True))
        least = min(OFTEN, max(weights))
        judged = tuple(
            ActionValue(
                action,
                _estimate(worth),
                best=weight >= least,
                weight=weight,
                allowance=max(0.0, mixture - worth) if weight else 0.0,
            )
            for action, worth, weight in zip(sight.actions, worths, weights, strict=True)
        )
        return Verdict(_estimate(mixture), judged)

    def action_class(self, sight: Sight[Action, Known], action: Action) -> Hashable:
        return action.cell

    def mistake_category(self, sight: Sight[Action, Known], action: Action) -> str:
        if isinstance(action, Observe):
            return "naming a position"
        if isinstance(action, Tunnel):
            return "tunnelling"
        here = sight.view.cell
        return "entering" if not here else "staying" if action.cell == here else "stepping"

    def theme(self, sight: Sight[Action, Known], action: Action) -> Hashable:
        """To name, to enter, to stay or to step: which cell it is teaches nothing."""
        if isinstance(action, Observe) or not sight.view.cell:
            return sight.view.phase
        return abs(action.cell - sight.view.cell)

    def weights(self, sight: Sight[Action, Known]) -> tuple[float, ...]:
        """The mixed strategy over `sight.actions`, from what the seat remembers and its own cell."""
        seat, view = sight.seat, sight.view
        names = _names(sight.history)
        tables = self.strategy[seat]
        row = row_of(names[seat], names[seat.other])
        if view.phase is Phase.OBSERVE:
            raw = tables.name_weights(row, view.cell - 1)
        else:
            raw = tables.move_weights(row, place_of(view.cell))
        kept = [0 if isinstance(action, Tunnel) else raw[action.cell - 1] for action in sight.actions]
        return tuple(weight / sum(kept) for weight in kept)

    def full_information_value(self, one: Sight[Action, Known], two: Sight[Action, Known]) -> Value:
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        mover, waits = (one, two) if one.actor is Seat.ONE else (two, one)
        mine, theirs = _rounds(_names(one.history), mover.seat)
        own, other = place_of(mover.view.cell), place_of(waits.view.cell)
        observing = mover.view.phase is Phase.OBSERVE
        value = self.pair.after_move if observing else self.pair.before_turn
        chance = value(mover.seat, mine, theirs, own, other)
        return _estimate(chance if mover.seat is Seat.ONE else 1 - chance)

    def full_information_action_value(
        self, sight: Sight[Action, Known], others: Sight[Action, Known], action: Action
    ) -> float:
        own, other = place_of(sight.view.cell), place_of(others.view.cell)
        return self._worth_at(sight.seat, _names(sight.history), own, other, action)

    def unforeseen_loss(
        self, sight: Sight[Action, Known], others: Sight[Action, Known], action: Action
    ) -> str:
        if isinstance(action, Observe) or action.cell != others.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"went onto {{whose}} token, which was there with a chance of about {chance:.0%}"

    def winning_discovery(
        self, sight: Sight[Action, Known], others: Sight[Action, Known], action: Action
    ) -> str:
        # Two tokens on one cell have collided, whatever is named after that.
        if not isinstance(action, Observe) or not action.cell == others.view.cell != sight.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"named {action.cell}, where {{whose}} token was, a chance of about {chance:.0%}"

    def belief(self, sight: Sight[Action, Known]) -> dict[str, float]:
        other = self._track(sight).other
        found = {
            f"position {cell + 1}": sum(p for (x, _), p in other.items() if x == cell)
            for cell in range(CELLS)
        }
        found["off the grid"] = sum(p for (x, _), p in other.items() if x == OFF)
        found["tunnel left"] = sum(p for (_, tunnel), p in other.items() if tunnel)
        return found

    def own_secret(self, sight: Sight[Action, Known]) -> str:
        return f"position {sight.view.cell}" if sight.view.cell else "off the grid"

    def reason(self, sight: Sight[Action, Known]) -> str:
        belief = self.belief(sight)
        return _why(sight, self.judge(sight), {c: belief[f"position {c}"] for c in range(1, CELLS + 1)})

    def effect(self, sight: Sight[Action, Known], action: Action) -> str:
        """Of a tunnel: nothing else gives anything away."""
        there = self.belief(sight)[f"position {action.cell}"]
        return (
            f"You {self.describe_action(action)}, where the other token was with a chance of about "
            f"{there:.0%}; the strategy never tunnels."
        )

    def describe_action(self, action: Action) -> str:
        return f"{_DID[type(action)]} {action.cell}"

    def findings(self, sight: Sight[Action, Known]) -> Iterator[Finding]:
        yield Finding(
            "estimates",
            f"Values are {SELF_PLAY}, by exact sums; as values of perfect play\nthey are estimates.\n",
            SELF_PLAY,
        )

    def exploitability_bound(self) -> float | None:
        return claimed().nash_conv.high / 2 if self.rules.max_turns is None else None

    def guarantee(self) -> str:
        certificate = claimed()
        one, two = certificate.against[Seat.ONE], certificate.against[Seat.TWO]
        gain, value = certificate.nash_conv, certificate.value
        told = (
            f"The strategy is {_certified(gain)}, both seats together (at least {gain.percent(2)[0]}): "
            f"a best responder wins {one.in_words()} against its Player 1 and {two.in_words()} against its "
            f"Player 2. The game's value to Player 1 lies between {value.in_words('and')}."
        )
        # A limit makes another game: whoever is behind can play for the half that it pays.
        limited = self.rules.max_turns is not None
        return f"{told} All this holds for the game without a limit of turns only." if limited else told

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        from duels.games.hunt.certify.verify import verify  # only one command needs it

        return verify(self, progress)

    def _track(self, sight: Sight[Action, Known]) -> Track:
        return follow(self.strategy, sight.seat, sight.history)

    # -- estimates ------------------------------------------------------------------------------

    def _worth(self, seat: Seat, track: Track, action: Action) -> float:
        """The chance to win with `action` now and the strategy from then on, for both."""
        return sum(
            p * self._worth_at(seat, track.names, track.own, x, action) for (x, _), p in track.other.items()
        )

    def _worth_at(self, seat: Seat, names: Names, own: int, other: int, action: Action) -> float:
        """The same, with the other's token on `other`."""
        mine, theirs = _rounds(names, seat)
        if isinstance(action, Observe):
            return self.pair.after_naming(seat, mine, theirs, own, other, action.cell - 1)
        return self.pair.after_move(seat, mine, theirs, action.cell - 1, other)


def _names(history: Sequence[Action | None]) -> dict[Seat, tuple[int, ...]]:
    """What each seat has named, oldest first, cells from 0."""
    said = [entry.cell - 1 for entry in history if isinstance(entry, Observe)]
    return {Seat.ONE: tuple(said[::2]), Seat.TWO: tuple(said[1::2])}


def _rounds(names: Names, seat: Seat) -> tuple[int, int]:
    """What `seat` and the other have in memory of what each has named itself."""
    return round_of(names[seat]), round_of(names[seat.other])


def _certified(gain: Bounds) -> str:
    return f"certified to give away at most {gain.percent(2)[1]} points"


def _estimate(chance: float) -> Value:
    return Value(chance, Exactness.ESTIMATE)


# -- why to do what the strategy does, in a sentence or two that follow from the numbers shown ---------------


def _why(sight: Sight[Action, Known], verdict: Verdict[Action], at: dict[int, float]) -> str:
    """Why the best is best; `at`: where the other token may be, by cell."""
    best = [judged for judged in verdict.actions if judged.best]
    mostly = max(best, key=lambda judged: judged.weight)
    often = join_or([judged.action.cell for judged in best])
    clear = mostly.weight > MOSTLY
    if sight.view.phase is Phase.OBSERVE:
        return _reason_to_name(sight, at, mostly.action.cell if clear else None)
    if sight.view.cell == 0:
        where = "anywhere" if len(best) == len(at) else f"on {often}"
        return f"Enter {where}, at random, so that nothing can be guessed, and keep the tunnel."
    if not clear:
        return (
            f"Be on {often}, at random: whichever you always chose, the other player would learn "
            "to name, so what one is worth against the strategy decides little."
        )
    return _reason_to_go(sight, at, verdict, mostly)


def _reason_to_name(sight: Sight[Action, Known], at: dict[int, float], mostly: int | None) -> str:
    """Why to name the cell `mostly`, or, where there is none, why to mix; `at`: where the other may be."""
    if not any(at.values()):
        return "The other token is still off the grid: any observation misses, so give nothing away."
    # On the own cell it could not be found any more: that was a collision.
    nameable = [action.cell for action in sight.actions if action.cell != sight.view.cell]
    likeliest = max(nameable, key=at.__getitem__)
    if mostly is None:
        return (
            f"Of the positions that you may name, {likeliest} is the likeliest place of the other token, "
            f"about {at[likeliest]:.0%}; but names that can be foreseen tell it where to hide: mix them."
        )
    why = ", the likeliest place that you may name" if mostly == likeliest else ""
    return f"Mostly name {mostly}: the other token is there with a chance of about {at[mostly]:.0%}{why}."


def _reason_to_go(
    sight: Sight[Action, Known], at: dict[int, float], verdict: Verdict[Action], mostly: ActionValue[Action]
) -> str:
    """Why to be on one cell most of the time."""
    here, cell = sight.view.cell, mostly.action.cell
    if cell == here:
        beside = [c for c in (here - 1, here + 1) if c in at]
        risks = join_and([f"{c} with a chance of about {at[c]:.0%}" for c in beside])
        told = f"Mostly stay: the other token is on {risks}, and whoever moves onto it loses."
        step = max(
            (j for j in verdict.actions if j.action in (Move(here - 1), Move(here + 1))),
            key=lambda judged: judged.value.number,
        )
        gain = step.value.number - mostly.value.number
        if gain < 0.0005:
            return told
        return (
            f"{told} Going to {step.action.cell} looks better by about {100 * gain:.1f} points, "
            "but done often it would be foreseen."
        )
    (stay,) = (j.value.number for j in verdict.actions if j.action == Move(here))
    there = f"Mostly step to {cell}, where the other token is with a chance of about {at[cell]:.0%}"
    lost = mostly.value.number - stay
    if lost < 0.0005:
        return f"{there}; now and then step elsewhere, so that you cannot be found by habit."
    return f"{there}; on {here} you are easier to find, which costs about {100 * lost:.1f} points."
