"""Compares environments with the rules, move by move and in rollouts, and checks perfect play."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from duels.analysis.agents import get_player_odds
from duels.analysis.encoding import ObservationEncoder
from duels.analysis.exploitability import Policy, exploitability_bounds
from duels.analysis.grading import Grade
from duels.core.errors import DuelsError, TooLarge
from duels.core.extras import MissingExtra
from duels.core.features import number_actions
from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, Ending, Seat
from duels.envs import dice
from duels.envs.conformance.environments import GRADED, UNGRADED, Environment, Snapshot
from duels.envs.conformance.laws import EnvironmentBroken, EnvironmentLaw
from duels.envs.engine import draw_chance
from duels.envs.results import BatchTally
from duels.players import Player
from duels.solving.bounds import Bounds
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle
from duels.solving.tables import DRAWN, NOBODY, ONGOING, encode_result

GAMES = 20
LONGEST = 200  # moves: some games need not end
ROLLED = (12, 60)  # environments and steps of a rollout
ROUNDING = 1e-9

Measure = Callable[[Policy, AnyRules], Bounds]


@dataclass(frozen=True)
class ConformanceReport:
    """The environments and games that were checked without finding a fault."""

    environments: tuple[str, ...]
    refused: dict[str, str]
    """Environments that were skipped, with the reason: a package is missing, or the game is too large."""
    endings: Counter[Ending]
    """The endings of the games that were played; games without an ending were too long."""


def check_environments(
    rules: AnyRules,
    environments: Iterable[type[Environment]] | None = None,
    games: int = GAMES,
) -> ConformanceReport:
    """Play random games in every installed environment and compare it with the rules.

    If the game has an oracle, grades and perfect play are checked too. Raises EnvironmentBroken at the first
    fault.
    """
    solved = environments is None and _has_oracle(rules)
    kinds = [*UNGRADED, *(GRADED if solved else ())] if environments is None else list(environments)
    played = [_random_game(rules, seed) for seed in range(games)]
    checked, refused = [], {}
    for kind in kinds:
        if kind.seat is not None and not _always_moves(rules, Seat(kind.seat + 1)):
            refused[kind.name] = "the other seat can end a game before this one moves"
            continue
        try:
            environment = kind(rules)
        except (MissingExtra, TooLarge) as reason:
            refused[kind.name] = str(reason)
            continue
        _Inspector(rules, environment).inspect(played)
        checked.append(kind.name)
    if solved:
        check_perfect_play(rules, [game[-1] for game in played])
    endings = Counter(game[-1].outcome.ending for game in played if game[-1].outcome)
    return ConformanceReport(tuple(checked), refused, endings)


def _always_moves(rules: AnyRules, seat: Seat) -> bool:
    waiting = [rules.initial()]
    met = set(waiting)
    while waiting:
        state = waiting.pop()
        actor = rules.actor(state)
        if actor is None:
            return False
        if actor is not seat:
            after = {rules.apply(state, action).state for action in rules.actions(state)}
            waiting += after - met
            met |= after
    return True


def _has_oracle(rules: AnyRules) -> bool:
    try:
        get_oracle(rules)
    except DuelsError:
        return False
    return True


class _RandomGame:
    """A random game by the rules, with the draws of an environment's stream."""

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
    """Return the match before every decision of a random game, and at its end or after LONGEST moves."""
    game = _RandomGame(rules, dice.stream(seed))
    matches = [game.match]
    while game.match.actor is not None and len(matches) <= LONGEST:
        game.move()
        matches.append(game.match)
    return matches


