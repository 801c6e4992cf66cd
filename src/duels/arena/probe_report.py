"""The report on a probe: losses, exploitability, and results against known opponents."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import fsum, sqrt
from typing import Any

from duels.arena.confidence import Interval, Z, interval_data, ratio_interval
from duels.arena.config import MODEL
from duels.arena.costs import ModelCosts, Spending
from duels.arena.folder import Folder
from duels.arena.mistakes import MistakeBoards, RunMistake, WorstMistakes, explain_measure, measure_key
from duels.arena.probe import PositionKey, Probe, estimate_policy, find_answers, iter_probes
from duels.arena.probe_values import (
    AnswerTables,
    answer_deviation,
    compute_exploitability,
    compute_results,
    count_cheaper_matches,
)
from duels.arena.report import (
    ASKED_ONCE_MODEL,
    ASKED_ONCE_PROGRAM,
    describe_costliest_category,
    format_failures,
)
from duels.arena.schemas import Row
from duels.arena.tables import Block, Document, Prose, Table, format_interval, format_points
from duels.core.errors import require_extra
from duels.core.rules import AnySight
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE, Progress, no_progress
from duels.solving.oracles import get_oracle

with require_extra("arena"):
    import numpy as np

_MAX_MISTAKES = 5
_EPSILON = 1e-9
_EVEN = 0.5
_YARDSTICK = "club"  # the report compares the cost of the probe with that of matches against this player


@dataclass(frozen=True)
class GameProbe:
    """The results of a probe in one game."""

    probe: Probe
    player_type: str
    """BUILT_IN, PROGRAM or MODEL."""
    questions: int
    positions: int
    failures: dict[str, int]
    """Attempts without a legal move, by kind of failure."""
    failed: int
    """Questions with at least one failure."""
    unanswered: int
    """Questions without an answer after all retries. In a match, these would be forfeits."""
    usage: Usage
    measure: str
    """The oracle's measure of decisions."""
    shortfalls: dict[PositionKey, float]
    shortfall: Interval
    """The mean shortfall per answered position, weighted if positions were sampled."""
    complete: bool
    exploitability: Interval | None
    """The best opponent's gain over its fair share, if every position was answered."""
    one_round: Interval | None
    """The exploitability if play ends at the first tick of the clock, for games that may never end."""
    against: dict[str, Interval]
    """Results against built-in players, averaged over both seats."""
    cheaper_matches: tuple[int, int] | None
    """How many matches against _YARDSTICK, and how many requests, measure that result as precisely.

    None if the matches take at least as many requests as the probe.
    """
    mistake_categories: dict[str, tuple[float, float]]
    """The number of answers and their total shortfall, by category."""
    mistakes: tuple[RunMistake, ...]

    @property
    def round(self) -> str:
        """The unit that the game's clock counts, in the singular."""
        return (self.probe.rules.clock or "round").removesuffix("s")

    @property
    def asked_once(self) -> bool:
        """Whether some position has a single answer without a policy.

        False if positions were sampled: then the variance between them gives an interval.
        """
        answers = self.probe.answers.values()
        return self.probe.is_exhaustive and any(len(rows) == 1 and not rows[0]["policy"] for rows in answers)

    @property
    def samples(self) -> int:
        """The largest number of answers to a position."""
        return max(map(len, self.probe.answers.values()), default=0)


@dataclass(frozen=True)
class ProbeReport:
    """The results of a probe in all its games."""

    player: str
    config: Mapping[str, Any]
    games: tuple[GameProbe, ...]
    costs: ModelCosts
    notes: tuple[str, ...]


def make_report(folder: Folder, progress: Progress = no_progress) -> ProbeReport:
    """Evaluate the answers in a probe's folder. Raises DuelsError if the folder is damaged."""
    ((player, identity),) = folder.config["player"].items()
    progress("reading the answers")
    look_up = partial(find_answers, folder, folder.load_rows())
    games = tuple(
        report_game(probe, player, identity["sort"], progress)
        for probe in iter_probes(folder, look_up, progress)
    )
    costs = ModelCosts.from_config(folder.config, Spending.from_requests(folder.iter_requests()))
    notes = folder.list_notes(complete=all(game.complete for game in games))
    return ProbeReport(player, folder.config, games, costs, notes)


