"""What a probe found: losses, the best opponent's gain, and results against known opponents."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from duels.arena.amounts import Prices, Spending, tokens
from duels.arena.confidence import Interval, Z, interval_data, ratio
from duels.arena.config import MODEL
from duels.arena.folder import Folder
from duels.arena.logs import Row
from duels.arena.mistakes import Boards, RunMistake, Worst, key_of, name_of, said_of
from duels.arena.probe import Probe, collected, policy_of
from duels.arena.probe_values import Answers, against_all, exploitability, spread_of_answers
from duels.arena.report import by_class, most_when, prices_of
from duels.arena.report_views import asked_how
from duels.arena.tables import Block, Document, Prose, Table, percent, points
from duels.core.extras import require_extra
from duels.core.rules import AnySight, Seat
from duels.players.completions import Usage
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

with require_extra("arena"):
    import numpy as np

_MOST_SHOWN = 5
_NOTHING = 1e-9
_EVEN = 0.5

Key = tuple[Seat, str]


@dataclass(frozen=True)
class GameProbe:
    """What a probe found in one game."""

    probe: Probe
    sort: str
    """Of the player: one of ours, a program, a model."""
    questions: int
    positions: int
    failures: dict[str, int]
    """Attempts that gave no move, by class."""
    failed: int
    """Questions with such an attempt."""
    unanswered: int
    """Questions that were given up: a match would have been forfeited there."""
    usage: Usage
    measure: str
    """What answers are graded by: `given away` or `below the mixture`."""
    shortfalls: dict[Key, float]
    """By position, of those that have an answer."""
    shortfall: Interval
    """Per position with an answer: of all these, or, where they were drawn, of all decisions in good play."""
    complete: bool
    exploitability: Interval | None
    """What the best opponent wins beyond its due; None where it is not known."""
    one_round: Interval | None
    """The same if play is cut off at the first tick of the clock, in games that could go on for ever."""
    against: dict[str, Interval]
    """Results against known opponents, the mean of both seats."""
    manners: dict[str, tuple[float, float]]
    """By sort of decision: how many answers were of it, and how far they fell short in all."""
    mistakes: tuple[RunMistake, ...]

    @property
    def round(self) -> str:
        """What the game's clock counts, one of it."""
        return (self.probe.rules.clock or "round").removesuffix("s")

    @property
    def asked_once(self) -> bool:
        """Whether a player's only answer to some position is taken for all that it would give.

        Where positions are drawn it is not: they tell how much answers differ.
        """
        answers = self.probe.answers.values()
        return self.probe.whole and any(len(rows) == 1 and not rows[0]["policy"] for rows in answers)

    @property
    def samples(self) -> int:
        """How often a position was asked, at most."""
        return max(map(len, self.probe.answers.values()), default=0)


@dataclass(frozen=True)
class ProbeReport:
    """What a probe found, game by game."""

    player: str
    config: Mapping[str, Any]
    games: tuple[GameProbe, ...]
    prices: Prices
    spending: Spending
    """What all requests took."""
    notes: tuple[str, ...]
    """What is out of the ordinary in its folder, a sentence each."""


def report_on(folder: Folder, progress: Progress = no_progress) -> ProbeReport:
    """The report on a probe, finished or not."""
    ((player, who),) = folder.config["player"].items()
    progress("reading the answers")
    games = tuple(_game(probe, player, who["sort"], progress) for probe in collected(folder, progress))
    spending = Spending.of(folder.requests())
    said = folder.notes(complete=all(game.complete for game in games))
    return ProbeReport(player, folder.config, games, prices_of(folder), spending, said)


def _game(probe: Probe, player: str, sort: str, progress: Progress) -> GameProbe:
    def tell(text: str) -> None:
        progress(f"{probe.rules.name}: {text}")

    tell("grading the answers")
    rows = [row for answers in probe.answers.values() for row in answers if "reflected" not in row]
    short = {key: _shortfall(probe, key) for key in probe.answers if probe.policy(key)}
    if probe.whole:
        per_position = _mean_of_all(probe, short)
    else:
        weights = {key: probe.weights[key] for key in short}
        # By the sum of the weights, which is 1 once all is answered.
        per_position = ratio([weights[key] * each for key, each in short.items()], list(weights.values()))
    complete = not probe.missing
    answers = Answers(probe) if probe.whole and complete else None
    tell("exploitability")
    gain = exploitability(answers, None) if answers else None
    limited = exploitability(answers, 1) if answers and probe.rules.limit else None
    return GameProbe(
        probe,
        sort,
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
        against_all(answers, tell) if answers else {},
        _manners(probe),
        tuple(_mistakes(probe, player, short)),
    )


def _graded(sight: AnySight) -> dict[Any, float]:
    """How far each action falls short."""
    oracle = get_oracle(sight.rules)
    return dict(zip(sight.actions, oracle.shortfalls(oracle.judge(sight)), strict=True))


def _shortfall(probe: Probe, key: Key) -> float:
    return _expected(probe.policy(key), _graded(probe.sights[key]))


