"""Statistics of a person's matches: results, losses over time, and the most frequent mistakes.

If the strategy mixes, hardly any choice is a loss; comparing choices with the mixture's average says more.

A match counts if it is over and exactly one seat was a person's. Grading needs a review, so grades are
cached.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from duels.analysis.review import ReviewedEntry, review
from duels.analysis.wording import MISTAKE_NAMES, ONLY_MOVE
from duels.core.errors import DuelsError
from duels.core.match import AnyMatch
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.files import write_atomically
from duels.paths import cache_dir
from duels.solving.oracle import Oracle, Progress, no_progress
from duels.solving.oracles import get_oracle

GRADES_VERSION = 3
"""The version of the grades; increase it to invalidate the cache."""
MAX_STAGES = 8
"""The maximum number of stages into which the matches of a game are divided."""


@dataclass(frozen=True)
class Decision:
    """A decision of the person: its loss, its mark, and the kind of mistake."""

    loss: float
    mark: str
    kind: str = ""
    below_mixture: float | None = None
    """How much worse the decision is than the mixture's average; None if the strategy does not mix."""


@dataclass(frozen=True)
class PlayedMatch:
    """A finished match from the person's side."""

    game: str
    opponent: str
    score: float
    """1 won, 0 lost, a half if nobody won."""
    started: datetime
    decisions: tuple[Decision, ...] = ()
    """Empty if the match cannot be graded."""

    @property
    def loss(self) -> float:
        """The sum of the person's losses."""
        return sum(decision.loss for decision in self.decisions)

    @property
    def below_mixture(self) -> list[float]:
        """How much worse each decision is than the mixture's average; empty if the strategy does not mix."""
        return [each.below_mixture for each in self.decisions if each.below_mixture is not None]


@dataclass
class ResultTally:
    """Results in one game against one opponent. A streak of losses is negative."""

    game: str
    opponent: str
    won: int = 0
    lost: int = 0
    nobody: int = 0
    streak: int = 0
    longest: int = 0
    """The longest streak of wins."""

    def add(self, score: float) -> None:
        """Count the next match."""
        if score == 1:
            self.won += 1
            self.streak = max(self.streak, 0) + 1
        elif score == 0:
            self.lost += 1
            self.streak = min(self.streak, 0) - 1
        else:
            self.nobody += 1
            self.streak = 0
        self.longest = max(self.longest, self.streak)


@dataclass(frozen=True)
class Stage:
    """Averages per decision over consecutive matches."""

    matches: int
    decisions: int
    loss: float
    below_mixture: float | None = None
    """How much worse the decisions are than the mixture's average; None if the strategy does not mix."""


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake, its frequency and its total loss."""

    game: str
    kind: str
    times: int
    loss: float


@dataclass(frozen=True)
class Statistics:
    """Statistics of one person's finished matches."""

    matches: int
    tallies: tuple[ResultTally, ...]
    """By game and opponent."""
    stages: dict[str, tuple[Stage, ...]]
    """By game, the oldest matches first."""
    mistakes: tuple[Mistake, ...]
    """The most frequent kind first."""


def compute_statistics(matches: Iterable[PlayedMatch]) -> Statistics:
    """Compute the statistics of matches in any order."""
    played = sorted(matches, key=lambda match: match.started)
    tallies: dict[tuple[str, str], ResultTally] = {}
    for match in played:
        key = match.game, match.opponent
        tallies.setdefault(key, ResultTally(*key)).add(match.score)
    games = dict.fromkeys(match.game for match in played)
    stages = {game: _compute_stages([match for match in played if match.game == game]) for game in games}
    return Statistics(
        len(played),
        tuple(tallies[key] for key in sorted(tallies)),
        {game: averages for game, averages in stages.items() if averages},
        _list_mistakes(played),
    )


def _compute_stages(played: Sequence[PlayedMatch]) -> tuple[Stage, ...]:
    graded = [match for match in played if match.decisions]
    count = min(MAX_STAGES, len(graded))
    cuts = [round(number * len(graded) / count) for number in range(count + 1)] if count else []
    stages = []
    for start, end in pairwise(cuts):
        part = graded[start:end]
        decisions = sum(len(match.decisions) for match in part)
        shortfalls = [amount for match in part for amount in match.below_mixture]
        stages.append(
            Stage(
                len(part),
                decisions,
                sum(match.loss for match in part) / decisions,
                sum(shortfalls) / len(shortfalls) if shortfalls else None,
            )
        )
    return tuple(stages)


def _list_mistakes(played: Sequence[PlayedMatch]) -> tuple[Mistake, ...]:
    losses: dict[tuple[str, str], list[float]] = {}
    for match in played:
        for decision in match.decisions:
            if decision.mark in MISTAKE_NAMES:
                losses.setdefault((match.game, decision.kind), []).append(decision.loss)
    mistakes = [Mistake(game, kind, len(each), sum(each)) for (game, kind), each in losses.items()]
    return tuple(sorted(mistakes, key=lambda mistake: (-mistake.times, -mistake.loss, mistake.kind)))


# -- grading -----------------------------------------------------------------------------------------


def get_decisions(match: AnyMatch, seat: Seat, progress: Progress = no_progress) -> tuple[Decision, ...]:
    """Return a seat's graded decisions in a finished match; empty if the game is too large."""
    record = dump_record(match)
    path = cache_dir() / "grades" / f"{sha256(f'{GRADES_VERSION} {seat} {record}'.encode()).hexdigest()}.json"
    decisions = _load_cached(path)
    if decisions is None:
        try:
            decisions = grade_decisions(match, seat, get_oracle(match.rules, progress))
        except DuelsError:
            return ()
        _save_cached(path, decisions)
    return decisions


def grade_decisions(match: AnyMatch, seat: Seat, oracle: Oracle[Any, Any]) -> tuple[Decision, ...]:
    """Grade the decisions of one seat, without forced moves and early ends."""
    return tuple(
        Decision(
            entry.loss,
            entry.mark,
            _classify_mistake(entry, oracle) if entry.mark in MISTAKE_NAMES else "",
            entry.below_mixture if oracle.mixes else None,
        )
        for entry in review(match, oracle).entries
        if entry.actor is seat and entry.mark != ONLY_MOVE and not entry.is_early_end
    )


def _classify_mistake(entry: ReviewedEntry, oracle: Oracle[Any, Any]) -> str:
    assert entry.match.previous
    assert isinstance(entry.actor, Seat)
    sight = entry.match.previous.sight(entry.actor)
    best = [judged for judged in oracle.judge(sight).actions if judged.best]
    category = oracle.mistake_category(sight, entry.turn.action)
    if not category:
        return entry.mark
    if category in (oracle.mistake_category(sight, judged.action) for judged in best):
        return f"{category}, the wrong one"
    most_frequent = max(best, key=lambda judged: judged.weight)
    return f"{category} instead of {oracle.mistake_category(sight, most_frequent.action)}"


def _load_cached(path: Path) -> tuple[Decision, ...] | None:
    with suppress(OSError, ValueError, TypeError):
        return tuple(Decision(**fields) for fields in json.loads(path.read_text(encoding="utf-8")))
    return None


def _save_cached(path: Path, decisions: Sequence[Decision]) -> None:
    with suppress(OSError):  # the cache is optional
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(
            path, json.dumps([asdict(decision) for decision in decisions]).encode(), overwrite=True
        )
