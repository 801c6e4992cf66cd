"""A conformance suite for environments of any rules.

    from duels.envs.conformance import check_environments
    check_environments(MyGame())   # raises EnvironmentBroken, with the broken law and the moves

`duels.core.laws` checks the rules themselves. This suite plays random games by the rules and compares every
environment with them. To check an adapter for another framework, subclass `Environment` and call
`check_environments(rules, [MyEnvironment])`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from duels.analysis.agents import Policy, get_player_odds
from duels.analysis.encoding import ObservationEncoder
from duels.analysis.exploitability import exploitability_bounds
from duels.analysis.grading import GradeInfo
from duels.core.errors import DuelsError, MissingExtra, TooLarge
from duels.core.features import number_actions
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, Ending, Seat
from duels.envs import dice
from duels.envs.batch import BatchTally
from duels.envs.conformance.environments import GRADED, UNGRADED, Environment, Snapshot
from duels.envs.engine import draw_chance
from duels.players import Player
from duels.solving.oracle import Bounds, Exactness
from duels.solving.oracles import get_oracle
from duels.solving.tables import DRAWN, NOBODY, ONGOING, encode_result

__all__ = [
    "ConformanceReport",
    "Environment",
    "EnvironmentBroken",
    "EnvironmentLaw",
    "Snapshot",
    "check_environments",
    "check_perfect_play",
]

GAMES = 20
MAX_MOVES = 200  # because some games may never end
ROLLOUT_ENVS, ROLLOUT_STEPS = 12, 60
TOLERANCE = 1e-9

Measure = Callable[[Policy, AnyRules], Bounds]


class EnvironmentLaw(Enum):
    """A guarantee of every environment. The value states the law."""

    LEGALITY = (
        "the seat to move and its legal actions are those of the rules; after the end there are none, "
        "but in a truncated game the mask shows the actions that may be legal next as far as a seat knows"
    )
    ENDING = "a game won or drawn by the rules is terminated, a game that reaches a limit is truncated"
    REWARD = "the reward is 1 for a win, -1 for a loss, and 0 for a draw or a truncated game"
    OBSERVATION = "an observation contains the features of the seat's view, under all settings"
    COUNTING = "a rollout counts the wins, draws and truncations of all games that end"
    GRADING = "values are from 0 to 1, the value of an ended game is its score, and no regret is negative"
    POLICY = "perfect play takes legal actions, with probabilities that sum to 1"
    EXPLOITABILITY = (
        "the exploitability of perfect play is 0 if values are exact, otherwise at most the proven bound"
    )


class EnvironmentBroken(DuelsError):
    """An environment breaks `law`. `match` shows where, or is None if no match is involved."""

    def __init__(
        self,
        law: EnvironmentLaw,
        environment: str,
        rules: AnyRules,
        fault: str,
        match: AnyMatch | None = None,
    ) -> None:
        entries = [rules.format(turn.action) for turn in match.turns] if match else []
        location = f" after '{', '.join(entries)}'" if entries else ""
        super().__init__(f"{rules.name} in {environment}: {fault}{location} (law: {law.value})")
        self.law = law
        self.match = match


@dataclass(frozen=True)
class ConformanceReport:
    """The environments and games of a check that found no fault."""

    environments: tuple[str, ...]
    skip_reasons: dict[str, str]
    """The reason for each skipped environment: a missing package, or a game that is too large."""
    endings: Counter[Ending]
    """The endings of the games played. Games longer than MAX_MOVES have no ending."""


def check_environments(
    rules: AnyRules, environments: Iterable[type[Environment]] | None = None, games: int = GAMES
) -> ConformanceReport:
    """Play random games in every installed environment and compare it with the rules.

    If the game has an oracle, this also checks grades and perfect play. Raises EnvironmentBroken at the first
    fault.

    >>> import duels
    >>> check_environments(duels.find_game("leap").rules(goal=4), games=2).endings
    Counter({<Ending.WON: 'won'>: 2})
    """
    has_grades = environments is None and _has_oracle(rules)
    if environments is None:
        environments = [*UNGRADED, *(GRADED if has_grades else ())]
    played = [_random_game(rules, seed) for seed in range(games)]
    checked, skip_reasons = [], {}
    for environment_class in environments:
        name, seat = environment_class.name, environment_class.seat
        if seat is not None and not _always_gets_a_turn(rules, Seat(seat + 1)):
            skip_reasons[name] = "the opponent can end a game before this seat moves"
            continue
        try:
            environment = environment_class(rules)
        except (MissingExtra, TooLarge) as reason:
            skip_reasons[name] = str(reason)
            continue
        _Inspector(rules, environment).inspect(played)
        checked.append(name)
    if has_grades:
        check_perfect_play(rules, [game[-1] for game in played])
    endings = Counter(game[-1].outcome.ending for game in played if game[-1].outcome)
    return ConformanceReport(tuple(checked), skip_reasons, endings)


def _always_gets_a_turn(rules: AnyRules, seat: Seat) -> bool:
    pending = [rules.initial()]
    visited = set(pending)
    while pending:
        state = pending.pop()
        actor = rules.actor(state)
        if actor is None:
            return False
        if actor is not seat:
            successors = {rules.apply(state, action).state for action in rules.actions(state)}
            pending += successors - visited
            visited |= successors
    return True


def _has_oracle(rules: AnyRules) -> bool:
    try:
        get_oracle(rules)
    except DuelsError:
        return False
    return True


class _RandomGame:
    """A random game by the rules, drawn from an environment's random stream."""

    def __init__(self, rules: AnyRules, stream: int) -> None:
        self._rules = rules
        self._actions = rules.all_actions()
        self._stream = stream
        self.begin()

    def begin(self) -> None:
        self.match = draw_chance(Match.start(self._rules), dice.start_bits(self._stream))

    def move(self) -> None:
        actor, legal = self.match.actor, [a for a in self._actions if a in self.match.actions]
        assert isinstance(actor, Seat)
        chance, bits = dice.roll(self._stream)
        self._stream = dice.advance(self._stream)
        self.match = draw_chance(self.match.play(actor, legal[dice.pick(bits, len(legal))]), chance)


