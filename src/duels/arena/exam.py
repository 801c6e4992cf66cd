"""Exams: graded positions sampled from good play, with weights that make averages unbiased.

An exam is a data file for any test harness. Its card describes how the positions were sampled.
"""

import json
import shlex
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
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
from duels.games import GAMES, find_game
from duels.players.failures import BadAnswer
from duels.players.levels import get_level_shares, mix_actions
from duels.players.prompt import PROMPT_VERSION, make_messages, parse_answer
from duels.solving.oracle import BELOW_THE_MIXTURE, Progress, Verdict, no_progress
from duels.solving.oracles import get_oracle

VERSION = 1
"""The format version. The same version, game, options, seed and number of positions give the same file."""
STRATA = (0.0, 0.01, 0.05, 0.2, 1.0)
"""Bounds of the strata, by the shortfall of a position's worst action."""
ERROR_SHARE = 0.1
"""Players of the source matches lose this share of what random play gives away, like the level `expert`."""
POOL_FACTOR = 10
"""Decisions in the pool per sampled position."""
README = "README.md"
K = TypeVar("K", bound=Hashable)
_MAX_ENTRIES = 399  # per source match


Policy = Callable[[Verdict[Any]], Sequence[float]]
"""Maps the verdict on a decision to the probabilities of its actions."""


@dataclass(frozen=True)
class SamplingShare:
    """The sampling probability of a position, and its weight."""

    group: int
    """The index of the stratum. If there are fewer positions than strata, all positions have 0."""
    chance: float
    weight: float
    """The share of all decisions that the position represents. The weights of a sample sum to 1."""


@dataclass(frozen=True)
class ExamPosition:
    """A sampled decision with its verdict and its weight."""

    sight: AnySight
    verdict: Verdict[Any]
    shortfalls: tuple[float, ...]
    """The shortfall of each action, by the oracle's measure."""
    share: SamplingShare

    @property
    def stratum(self) -> int:
        return find_stratum(self.shortfalls)

    @property
    def notation(self) -> str:
        return self.sight.rules.format_position(self.sight)


def find_stratum(shortfalls: Sequence[float]) -> int:
    """Return the index of the stratum by the largest possible shortfall of a decision."""
    return bisect_left(STRATA[1:-1], max(shortfalls))


@dataclass(frozen=True)
class DecisionPool:
    """Decisions from matches of good play, by seat and position."""

    counts: Counter[tuple[Seat, str]]
    verdicts: dict[tuple[Seat, str], tuple[AnySight, Verdict[Any], tuple[float, ...]]]

    @classmethod
    def collect(
        cls, rules: AnyRules, size: int, rng: Random, progress: Progress = no_progress
    ) -> "DecisionPool":
        """Play matches until the pool has `size` decisions."""
        pool, oracle = cls(Counter(), {}), get_oracle(rules)
        for number, (sight, verdict) in enumerate(islice(_iter_decisions(rules, rng), size)):
            progress(f"{number} of {size} decisions")
            key = sight.seat, rules.format_position(sight)
            pool.counts[key] += 1
            pool.verdicts.setdefault(key, (sight, verdict, oracle.shortfalls(verdict)))
        return pool

    def draw(self, count: int, rng: Random) -> list[ExamPosition]:
        """Sample positions as evenly from the strata as possible. Returns them in random order."""
        strata = {key: find_stratum(shortfalls) for key, (_, _, shortfalls) in self.verdicts.items()}
        shares = draw_weighted(self.counts, strata, count, rng)
        positions = [ExamPosition(*self.verdicts[key], share) for key, share in shares.items()]
        rng.shuffle(positions)
        return positions


def draw_positions(
    rules: AnyRules, count: int, seed: str, progress: Progress = no_progress
) -> list[ExamPosition]:
    """Sample positions from good play.

    In each stratum the probability of a position is proportional to its count in the pool. Its weight is
    its count divided by this probability (Horvitz and Thompson), so a weighted sum over the sample estimates
    the mean over the pool without bias. The weights of every sample sum to 1.
    """
    rng = Random(f"exam {seed} {rules!r}")
    return DecisionPool.collect(rules, count * POOL_FACTOR, rng, progress).draw(count, rng)