def report_game(probe: Probe, player: str, player_type: str, progress: Progress = no_progress) -> GameProbe:
    """Evaluate the answers in one game."""

    def show(text: str) -> None:
        progress(f"{probe.rules.name}: {text}")

    show("grading the answers")
    rows = [row for answers in probe.answers.values() for row in answers if "reflected" not in row]
    shortfalls = {key: _mean_shortfall(probe, key) for key in probe.answers if probe.get_policy(key)}
    if probe.is_exhaustive:
        per_position = _mean_over_all(probe, shortfalls)
    else:  # the weights sum to 1 once every position is answered
        weighted = [probe.weights[key] * shortfall for key, shortfall in shortfalls.items()]
        per_position = ratio_interval(weighted, [probe.weights[key] for key in shortfalls])
    complete = not probe.missing
    answers = AnswerTables(probe) if probe.is_exhaustive and complete else None
    show("exploitability")
    exploitability = compute_exploitability(answers, None) if answers else None
    one_round = compute_exploitability(answers, 1) if answers and probe.rules.limit else None
    against = compute_results(answers, show) if answers else {}
    return GameProbe(
        probe,
        player_type,
        len(rows),
        len(probe.answers),
        dict(sorted(Counter(kind for row in rows for kind, _ in row["failures"]).items())),
        sum(bool(row["failures"]) for row in rows),
        sum(row["action"] is None for row in rows),
        sum((Usage(*row["usage"]) for row in rows), Usage()),
        get_oracle(probe.rules).measure,
        shortfalls,
        per_position,
        complete,
        exploitability,
        one_round,
        against,
        count_cheaper_matches(answers, against[_YARDSTICK], _YARDSTICK) if answers else None,
        _sum_by_category(probe),
        tuple(_find_mistakes(probe, player, shortfalls)),
    )


def _grade_actions(sight: AnySight) -> dict[Any, float]:
    oracle = get_oracle(sight.rules)
    return dict(zip(sight.actions, oracle.shortfalls(oracle.judge(sight)), strict=True))


def _mean_shortfall(probe: Probe, key: PositionKey) -> float:
    policy, losses = probe.get_policy(key), _grade_actions(probe.sights[key])
    return fsum(chance * losses[action] for action, chance in policy.items()) / fsum(policy.values())


def _sum_by_category(probe: Probe) -> dict[str, tuple[float, float]]:
    """Return the number of answers and total shortfall by category, weighted if positions were sampled."""
    oracle = get_oracle(probe.rules)
    counts, weights, shortfalls = (defaultdict[str, float](float) for _ in range(3))
    for key in probe.answers:
        losses = _grade_actions(probe.sights[key])
        for action, chance in probe.get_policy(key).items():
            category = oracle.mistake_category(probe.sights[key], action)
            weight = probe.weights.get(key, 1.0) * chance
            counts[category] += chance
            weights[category] += weight
            shortfalls[category] += weight * losses[action]
    return {
        category: (count, count * shortfalls[category] / weights[category])
        for category, count in counts.items()
    }


def _mean_over_all(probe: Probe, shortfalls: dict[PositionKey, float]) -> Interval:
    """Return the mean shortfall over all positions. Its interval covers only the sampling of answers."""
    errors: dict[str, float] = defaultdict(float)  # by question
    for key in shortfalls:
        rows = [row for row in probe.answers[key] if row["action"] is not None]
        if len(rows) > 1 and not all(row["policy"] for row in rows):
            # Mirror images may share one question: their answers are the same sample.
            errors[rows[0]["key"]] += _standard_error(rows, probe.sights[key])
    mean = fsum(shortfalls.values()) / max(1, len(shortfalls))
    margin = Z * sqrt(fsum(error**2 for error in errors.values())) / max(1, len(shortfalls))
    return Interval(mean, mean - margin, mean + margin)


def _standard_error(rows: list[Row], sight: AnySight) -> float:
    policy, losses, samples = estimate_policy(rows, sight), _grade_actions(sight), len(rows)
    odds = np.array([policy.get(action, 0.0) for action in losses])
    uniform = np.full(len(losses), 1 / len(losses))
    return float(answer_deviation(odds, np.array([*losses.values()]), uniform, samples)) / sqrt(samples)


def _find_mistakes(probe: Probe, player: str, shortfalls: dict[PositionKey, float]) -> list[RunMistake]:
    rules, oracle, mistakes = probe.rules, get_oracle(probe.rules), WorstMistakes(_MAX_MISTAKES)
    for key, shortfall in sorted(shortfalls.items(), key=lambda item: -item[1]):
        if shortfall <= _EPSILON or mistakes.is_settled(shortfall):
            break
        sight, policy = probe.sights[key], probe.get_policy(key)
        losses = _grade_actions(sight)
        worst = max(filter(policy.get, policy), key=lambda action: policy[action] * losses[action])
        best = tuple(rules.format(each) for each in oracle.judge(sight).best[:_MAX_MISTAKES])
        played, chance = rules.format(worst), policy[worst]
        mistakes.add(RunMistake(player, played, best, key[1], sight, shortfall, oracle.measure, chance))
    return mistakes.mistakes


def as_data(report: ProbeReport) -> dict[str, Any]:
    """Return the report for `--json`."""
    config = report.config
    return {
        "player": report.player,
        **{name: config[name] for name in ("samples", "symmetric", "model", "prices")},
        "asked_without_history": True,
        "games": {game.probe.rules.name: _game_data(game) for game in report.games},
        "usage": report.costs.prices.usage_data(sum((game.usage for game in report.games), Usage())),
        "notes": list(report.notes),
    }


