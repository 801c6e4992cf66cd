"""The report on a probe: losses, exploitability, and results against known opponents."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from duels.arena.confidence import Interval, Z, interval_data, ratio_interval
from duels.arena.config import MODEL
from duels.arena.costs import Prices, Spending, format_tokens
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.mistakes import MistakeBoards, RunMistake, WorstMistakes, explain_measure, measure_key
from duels.arena.probe import Probe, estimate_policy, iter_probes
from duels.arena.probe_values import AnswerTables, answer_deviation, compute_exploitability, compute_results
from duels.arena.report import describe_costliest_category, format_failures
from duels.arena.report_views import describe_conditions
from duels.arena.tables import Block, Document, Prose, Table, format_percent, format_points
from duels.core.extras import require_extra
from duels.core.rules import AnySight, Seat
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

with require_extra("arena"):
    import numpy as np

_MAX_SHOWN = 5
_EPSILON = 1e-9
_EVEN = 0.5

Key = tuple[Seat, str]


@dataclass(frozen=True)
class GameProbe:
    probe: Probe
    player_type: str
    """OURS, PROGRAM or MODEL."""
    questions: int
    positions: int
    failures: dict[str, int]
    """Attempts without a legal move, by kind of failure."""
    failed: int
    """Questions with at least one such attempt."""
    unanswered: int
    """Questions without an answer after all retries: these would forfeit a match."""
    usage: Usage
    measure: str
    """How answers are graded: `given away` or `below the mixture`."""
    shortfalls: dict[Key, float]
    shortfall: Interval
    """The mean shortfall per answered position, weighted if positions were drawn."""
    complete: bool
    exploitability: Interval | None
    """The best opponent's gain over its fair share, if every position was answered."""
    one_round: Interval | None
    """The exploitability if play ends at the first tick of the clock, in games that need not end."""
    against: dict[str, Interval]
    """Results against built-in players, averaged over both seats."""
    mistake_categories: dict[str, tuple[float, float]]
    """By category: the number of answers and their total shortfall."""
    mistakes: tuple[RunMistake, ...]

    @property
    def round(self) -> str:
        """The singular of what the game's clock counts."""
        return (self.probe.rules.clock or "round").removesuffix("s")

    @property
    def asked_once(self) -> bool:
        """Whether some position has a single answer without a policy.

        False if positions were drawn: then the spread between them gives an interval.
        """
        answers = self.probe.answers.values()
        return self.probe.is_exhaustive and any(len(rows) == 1 and not rows[0]["policy"] for rows in answers)

    @property
    def samples(self) -> int:
        """The largest number of answers to a position."""
        return max(map(len, self.probe.answers.values()), default=0)


@dataclass(frozen=True)
class ProbeReport:
    player: str
    config: Mapping[str, Any]
    games: tuple[GameProbe, ...]
    prices: Prices
    spending: Spending
    notes: tuple[str, ...]


def make_report(folder: Folder, progress: Progress = no_progress) -> ProbeReport:
    ((player, identity),) = folder.config["player"].items()
    progress("reading the answers")
    games = tuple(
        _report_game(probe, player, identity["sort"], progress) for probe in iter_probes(folder, progress)
    )
    spending = Spending.from_requests(folder.iter_requests())
    notes = folder.list_notes(complete=all(game.complete for game in games))
    prices = Prices(folder.config["prices"], folder.config["currency"])
    return ProbeReport(player, folder.config, games, prices, spending, notes)


def _report_game(probe: Probe, player: str, player_type: str, progress: Progress) -> GameProbe:
    def show(text: str) -> None:
        progress(f"{probe.rules.name}: {text}")

    show("grading the answers")
    rows = [row for answers in probe.answers.values() for row in answers if "reflected" not in row]
    short = {key: _mean_shortfall(probe, key) for key in probe.answers if probe.get_policy(key)}
    if probe.is_exhaustive:
        per_position = _mean_of_all(probe, short)
    else:
        weights = {key: probe.weights[key] for key in short}
        # The weights sum to 1 once every position is answered.
        per_position = ratio_interval(
            [weights[key] * each for key, each in short.items()], list(weights.values())
        )
    complete = not probe.missing
    answers = AnswerTables(probe) if probe.is_exhaustive and complete else None
    show("exploitability")
    gain = compute_exploitability(answers, None) if answers else None
    limited = compute_exploitability(answers, 1) if answers and probe.rules.limit else None
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
        short,
        per_position,
        complete,
        gain,
        limited,
        compute_results(answers, show) if answers else {},
        _sum_by_category(probe),
        tuple(_find_mistakes(probe, player, short)),
    )