def estimate_score(positions: Sequence[ExamPosition], policy: Policy) -> tuple[float, float | None]:
    """Return a policy's mean shortfall and its standard error.

    The error includes the sampling of positions, by Hájek's approximation for draws without replacement with
    unequal probabilities, and one random answer per position. It is None if a group has exactly
    one position whose sampling probability is below 1.
    """
    total = answer_variance = 0.0
    results = []
    for position in positions:
        odds, share = policy(position.verdict), position.share
        mean = _weighted_mean(odds, position.shortfalls)
        variance = _weighted_mean(odds, [(each - mean) ** 2 for each in position.shortfalls])
        total += share.weight * mean
        answer_variance += share.weight**2 * variance
        results.append((share, mean))
    sampling_variance = estimate_sampling_variance(results)
    return total, None if sampling_variance is None else sqrt(answer_variance + sampling_variance)


def estimate_sampling_variance(results: Iterable[tuple[SamplingShare, float]]) -> float | None:
    """Return the part of the variance of a weighted sum that comes from sampling the positions.

    None if a group has exactly one position whose sampling probability is below 1.
    """
    variance = 0.0
    groups: dict[int, list[tuple[float, float]]] = {}  # pairs of 1 - chance and the weighted result
    for share, result in results:
        if share.chance < 1:
            groups.setdefault(share.group, []).append((1 - share.chance, share.weight * result))
    for group in groups.values():
        if len(group) == 1:
            return None
        centre = fsum(factor * result for factor, result in group) / fsum(factor for factor, _ in group)
        squares = fsum(factor * (result - centre) ** 2 for factor, result in group)
        variance += len(group) / (len(group) - 1) * squares
    return variance


def _weighted_mean(odds: Sequence[float], numbers: Sequence[float]) -> float:
    return sum(chance * number for chance, number in zip(odds, numbers, strict=True))


def draw_weighted(
    counts: Counter[K], strata: Mapping[K, int], count: int, rng: Random
) -> dict[K, SamplingShare]:
    """Sample keys in proportion to their counts, as evenly from the strata as possible."""
    groups: list[list[K]] = [[] for _ in STRATA[1:]]
    for key in counts:
        groups[strata[key]].append(key)
    if count < sum(map(bool, groups)):  # there are not enough positions for all strata
        groups = [list(counts)]
    shares = {}
    for group, size in enumerate(_allocate([len(each) for each in groups], count)):
        chances = _draw_in_proportion({key: counts[key] for key in groups[group]}, size, rng)
        for key, chance in chances.items():
            shares[key] = SamplingShare(group, chance, counts[key] / chance / counts.total())
    return shares


def _draw_in_proportion(counts: dict[K, int], size: int, rng: Random) -> dict[K, float]:
    """Sample `size` keys in proportion to their counts. Returns the probability of each sampled key.

    Keys whose probability would exceed 1 are always included. The others are sampled systematically, in
    random order.
    """
    chances: dict[K, float] = {}
    remaining = dict(counts)
    while certain := [key for key, times in remaining.items() if times * size >= sum(remaining.values())]:
        for key in certain:
            del remaining[key]
            chances[key] = 1.0
        size -= len(certain)
    order, total, passed, target = list(remaining), sum(remaining.values()), 0, rng.random()
    rng.shuffle(order)
    for key in order:
        passed += remaining[key]
        if passed * size > target * total:
            chances[key] = remaining[key] * size / total
            target += 1
    return chances


def _iter_decisions(rules: AnyRules, rng: Random) -> Iterator[tuple[AnySight, Verdict[Any]]]:
    """Yield decisions, except forced moves, from an endless series of matches between good players."""
    oracle = get_oracle(rules)
    while True:
        played = play_judged_match(oracle, ERROR_SHARE, rng, _MAX_ENTRIES)
        decisions = [(sight, verdict) for sight, verdict in played if len(sight.actions) > 1]
        if not decisions:
            raise DuelsError(f"{rules} never offers a choice between actions.")
        yield from decisions


def _allocate(sizes: list[int], count: int) -> list[int]:
    """Divide `count` among strata of the given sizes, as evenly as possible."""
    shares = [0] * len(sizes)
    while sum(shares) < min(count, sum(sizes)):
        for stratum, size in enumerate(sizes):
            shares[stratum] += shares[stratum] < size and sum(shares) < count
    return shares


