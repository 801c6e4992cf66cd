"""One match of a run: its plan, its grades, and its luck."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

from duels.arena.schemas import VERSION
from duels.core.match import AnyMatch, Match
from duels.core.options import OptionValue
from duels.core.record import format_entry
from duels.core.rules import CHANCE, AnyRules, AnySight, OpenRules, Seat
from duels.games import find_game
from duels.play.dice import Dice
from duels.play.step import DecisionDialogue, NextEntry, ask_for_entry, ask_player, run_dialogue
from duels.players import Player
from duels.players.failures import Answer, NoMove
from duels.players.program import ProgramPlayer
from duels.solving.oracle import Exactness, Verdict
from duels.solving.oracles import get_oracle

_MAX_CACHED_VERDICTS = 100_000
MAX_BLUNDERS = 3  # stored per match
_EPSILON = 1e-9
MAX_CORRECTION = 1.0
"""The largest correction for luck. It gives adjusted results known bounds."""


class Judge:
    """Grades decisions and values positions. In games without hidden information, verdicts are cached."""

    def __init__(self, rules: AnyRules) -> None:
        self.rules = rules
        self.oracle = get_oracle(rules)
        self.measure = self.oracle.measure
        """The oracle's measure of decisions: GIVEN_AWAY or BELOW_THE_MIXTURE."""
        self._is_open = isinstance(rules, OpenRules)
        self._judge_state = lru_cache(_MAX_CACHED_VERDICTS)(self._judge_open_state)

    def get_opening_value(self) -> tuple[float, Exactness]:
        """Return the value of the game for Player 1, and how exact it is."""
        match = Match.start(self.rules)
        value = self.oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO))
        return value.number, value.exactness

    def get_verdict(self, match: AnyMatch, sight: AnySight) -> Verdict[Any]:
        """Return the verdict on the current decision, given the information of the seat to move."""
        return self._judge_state(match.state) if self._is_open else self.oracle.judge(sight)

    def _judge_open_state(self, state: Any) -> Verdict[Any]:
        seat = self.rules.actor(state)
        assert isinstance(seat, Seat)
        return self.oracle.judge(self.rules.sight(state, seat))

    def grade(self, match: AnyMatch, sight: AnySight, action: Any) -> tuple[float, tuple[Any, ...], str]:
        """Return an action's shortfall, the best actions, and the action's category."""
        verdict = self.get_verdict(match, sight)
        shortfall = self.oracle.shortfalls(verdict)[sight.actions.index(action)]
        return shortfall, verdict.best, self.oracle.mistake_category(sight, action)

    def outcome_values(self, match: AnyMatch) -> list[float]:
        """Return the value of each chance outcome for Player 1.

        In games with hidden information, this method and `action_values` combine what both players know.
        Neither player sees the result.
        """
        if self._is_open:
            next_states = (self.rules.apply(match.state, each).state for each in match.actions)
            return list(map(self.oracle.quick_value, next_states))
        return [self._full_information_value(match.play(CHANCE, each)) for each in match.actions]

    def action_values(self, match: AnyMatch, sight: AnySight) -> list[float]:
        """Return the value of each action for Player 1. `sight` belongs to the seat to move."""
        if self._is_open:
            own = [each.value.number for each in self.get_verdict(match, sight).actions]
        else:
            get_value, opponent = self.oracle.full_information_action_value, match.sight(sight.seat.other)
            own = [get_value(sight, opponent, action) for action in sight.actions]
        return own if sight.seat is Seat.ONE else [1 - value for value in own]

    def _full_information_value(self, match: AnyMatch) -> float:
        if match.outcome:
            return float(match.outcome.score(Seat.ONE))
        return self.oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO)).number


class Luck:
    """The luck of a match so far, as a sum of control variates with mean 0.

    Each term is the value of the drawn outcome minus the mean over all outcomes. The odds are those of chance
    or of a player's known policy (AIVAT: Burch, Schmid, Moravčík and Bowling, 2018). The sum stops growing
    before a term could take it beyond MAX_CORRECTION. This is decided before the draw, so the mean stays 0.
    An adjusted result always lies in [-MAX_CORRECTION, 1 + MAX_CORRECTION].
    """

    def __init__(self) -> None:
        self.total = 0.0
        """Player 1's gain from luck."""
        self._stopped = False

    def add(self, values: Sequence[float], odds: Sequence[float], drawn: int) -> None:
        """Add the luck of a draw. `values` are Player 1's; `drawn` is the index of the drawn outcome."""
        if self._stopped:
            return
        mean = sum(chance * value for chance, value in zip(odds, values, strict=True))
        terms = [value - mean for chance, value in zip(odds, values, strict=True) if chance]
        if max(self.total + max(terms), -(self.total + min(terms))) > MAX_CORRECTION:
            self._stopped = True
            return
        self.total += values[drawn] - mean


@dataclass(frozen=True)
class MatchPlan:
    """A match to play. Its key is a hash of its content, so no match is played twice."""

    game: str
    options: tuple[tuple[str, OptionValue], ...]
    players: tuple[str, str]
    """The names of Player 1 and Player 2."""
    seed: str
    pair: int
    """The number of the pair: two matches with the same seed and swapped seats."""

    @cached_property
    def key(self) -> str:
        # `repr` takes half the time of JSON, and every match needs a key.
        content = (VERSION, self.game, self.options, self.players, self.seed, self.pair)
        return sha256(repr(content).encode()).hexdigest()[:32]

    def rules(self) -> AnyRules:
        return _make_rules(self.game, self.options)