def _random_game(rules: AnyRules, seed: int) -> list[AnyMatch]:
    """Return the match before each decision of a random game, and the match at its end."""
    game = _RandomGame(rules, dice.stream(seed))
    matches = [game.match]
    while game.match.actor is not None and len(matches) <= MAX_MOVES:
        game.move()
        matches.append(game.match)
    return matches


class _Inspector:
    """Compares one environment with the rules."""

    def __init__(self, rules: AnyRules, environment: Environment) -> None:
        self._rules = rules
        self._environment = environment
        self._encoder = ObservationEncoder(rules)
        self._action_numbers = number_actions(rules)

    def inspect(self, games: Sequence[Sequence[AnyMatch]]) -> None:
        for seed, game in enumerate(games):
            self._play(seed, game)
        for seed in range(2):
            self._check_rollout(seed, ROLLOUT_ENVS, ROLLOUT_STEPS)

    def _play(self, seed: int, game: Sequence[AnyMatch]) -> None:
        environment, driven_seat = self._environment, self._environment.seat
        snapshot = environment.begin(seed, tuple(turn.action for turn in game[0].turns))
        for before, after in pairwise(game):
            if driven_seat in (None, _actor(before)):
                self._compare(snapshot, before)
                action, *outcomes = (turn.action for turn in after.turns[len(before.turns) :])
                snapshot = environment.step(self._action_numbers[action], tuple(outcomes))
        # The environment has already played the other seat's moves.
        if driven_seat is None or _actor(game[-1]) in (driven_seat, NOBODY):
            self._compare(snapshot, game[-1])

    def _compare(self, snapshot: Snapshot, match: AnyMatch) -> None:
        outcome = match.outcome
        cut_off = outcome is not None and outcome.ending is Ending.CUT_OFF
        if (snapshot.terminated, snapshot.truncated) != (outcome is not None and not cut_off, cut_off):
            ending = outcome.code if outcome else "not over"
            flags = f"terminated={snapshot.terminated}, truncated={snapshot.truncated}"
            self._broken(EnvironmentLaw.ENDING, f"it returns {flags}, but the match is {ending}", match)
        if snapshot.actor != _actor(match):
            fault = f"seat {snapshot.actor} is to move, not seat {_actor(match)}"
            self._broken(EnvironmentLaw.LEGALITY, fault, match)
        for seat, mask in snapshot.masks.items():
            allowed = [number for number, allows in enumerate(mask) if allows]
            legal = self._allowed(seat, match)
            if allowed != legal:
                seat_name = "nobody" if seat == NOBODY else f"seat {seat}"
                fault = f"the mask of {seat_name} allows {allowed}, the rules allow {legal}"
                self._broken(EnvironmentLaw.LEGALITY, fault, match)
        for seat, reward in snapshot.rewards.items():
            expected = float(2 * outcome.score(Seat(seat + 1)) - 1) if outcome else 0.0
            if reward != expected:
                self._broken(EnvironmentLaw.REWARD, f"seat {seat} gets {reward}, not {expected}", match)
        for seat, observation in snapshot.observations.items():
            if observation != self._encoder.encode(Seat(seat + 1), match):
                self._broken(EnvironmentLaw.OBSERVATION, f"seat {seat} has a wrong observation", match)
        for seat, grade in snapshot.grades.items():
            self._check_grade(seat, grade, match)

    def _allowed(self, seat: int, match: AnyMatch) -> list[int]:
        if match.outcome is None:
            actions = match.actions if seat == _actor(match) else ()
        elif seat == NOBODY and match.outcome.ending is Ending.CUT_OFF:
            _, actions = self._encoder.next_decision(match)
        else:
            actions = self._encoder.next_actions(Seat(max(seat, 0) + 1), match)
        return sorted(self._action_numbers[action] for action in actions)

    def _check_grade(self, seat: int, grade: GradeInfo, match: AnyMatch) -> None:
        text = f"seat {seat} gets a value of {grade['value']} and a regret of {grade['regret']}"
        if not 0 <= grade["value"] <= 1 or grade["regret"] < 0:
            self._broken(EnvironmentLaw.GRADING, text, match)
        outcome = match.outcome
        if outcome and grade["value"] != float(outcome.score(Seat(seat + 1))):
            self._broken(EnvironmentLaw.GRADING, f"{text}, but the match is {outcome.code}", match)

    def _check_rollout(self, seed: int, num_envs: int, steps: int) -> None:
        tally = self._environment.rollout(seed, num_envs, steps)
        if tally is None:
            return
        expected = BatchTally.empty(num_envs, steps)
        for env in range(num_envs):
            self._count(expected, env, _RandomGame(self._rules, dice.stream(seed, env)), steps)
        for field in ("steps", "wins", "draws", "truncated", "games"):
            count, expected_count = getattr(tally, field), getattr(expected, field)
            if not np.array_equal(count, expected_count):
                fault = f"after {steps} steps of a rollout, {field} is {count}, not {expected_count}"
                self._broken(EnvironmentLaw.COUNTING, fault, None)

    @staticmethod
    def _count(tally: BatchTally, env: int, game: _RandomGame, steps: int) -> None:
        for _ in range(steps):
            game.move()
            outcome = game.match.outcome
            if outcome is None:
                continue
            result = encode_result(outcome)
            if result == ONGOING:
                tally.truncated[env] += 1
            elif result == DRAWN:
                tally.draws[env] += 1
            else:
                tally.wins[env, result] += 1
            game.begin()

    def _broken(self, law: EnvironmentLaw, fault: str, match: AnyMatch | None) -> NoReturn:
        raise EnvironmentBroken(law, self._environment.name, self._rules, fault, match)