def _grade_actions(sight: AnySight) -> dict[Any, float]:
    oracle = get_oracle(sight.rules)
    return dict(zip(sight.actions, oracle.shortfalls(oracle.judge(sight)), strict=True))


def _mean_shortfall(probe: Probe, key: Key) -> float:
    policy, graded = probe.get_policy(key), _grade_actions(probe.sights[key])
    return fsum(chance * graded[action] for action, chance in policy.items()) / fsum(policy.values())


def _sum_by_category(probe: Probe) -> dict[str, tuple[float, float]]:
    """Return each category's answers and total shortfall, weighted if positions were drawn."""
    oracle = get_oracle(probe.rules)
    count, weight, short = (defaultdict[str, float](float) for _ in range(3))
    for key in probe.answers:
        graded = _grade_actions(probe.sights[key])
        for action, chance in probe.get_policy(key).items():
            category = oracle.mistake_category(probe.sights[key], action)
            weighted = probe.weights.get(key, 1.0) * chance
            count[category] += chance
            weight[category] += weighted
            short[category] += weighted * graded[action]
    return {
        category: (count[category], count[category] * short[category] / weight[category])
        for category in count
    }


def _mean_of_all(probe: Probe, short: dict[Key, float]) -> Interval:
    """Return the mean over all positions. Only sampled answers make it uncertain."""
    by_question: dict[str, float] = defaultdict(float)
    for key in short:
        rows = [row for row in probe.answers[key] if row["action"] is not None]
        if len(rows) > 1 and not all(row["policy"] for row in rows):
            # Mirror images may share one question: their answers are the same sample.
            by_question[rows[0]["key"]] += _error(rows, probe.sights[key])
    mean = fsum(short.values()) / max(1, len(short))
    margin = Z * sqrt(fsum(error**2 for error in by_question.values())) / max(1, len(short))
    return Interval(mean, mean - margin, mean + margin)


def _error(rows: list[Row], sight: AnySight) -> float:
    """Return the standard error of the mean shortfall of a position."""
    policy, graded, samples = estimate_policy(rows, sight), _grade_actions(sight), len(rows)
    odds = np.array([policy.get(action, 0.0) for action in graded])
    even = np.full(len(graded), 1 / len(graded))
    return float(answer_deviation(odds, np.array([*graded.values()]), even, samples)) / sqrt(samples)


def _find_mistakes(probe: Probe, player: str, short: dict[Key, float]) -> list[RunMistake]:
    mistakes = WorstMistakes(_MAX_SHOWN)
    for key in sorted(short, key=lambda each: -short[each]):
        if short[key] <= _EPSILON or mistakes.is_settled(short[key]):
            break
        sight, rules, oracle = probe.sights[key], probe.rules, get_oracle(probe.rules)
        policy = {action: chance for action, chance in probe.get_policy(key).items() if chance}
        graded = _grade_actions(sight)
        worst = max(policy, key=lambda action: policy[action] * graded[action])
        best = tuple(rules.format(each) for each in oracle.judge(sight).best[:_MAX_SHOWN])
        played = rules.format(worst)
        measure, often = oracle.measure, policy[worst]
        mistakes.add(RunMistake(player, played, best, key[1], sight, short[key], measure, often))
    return mistakes.mistakes


def as_data(report: ProbeReport) -> dict[str, Any]:
    config = report.config
    return {
        "player": report.player,
        **{name: config[name] for name in ("samples", "symmetric", "model", "prices")},
        "asked_without_history": True,
        "games": {game.probe.rules.name: _game_data(game) for game in report.games},
        "usage": report.prices.usage_data(sum((game.usage for game in report.games), Usage())),
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
        "mistakes": [{**each.as_data(), "often": each.often} for each in game.mistakes],
    }


def make_document(report: ProbeReport) -> Document:
    """Return the report for a terminal or a page."""
    mirrored = "; of two mirror images only one was asked" * report.config["symmetric"]
    introduction = f"{report.player}, asked about positions without history{mirrored}."
    blocks = [block for game in report.games for block in _game_blocks(game)]
    limited = bool(report.config["model"].get("max_tokens"))
    spending = report.spending.describe("It", report.prices, limited)
    return Document(
        f"Probe: {report.player}",
        f"{introduction} All numbers are in points of a hundred.",
        [*map(_summarize_game, report.games), *spending, *report.notes],
        [*blocks, Prose(_describe_usage(report), "Cost")],
    )


