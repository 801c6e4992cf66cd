"""What decisions and chance were worth in a match, for grading players and for taking luck out.

Values are those of the game's oracle, fixed before the match. They need not be exact for what follows to be
unbiased: see `docs/arena.md`.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from duels.core.match import AnyMatch, Match
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.solving.oracle import Exactness, Verdict
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet
from duels.solving.protocols import SeesBothSides, ValuesHistories, explainer_of, value_seeing_all

MOST_KEPT = 100_000
"""Positions whose verdicts are kept, in a game without secrets."""
MOST_CORRECTED = 1.0
"""The most that luck may change an adjusted result by, so that it has bounds that are known beforehand."""


@dataclass(frozen=True)
class Graded:
    """A decision as the oracle sees it."""

    shortfall: float
    """What it gave away, or how far it lies below the mixture: by the judge's measure."""
    best: tuple[Any, ...]
    manner: str
    """What sort of action it was; may be empty."""


class Judge:
    """Values of positions under some rules; in a game without secrets each is worked out once."""

    def __init__(self, rules: AnyRules, progress: Progress = quiet) -> None:
        self.rules = rules
        self.oracle = oracle_for(rules, progress)
        self.measure = self.oracle.measure
        """By what decisions are graded: `given away` or `below the mixture`."""
        self._explainer = explainer_of(self.oracle)
        self._open = isinstance(rules, OpenRules)
        self._sees_both = self.oracle if isinstance(self.oracle, SeesBothSides) else None
        self._verdicts: dict[Hashable, Verdict[Any]] = {}
        self._outcomes: dict[Hashable, list[float]] = {}
        quick = rules.game.find("luck", "quick_worth")
        self._worth: Callable[[Any], float] = quick(self.oracle) if quick else self._exact_worth

    def _exact_worth(self, state: Any) -> float:
        return self.oracle.value(self.rules.sight(state, Seat.ONE)).number

    def opening(self) -> tuple[float, Exactness]:
        """What the game is worth to Player 1, and how sure that is."""
        match = Match.start(self.rules)
        value = value_seeing_all(self.oracle, match.sight(Seat.ONE), match.sight(Seat.TWO))
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

    def grade(self, match: AnyMatch, sight: AnySight, action: Any) -> Graded:
        """How far an action fell short, and what was best."""
        verdict = self.verdict(match, sight)
        manner = self._explainer.manner(sight, action)
        short = self.oracle.shortfalls(verdict)[sight.actions.index(action)]
        return Graded(short, verdict.best, manner)

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
        elif self._sees_both:
            others = match.sight(sight.seat.other)
            mine = [self._sees_both.worth_seeing_all(sight, others, action) for action in sight.actions]
        else:
            return self._after_each(match)
        return mine if sight.seat is Seat.ONE else [1 - worth for worth in mine]

    def _after_each(self, match: AnyMatch) -> list[float]:
        """Player 1's value after each continuation, where the oracle values what was played."""
        actor, oracle = match.actor, self.oracle
        if not isinstance(oracle, ValuesHistories) or actor is None:
            return [0.5] * len(match.actions)
        found = []
        for action in match.actions:
            after = match.play(actor, action)
            if after.outcome:
                found.append(float(after.outcome.score(Seat.ONE)))
            else:
                value = oracle.value_seeing_all(after.sight(Seat.ONE), after.sight(Seat.TWO))
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