class _Inspector:
    """Compares one environment with the rules."""

    def __init__(self, rules: AnyRules, environment: Environment) -> None:
        self._rules = rules
        self._environment = environment
        self._encoder = ObservationEncoder(rules)
        self._number = number_actions(rules)

    def inspect(self, games: Sequence[Sequence[AnyMatch]]) -> None:
        for seed, game in enumerate(games):
            self._play(seed, game)
        for seed in range(2):
            self._roll(seed, *ROLLED)

    def _play(self, seed: int, game: Sequence[AnyMatch]) -> None:
        environment, mine = self._environment, self._environment.seat
        snapshot = environment.begin(seed, tuple(turn.action for turn in game[0].turns))
        for before, after in pairwise(game):
            if mine in (None, _actor(before)):
                self._compare(snapshot, before)
                action, *outcomes = (turn.action for turn in after.turns[len(before.turns) :])
                snapshot = environment.step(self._number[action], tuple(outcomes))
        # The environment has already played the other seat's moves.
        if mine is None or _actor(game[-1]) in (mine, NOBODY):
            self._compare(snapshot, game[-1])

    def _compare(self, snapshot: Snapshot, match: AnyMatch) -> None:
        outcome = match.outcome
        cut = outcome is not None and outcome.ending is Ending.CUT_OFF
        if (snapshot.terminated, snapshot.truncated) != (outcome is not None and not cut, cut):
            ending = outcome.code if outcome else "not over"
            flags = f"terminated={snapshot.terminated}, truncated={snapshot.truncated}"
            self._broken(EnvironmentLaw.ENDING, f"it has {flags} while the match is {ending}", match)
        if snapshot.actor != _actor(match):
            self._broken(
                EnvironmentLaw.LEGALITY, f"seat {snapshot.actor} is to move, not seat {_actor(match)}", match
            )
        for seat, mask in snapshot.masks.items():
            allowed = [number for number, allows in enumerate(mask) if allows]
            legal = self._allowed(seat, match)
            if allowed != legal:
                who = "nobody" if seat == NOBODY else f"seat {seat}"
                self._broken(EnvironmentLaw.LEGALITY, f"{who} may do {allowed}, by the rules {legal}", match)
        for seat, reward in snapshot.rewards.items():
            expected = float(2 * outcome.score(Seat(seat + 1)) - 1) if outcome else 0.0
            if reward != expected:
                self._broken(EnvironmentLaw.REWARD, f"seat {seat} gets {reward}, not {expected}", match)
        for seat, shown in snapshot.observations.items():
            if shown != self._encoder.encode(Seat(seat + 1), match):
                self._broken(EnvironmentLaw.OBSERVATION, f"seat {seat} gets another observation", match)
        for seat, grade in snapshot.grades.items():
            self._check_grade(seat, grade, match)

    def _allowed(self, seat: int, match: AnyMatch) -> list[int]:
        if match.outcome is None:
            actions = match.actions if seat == _actor(match) else ()
        elif seat == NOBODY and match.outcome.ending is Ending.CUT_OFF:
            _, actions = self._encoder.next_decision(match)
        else:
            actions = self._encoder.next_actions(Seat(max(seat, 0) + 1), match)
        return sorted(self._number[action] for action in actions)

    def _check_grade(self, seat: int, grade: Grade, match: AnyMatch) -> None:
        text = f"seat {seat} gets a value of {grade['value']} and a regret of {grade['regret']}"
        if not 0 <= grade["value"] <= 1 or grade["regret"] < 0:
            self._broken(EnvironmentLaw.GRADING, text, match)
        outcome = match.outcome
        if outcome and grade["value"] != float(outcome.score(Seat(seat + 1))):
            self._broken(EnvironmentLaw.GRADING, f"{text} while the match is {outcome.code}", match)

    def _roll(self, seed: int, num_envs: int, steps: int) -> None:
        tally = self._environment.rollout(seed, num_envs, steps)
        if tally is None:
            return
        expected = BatchTally.empty(num_envs, steps)
        for env in range(num_envs):
            self._count(expected, env, _RandomGame(self._rules, dice.stream(seed, env)), steps)
        for counted in ("steps", "wins", "draws", "truncated", "games"):
            found, right = getattr(tally, counted), getattr(expected, counted)
            if not np.array_equal(found, right):
                what = f"a rollout of {steps} steps counts {counted} {found}, not {right}"
                self._broken(EnvironmentLaw.COUNTING, what, None)

    @staticmethod
    def _count(tally: BatchTally, env: int, player: _RandomGame, steps: int) -> None:
        for _ in range(steps):
            player.move()
            outcome = player.match.outcome
            if outcome is None:
                continue
            result = encode_result(outcome)
            if result == ONGOING:
                tally.truncated[env] += 1
            elif result == DRAWN:
                tally.draws[env] += 1
            else:
                tally.wins[env, result] += 1
            player.begin()

    def _broken(self, law: EnvironmentLaw, what: str, match: AnyMatch | None) -> NoReturn:
        raise EnvironmentBroken(law, self._environment.name, self._rules, what, match)


def _actor(match: AnyMatch) -> int:
    return match.actor - 1 if isinstance(match.actor, Seat) else NOBODY


def check_perfect_play(
    rules: AnyRules,
    matches: Sequence[AnyMatch],
    perfect: str | Player = "perfect",
    measure: Measure = exploitability_bounds,
) -> None:
    """Check the decisions of perfect play along `matches`, and its exploitability if a bound is proven.

    Raises EnvironmentBroken.
    """
    odds = get_player_odds(perfect, rules)
    for match in matches:
        for step in match.steps():
            before = step.previous
            if before and isinstance(before.actor, Seat):
                _check_odds(rules, odds(before.sight(before.actor)), before)
    bound = _proven_exploitability(rules)
    if bound is not None:
        _check_exploitability(rules, measure, perfect, bound)


def _proven_exploitability(rules: AnyRules) -> float | None:
    """Return the proven upper bound of perfect play's exploitability, or None."""
    oracle = get_oracle(rules)
    if oracle.value(rules.sight(rules.initial(), Seat.ONE)).exactness is Exactness.EXACT:
        return 0.0
    return oracle.exploitability_bound()


def _check_odds(rules: AnyRules, odds: dict[Any, float], match: AnyMatch) -> None:
    illegal = [action for action, chance in odds.items() if chance and action not in match.actions]
    if illegal or min(odds.values()) < 0 or abs(sum(odds.values()) - 1) > ROUNDING:
        raise EnvironmentBroken(EnvironmentLaw.POLICY, "perfect play", rules, f"it takes {odds}", match)


def _check_exploitability(rules: AnyRules, measure: Measure, player: str | Player, bound: float) -> None:
    try:
        found = measure(player, rules)
    except TooLarge:
        return  # exploitability cannot be computed
    if not -ROUNDING <= found.low <= found.high <= bound + ROUNDING:
        what = f"that of {player} is from {found.low} to {found.high}, not from 0 to {bound}"
        raise EnvironmentBroken(EnvironmentLaw.EXPLOITABILITY, "duels.exploitability", rules, what)
