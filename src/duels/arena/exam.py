"""Exams: graded positions drawn from good play, with weights that make averages unbiased.

An exam is a static file for any harness. Its card says how it was drawn.
"""

import json
import shlex
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from math import fsum, sqrt
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from duels.analysis.exercises import play_judged_match
from duels.arena.folder import encode_parquet
from duels.arena.mistakes import measure_key
from duels.arena.tables import Table
from duels.core.errors import DuelsError
from duels.core.information_sets import format_history
from duels.core.options import Option, options_data
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.words import strip_ink
from duels.files import write_atomically
from duels.players.levels import LEVEL_SHARES as LEVELS
from duels.players.levels import mix_actions
from duels.solving.oracle import BELOW_THE_MIXTURE, Verdict
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

VERSION = 1
"""The format version. The same version, game, options, number and seed give the same file."""
STRATA = (0.0, 0.01, 0.05, 0.2, 1.0)
"""Bounds of the strata, by the shortfall of a position's worst action."""
ERROR_SHARE = 0.1
"""Players of the source matches give away this share of the loss of random play, as an expert does."""
POOL_FACTOR = 10
"""Decisions in the pool for each drawn position."""
K = TypeVar("K", bound=Hashable)
_LONGEST = 399  # entries of a source match


Policy = Callable[[Verdict[Any]], Sequence[float]]
"""Maps a decision to the probabilities of its actions."""


@dataclass(frozen=True)
class SamplingShare:
    """How a position was sampled, and its weight."""

    group: int
    """The number of the stratum; 0 for all strata together if few positions are drawn."""
    chance: float
    weight: float
    """The share of all decisions that it represents. The weights of a sample sum to 1."""


@dataclass(frozen=True)
class ExamPosition:
    """A drawn decision with its verdict and its weight."""

    sight: AnySight
    verdict: Verdict[Any]
    shortfalls: tuple[float, ...]
    """The shortfall of each action, by the measure of the game."""
    stratum: int
    share: SamplingShare

    @property
    def notation(self) -> str:
        """The position in one line."""
        return self.sight.rules.format_position(self.sight)


@dataclass(frozen=True)
class DecisionPool:
    """Decisions of good play, by seat and position."""

    counts: Counter[tuple[Seat, str]]
    verdicts: dict[tuple[Seat, str], tuple[AnySight, Verdict[Any], tuple[float, ...]]]
    strata: dict[tuple[Seat, str], int]

    @classmethod
    def collect(
        cls, rules: AnyRules, size: int, rng: Random, progress: Progress = no_progress
    ) -> "DecisionPool":
        """Play matches until there are `size` decisions."""
        pool, oracle = cls(Counter(), {}, {}), get_oracle(rules)
        for number, (sight, verdict) in enumerate(islice(_iter_decisions(rules, rng), size)):
            progress(f"{number} of {size} decisions")
            key = sight.seat, rules.format_position(sight)
            pool.counts[key] += 1
            if key not in pool.verdicts:
                short = oracle.shortfalls(verdict)
                pool.verdicts[key] = sight, verdict, short
                pool.strata[key] = bisect_left(STRATA[1:-1], max(short))
        return pool

    def draw(self, count: int, rng: Random) -> list[ExamPosition]:
        """Draw positions in random order, as evenly from the strata as possible."""
        shares = draw_weighted(self.counts, self.strata, count, rng)
        positions = [
            ExamPosition(*self.verdicts[key], self.strata[key], share) for key, share in shares.items()
        ]
        rng.shuffle(positions)
        return positions


def draw_positions(
    rules: AnyRules, count: int, seed: str, progress: Progress = no_progress
) -> list[ExamPosition]:
    """Draw positions from good play.

    In each stratum the probability of a position is proportional to its count in the pool. Its weight is
    its count divided by this probability (Horvitz and Thompson), so a weighted sum over the sample estimates
    the mean over the pool without bias. The weights of every sample sum to 1.
    """
    rng = Random(f"exam {seed} {rules!r}")
    return DecisionPool.collect(rules, count * POOL_FACTOR, rng, progress).draw(count, rng)


def estimate_score(positions: Sequence[ExamPosition], policy: Policy) -> tuple[float, float | None]:
    """Return a policy's mean shortfall and its standard error.

    The error includes the sampling of positions, by Hájek's approximation for draws without replacement with
    unequal probabilities, and one answer per position drawn from the policy. It is None if a group has only
    one position that was drawn with a probability below 1.
    """
    total = variance = 0.0
    by_chance: dict[int, list[tuple[float, float]]] = {}
    for each in positions:
        odds = policy(each.verdict)
        mean = _weighted_mean(odds, each.shortfalls)
        spread = _weighted_mean(odds, [(short - mean) ** 2 for short in each.shortfalls])
        weight = each.share.weight
        total += weight * mean
        variance += weight**2 * spread
        if each.share.chance < 1:
            by_chance.setdefault(each.share.group, []).append((1 - each.share.chance, weight * mean))
    for parts in by_chance.values():
        if len(parts) == 1:
            return total, None
        middle = fsum(left * part for left, part in parts) / fsum(left for left, _ in parts)
        off = fsum(left * (part - middle) ** 2 for left, part in parts)
        variance += len(parts) / (len(parts) - 1) * off
    return total, sqrt(variance)