def _manners(probe: Probe) -> dict[str, tuple[float, float]]:
    """By sort of decision: how many answers were of it, and how far they fell short in all.

    Where positions were drawn, each falls short by the mean over all decisions that they stand for.
    """
    oracle = get_oracle(probe.rules)
    count, weight, short = (defaultdict[str, float](float) for _ in range(3))
    for key in probe.answers:
        graded = _graded(probe.sights[key])
        for action, chance in probe.policy(key).items():
            manner = oracle.mistake_category(probe.sights[key], action)
            stands_for = probe.weights.get(key, 1.0) * chance
            count[manner] += chance
            weight[manner] += stands_for
            short[manner] += stands_for * graded[action]
    return {manner: (count[manner], count[manner] * short[manner] / weight[manner]) for manner in count}


def _mean_of_all(probe: Probe, short: dict[Key, float]) -> Interval:
    """The mean over all positions, which are not drawn: only answers that may differ leave it open."""
    by_question: dict[str, float] = defaultdict(float)
    for key in short:
        answered = [row for row in probe.answers[key] if row["action"] is not None]
        if len(answered) > 1 and not all(row["policy"] for row in answered):
            # Of mirror images only one may have been asked: their answers are the same sample.
            by_question[answered[0]["key"]] += _error(answered, probe.sights[key])
    found = fsum(short.values()) / max(1, len(short))
    margin = Z * sqrt(fsum(error**2 for error in by_question.values())) / max(1, len(short))
    return Interval(found, found - margin, found + margin)


def _error(answered: list[Row], sight: AnySight) -> float:
    """The standard error of how far answers to a position fall short."""
    policy, graded, samples = policy_of(answered, sight), _graded(sight), len(answered)
    odds = np.array([policy.get(action, 0.0) for action in graded])
    even = np.full(len(graded), 1 / len(graded))
    return float(spread_of_answers(odds, np.array([*graded.values()]), even, samples)) / sqrt(samples)


def _expected(policy: dict[Any, float], graded: dict[Any, float]) -> float:
    """How far the answers of a policy fall short, those that came."""
    return fsum(chance * graded[action] for action, chance in policy.items()) / fsum(policy.values())


def _mistakes(probe: Probe, player: str, short: dict[Key, float]) -> list[RunMistake]:
    found = Worst(_MOST_SHOWN)
    for key in sorted(short, key=lambda each: -short[each]):
        if short[key] <= _NOTHING or found.is_done(short[key]):
            break
        sight, rules, oracle = probe.sights[key], probe.rules, get_oracle(probe.rules)
        policy = {action: chance for action, chance in probe.policy(key).items() if chance}
        graded = _graded(sight)
        worst = max(policy, key=lambda action: policy[action] * graded[action])
        best = tuple(rules.format(each) for each in oracle.judge(sight).best[:_MOST_SHOWN])
        played = rules.format(worst)
        measure, often = oracle.measure, policy[worst]
        found.add(RunMistake(player, played, best, key[1], sight, short[key], measure, often))
    return found.mistakes


# -- as data, text and a page ----------------------------------------------------------------------------


def as_data(report: ProbeReport) -> dict[str, Any]:
    """The report as JSON has it."""
    config = report.config
    return {
        "player": report.player,
        **{name: config[name] for name in ("samples", "symmetric", "model", "prices")},
        "asked_without_history": True,
        "games": {game.probe.rules.name: _game_data(game) for game in report.games},
        "usage": report.prices.data(sum((game.usage for game in report.games), Usage())),
        "notes": list(report.notes),
    }


def _game_data(game: GameProbe) -> dict[str, Any]:
    return {
        "whole": game.probe.whole,
        "complete": game.complete,
        "questions": game.questions,
        "positions": game.positions,
        "failures": game.failures,
        "unanswered": game.unanswered,
        "asked_once": game.asked_once,
        "measure": game.measure,
        f"{key_of(game.measure)}_per_position": interval_data(game.shortfall),
        "exploitability": interval_data(game.exploitability) if game.exploitability else None,
        "exploitability_of_one_round": interval_data(game.one_round) if game.one_round else None,
        "against": {name: interval_data(result) for name, result in game.against.items()},
        "mistakes": [{**each.as_data(), "often": each.often} for each in game.mistakes],
    }


def as_text(report: ProbeReport) -> str:
    """The report for a terminal."""
    return _document(report).text()


def as_page(report: ProbeReport) -> str:
    """The report as one self-contained HTML page."""
    return _document(report).html()


def _document(report: ProbeReport) -> Document:
    mirrored = "; of two mirror images one was, and its answer counts for both" * report.config["symmetric"]
    introduction = f"{report.player}, asked about positions without history{mirrored}."
    blocks = [block for game in report.games for block in _game_blocks(game)]
    return Document(
        f"Probe: {report.player}",
        f"{introduction} All numbers are in points of a hundred.",
        _summary(report),
        [*blocks, Prose(_usage_told(report), "Cost")],
    )


