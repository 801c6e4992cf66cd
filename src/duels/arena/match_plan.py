"""One match of a run: who plays what, and all that is kept of how it went."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

from duels.arena.logs import VERSION
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
from duels.solving.progress import Progress, no_progress

MOST_KEPT = 100_000
"""Positions whose verdicts are kept, in a game without secrets."""
MOST_BLUNDERS = 3  # that are kept of a match
_NOTHING = 1e-9
MOST_CORRECTED = 1.0
"""The most that luck may change an adjusted result by, so that it has bounds that are known beforehand."""


class Judge:
    """Values of positions under some rules; in a game without secrets each is worked out once."""

    def __init__(self, rules: AnyRules, progress: Progress = no_progress) -> None:
        self.rules = rules
        self.oracle = get_oracle(rules, progress)
        self.measure = self.oracle.measure
        """By what decisions are graded: `given away` or `below the mixture`."""
        self._open = isinstance(rules, OpenRules)
        self._verdicts: dict[Hashable, Verdict[Any]] = {}
        self._outcomes: dict[Hashable, list[float]] = {}
        quick = rules.game.find("luck", "quick_worth")
        self._worth: Callable[[Any], float] = quick(self.oracle) if quick else self._exact_worth

    def _exact_worth(self, state: Any) -> float:
        return self.oracle.value(self.rules.sight(state, Seat.ONE)).number

    def opening(self) -> tuple[float, Exactness]:
        """What the game is worth to Player 1, and how sure that is."""
        match = Match.start(self.rules)
        value = self.oracle.full_information_value(match.sight(Seat.ONE), match.sight(Seat.TWO))
        return value.number, value.exactness

    def verdict(self, match: AnyMatch, sight: AnySight) -> Verdict[Any]:
        """The decision that `match` stands at, judged from what its seat knows."""
        if not self._open:
            return self.oracle.judge(sight)
        found = self._verdicts.get(match.state)
        if found is None:
            found = self.oracle.judge(sight)  # the same sight that a level was asked with: judged once
            _keep(self._verdicts, match.state, found)
        return found

    def grade(self, match: AnyMatch, sight: AnySight, action: Any) -> tuple[float, tuple[Any, ...], str]:
        """How far an action fell short, by the judge's measure; what was best; what sort of action it was."""
        verdict = self.verdict(match, sight)
        short = self.oracle.shortfalls(verdict)[sight.actions.index(action)]
        return short, verdict.best, self.oracle.mistake_category(sight, action)

    def worths(self, match: AnyMatch) -> list[float]:
        """What each chance outcome is worth to Player 1; all alike where nothing is known.

        In a game with secrets this sees both sides, as `worths_of_actions` does: it measures, and advises
        nobody.
        """
        if not self._open:
            return self._after_each(match)
        found = self._outcomes.get(match.state)
        if found is None:
            states = [self.rules.apply(match.state, outcome).state for outcome in match.actions]
            found = [self._worth(state) for state in states]
            _keep(self._outcomes, match.state, found)
        return found

    def worths_of_actions(self, match: AnyMatch, sight: AnySight) -> list[float]:
        """What each action is worth to Player 1, where `sight` is that of the seat to decide."""
        if self._open:
            mine = [judged.value.number for judged in self.verdict(match, sight).actions]
        else:
            others = match.sight(sight.seat.other)
            mine = [
                self.oracle.full_information_action_value(sight, others, action) for action in sight.actions
            ]
        return mine if sight.seat is Seat.ONE else [1 - worth for worth in mine]

    def _after_each(self, match: AnyMatch) -> list[float]:
        """Player 1's value after each outcome of chance, given the secrets of both."""
        found = []
        for action in match.actions:
            after = match.play(CHANCE, action)
            if after.outcome:
                found.append(float(after.outcome.score(Seat.ONE)))
            else:
                value = self.oracle.full_information_value(after.sight(Seat.ONE), after.sight(Seat.TWO))
                found.append(value.number)
        return found


def _keep(kept: dict[Hashable, Any], key: Hashable, value: Any) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = value


class Luck:
    """The luck of a match so far, as control variates: each term is 0 on average whatever the values are.

    A term is what came, less the mean of what might have come by known odds: exact ones where chance acts,
    and those of a player that tells its policy (AIVAT: Burch, Schmid, Moravčík and Bowling, 2018). We stop
    adding terms before the next one could take the sum beyond MOST_CORRECTED. That is decided before the
    draw, so the mean stays 0, and an adjusted result is never outside [-MOST_CORRECTED, 1 + MOST_CORRECTED].
    """

    def __init__(self) -> None:
        self.total = 0.0
        """What luck gave Player 1."""
        self._stopped = False

    def add(self, worths: Sequence[float], odds: Sequence[float], drawn: int) -> None:
        """One draw among actions or outcomes of these worths to Player 1, with these odds."""
        if self._stopped:
            return
        mean = sum(chance * worth for chance, worth in zip(odds, worths, strict=True))
        terms = [worth - mean for chance, worth in zip(odds, worths, strict=True) if chance]
        if max(self.total + max(terms), -(self.total + min(terms))) > MOST_CORRECTED:
            self._stopped = True
            return
        self.total += worths[drawn] - mean