def _weighted_mean(odds: Sequence[float], numbers: Sequence[float]) -> float:
    return sum(chance * number for chance, number in zip(odds, numbers, strict=True))


def draw_weighted(
    counts: Counter[K], strata: Mapping[K, int], count: int, rng: Random
) -> dict[K, SamplingShare]:
    """Draw keys by their counts, as evenly from the strata as possible."""
    groups: list[list[K]] = [[] for _ in STRATA[1:]]
    for key in counts:
        groups[strata[key]].append(key)
    if count < sum(map(bool, groups)):  # else a stratum would not be represented
        groups = [list(counts)]
    shares = {}
    for group, size in enumerate(_allocate([len(each) for each in groups], count)):
        chances = _draw_in_proportion({key: counts[key] for key in groups[group]}, size, rng)
        for key, chance in chances.items():
            shares[key] = SamplingShare(group, chance, counts[key] / chance / counts.total())
    return shares


def _draw_in_proportion(counts: dict[K, int], size: int, rng: Random) -> dict[K, float]:
    """Draw keys in proportion to their counts, and return the probability of each.

    Keys that would be drawn more than once are always included. The others are drawn by systematic sampling
    in random order.
    """
    chances: dict[K, float] = {}
    rest = dict(counts)
    while certain := [key for key, times in rest.items() if times * size >= sum(rest.values())]:
        for key in certain:
            del rest[key]
            chances[key] = 1.0
        size -= len(certain)
    order, total, passed, target = list(rest), sum(rest.values()), 0, rng.random()
    rng.shuffle(order)
    for key in order:
        passed += rest[key]
        if passed * size > target * total:
            chances[key] = rest[key] * size / total
            target += 1
    return chances


def _iter_decisions(rules: AnyRules, rng: Random) -> Iterator[tuple[AnySight, Verdict[Any]]]:
    """Yield decisions with a choice from matches of good players, without end."""
    oracle = get_oracle(rules)
    while True:
        played = play_judged_match(oracle, ERROR_SHARE, rng, _LONGEST)
        decisions = [(sight, verdict) for sight, verdict in played if len(sight.actions) > 1]
        if not decisions:
            raise DuelsError(f"{rules} has no decision with a choice.")
        yield from decisions


def _allocate(sizes: list[int], count: int) -> list[int]:
    """Divide `count` among strata of these sizes, as evenly as possible."""
    shares = [0] * len(sizes)
    while sum(shares) < count and (places := [i for i, size in enumerate(sizes) if shares[i] < size]):
        for place in places:
            if sum(shares) < count:
                shares[place] += 1
    return shares


def write_exam(
    rules: AnyRules,
    count: int,
    seed: str,
    path: Path,
    progress: Progress = no_progress,
    over: bool = False,
) -> int:
    """Write an exam and its card, and return the number of positions.

    There are fewer positions than `count` if the pool has no more different ones. Raises FileExistsError if a
    file exists and `over` is false, DuelsError for an unknown suffix.
    """
    if path.suffix not in (".jsonl", ".parquet"):
        raise DuelsError(f"An exam must be a .jsonl or .parquet file, not '{path.suffix}'.")
    positions = draw_positions(rules, count, seed, progress)
    rows = make_exam_rows(rules, positions)
    if path.suffix == ".jsonl":
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    else:
        content = encode_parquet({**row, "options": json.dumps(row["options"])} for row in rows)
    write_atomically(path, content, over)
    write_atomically(get_card_path(path), render_card(rules, count, positions, seed).encode(), over)
    return len(rows)


def get_card_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.card.md")


def explain_shortage(requested: int, count: int) -> str:
    """Explain why an exam has fewer positions than requested; empty if it has all."""
    if count == requested:
        return ""
    most = f"had no more than {count} different ones among them"
    return (
        f"{requested} positions were asked for, but {requested * POOL_FACTOR} decisions of good play {most}."
    )


def make_exam_rows(rules: AnyRules, positions: Sequence[ExamPosition]) -> list[dict[str, Any]]:
    """Return the rows of an exam, each with every legal action graded."""
    return [_make_row(rules, number, position) for number, position in enumerate(positions)]