def write_exam(
    rules: AnyRules,
    count: int,
    seed: str,
    path: Path,
    progress: Progress = no_progress,
    overwrite: bool = False,
) -> int:
    """Write an exam and its card, and return the number of positions.

    The exam is shorter than `count` if the pool has fewer different positions. Raises FileExistsError if a
    file exists and `overwrite` is false, DuelsError for an unknown suffix.
    """
    if path.suffix not in (".jsonl", ".parquet"):
        raise DuelsError(f"An exam must be a .jsonl or .parquet file, not '{path.suffix}'.")
    positions = draw_positions(rules, count, seed, progress)
    rows = make_exam_rows(rules, positions)
    if path.suffix == ".jsonl":
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    else:
        content = encode_parquet({**row, "options": json.dumps(row["options"])} for row in rows)
    write_atomically(path, content, overwrite)
    card = render_card(rules, count, positions, seed, sha256(content).hexdigest())
    write_atomically(get_card_path(path), card.encode(), overwrite)
    return len(rows)


def write_exam_set(
    count: int, seed: str, folder: Path, progress: Progress = no_progress, overwrite: bool = False
) -> dict[str, int]:
    """Write an exam of each game to a folder, with a README that `datasets` reads.

    Returns the number of positions by game. Raises FileExistsError if a file exists and `overwrite` is false.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts = {}
    for path in list_exam_paths(folder):
        rules = find_game(path.stem).rules()
        counts[path.stem] = write_exam(rules, count, seed, path, progress, overwrite)
    write_atomically(folder / README, _render_readme(counts, count, seed).encode(), overwrite)
    return counts


def list_exam_paths(folder: Path) -> list[Path]:
    """Return the paths of an exam of each game in a folder."""
    return [folder / f"{game}.jsonl" for game in GAMES]


def _render_readme(counts: Mapping[str, int], requested: int, seed: str) -> str:
    configs = "".join(
        f"- config_name: {game}\n  data_files:\n  - split: test\n    path: {game}.jsonl\n" for game in counts
    )
    command = shlex.join(["duels", "exam", "all", "--positions", str(requested), "--seed", seed])
    rows = [[game, count, f"[{game}.jsonl.card.md]({game}.jsonl.card.md)"] for game, count in counts.items()]
    return f"""---
pretty_name: Exams of duels
configs:
{configs}---

# Exams of duels

Graded positions of five two-player games. `{command} --out FOLDER` writes the same files. The cards describe
the sampling, the grades, how to compute a score, the scores of our players, and have a checksum.

{Table("", ["game", "positions", "card"], rows).render_markdown()}"""


def grade_answer(row: Mapping[str, Any], text: str) -> float:
    """Return the grade of a model's answer to a row of an exam: 0 for a best action.

    The answer is read as in the arena. If it is not a move, it gives away the position's value.

    >>> rules = find_game("lights").rules()
    >>> (row,) = make_exam_rows(rules, draw_positions(rules, 2, "1")[:1])
    >>> best = next(each["action"] for each in row["actions"] if each["best"])
    >>> grade_answer(row, f"I play this.\\n{best}")
    0.0
    >>> grade_answer(row, "I give up.") == row["value"]
    True
    """
    options = row["options"] or {}
    options = json.loads(options) if isinstance(options, str) else options  # Parquet has a string
    rules = find_game(row["game"]).rules(**options)
    sight = rules.parse_position(row["position"])
    try:
        action, policy = parse_answer(text, sight)
    except BadAnswer:
        return float(row["value"])
    key = measure_key(get_oracle(rules).measure)
    grades = {rules.parse(each["action"]): float(each[key]) for each in row["actions"]}
    odds = policy or {action: 1.0}
    return fsum(chance * grades[each] for each, chance in odds.items())


def get_card_path(path: Path) -> Path:
    """Return the path of an exam's card, next to the exam."""
    return path.with_name(f"{path.name}.card.md")


def explain_shortage(requested: int, count: int) -> str:
    """Explain why an exam has fewer positions than requested; empty if it does not."""
    if count == requested:
        return ""
    decisions = f"{requested * POOL_FACTOR} decisions of good play"
    return f"{requested} positions were requested, but {decisions} contain only {count} different ones."


def make_exam_rows(rules: AnyRules, positions: Sequence[ExamPosition]) -> list[dict[str, Any]]:
    """Return the rows of an exam, with a grade for every legal action."""
    key = measure_key(get_oracle(rules).measure)
    return [_make_row(rules, key, number, position) for number, position in enumerate(positions)]


