"""One match of a run: who plays what, and all that is kept of how it went."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

from duels.arena.logs import VERSION
from duels.arena.values import Judge, Luck
from duels.core.match import AnyMatch, Match
from duels.core.options import OptionValue
from duels.core.record import format_entry
from duels.core.rules import AnyRules, AnySight, Seat
from duels.games import find_game
from duels.play.dice import Dice
from duels.play.step import Asking, NextEntry, answer_questions, ask_for_entry, ask_player
from duels.players import Player
from duels.players.failures import Answer, NoMove
from duels.players.program import ProgramPlayer

MOST_BLUNDERS = 3  # that are kept of a match
_NOTHING = 1e-9


@dataclass(frozen=True)
class Bout:
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


def play(bout: Bout, judge: Judge) -> Asking[dict[str, Any]]:
    """Play a match and grade it as it goes; the row of it."""
    told = _Told()
    match: AnyMatch = Match.start(judge.rules)
    dice = Dice(bout.seed)
    while match.actor is not None:
        entry = yield from ask_for_entry(match, dice)
        told.entered(judge, match, entry)
        match = entry.play(match)
    return _row(bout, judge, match, told)


class _Told:
    """What is noted while a match is played."""

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
        seat, graded = sight.seat, judge.grade(match, sight, action)
        self.shortfalls[seat] += graded.shortfall
        self.decisions[seat] += 1
        manner = self.manners[seat][graded.manner]
        manner[0] += 1
        manner[1] += graded.shortfall
        if graded.shortfall > _NOTHING and action not in graded.best:
            blunder: dict[str, Any] = {"seat": seat.value, "entry": len(match.turns) + 1}
            blunder["shortfall"] = graded.shortfall
            blunder["best"] = [judge.rules.format(best) for best in graded.best[:MOST_BLUNDERS]]
            worst = sorted([*self.blunders, blunder], key=lambda each: -each["shortfall"])
            self.blunders = worst[:MOST_BLUNDERS]


def _row(bout: Bout, judge: Judge, match: AnyMatch, told: _Told) -> dict[str, Any]:
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


def play_with(bout: Bout, judge: Judge, players: Mapping[Seat, Player]) -> dict[str, Any]:
    """Play a match with these players; the row of it. A policy is asked of those that tell one."""
    for player in players.values():
        if isinstance(player, ProgramPlayer):
            player.new_match(bout.key)
    return answer_questions(
        play(bout, judge), lambda question: ask_player(players[question.seat], question, by_policy=True)
    )