def _make_row(rules: AnyRules, number: int, position: ExamPosition) -> dict[str, Any]:
    sight, verdict = position.sight, position.verdict
    key = measure_key(get_oracle(rules).measure)
    return {
        "version": VERSION,
        "number": number,
        "game": rules.name,
        "options": options_data(rules.options()),
        "seat": sight.seat.value,
        "position": position.notation,
        "history": format_history(sight),
        "board": strip_ink(str(rules.game.words(rules).board(sight))),
        "value": verdict.value.number,
        "exactness": verdict.value.exactness.value,
        "error": verdict.value.error,
        "actions": [
            {
                "action": rules.format(judged.action),
                "value": judged.value.number,
                key: short,
                "best": judged.best,
                "weight": judged.weight,
            }
            for judged, short in zip(verdict.actions, position.shortfalls, strict=True)
        ],
        "stratum": position.stratum,
        "group": position.share.group,
        "chance": position.share.chance,
        "weight": position.share.weight,
    }


def render_card(rules: AnyRules, requested: int, positions: Sequence[ExamPosition], seed: str) -> str:
    """Render the card of an exam: its contents, how it was drawn, and the precision of scores."""
    measure = get_oracle(rules).measure
    key = measure_key(measure)
    graded = "what it gives away"
    after, player = "if both sides play perfectly", "perfect play"
    perfect = "0 is perfect"
    if measure == BELOW_THE_MIXTURE:
        graded = "how far it lies below the mixture of the strategy, negative above it"
        after, player = "as the strategy estimates it", "the strategy"
        perfect = "0 is what the strategy gets, by its own estimates"
    factor = POOL_FACTOR
    bounds = [f"{100 * low:g} to {100 * high:g}" for low, high in pairwise(STRATA)]
    options = ", ".join(f"{name} {value}" for name, value in rules.options().items()) or "as in the book"
    words = ["duels", "exam", rules.name]
    for name, value in rules.options().items():
        words += ["--option", f"{name}={Option.format(value)}"]
    command = shlex.join([*words, "--positions", str(requested), "--seed", seed, "--out", "exam.jsonl"])
    shortage = explain_shortage(requested, len(positions))
    how_many = "\n".join(filter(None, [f"`{command}` draws the same ones.", shortage]))
    return f"""# Exam: {rules.game.title} ({rules.name})

{len(positions)} positions, options {options}, seed {seed}, version {VERSION} of the format.
{how_many}

How it was drawn: matches in which both sides give away {ERROR_SHARE:.0%} of what random play would; {factor}
decisions met for each position drawn; forced moves left out. There are {len(bounds)} strata, drawn from as
evenly as they allow, by how far the worst action falls short (its `{key}`), in points of a hundred:
{", ".join(bounds)}. Within a stratum a position is drawn with a chance in proportion to how often it was met.
`weight` is the share of all decisions met that a position stands for; the weights sum to 1. The mean of
anything over all decisions met is estimated without bias by the sum of weight times it.

Each position has every legal action with its `value` (the probability to win {after}
afterwards, a draw counts one half), {graded} (`{key}`), whether it is `best`, and how
often {player} takes it (`weight`). `exactness` says how sure that is: `exact`; `bound`, within `error`;
or `estimate`.
A player's score is the sum of a position's weight times the `{key}` of what it answers: {perfect}.

How precise a score is: `chance` is how likely a position was to be drawn, 1 if it was taken for certain, and
`group` what it was drawn from: its stratum, or all strata together where there are fewer positions than
strata. In each group take the n positions with a chance below 1, and x, weight times the `{key}` of what was
answered. Let m be the mean of x, each counting 1 - chance; add up (1 - chance) (x - m)², and multiply by
n / (n - 1). The sum over all groups is the variance of a score, as an estimate of the mean over all decisions
met (Hájek's approximation); the standard error is its square root. It is 0 where every position was taken for
certain, and not known (–) where a group has n = 1. A player that draws its answers adds, for each position,
chance times the square of its weight times the variance of its `{key}`. For some of our players, each
position answered once, this comes to, in points of a hundred:

{_render_scores(positions)}"""


def _render_scores(positions: Sequence[ExamPosition]) -> str:
    players: dict[str, Policy] = {"random": lambda verdict: [1 / len(verdict.actions)] * len(verdict.actions)}
    players |= {name: partial(mix_actions, share=share) for name, share in LEVELS.items()}
    rows = []
    for name, policy in players.items():
        score, error = estimate_score(positions, policy)
        rows.append([name, f"{100 * score:z.2f}", "–" if error is None else f"{100 * error:.2f}"])
    return Table("", ["player", "score", "standard error"], rows).render_markdown()