def _make_row(rules: AnyRules, key: str, number: int, position: ExamPosition) -> dict[str, Any]:
    sight, verdict = position.sight, position.verdict
    return {
        "version": VERSION,
        "number": number,
        "game": rules.name,
        "options": options_data(rules.options()),
        "seat": sight.seat.value,
        "position": position.notation,
        "history": format_history(sight),
        "board": strip_ink(str(rules.game.words(rules).board(sight))),
        "prompt": PROMPT_VERSION,
        "messages": make_messages(sight, show_actions=False),
        "value": verdict.value.number,
        "exactness": verdict.value.exactness.value,
        "error": verdict.value.error,
        "actions": [
            {
                "action": rules.format(judged.action),
                "value": judged.value.number,
                key: shortfall,
                "best": judged.best,
                "weight": judged.weight,
            }
            for judged, shortfall in zip(verdict.actions, position.shortfalls, strict=True)
        ],
        "stratum": position.stratum,
        "group": position.share.group,
        "chance": position.share.chance,
        "weight": position.share.weight,
    }


def render_card(
    rules: AnyRules, requested: int, positions: Sequence[ExamPosition], seed: str, checksum: str
) -> str:
    """Render the card of an exam: its contents, the sampling, and the precision of scores."""
    measure = get_oracle(rules).measure
    key = measure_key(measure)
    grade, perfect = "the loss against perfect play", "0 is perfect"
    after, player = "if both sides play perfectly", "perfect play"
    if measure == BELOW_THE_MIXTURE:
        grade = "how much worse it is than the mixed strategy; negative if better"
        after, player = "as the strategy estimates it", "the strategy"
        perfect = "the strategy has 0, by its own estimates"
    bounds = [f"{100 * low:g} to {100 * high:g}" for low, high in pairwise(STRATA)]
    options = ", ".join(f"{name} {value}" for name, value in rules.options().items()) or "as in the book"
    words = ["duels", "exam", rules.name]
    for name, value in rules.options().items():
        words += ["--option", f"{name}={Option.format(value)}"]
    command = shlex.join([*words, "--positions", str(requested), "--seed", seed, "--out", "exam.jsonl"])
    shortage = explain_shortage(requested, len(positions))
    return f"""# Exam: {rules.game.title} ({rules.name})

{len(positions)} positions, options {options}, seed {seed}, version {VERSION} of the format, version
{PROMPT_VERSION} of the prompt.
`{command}` draws the same positions.{shortage and f" {shortage}"}
The SHA-256 checksum of the exam is `{checksum}`.

**Sampling.** The positions come from matches between players that give away {ERROR_SHARE:.0%} as much as
random play. The pool has {POOL_FACTOR} decisions per position, without forced moves. It has {len(bounds)}
strata, by the `{key}` of a position's worst action in percentage points: {", ".join(bounds)}. The strata
are sampled as evenly as possible. Within a stratum, the probability of a position (`chance`) is
proportional to its frequency. `weight` is the share of all decisions that a position represents. The
weights sum to 1, so the weighted mean over the exam is an unbiased estimate of the mean over all decisions.

**Grades.** Each legal action has its `value` (the probability of winning {after}; a draw counts one half),
its `{key}` ({grade}), whether it is `best`, and how often {player} plays it (`weight`). `exactness` is
`exact`, `bound` (within `error`) or `estimate`. A player's score is the sum over all positions of the
weight times the `{key}` of the answer: {perfect}. An answer that is not a move counts as the `value` of the
position. `duels.arena.exam.grade_answer` reads and grades an answer.

**Precision.** `group` is the stratum of a position; if there are fewer positions than strata, all are in
group 0. For each group, take the n positions with a `chance` below 1. Let x be the weight times the `{key}`
of the answer, and m the mean of x with weights 1 - chance. Sum (1 - chance) (x - m)² and multiply by
n/(n-1). The sum over all groups is the variance of the score (Hájek's approximation); its square root is the
standard error. It is 0 if every `chance` is 1, and unknown (–) if a group has n = 1. If a player chooses at
random, add for each position chance times the squared weight times the variance of its `{key}`. Scores of
our players with one answer per position, in percentage points:

{_render_scores(rules.name, positions)}"""


def _render_scores(game: str, positions: Sequence[ExamPosition]) -> str:
    players: dict[str, Policy] = {"random": lambda verdict: [1 / len(verdict.actions)] * len(verdict.actions)}
    players |= {name: partial(mix_actions, share=share) for name, share in get_level_shares(game).items()}
    rows = []
    for name, policy in players.items():
        score, error = estimate_score(positions, policy)
        rows.append([name, f"{100 * score:z.2f}", "–" if error is None else f"{100 * error:.2f}"])
    return Table("", ["player", "score", "standard error"], rows).render_markdown()