def _game_data(game: GameProbe) -> dict[str, Any]:
    return {
        "whole": game.probe.is_exhaustive,
        "complete": game.complete,
        "questions": game.questions,
        "positions": game.positions,
        "failures": game.failures,
        "unanswered": game.unanswered,
        "asked_once": game.asked_once,
        "measure": game.measure,
        f"{measure_key(game.measure)}_per_position": interval_data(game.shortfall),
        "exploitability": interval_data(game.exploitability) if game.exploitability else None,
        "exploitability_of_one_round": interval_data(game.one_round) if game.one_round else None,
        "against": {name: interval_data(result) for name, result in game.against.items()},
        "cheaper_matches": game.cheaper_matches
        and dict(zip(("matches", "requests"), game.cheaper_matches, strict=True)),
        "mistakes": [{**each.as_data(), "often": each.probability} for each in game.mistakes],
    }


def make_document(report: ProbeReport) -> Document:
    """Return the report for a terminal or a page."""
    mirrored = "; only one of two mirror images was asked" * report.config["symmetric"]
    introduction = f"{report.player}, asked about positions without history{mirrored}."
    blocks = [block for game in report.games for block in _game_blocks(game)]
    player, spending = report.player, report.costs.spending
    usage = {player: spending.used} if spending.used.requests else {}
    return Document(
        f"Probe: {player}",
        f"{introduction} All numbers are in percentage points.",
        [*map(_summarize_game, report.games), *report.costs.describe("It"), *report.notes],
        [*blocks, report.costs.make_table(usage, {player: spending.seconds})],
    )


def _summarize_game(game: GameProbe) -> str:
    name = game.probe.rules.name
    if not game.positions:
        return f"{name}: no answers yet."
    if not game.shortfalls:
        sentences = [f"{name}: it answered no question."]
    elif game.measure == BELOW_THE_MIXTURE:
        points = format_points(game.shortfall)
        sentences = [f"{name}: its choices are {points} points per position worse than the mixed strategy."]
    else:
        costliest = describe_costliest_category(game.mistake_categories)
        mistakes = sum(shortfall > _EPSILON for shortfall in game.shortfalls.values())
        sentences = [
            f"{name}: it gives away {format_points(game.shortfall)} points per position{costliest}.",
            f"It made mistakes in {mistakes} of {len(game.shortfalls)} positions.",
        ]
    if game.exploitability:
        gain = _format_exploitability(game.exploitability)
        sentences.append(f"Exploitability: the best opponent wins {gain} points more than its fair share.")
    sentences += _describe_results(game)
    if game.cheaper_matches:
        matches, requests = game.cheaper_matches
        sentences.append(
            f"Matches would have been cheaper: {matches} matches against {_YARDSTICK}, about {requests} "
            f"requests, measure that result as precisely as these {game.questions} questions."
        )
    if game.asked_once:
        sentences.append(ASKED_ONCE_MODEL if game.player_type == MODEL else ASKED_ONCE_PROGRAM)
    if game.failed:
        unanswered = f", {game.unanswered} had no answer" if game.unanswered else ""
        sentences.append(f"{game.failed} of {game.questions} questions had a failure{unanswered}.")
    if not game.complete:
        sentences.append(_UNFINISHED)
    return " ".join(sentences)


def _describe_results(game: GameProbe) -> list[str]:
    subject = "With these answers it" if game.asked_once else "It"
    weaker = [name for name, result in game.against.items() if result.is_above(_EVEN)]
    stronger = [name for name, result in game.against.items() if result.is_below(_EVEN)]
    beats = [f"{subject} beats {', '.join(weaker)}."] * bool(weaker)
    return beats + [f"{subject} loses to {', '.join(stronger)}."] * bool(stronger)


def _game_blocks(game: GameProbe) -> Iterator[Block]:
    rules = game.probe.rules
    yield Prose(_describe_questions(game), f"{rules.game.title} ({rules.name})")
    results = [format_interval(result) for result in game.against.values()]
    rows = [["result", *results]] if results else []
    yield Table("Results against known opponents", ["against", *game.against], rows)
    yield MistakeBoards("Worst positions", game.mistakes)


def _format_exploitability(interval: Interval) -> str:
    return format_interval(interval, digits=2)


def _describe_questions(game: GameProbe) -> list[str]:
    """Return details about the questions that the summary leaves out."""
    scope = "every position that can occur" if game.probe.is_exhaustive else "positions drawn from good play"
    failures = format_failures(game.failures) or "none"
    questions = f"{game.questions} questions, {scope if game.complete else 'not finished'}"
    lines = [f"{questions}; failures: {failures}", explain_measure(game.measure)]
    if game.one_round:
        gain = _format_exploitability(game.one_round)
        lines.append(f"Exploitability if play ends with the first {game.round}: {gain}")
    if game.unanswered:
        lines.append(_UNANSWERED if game.probe.is_exhaustive else "Unanswered questions do not count.")
    return lines


_UNFINISHED = (
    "Not all questions are answered yet. To continue, run the command again. If the budget is spent, pass a "
    "larger --budget."
)
_UNANSWERED = (
    "A question without an answer forfeits the match. It counts towards exploitability and results, but not "
    "towards the loss per position."
)