def _usage_told(report: ProbeReport) -> list[str]:
    """How a model was asked and what its replies took; nothing of players that are none."""
    spending, used = report.spending, report.spending.used
    if not used.requests:
        return []
    cost = report.prices.told(used)
    wait = f"{spending.seconds / used.requests:.1f} seconds on average"
    sent, back = tokens(used.prompt, used), tokens(used.completion, used)
    told = (
        f"{used.requests} of {spending.sent} requests had a reply, after {wait}: {sent} tokens in, {back} out"
    )
    return [asked_how(report.config["model"]), f"{told}{cost and f', cost {cost}'}."]


def _summary(report: ProbeReport) -> list[str]:
    """A sentence or two for each game, and what it cost."""
    limited = bool(report.config["model"].get("max_tokens"))
    return [*map(_in_short, report.games), *report.spending.told("It", report.prices, limited), *report.notes]


def _in_short(game: GameProbe) -> str:
    """How good the player is at a game, where it goes wrong, and how sure that is."""
    name = game.probe.rules.name
    if not game.positions:
        return f"{name}: nothing is answered yet."
    wrong = sum(short > _NOTHING for short in game.shortfalls.values())
    mixes = game.measure == BELOW_THE_MIXTURE
    manners = {} if mixes else game.manners
    points_each = f"{_shown_points(game)} points {'below the mixture ' * mixes}per position"
    once = game.asked_once
    told = [f"{name}: it {'chooses' if mixes else 'gives away'} {points_each}{most_when(manners)}."]
    if not game.shortfalls:
        told = [f"{name}: it answered no question."]
    elif not mixes:
        told.append(f"It {'erred' if once else 'errs'} in {wrong} of {len(game.shortfalls)} positions.")
    if game.exploitability:
        who = "Of these answers the" if once else "The"
        told.append(f"{who} best opponent wins {_shown(game.exploitability)} points beyond its due.")
    if game.against:
        it = "With them it" if once else "It"
        beaten = [other for other, result in game.against.items() if result.is_above(_EVEN)]
        beats = [other for other, result in game.against.items() if result.is_below(_EVEN)]
        told += [f"{it} beats {', '.join(beaten)}."] * bool(beaten)
        told += [f"{it} loses to {', '.join(beats)}."] * bool(beats)
    if once:
        told.append(_asked_once(game))
    if game.failed:
        given_up = f", {game.unanswered} stayed unanswered" if game.unanswered else ""
        told.append(f"{game.failed} of {game.questions} questions had a failure{given_up}.")
    if not game.complete:
        told.append("Not all is answered yet.")
    return " ".join(told)


def _game_blocks(game: GameProbe) -> Iterator[Block]:
    title, asked = _asked(game)
    yield Prose([asked, *_numbers(game)], title)
    results = [_shown(result, 1) for result in game.against.values()]
    rows = [["gets", *results]] if results else []
    yield Table("Results against known opponents", ["against", *game.against], rows)
    yield Boards("Worst positions", game.mistakes)


def _asked(game: GameProbe) -> tuple[str, str]:
    """The game, and what was asked."""
    rules = game.probe.rules
    what = "every position that matters" if game.probe.whole else "positions drawn from good play"
    if not game.complete:
        what = "not finished"
    failures = by_class(game.failures) or "none"
    unanswered = f"; unanswered: {game.unanswered}" if game.unanswered else ""
    asked = f"{game.questions} questions, {what}; failed attempts: {failures}{unanswered}"
    return f"{rules.game.title} ({rules.name})", asked


def _numbers(game: GameProbe) -> list[str]:
    """What was found, a line each."""
    lines = [f"{name_of(game.measure).capitalize()} per position: {_shown_points(game)}"]
    lines += filter(None, [said_of(game.measure)])
    if not game.complete:
        lines.append(_NOT_ALL)
    if game.exploitability:
        lines.append(f"Exploitability: {_shown(game.exploitability)}")
    if game.one_round:
        lines.append(f"Exploitability if play ends with the first {game.round}: {_shown(game.one_round)}")
    if game.unanswered:
        lines.append(_UNANSWERED if game.probe.whole else "Unanswered questions are not in it.")
    if game.asked_once and game.exploitability:
        lines.append("Exploitability and results are exact for a player that always answers the same.")
    return lines


def _asked_once(game: GameProbe) -> str:
    """What one answer to each question leaves open."""
    if game.sort == MODEL:
        return "Asked once each: what it answers another time is not known (use --samples 4)."
    return "Exact if it always answers the same (else use --samples 4)."


_NOT_ALL = (
    "Not all is answered yet. To go on, call the command again, with a larger --budget if one is spent."
)
_UNANSWERED = (
    "A question without an answer forfeits the match: it counts so in exploitability and results, and not in "
    "the loss per position."
)


def _shown_points(game: GameProbe) -> str:
    if not game.shortfalls:
        return "–"
    return points(game.shortfall) if game.shortfall.margin else f"{100 * game.shortfall.estimate:.2f}"


def _shown(interval: Interval, digits: int = 2) -> str:
    return percent(interval) if interval.margin else f"{100 * interval.estimate:.{digits}f}"
