"""The oracle for hunt. It uses the shipped strategy, which is not optimal; its exploitability is certified.

A value is the chance to win if both seats play the strategy, averaged over the seat's belief. It is computed
exactly, but it is only an estimate of the value under perfect play.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

from duels.core.rules import Seat, Sight
from duels.core.words import join_and, join_or
from duels.games.hunt.beliefs import NO_BELIEF, RANDOM_RATE, Belief, track_belief, track_path
from duels.games.hunt.rules import Action, Move, Observe, Phase, QuantumHunt, Tunnel, View
from duels.games.hunt.self_play import PairValues, load_table
from duels.games.hunt.strategy import (
    CELLS,
    Cells,
    PublicState,
    Strategy,
    get_position,
    load_certificate,
    load_strategy,
)
from duels.solving.oracle import (
    OFTEN,
    ActionValue,
    Bounds,
    Check,
    Exactness,
    Finding,
    Oracle,
    Progress,
    Value,
    Verdict,
    no_progress,
)

FAVOURITE_WEIGHT = 0.6
"""The weight above which the advice names a single action. Otherwise it says to mix."""
_MIN_RISK = 0.005
"""The smallest probability that is not shown as 0%."""
SELF_PLAY = "chances when both play the strategy"
"""The meaning of the values."""

_PAST_TENSE = {Observe: "named", Move: "went to", Tunnel: "tunneled to"}


def make_oracle(rules: QuantumHunt, progress: Progress = no_progress) -> Oracle[Action, View]:
    """Return the oracle: on seven positions the shipped strategy, which ignores a turn limit.

    Other numbers of positions are solved. Raises TooLarge if there are too many histories.
    """
    if rules.cells == CELLS:
        return HuntOracle(rules, load_strategy())
    from duels.games.hunt.short_forms import ShortHuntOracle  # the book's game does not need the solver

    return ShortHuntOracle(rules, progress)


def how_perfect() -> str:
    """Return the qualification of `perfect` in the list of players."""
    return f"{_format_certified_gain(load_certificate().nash_conv)}, both seats together"


class HuntOracle(Oracle[Action, View]):
    """Values and choices of the shipped strategy on seven positions."""

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
        self._last_beliefs: dict[tuple[Seat, float], tuple[tuple[Action | None, ...], Belief]] = {}

    @cached_property
    def pair(self) -> PairValues:
        return PairValues(self.strategy, load_table())  # loaded late: players need only the weights

    def _value_of(self, sight: Sight[Action, View]) -> Value:
        if sight.actor is sight.seat:
            return self.judge(sight).value
        # The values are those before a turn. A move reveals nothing, so the belief before it is the same.
        belief = track_belief(self.strategy, sight.seat, sight.history[: len(sight.history) // 2 * 2])
        opponent_chance: float = sum(
            p * self.pair.before_turn(belief.public, path, belief.own_path)
            for (path, _), p in belief.probabilities.items()
        )
        return _make_estimate(1 - opponent_chance)

    def _track_belief(self, sight: Sight[Action, View], random_rate: float = RANDOM_RATE) -> Belief:
        """Return the belief of a seat. If it continues the last one, only the new entries count."""
        history = tuple(sight.history)
        key = sight.seat, random_rate
        earlier, belief = self._last_beliefs.get(key, ((), NO_BELIEF))
        if history[: len(earlier)] != earlier:
            belief = NO_BELIEF
        belief = track_belief(self.strategy, sight.seat, history, random_rate, belief)
        self._last_beliefs[key] = history, belief
        return belief

    def _verdict_on(self, sight: Sight[Action, View]) -> Verdict[Action]:
        """Return the mixture's value, and mark the actions with a weight of at least OFTEN as best.

        No action of the mixture counts as a mistake, even if it is worse than the mixture.
        """
        belief = self._track_belief(sight)
        weights = self.weights(sight)
        values = [self._action_value(belief, action) for action in sight.actions]
        mixture_value = sum(weight * value for weight, value in zip(weights, values, strict=True))
        min_weight = min(OFTEN, max(weights))
        action_values = tuple(
            ActionValue(
                action,
                _make_estimate(value),
                best=weight >= min_weight,
                weight=weight,
                allowance=max(0.0, mixture_value - value) if weight else 0.0,
            )
            for action, value, weight in zip(sight.actions, values, weights, strict=True)
        )
        return Verdict(_make_estimate(mixture_value), action_values)

    def action_class(self, sight: Sight[Action, View], action: Action) -> Hashable:
        return action.cell

    def mistake_category(self, sight: Sight[Action, View], action: Action) -> str:
        if isinstance(action, Observe):
            return "naming a position"
        if isinstance(action, Tunnel):
            return "tunnelling"
        own_cell = sight.view.cell
        return "entering" if not own_cell else "staying" if action.cell == own_cell else "stepping"

    def theme(self, sight: Sight[Action, View], action: Action) -> Hashable:
        """Group decisions by kind (observe, enter, stay, step), not by cell."""
        if isinstance(action, Observe) or not sight.view.cell:
            return sight.view.phase
        return abs(action.cell - sight.view.cell)

    def weights(self, sight: Sight[Action, View]) -> tuple[float, ...]:
        """Return the strategy's probabilities of `sight.actions`."""
        public, path = track_path(sight.seat, sight.history)
        tables = self.strategy[sight.seat]
        is_observing = sight.view.phase is Phase.OBSERVE
        raw = (tables.observation_weights if is_observing else tables.move_weights)(public, path)
        legal = [0 if isinstance(action, Tunnel) else raw[action.cell - 1] for action in sight.actions]
        return tuple(weight / sum(legal) for weight in legal)

    def full_information_value(self, one: Sight[Action, View], two: Sight[Action, View]) -> Value:
        if one.outcome:
            return Value.from_fraction(one.outcome.score(Seat.ONE))
        mover, other = (one, two) if one.actor is Seat.ONE else (two, one)
        public, own_path = track_path(mover.seat, mover.history)
        _, other_path = track_path(other.seat, other.history)
        is_observing = mover.view.phase is Phase.OBSERVE
        get_chance = self.pair.after_move if is_observing else self.pair.before_turn
        chance = get_chance(public, own_path, other_path)
        return _make_estimate(chance if mover.seat is Seat.ONE else 1 - chance)

    def full_information_action_value(
        self, sight: Sight[Action, View], others: Sight[Action, View], action: Action
    ) -> float:
        public, own_path = track_path(sight.seat, sight.history)
        _, other_path = track_path(others.seat, others.history)
        return self._action_value_at(public, own_path, other_path, action)

    def unforeseen_loss(self, sight: Sight[Action, View], others: Sight[Action, View], action: Action) -> str:
        if isinstance(action, Observe) or action.cell != others.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"went onto {{whose}} token, which was there with a chance of about {chance:.0%}"

    def winning_discovery(
        self, sight: Sight[Action, View], others: Sight[Action, View], action: Action
    ) -> str:
        # If the tokens are on one cell, they have collided, and the observation does not matter.
        if not isinstance(action, Observe) or not action.cell == others.view.cell != sight.view.cell:
            return ""
        chance = self.belief(sight)[f"position {action.cell}"]
        return f"named {action.cell}, where {{whose}} token was, a chance of about {chance:.0%}"

    def belief(self, sight: Sight[Action, View]) -> dict[str, float]:
        probabilities = self._track_belief(sight).probabilities
        chances = {
            f"position {cell + 1}": sum(
                p for (path, _), p in probabilities.items() if get_position(path) == cell
            )
            for cell in range(CELLS)
        }
        chances["off the grid"] = sum(p for (path, _), p in probabilities.items() if not path)
        chances["tunnel left"] = sum(p for (_, tunnel), p in probabilities.items() if tunnel)
        return chances

    def own_secret(self, sight: Sight[Action, View]) -> str:
        return f"position {sight.view.cell}" if sight.view.cell else "off the grid"

    def reason(self, sight: Sight[Action, View]) -> str:
        belief = self.belief(sight)
        return _explain_best(
            sight, self.judge(sight), {c: belief[f"position {c}"] for c in range(1, CELLS + 1)}
        )

    def pointer(self, sight: Sight[Action, View]) -> str:
        if sight.view.phase is Phase.OBSERVE:
            if self.belief(sight)["off the grid"] == 1:
                return "The other token is still off the grid, so no observation can find it."
            return (
                "Where is the other token likely to be? It is not on your own position, and it has probably "
                "not gone far. But if you always name the likeliest place, it will not be there."
            )
        if sight.view.cell == 0:
            return "Nobody knows where you will enter. All that matters is that nobody can guess it."
        return (
            "There are two dangers: to be named where you are, and to walk onto the other token. "
            "How likely is it beside you, and how much has the other player learned about your position?"
        )

    def values_against(self, sight: Sight[Action, View], share: float) -> dict[Action, Value]:
        """Return estimates: the belief knows the level's errors, and then both play the strategy."""
        belief = self._track_belief(sight, max(share, RANDOM_RATE))
        return {action: _make_estimate(self._action_value(belief, action)) for action in sight.actions}

    def effect(self, sight: Sight[Action, View], action: Action) -> str:
        """Describe a tunnel, the only kind of mistake."""
        chance = self.belief(sight)[f"position {action.cell}"]
        return (
            f"You {self.describe_action(action)}; with a chance of about {chance:.0%}, the other token was "
            "there. The strategy never tunnels."
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
        # With a limit, the weaker seat can play for the half point of an unfinished match.
        if self.rules.max_turns is None:
            return text
        return f"{text} All this holds only for the game without a turn limit."

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        from duels.games.hunt.certify.verify import verify  # slow to import, and only one command needs it

        return verify(self, progress)

    def _action_value(self, belief: Belief, action: Action) -> float:
        """Return the chance to win after `action` if both then play the strategy."""
        return sum(
            p * self._action_value_at(belief.public, belief.own_path, path, action)
            for (path, _), p in belief.probabilities.items()
        )

    def _action_value_at(self, public: PublicState, own: Cells, other: Cells, action: Action) -> float:
        """Return the chance to win after `action`, given the paths of both tokens."""
        cell = action.cell - 1
        if isinstance(action, Observe):
            return self.pair.after_observation(public, own, other, cell)
        return self.pair.after_move(public, public.extend_path(own, cell), other)


def _format_certified_gain(gain: Bounds) -> str:
    return f"certified to give away at most {gain.percent(2)[1]} points"


def _make_estimate(chance: float) -> Value:
    return Value(chance, Exactness.ESTIMATE)


def _explain_best(sight: Sight[Action, View], verdict: Verdict[Action], chances: dict[int, float]) -> str:
    """Explain the best actions. `chances` has the probability of the opponent's token on each cell."""
    best = [action_value for action_value in verdict.actions if action_value.best]
    favourite = max(best, key=lambda action_value: action_value.weight)
    best_cells = join_or([action_value.action.cell for action_value in best])
    has_favourite = favourite.weight > FAVOURITE_WEIGHT
    if sight.view.phase is Phase.OBSERVE:
        if not any(chances.values()):
            return "The other token is still off the grid, so any observation misses: choose at random."
        if has_favourite:
            return _explain_observation(sight, chances, favourite.action.cell)
        return _explain_mixed_observation(sight, chances, [judged.action.cell for judged in best])
    if sight.view.cell == 0:
        location = "anywhere" if len(best) == len(chances) else f"on {best_cells}"
        return f"Enter {location}, at random, so that nobody can guess your position, and keep the tunnel."
    if not has_favourite:
        return (
            f"Choose {best_cells} at random: the other player would learn to name a position that you "
            "always choose, so small differences in value matter little."
        )
    return _explain_movement(sight, chances, verdict, favourite)


def _explain_observation(sight: Sight[Action, View], chances: dict[int, float], cell: int) -> str:
    """Explain the observation that the strategy prefers."""
    why = ", the likeliest place that you may name" if cell == _find_likeliest(sight, chances) else ""
    return f"Mostly name {cell}: the other token is there with a chance of about {chances[cell]:.0%}{why}."


def _explain_mixed_observation(
    sight: Sight[Action, View], chances: dict[int, float], cells: Sequence[int]
) -> str:
    """Explain why the strategy mixes the observations of these cells."""
    likeliest = _find_likeliest(sight, chances)
    reason = (
        f"Of the positions that you may name, {likeliest} is the likeliest place of the other token, "
        f"about {chances[likeliest]:.0%}. But predictable observations are easy to avoid: mix them."
    )
    decoys = [cell for cell in cells if cell == sight.view.cell or not chances[cell]]
    return f"{reason} Naming {join_or(decoys)} cannot win now, but hides where you are." if decoys else reason


def _find_likeliest(sight: Sight[Action, View], chances: dict[int, float]) -> int:
    # Skip the player's own cell: a token there would have collided.
    observable = [action.cell for action in sight.actions if action.cell != sight.view.cell]
    return max(observable, key=chances.__getitem__)


def _explain_movement(
    sight: Sight[Action, View],
    chances: dict[int, float],
    verdict: Verdict[Action],
    favourite: ActionValue[Action],
) -> str:
    own_cell, cell = sight.view.cell, favourite.action.cell
    if cell == own_cell:
        neighbours = [c for c in (own_cell - 1, own_cell + 1) if chances.get(c, 0.0) >= _MIN_RISK]
        advice = "Mostly stay."
        if neighbours:
            risks = join_and([f"{c} with a chance of about {chances[c]:.0%}" for c in neighbours])
            advice = f"Mostly stay: the other token is on {risks}, and a player who moves onto it loses."
        step = max(
            (a for a in verdict.actions if a.action in (Move(own_cell - 1), Move(own_cell + 1))),
            key=lambda action_value: action_value.value.number,
        )
        gain = step.value.number - favourite.value.number
        if gain < 0.0005:
            return advice
        return (
            f"{advice} Going to {step.action.cell} looks better by about {100 * gain:.1f} points, "
            "but the other player would learn to expect it."
        )
    (stay,) = (a.value.number for a in verdict.actions if a.action == Move(own_cell))
    advice = f"Mostly step to {cell}, where the other token is with a chance of about {chances[cell]:.0%}"
    cost = favourite.value.number - stay
    if cost < 0.0005:
        return f"{advice}; now and then step elsewhere, so that your habits do not give you away."
    return f"{advice}; on {own_cell} you are easier to find, which costs about {100 * cost:.1f} points."