def _actor(match: AnyMatch) -> int:
    return match.actor - 1 if isinstance(match.actor, Seat) else NOBODY


def check_perfect_play(
    rules: AnyRules,
    matches: Sequence[AnyMatch],
    perfect: str | Player = "perfect",
    measure: Measure = exploitability_bounds,
) -> None:
    """Check perfect play: its decisions in `matches` and, if a bound is proven, its exploitability.

    Raises EnvironmentBroken at the first fault.
    """
    odds = get_player_odds(perfect, rules)
    for match in matches:
        for step in match.steps():
            before = step.previous
            if before and isinstance(before.actor, Seat):
                _check_odds(rules, odds(before.sight(before.actor)), before)
    oracle = get_oracle(rules)
    value = oracle.value(rules.sight(rules.initial(), Seat.ONE))
    bound = 0.0 if value.exactness is Exactness.EXACT else oracle.exploitability_bound()
    if bound is not None:
        _check_exploitability(rules, measure, perfect, bound)


def _check_odds(rules: AnyRules, odds: dict[Any, float], match: AnyMatch) -> None:
    illegal = [action for action, chance in odds.items() if chance and action not in match.actions]
    if illegal or min(odds.values()) < 0 or abs(sum(odds.values()) - 1) > TOLERANCE:
        raise EnvironmentBroken(EnvironmentLaw.POLICY, "perfect play", rules, f"it returns {odds}", match)


def _check_exploitability(rules: AnyRules, measure: Measure, player: str | Player, bound: float) -> None:
    try:
        measured = measure(player, rules)
    except TooLarge:
        return  # exploitability cannot be computed
    if not -TOLERANCE <= measured.low <= measured.high <= bound + TOLERANCE:
        fault = f"{player} is exploitable by {measured.low} to {measured.high}, not by 0 to {bound}"
        raise EnvironmentBroken(EnvironmentLaw.EXPLOITABILITY, "duels.exploitability", rules, fault)