@dataclass(frozen=True)
class MatchPlan:
    """A match to be played: by its content, so that the same match is never played twice."""

    game: str
    options: tuple[tuple[str, OptionValue], ...]
    players: tuple[str, str]
    """Player 1's and Player 2's names."""
    seed: str
    pair: int
    """Both matches of a pair have the same seed, with the seats exchanged."""

    @cached_property
    def key(self) -> str:
        """A hash of what is played."""
        # Not as JSON, which would take twice as long: there is one for every match.
        told = (VERSION, self.game, self.options, self.players, self.seed, self.pair)
        return sha256(repr(told).encode()).hexdigest()[:32]

    def rules(self) -> AnyRules:
        """The rules that are played by."""
        return _rules(self.game, self.options)


@lru_cache
def _rules(game: str, options: tuple[tuple[str, OptionValue], ...]) -> AnyRules:
    return find_game(game).rules(**dict(options))


def play(bout: MatchPlan, judge: Judge) -> DecisionDialogue[dict[str, Any]]:
    """Play a match and grade it as it goes; the row of it."""
    told = MatchStats()
    match: AnyMatch = Match.start(judge.rules)
    dice = Dice(bout.seed)
    while match.actor is not None:
        entry = yield from ask_for_entry(match, dice)
        told.entered(judge, match, entry)
        match = entry.play(match)
    return _row(bout, judge, match, told)


class MatchStats:
    """The grades, failures and luck of a match so far."""

    def __init__(self) -> None:
        self.luck = Luck()
        self.shortfalls = dict.fromkeys(Seat, 0.0)
        self.decisions = dict.fromkeys(Seat, 0)
        self.forfeited = dict.fromkeys(Seat, 0.0)
        self.failures: list[list[Any]] = []
        self.blunders: list[dict[str, Any]] = []
        self.manners: dict[Seat, dict[str, list[float]]] = {
            seat: defaultdict(lambda: [0, 0.0]) for seat in Seat
        }

    def entered(self, judge: Judge, match: AnyMatch, entry: NextEntry) -> None:
        """Note the entry that is about to be played."""
        seat, answer = entry.actor, entry.answer
        if not isinstance(seat, Seat):
            odds = [float(chance) for chance in judge.rules.odds(match.state)]
            self.luck.add(judge.worths(match), odds, match.actions.index(entry.action))
            return
        number = len(match.turns) + 1
        self.failures += [[seat.value, number, each.failure.value, each.detail] for each in answer.failed]
        sight = match.sight(seat)
        if isinstance(answer, NoMove):
            self.forfeited[seat] = judge.verdict(match, sight).value.number
        else:
            self._decided(judge, match, sight, answer)

    def _decided(self, judge: Judge, match: AnyMatch, sight: AnySight, answer: Answer) -> None:
        if len(sight.actions) > 1:  # where there is no choice there is nothing to grade
            self._grade(judge, match, sight, answer.action)
        if answer.policy:
            odds = [answer.policy.get(action, 0.0) for action in sight.actions]
            if max(odds) < 1:
                worths = judge.worths_of_actions(match, sight)
                self.luck.add(worths, odds, sight.actions.index(answer.action))

    def _grade(self, judge: Judge, match: AnyMatch, sight: AnySight, action: Any) -> None:
        seat, (shortfall, best, sort) = sight.seat, judge.grade(match, sight, action)
        self.shortfalls[seat] += shortfall
        self.decisions[seat] += 1
        manner = self.manners[seat][sort]
        manner[0] += 1
        manner[1] += shortfall
        if shortfall > _NOTHING and action not in best:
            named = [judge.rules.format(each) for each in best[:MOST_BLUNDERS]]
            blunder: dict[str, Any] = {"seat": seat.value, "entry": len(match.turns) + 1}
            blunder |= {"shortfall": shortfall, "best": named}
            worst = sorted([*self.blunders, blunder], key=lambda each: -each["shortfall"])
            self.blunders = worst[:MOST_BLUNDERS]


def _row(bout: MatchPlan, judge: Judge, match: AnyMatch, told: MatchStats) -> dict[str, Any]:
    assert match.outcome
    score = float(match.outcome.score(Seat.ONE))
    return {
        "v": VERSION,
        "key": bout.key,
        "game": bout.game,
        "options": dict(bout.options),
        "players": list(bout.players),
        "pair": bout.pair,
        "seed": bout.seed,
        "entries": [format_entry(judge.rules, turn) for turn in match.turns],
        "result": match.outcome.code,
        "ending": match.outcome.ending.value,
        "score": score,
        "adjusted": score - told.luck.total,
        "shortfalls": [told.shortfalls[seat] for seat in Seat],
        "decisions": [told.decisions[seat] for seat in Seat],
        "forfeited": [told.forfeited[seat] for seat in Seat],
        "failures": told.failures,
        "blunders": told.blunders,
        "manners": [dict(told.manners[seat]) for seat in Seat],
    }


def play_with(bout: MatchPlan, judge: Judge, players: Mapping[Seat, Player]) -> dict[str, Any]:
    """Play a match with these players; the row of it. A policy is asked of those that tell one."""
    for player in players.values():
        if isinstance(player, ProgramPlayer):
            player.new_match(bout.key)
    return run_dialogue(
        play(bout, judge), lambda question: ask_player(players[question.seat], question, by_policy=True)
    )
