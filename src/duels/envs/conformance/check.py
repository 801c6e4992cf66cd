"""Environments compared with the rules, move by move and rollout by rollout; and perfect play."""

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
from duels.envs.conformance.environments import GRADED, UNGRADED, Environment, Look
from duels.envs.conformance.laws import EnvironmentBroken, EnvironmentLaw
from duels.envs.engine import drawn
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
    """How much was checked without finding a fault."""

    environments: tuple[str, ...]
    refused: dict[str, str]
    """Environments that could not be made, and why: a package is missing, or the game is too large."""
    endings: Counter[Ending]
    """How the games ended that every environment was played through; the rest went on for too long."""


def check_environments(
    rules: AnyRules,
    environments: Iterable[type[Environment]] | None = None,
    games: int = GAMES,
) -> ConformanceReport:
    """Play random games in every environment that is installed; raise EnvironmentBroken at the first fault.

    A game that has an oracle is played with grades too, and its perfect play is checked.
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
    """Whether no game can end before it is the turn of `seat`."""
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
    """A game of random moves, played by the rules from an environment's stream."""

    def __init__(self, rules: AnyRules, stream: int) -> None:
        self._rules = rules
        self._actions = rules.all_actions()
        self._stream = stream
        self.begin()

    def begin(self) -> None:
        self.match = drawn(Match.start(self._rules), dice.begin(self._stream))

    def move(self) -> None:
        actor, legal = self.match.actor, [a for a in self._actions if a in self.match.actions]
        assert isinstance(actor, Seat)
        chance, bits = dice.roll(self._stream)
        self._stream = dice.advance(self._stream)
        self.match = drawn(self.match.play(actor, legal[dice.pick(bits, len(legal))]), chance)


def _random_game(rules: AnyRules, seed: int) -> list[AnyMatch]:
    """The match before every decision of a random game, and at its end or after LONGEST moves."""
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
        self._shown = ObservationEncoder(rules)
        self._number = number_actions(rules)

    def inspect(self, games: Sequence[Sequence[AnyMatch]]) -> None:
        for seed, game in enumerate(games):
            self._play(seed, game)
        for seed in range(2):
            self._roll(seed, *ROLLED)

    def _play(self, seed: int, game: Sequence[AnyMatch]) -> None:
        environment, mine = self._environment, self._environment.seat
        look = environment.begin(seed, tuple(turn.action for turn in game[0].turns))
        for before, after in pairwise(game):
            if mine in (None, _actor(before)):
                self._compare(look, before)
                action, *outcomes = (turn.action for turn in after.turns[len(before.turns) :])
                look = environment.step(self._number[action], tuple(outcomes))
        # What the other seat did last, the environment did by itself.
        if mine is None or _actor(game[-1]) in (mine, NOBODY):
            self._compare(look, game[-1])

    def _compare(self, look: Look, match: AnyMatch) -> None:
        outcome = match.outcome
        cut = outcome is not None and outcome.ending is Ending.CUT_OFF
        if (look.terminated, look.truncated) != (outcome is not None and not cut, cut):
            due = outcome.code if outcome else "going on"
            told = f"terminated={look.terminated}, truncated={look.truncated}"
            self._broken(EnvironmentLaw.ENDING, f"it says {told} where the match is {due}", match)
        if look.actor != _actor(match):
            self._broken(
                EnvironmentLaw.LEGALITY, f"seat {look.actor} is to move, not seat {_actor(match)}", match
            )
        for seat, mask in look.masks.items():
            allowed = [number for number, allows in enumerate(mask) if allows]
            legal = self._allowed(seat, match)
            if allowed != legal:
                who = "nobody" if seat == NOBODY else f"seat {seat}"
                self._broken(EnvironmentLaw.LEGALITY, f"{who} may do {allowed}, by the rules {legal}", match)
        for seat, reward in look.rewards.items():
            worth = float(2 * outcome.score(Seat(seat + 1)) - 1) if outcome else 0.0
            if reward != worth:
                self._broken(EnvironmentLaw.REWARD, f"seat {seat} gets {reward}, not {worth}", match)
        for seat, shown in look.shown.items():
            if shown != self._shown.to(Seat(seat + 1), match):
                self._broken(EnvironmentLaw.OBSERVATION, f"seat {seat} is shown something else", match)
        for seat, grade in look.grades.items():
            self._check_grade(seat, grade, match)

    def _allowed(self, seat: int, match: AnyMatch) -> list[int]:
        """The actions that `seat` is to be told it may take, by their numbers."""
        if match.outcome is None:
            actions = match.actions if seat == _actor(match) else ()
        elif seat == NOBODY and match.outcome.ending is Ending.CUT_OFF:
            _, actions = self._shown.next_decision(match)
        else:
            actions = self._shown.next_actions(Seat(max(seat, 0) + 1), match)
        return sorted(self._number[action] for action in actions)

    def _check_grade(self, seat: int, grade: Grade, match: AnyMatch) -> None:
        told = f"seat {seat} is told a value of {grade['value']} and a regret of {grade['regret']}"
        if not 0 <= grade["value"] <= 1 or grade["regret"] < 0:
            self._broken(EnvironmentLaw.GRADING, told, match)
        outcome = match.outcome
        if outcome and grade["value"] != float(outcome.score(Seat(seat + 1))):
            self._broken(EnvironmentLaw.GRADING, f"{told} where the match is {outcome.code}", match)

    def _roll(self, seed: int, num_envs: int, steps: int) -> None:
        tally = self._environment.rollout(seed, num_envs, steps)
        if tally is None:
            return
        expected = BatchTally.of(num_envs, steps)
        for env in range(num_envs):
            self._count(expected, env, _RandomGame(self._rules, dice.stream(seed, env)), steps)
        for counted in ("steps", "wins", "draws", "truncated", "games"):
            found, due = getattr(tally, counted), getattr(expected, counted)
            if not np.array_equal(found, due):
                what = f"a rollout of {steps} steps counts {counted} {found}, not {due}"
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
    """Check the decisions of perfect play along `matches`, and its exploitability where that is known."""
    odds = get_player_odds(perfect, rules)
    for match in matches:
        for step in match.steps():
            before = step.previous
            if before and isinstance(before.actor, Seat):
                _check_odds(rules, odds(before.sight(before.actor)), before)
    most = _proven(rules)
    if most is not None:
        _check_exploitability(rules, measure, perfect, most)


def _proven(rules: AnyRules) -> float | None:
    """The most that perfect play can be exploited by, as its oracle has proven; None if it claims nothing."""
    oracle = get_oracle(rules)
    if oracle.value(rules.sight(rules.initial(), Seat.ONE)).exactness is Exactness.EXACT:
        return 0.0
    return oracle.exploitability_bound()


def _check_odds(rules: AnyRules, odds: dict[Any, float], match: AnyMatch) -> None:
    illegal = [action for action, chance in odds.items() if chance and action not in match.actions]
    if illegal or min(odds.values()) < 0 or abs(sum(odds.values()) - 1) > ROUNDING:
        raise EnvironmentBroken(EnvironmentLaw.POLICY, "perfect play", rules, f"it takes {odds}", match)


def _check_exploitability(rules: AnyRules, measure: Measure, player: str | Player, most: float) -> None:
    try:
        found = measure(player, rules)
    except TooLarge:
        return  # there is nothing to measure it by
    if not -ROUNDING <= found.low <= found.high <= most + ROUNDING:
        what = f"{player} has one from {found.low} to {found.high}, not from 0 to {most}"
        raise EnvironmentBroken(EnvironmentLaw.EXPLOITABILITY, "duels.exploitability", rules, what)
