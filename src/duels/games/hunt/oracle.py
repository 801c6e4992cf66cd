"""The oracle for hunt, from the shipped strategy. Its exploitability is certified; it is not optimal.

Values are chances of the strategy against itself. As such they are exact; as values of perfect play they are
estimates. The value to a seat is the mean over its belief.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

from duels.core.errors import DuelsError
from duels.core.notation import join_and
from duels.core.rules import Seat, Sight
from duels.core.words import join_or
from duels.games.hunt.beliefs import Belief, Observations, track_belief
from duels.games.hunt.rules import (
    Action,
    Move,
    Observe,
    Phase,
    QuantumHunt,
    Tunnel,
    View,
)
from duels.games.hunt.self_play import PairValues, index_memory, load_table, to_place
from duels.games.hunt.strategy import CELLS, OFF, Strategy, find_row, load_certificate, load_strategy
from duels.solving.bounds import Bounds
from duels.solving.oracle import OFTEN, ActionValue, Check, Exactness, Finding, Oracle, Value, Verdict
from duels.solving.progress import Progress, no_progress

MOSTLY = 0.6
"""The weight above which the advice is a single action; below it, the advice is to mix."""
SELF_PLAY = "chances when both play the strategy"
"""The meaning of the values."""

_PAST_TENSE = {Observe: "named", Move: "went to", Tunnel: "tunneled to"}


def make_oracle(rules: QuantumHunt, progress: Progress = no_progress) -> "HuntOracle":
    """Return the oracle. Raises DuelsError unless there are seven positions. A turn limit changes nothing."""
    if rules.cells != CELLS:
        raise DuelsError(f"hunt has a strategy for {CELLS} positions only, not for {rules.cells}.")
    return HuntOracle(rules, load_strategy())


def how_perfect() -> str:
    return f"{_format_certified_gain(load_certificate().nash_conv)}, both seats together"


class HuntOracle(Oracle[Action, View]):
    rules: QuantumHunt
    mixes = True
    hidden = "token"
    equivalence_note = (
        "What would the strategy do? It mixes: every action that it often takes is right, and so is every "
        "action worth about as much as its mixture, or more. Tunnelling to a neighbouring position counts as "
        "stepping there."
    )

    def __init__(self, rules: QuantumHunt, strategy: Strategy) -> None:
        self.rules = rules
        self.strategy = strategy

    @cached_property
    def pair(self) -> PairValues:
        return PairValues(self.strategy, load_table())  # loaded lazily: players need only weights

    def _value_of(self, sight: Sight[Action, View]) -> Value:
        if sight.actor is sight.seat:
            return self.judge(sight).value
        # The opponent's move reveals nothing, so use the belief from before it.
        belief = track_belief(self.strategy, sight.seat, sight.history[: len(sight.history) // 2 * 2])
        mover = sight.seat.other
        own_memory, other_memory = _index_memories(belief.observations, mover)
        opponent_chance: float = sum(
            p * self.pair.before_turn(mover, own_memory, other_memory, x, belief.own)
            for (x, _), p in belief.other.items()
        )
        return _make_estimate(1 - opponent_chance)

    def _verdict_on(self, sight: Sight[Action, View]) -> Verdict[Action]:
        """Return the verdict: the value is that of the mixture, and the best actions have a weight of OFTEN.

        Other actions in the mixture are no mistakes, even if they are worse than the mixture.
        """
        belief = self._track_belief(sight)
        weights = self.weights(sight)
        values = [self._action_value(sight.seat, belief, action) for action in sight.actions]
        mixture = sum(weight * value for weight, value in zip(weights, values, strict=True))
        min_weight = min(OFTEN, max(weights))
        judged = tuple(
            ActionValue(
                action,
                _make_estimate(value),
                best=weight >= min_weight,
                weight=weight,
                allowance=max(0.0, mixture - value) if weight else 0.0,
            )
            for action, value, weight in zip(sight.actions, values, weights, strict=True)
        )
        return Verdict(_make_estimate(mixture), judged)

    def action_class(self, sight: Sight[Action, View], action: Action) -> Hashable:
        return action.cell

    def mistake_category(self, sight: Sight[Action, View], action: Action) -> str:
        if isinstance(action, Observe):
            return "naming a position"
        if isinstance(action, Tunnel):
            return "tunnelling"
        here = sight.view.cell
        return "entering" if not here else "staying" if action.cell == here else "stepping"

    def theme(self, sight: Sight[Action, View], action: Action) -> Hashable:
        """Group decisions by kind (observe, enter, stay, step), not by cell."""
        if isinstance(action, Observe) or not sight.view.cell:
            return sight.view.phase
        return abs(action.cell - sight.view.cell)

    def weights(self, sight: Sight[Action, View]) -> tuple[float, ...]:
        """Return the strategy's probabilities of `sight.actions`."""
        seat, view = sight.seat, sight.view
        observations = _list_observations(sight.history)
        tables = self.strategy[seat]
        row = find_row(observations[seat], observations[seat.other])
        if view.phase is Phase.OBSERVE:
            raw = tables.observation_weights(row, view.cell - 1)
        else:
            raw = tables.move_weights(row, to_place(view.cell))
        legal = [0 if isinstance(action, Tunnel) else raw[action.cell - 1] for action in sight.actions]
        return tuple(weight / sum(legal) for weight in legal)

    def full_information_value(self, one: Sight[Action, View], two: Sight[Action, View]) -> Value:
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        mover, waiting = (one, two) if one.actor is Seat.ONE else (two, one)
        own_memory, other_memory = _index_memories(_list_observations(one.history), mover.seat)
        own, other = to_place(mover.view.cell), to_place(waiting.view.cell)
        observing = mover.view.phase is Phase.OBSERVE
        value = self.pair.after_move if observing else self.pair.before_turn
        chance = value(mover.seat, own_memory, other_memory, own, other)
        return _make_estimate(chance if mover.seat is Seat.ONE else 1 - chance)

    def full_information_action_value(
        self, sight: Sight[Action, View], others: Sight[Action, View], action: Action
    ) -> float:
        own, other = to_place(sight.view.cell), to_place(others.view.cell)
        return self._action_value_at(sight.seat, _list_observations(sight.history), own, other, action)

    def unforeseen_loss(self, sight: Sight[Action, View], others: Sight[Action, View], action: Action) -> str:
        if isinstance(action, Observe) or action.cell != others.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"went onto {{whose}} token, which was there with a chance of about {chance:.0%}"

    def winning_discovery(
        self, sight: Sight[Action, View], others: Sight[Action, View], action: Action
    ) -> str:
        # Two tokens on one cell have collided; the observation no longer matters.
        if not isinstance(action, Observe) or not action.cell == others.view.cell != sight.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"named {action.cell}, where {{whose}} token was, a chance of about {chance:.0%}"

    def belief(self, sight: Sight[Action, View]) -> dict[str, float]:
        other = self._track_belief(sight).other
        chances = {
            f"position {cell + 1}": sum(p for (x, _), p in other.items() if x == cell)
            for cell in range(CELLS)
        }
        chances["off the grid"] = sum(p for (x, _), p in other.items() if x == OFF)
        chances["tunnel left"] = sum(p for (_, tunnel), p in other.items() if tunnel)
        return chances

    def own_secret(self, sight: Sight[Action, View]) -> str:
        return f"position {sight.view.cell}" if sight.view.cell else "off the grid"

    def reason(self, sight: Sight[Action, View]) -> str:
        belief = self.belief(sight)
        return _explain_best(
            sight, self.judge(sight), {c: belief[f"position {c}"] for c in range(1, CELLS + 1)}
        )

    def effect(self, sight: Sight[Action, View], action: Action) -> str:
        """Describe a tunnel: only tunnels are mistakes."""
        chance = self.belief(sight)[f"position {action.cell}"]
        return (
            f"You {self.describe_action(action)}, where the other token was with a chance of about "
            f"{chance:.0%}; the strategy never tunnels."
        )

    def describe_action(self, action: Action) -> str:
        return f"{_PAST_TENSE[type(action)]} {action.cell}"

    def findings(self, sight: Sight[Action, View]) -> Iterator[Finding]:
        yield Finding(
            "estimates",
            f"Values are {SELF_PLAY}, by exact sums; as values of perfect play\nthey are estimates.\n",
            SELF_PLAY,
        )

    def exploitability_bound(self) -> float | None:
        return load_certificate().nash_conv.high / 2 if self.rules.max_turns is None else None

    def guarantee(self) -> str:
        certificate = load_certificate()
        one, two = certificate.against[Seat.ONE], certificate.against[Seat.TWO]
        gain, value = certificate.nash_conv, certificate.value
        text = (
            f"The strategy is {_format_certified_gain(gain)}, both seats together "
            f"(at least {gain.percent(2)[0]}): a best responder wins {one.in_words()} "
            f"against its Player 1 and {two.in_words()} against its "
            f"Player 2. The game's value to Player 1 lies between {value.in_words('and')}."
        )
        # A limit changes the game: the weaker side can play for the half point at the limit.
        if self.rules.max_turns is None:
            return text
        return f"{text} All this holds for the game without a limit of turns only."

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        from duels.games.hunt.certify.verify import verify  # only one command needs it

        return verify(self, progress)

    def _track_belief(self, sight: Sight[Action, View]) -> Belief:
        return track_belief(self.strategy, sight.seat, sight.history)

    def _action_value(self, seat: Seat, belief: Belief, action: Action) -> float:
        """Return the chance to win after `action` if both then play the strategy."""
        return sum(
            p * self._action_value_at(seat, belief.observations, belief.own, x, action)
            for (x, _), p in belief.other.items()
        )

    def _action_value_at(
        self, seat: Seat, observations: Observations, own: int, other: int, action: Action
    ) -> float:
        """Return the chance to win after `action`, given the opponent's place."""
        own_memory, other_memory = _index_memories(observations, seat)
        if isinstance(action, Observe):
            return self.pair.after_observation(seat, own_memory, other_memory, own, other, action.cell - 1)
        return self.pair.after_move(seat, own_memory, other_memory, action.cell - 1, other)