def _describe_usage(report: ProbeReport) -> list[str]:
    spending, used = report.spending, report.spending.used
    if not used.requests:
        return []
    cost = report.prices.format_cost(used)
    wait = f"{spending.seconds / used.requests:.1f} seconds on average"
    sent, received = format_tokens(used.prompt, used), format_tokens(used.completion, used)
    replies = f"{used.requests} of {spending.sent} requests had a reply, after {wait}"
    return [
        describe_conditions(report.config["model"]),
        f"{replies}: {sent} tokens in, {received} out{cost and f', cost {cost}'}.",
    ]


def _summarize_game(game: GameProbe) -> str:
    name = game.probe.rules.name
    if not game.positions:
        return f"{name}: no answers yet."
    if not game.shortfalls:
        sentences = [f"{name}: it answered no question."]
    elif game.measure == BELOW_THE_MIXTURE:
        sentences = [
            f"{name}: its choices lie {_format_shortfall(game)} points below the mixture per position."
        ]
    else:
        costliest = describe_costliest_category(game.mistake_categories)
        mistakes = sum(short > _EPSILON for short in game.shortfalls.values())
        sentences = [
            f"{name}: it gives away {_format_shortfall(game)} points per position{costliest}.",
            f"It made mistakes in {mistakes} of {len(game.shortfalls)} positions.",
        ]
    if game.exploitability:
        gain = _format_interval(game.exploitability)
        sentences.append(f"Exploitability: the best opponent wins {gain} points more than its fair share.")
    sentences += _describe_results(game)
    if game.asked_once:
        sentences.append(_ASKED_ONCE_MODEL if game.player_type == MODEL else _ASKED_ONCE_PROGRAM)
    if game.failed:
        unanswered = f", {game.unanswered} had no answer" if game.unanswered else ""
        sentences.append(f"{game.failed} of {game.questions} questions had a failure{unanswered}.")
    if not game.complete:
        sentences.append(_UNFINISHED)
    return " ".join(sentences)


def _describe_results(game: GameProbe) -> list[str]:
    it = "With these answers it" if game.asked_once else "It"
    weaker = [name for name, result in game.against.items() if result.is_above(_EVEN)]
    stronger = [name for name, result in game.against.items() if result.is_below(_EVEN)]
    beats = [f"{it} beats {', '.join(weaker)}."] * bool(weaker)
    return beats + [f"{it} loses to {', '.join(stronger)}."] * bool(stronger)


def _game_blocks(game: GameProbe) -> Iterator[Block]:
    rules = game.probe.rules
    yield Prose(_describe_questions(game), f"{rules.game.title} ({rules.name})")
    results = [_format_interval(result, 1) for result in game.against.values()]
    rows = [["result", *results]] if results else []
    yield Table("Results against known opponents", ["against", *game.against], rows)
    yield MistakeBoards("Worst positions", game.mistakes)


def _describe_questions(game: GameProbe) -> list[str]:
    """Return what the summary leaves out."""
    scope = "every position that can occur" if game.probe.is_exhaustive else "positions drawn from good play"
    failures = format_failures(game.failures) or "none"
    lines = [
        f"{game.questions} questions, {scope if game.complete else 'not finished'}; failures: {failures}"
    ]
    lines.append(explain_measure(game.measure))
    if game.one_round:
        gain = _format_interval(game.one_round)
        lines.append(f"Exploitability if play ends with the first {game.round}: {gain}")
    if game.unanswered:
        lines.append(_UNANSWERED if game.probe.is_exhaustive else "Unanswered questions do not count.")
    return lines


_ASKED_ONCE_MODEL = "Each position was asked once, so there are no intervals. Use --samples 4 to get them."
_ASKED_ONCE_PROGRAM = "This is exact if it always gives the same answer. Otherwise, use --samples 4."
_UNFINISHED = (
    "Not all questions are answered yet. To continue, run the command again. If the budget is spent, pass a "
    "larger --budget."
)
_UNANSWERED = (
    "A question without an answer forfeits the match. It counts in exploitability and results, but not in "
    "the loss per position."
)


def _format_shortfall(game: GameProbe) -> str:
    return format_points(game.shortfall) if game.shortfall.margin else f"{100 * game.shortfall.estimate:.2f}"


def _format_interval(interval: Interval, digits: int = 2) -> str:
    return format_percent(interval) if interval.margin else f"{100 * interval.estimate:.{digits}f}"
