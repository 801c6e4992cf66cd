"""One match of a run: who plays what, and all that is kept of how it went."""

from collections import defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from random import Random
from typing import Any

from duels.arena.rows import VERSION
from duels.arena.values import AnyMatch, Judge, Luck
from duels.core.match import Match
from duels.core.options import OptionValue
from duels.core.record import format_entry
from duels.core.rules import CHANCE, OpenRules, Rules, Seat, Sight
from duels.games import find_game
from duels.play.dice import Dice
from duels.players import Player
from duels.players.failures import Answer, Failed, NoMove

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

    def rules(self) -> Rules[Any, Any, Any]:
        """The rules that are played by."""
        return _rules(self.game, self.options)


@lru_cache
def _rules(game: str, options: tuple[tuple[str, OptionValue], ...]) -> Rules[Any, Any, Any]:
    return find_game(game).rules(**dict(options))


@dataclass(frozen=True)
class Question:
    """A decision that a player is to make."""

    seat: Seat
    sight: Sight[Any, Any]
    rng: Random


Playing = Generator[Question, Answer | NoMove, dict[str, Any]]
"""Asks question after question, is sent the answers, and returns the row of the match."""


def play(bout: Bout, judge: Judge) -> Playing:
    """Play a match and grade it as it goes; whoever drives this asks the players."""
    told = _Told()
    match: AnyMatch = Match.start(judge.rules)
    dice = Dice(bout.seed)
    while (actor := match.actor) is not None:
        if actor is CHANCE:
            outcome = dice.chance(match)
            odds = [float(chance) for chance in judge.rules.odds(match.state)]
            told.luck.add(judge.worths(match), odds, match.actions.index(outcome))
            match = match.play(CHANCE, outcome)
            continue
        seat = Seat(actor)
        sight = match.sight(seat)
        answer = yield Question(seat, sight, dice.at(match, seat.label))
        told.failed(seat, len(match.turns), answer.failed)
        if isinstance(answer, NoMove):
            told.forfeited[seat] = judge.verdict(match, sight).value.number
            match = match.forfeit(seat)
        else:
            told.decided(judge, match, sight, answer)
            match = match.play(seat, answer.action)
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

    def failed(self, seat: Seat, entry: int, failed: tuple[Failed, ...]) -> None:
        self.failures += [[seat.value, entry + 1, each.failure.value, each.detail] for each in failed]

    def decided(self, judge: Judge, match: AnyMatch, sight: Sight[Any, Any], answer: Answer) -> None:
        if len(sight.actions) > 1:  # where there is no choice there is nothing to grade
            self._grade(judge, match, sight, answer.action)
        if answer.policy:
            odds = [answer.policy.get(action, 0.0) for action in sight.actions]
            if max(odds) < 1:
                worths = judge.worths_of_actions(match, sight)
                self.luck.add(worths, odds, sight.actions.index(answer.action))

    def _grade(self, judge: Judge, match: AnyMatch, sight: Sight[Any, Any], action: Any) -> None:
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


class Asked:
    """Asks a player of any kind; where it tells its odds, we draw, so that they are known."""

    def __init__(self, player: Player, rules: Rules[Any, Any, Any]) -> None:
        self._player = player
        self._odds = getattr(player, "odds", None)
        self._decide = getattr(player, "decide", None)
        self._remembers = isinstance(rules, OpenRules)  # then what a built-in player does hangs on the state
        self._known: dict[Any, dict[Any, float]] = {}

    def answer(self, question: Question) -> Answer | NoMove:
        """The player's decision, or that there was none."""
        sight, rng = question.sight, question.rng
        if self._odds:
            odds = self._policy(sight)
            (action,) = rng.choices(list(odds), weights=list(odds.values()))
            return Answer(action, odds)
        try:
            if self._decide:
                decided: Answer = self._decide(sight, rng)
                return decided
            return Answer(self._player.choose(sight, rng))
        except NoMove as none:
            return none

    def _policy(self, sight: Sight[Any, Any]) -> dict[Any, float]:
        assert self._odds
        if not self._remembers:
            told: dict[Any, float] = self._odds(sight)
            return told
        found = self._known.get(sight.view)
        if found is None:
            found = self._odds(sight)
            if len(self._known) > 100_000:
                self._known.clear()
            self._known[sight.view] = found
        return found

    def new_match(self, name: str) -> None:
        """Tell a program that a new match begins."""
        tell = getattr(self._player, "new_match", None)
        if tell:
            tell(name)

    def close(self) -> None:
        """Let the player go."""
        close = getattr(self._player, "close", None)
        if close:
            close()


def play_with(bout: Bout, judge: Judge, players: Mapping[Seat, Asked]) -> dict[str, Any]:
    """Play a match with these players; the row of it."""
    for player in players.values():
        player.new_match(bout.key)
    playing = play(bout, judge)
    try:
        question = next(playing)
        while True:
            question = playing.send(players[question.seat].answer(question))
    except StopIteration as done:
        row: dict[str, Any] = done.value
        return row