@lru_cache
def _make_rules(game: str, options: tuple[tuple[str, OptionValue], ...]) -> AnyRules:
    return find_game(game).rules(**dict(options))


def play_dialogue(
    plan: MatchPlan, judge: Judge, stats: "MatchStats | None" = None
) -> DecisionDialogue[dict[str, Any]]:
    """Play and grade a match, yielding decision requests. Returns the row for the log.

    Callers that need the grades of single decisions pass `stats`.
    """
    stats = stats or MatchStats()
    match: AnyMatch = Match.start(judge.rules)
    dice = Dice(plan.seed)
    while match.actor is not None:
        entry = yield from ask_for_entry(match, dice)
        stats.add_entry(judge, match, entry)
        match = entry.play(match)
    return _make_row(plan, judge, match, stats)


@dataclass(frozen=True, slots=True)
class GradedDecision:
    """A decision of a match with the verdict on all actions. Forced moves are not graded."""

    seat: Seat
    entry: int
    """The number of the entry, from 1 on."""
    answer: Answer | NoMove
    verdict: Verdict[Any]


class MatchStats:
    """The grades, failures and luck of a match so far."""

    def __init__(self) -> None:
        self.luck = Luck()
        self.graded: list[GradedDecision] = []
        self.shortfalls = dict.fromkeys(Seat, 0.0)
        self.decisions = dict.fromkeys(Seat, 0)
        self.forfeited = dict.fromkeys(Seat, 0.0)
        self.failures: list[list[Any]] = []
        self.blunders: list[dict[str, Any]] = []
        self.mistake_categories: dict[Seat, dict[str, list[float]]] = {
            seat: defaultdict(lambda: [0, 0.0]) for seat in Seat
        }

    def add_entry(self, judge: Judge, match: AnyMatch, entry: NextEntry) -> None:
        """Add an entry. `match` is the match before the entry."""
        seat, answer = entry.actor, entry.answer
        if not isinstance(seat, Seat):
            odds = [float(chance) for chance in judge.rules.odds(match.state)]
            self.luck.add(judge.outcome_values(match), odds, match.actions.index(entry.action))
            return
        number = len(match.turns) + 1
        self.failures += [[seat.value, number, error.failure.value, error.detail] for error in answer.failed]
        sight = match.sight(seat)
        if len(sight.actions) > 1 or isinstance(answer, NoMove):  # a forced move has no grade
            self.graded.append(GradedDecision(seat, number, answer, judge.get_verdict(match, sight)))
        if isinstance(answer, NoMove):
            self.forfeited[seat] = self.graded[-1].verdict.value.number
        else:
            self._add_decision(judge, match, sight, answer)

    def _add_decision(self, judge: Judge, match: AnyMatch, sight: AnySight, answer: Answer) -> None:
        if len(sight.actions) > 1:
            self._grade(judge, match, sight, answer.action)
        if answer.policy:
            odds = [answer.policy.get(action, 0.0) for action in sight.actions]
            if max(odds) < 1:
                values = judge.action_values(match, sight)
                self.luck.add(values, odds, sight.actions.index(answer.action))

    def _grade(self, judge: Judge, match: AnyMatch, sight: AnySight, action: Any) -> None:
        seat, (shortfall, best, category) = sight.seat, judge.grade(match, sight, action)
        self.shortfalls[seat] += shortfall
        self.decisions[seat] += 1
        totals = self.mistake_categories[seat][category]
        totals[0] += 1
        totals[1] += shortfall
        if shortfall > _EPSILON and action not in best:
            names = [judge.rules.format(each) for each in best[:MAX_BLUNDERS]]
            blunder: dict[str, Any] = {"seat": seat.value, "entry": len(match.turns) + 1}
            blunder |= {"shortfall": shortfall, "best": names}
            worst = sorted([*self.blunders, blunder], key=lambda each: -each["shortfall"])
            self.blunders = worst[:MAX_BLUNDERS]


def _make_row(plan: MatchPlan, judge: Judge, match: AnyMatch, stats: MatchStats) -> dict[str, Any]:
    assert match.outcome
    score = float(match.outcome.score(Seat.ONE))
    return {
        "v": VERSION,
        "key": plan.key,
        "game": plan.game,
        "options": dict(plan.options),
        "players": list(plan.players),
        "pair": plan.pair,
        "seed": plan.seed,
        "entries": [format_entry(judge.rules, turn) for turn in match.turns],
        "result": match.outcome.code,
        "ending": match.outcome.ending.value,
        "score": score,
        "adjusted": score - stats.luck.total,
        "shortfalls": [stats.shortfalls[seat] for seat in Seat],
        "decisions": [stats.decisions[seat] for seat in Seat],
        "forfeited": [stats.forfeited[seat] for seat in Seat],
        "failures": stats.failures,
        "blunders": stats.blunders,
        "manners": [dict(stats.mistake_categories[seat]) for seat in Seat],
    }


def play_match(plan: MatchPlan, judge: Judge, players: Mapping[Seat, Player]) -> dict[str, Any]:
    """Play a planned match and return its row. Bot programs receive the key of the plan as match id."""
    for player in players.values():
        if isinstance(player, ProgramPlayer):
            player.new_match(plan.key)
    return run_dialogue(
        play_dialogue(plan, judge),
        lambda question: ask_player(players[question.seat], question, by_policy=True),
    )