def _list_observations(history: Sequence[Action | None]) -> dict[Seat, tuple[int, ...]]:
    cells = [entry.cell - 1 for entry in history if isinstance(entry, Observe)]
    return {Seat.ONE: tuple(cells[::2]), Seat.TWO: tuple(cells[1::2])}


def _index_memories(observations: Observations, seat: Seat) -> tuple[int, int]:
    """Return the memory states of `seat` and of the opponent."""
    return index_memory(observations[seat]), index_memory(observations[seat.other])


def _format_certified_gain(gain: Bounds) -> str:
    return f"certified to give away at most {gain.percent(2)[1]} points"


def _make_estimate(chance: float) -> Value:
    return Value(chance, Exactness.ESTIMATE)


def _explain_best(sight: Sight[Action, View], verdict: Verdict[Action], chances: dict[int, float]) -> str:
    """Explain the best actions. `chances`: the chance of the opponent's token, by cell."""
    best = [judged for judged in verdict.actions if judged.best]
    favourite = max(best, key=lambda judged: judged.weight)
    best_cells = join_or([judged.action.cell for judged in best])
    has_favourite = favourite.weight > MOSTLY
    if sight.view.phase is Phase.OBSERVE:
        return _explain_observation(sight, chances, favourite.action.cell if has_favourite else None)
    if sight.view.cell == 0:
        where = "anywhere" if len(best) == len(chances) else f"on {best_cells}"
        return f"Enter {where}, at random, so that nothing can be guessed, and keep the tunnel."
    if not has_favourite:
        return (
            f"Be on {best_cells}, at random: whichever you always chose, the other player would learn "
            "to name, so what one is worth against the strategy decides little."
        )
    return _explain_movement(sight, chances, verdict, favourite)


def _explain_observation(sight: Sight[Action, View], chances: dict[int, float], favourite: int | None) -> str:
    """Explain the observation `favourite`, or why to mix if it is None. `chances`: see `_explain_best`."""
    if not any(chances.values()):
        return "The other token is still off the grid: any observation misses, so give nothing away."
    # The opponent is not on the own cell: that would have been a collision.
    observable = [action.cell for action in sight.actions if action.cell != sight.view.cell]
    likeliest = max(observable, key=chances.__getitem__)
    if favourite is None:
        return (
            f"Of the positions that you may name, {likeliest} is the likeliest place of the other token, "
            f"about {chances[likeliest]:.0%}; but names that can be foreseen tell it where to hide: mix them."
        )
    why = ", the likeliest place that you may name" if favourite == likeliest else ""
    chance = f"{chances[favourite]:.0%}"
    return f"Mostly name {favourite}: the other token is there with a chance of about {chance}{why}."


def _explain_movement(
    sight: Sight[Action, View],
    chances: dict[int, float],
    verdict: Verdict[Action],
    favourite: ActionValue[Action],
) -> str:
    here, cell = sight.view.cell, favourite.action.cell
    if cell == here:
        beside = [c for c in (here - 1, here + 1) if c in chances]
        risks = join_and([f"{c} with a chance of about {chances[c]:.0%}" for c in beside])
        advice = f"Mostly stay: the other token is on {risks}, and whoever moves onto it loses."
        step = max(
            (j for j in verdict.actions if j.action in (Move(here - 1), Move(here + 1))),
            key=lambda judged: judged.value.number,
        )
        gain = step.value.number - favourite.value.number
        if gain < 0.0005:
            return advice
        return (
            f"{advice} Going to {step.action.cell} looks better by about {100 * gain:.1f} points, "
            "but done often it would be foreseen."
        )
    (stay,) = (j.value.number for j in verdict.actions if j.action == Move(here))
    advice = f"Mostly step to {cell}, where the other token is with a chance of about {chances[cell]:.0%}"
    cost = favourite.value.number - stay
    if cost < 0.0005:
        return f"{advice}; now and then step elsewhere, so that you cannot be found by habit."
    return f"{advice}; on {here} you are easier to find, which costs about {100 * cost:.1f} points."
