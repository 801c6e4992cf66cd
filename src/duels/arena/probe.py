"""Probes: questions to a player about positions, which cost less than matches.

In a small game a probe asks about every position that an opponent can reach, given the answers so far. The
answers then determine the exploitability and the result against any opponent. In other games it asks about
positions sampled from good play. Questions about a small game contain no match history.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from duels.arena.config import ProbeConfig
from duels.arena.exam import draw_positions
from duels.arena.folder import Folder
from duels.arena.logs import SYNC_NOW, SYNC_SOON, Log
from duels.arena.models import BudgetMeter, QuestionRunner
from duels.arena.pool import PlayerCache, make_program_check
from duels.arena.schemas import VERSION, Row, is_legal_answer, make_answer_key
from duels.core.errors import BadOption, require_extra
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.games import find_game
from duels.play.step import DecisionRequest, ask_player
from duels.players.completions import Usage
from duels.players.endpoint import Endpoint
from duels.players.failures import Answer, NoMove
from duels.players.model import ModelPlayer
from duels.players.text_player import Mirror
from duels.solving.oracle import Progress, no_progress

with require_extra("arena"):
    from duels.analysis.grading import has_state_table


PositionKey = tuple[Seat, str]
"""The seat to move and the position in notation."""


@dataclass
class Probe:
    """The questions and answers of one game."""

    rules: AnyRules
    is_exhaustive: bool
    """Whether the probe asks about every position that can occur, rather than a sample."""
    sights: dict[PositionKey, AnySight] = field(default_factory=dict)
    answers: dict[PositionKey, list[Row]] = field(default_factory=dict)
    weights: dict[PositionKey, float] = field(default_factory=dict)
    missing: int = 0
    """Questions without an answer so far."""

    def get_policy(self, key: PositionKey) -> dict[Any, float]:
        return estimate_policy(self.answers[key], self.sights[key])


def estimate_policy(answers: list[Row], sight: AnySight) -> dict[Any, float]:
    """Estimate a policy from answers. Its probabilities sum to less than 1 if some answers are missing."""
    rules = sight.rules
    policy: dict[Any, float] = defaultdict(float)
    for answer in answers:
        if answer["policy"]:
            for text, probability in answer["policy"].items():
                policy[rules.parse(text)] += probability / len(answers)
        elif answer["action"] is not None:
            policy[rules.parse(answer["action"])] += 1 / len(answers)
    return dict(policy)


def run_probe(config: ProbeConfig, out: Path, progress: Progress = no_progress) -> Folder:
    """Start or continue a probe: ask every question that has no answer yet.

    Raises BadOption if `symmetric` does not apply to a game, DuelsError if the folder belongs to another run
    or a program does not start.
    """
    if config.symmetric:
        for game in config.games:
            rules = find_game(game).rules()
            if not is_exhaustive(rules):
                too_large = f"{rules.name} is too large to ask about every position"
                raise BadOption(f"--symmetric cannot be used: {too_large}.")
            Mirror.from_rules(rules)
    check = make_program_check(config.make_run_config(), out)
    with (
        Folder.open_locked(out, config) as folder,
        closing(_ProbeSession(config, folder, progress, check)) as session,
    ):
        for game in config.games:
            collect_answers(config, find_game(game).rules(), session.ask, progress)
        folder.unfinished = tuple(dict.fromkeys(session.interruptions))
        folder.is_spent = session.budget_meter.is_spent
        folder.unfinished += folder.find_new_damage(session.logged)
    return folder


def is_exhaustive(rules: AnyRules) -> bool:
    """Whether a game is small enough to ask about every position."""
    return isinstance(rules, OpenRules) and has_state_table(rules)


def iter_probes(folder: Folder, ask: "Answerer", progress: Progress = no_progress) -> Iterator[Probe]:
    """Yield the probe of each game of a folder, with the answers from `ask`."""
    settings = {name: folder.config[name] for name in ("samples", "positions", "symmetric", "seed")}
    config = ProbeConfig("random", tuple(folder.config["games"]), **settings)  # `ask` replaces the player
    for game in config.games:
        yield collect_answers(config, find_game(game).rules(), ask, progress)


@dataclass(frozen=True)
class ProbeQuestion:
    """One of `samples` requests for a move in a position."""

    sight: AnySight
    position: str
    sample: int

    @property
    def key(self) -> str:
        return make_answer_key(self.sight.rules, self.sight.seat.value, self.position, self.sample)

    def make_request(self, seed: str) -> DecisionRequest:
        """Return the request to a player. Its random numbers do not depend on the order of questions."""
        return DecisionRequest(self.sight.seat, self.sight, Random(f"{seed} {self.key}"))


def find_answers(folder: Folder, rows: dict[str, Row], questions: list[ProbeQuestion]) -> dict[str, Row]:
    """Return the logged answers to questions. An answer that is not legal counts as damaged."""
    answers = {}
    for question in questions:
        row = rows.get(question.key)
        while row and not is_legal_answer(row, question.sight):
            row = folder.skip_row(question.key)
        if row:
            answers[question.key] = row
    return answers


Answerer = Callable[[list[ProbeQuestion]], Mapping[str, Row]]
"""Returns the answers to questions, by key. Questions that cannot be answered now are left out."""


def collect_answers(
    config: ProbeConfig, rules: AnyRules, ask: Answerer, progress: Progress = no_progress
) -> Probe:
    """Ask about positions of one game and return the answers."""
    probe = Probe(rules, is_exhaustive(rules))
    if probe.is_exhaustive:
        for seat in Seat:
            _explore(config, probe, seat, ask)
    else:
        for position in draw_positions(rules, config.positions, config.seed, progress):
            key = position.sight.seat, position.notation
            probe.weights[key], probe.sights[key] = position.share.weight, position.sight
        _ask_about(config, probe, list(probe.sights.values()), ask)
    return probe


def _explore(config: ProbeConfig, probe: Probe, seat: Seat, ask: Answerer) -> None:
    """Ask about every position of a seat that an opponent can reach, one wave of positions at a time."""
    rules = probe.rules
    assert isinstance(rules, OpenRules)
    mirror = Mirror.from_rules(rules) if config.symmetric else None
    visited = {rules.initial()}
    wave = [rules.initial()]
    while wave:
        sights = [rules.sight(state, seat) for state in wave if rules.actor(state) is seat]
        choices = [sight for sight in sights if len(sight.actions) > 1]
        canonical = [sight for sight in choices if _is_canonical(sight, mirror)]
        _ask_about(config, probe, canonical, ask)
        if mirror:
            images = [sight for sight in choices if not _is_canonical(sight, mirror)]
            _add_mirrored_answers(probe, images, mirror)
        next_wave = []
        for state in wave:
            actions = rules.actions(state)
            if rules.actor(state) is seat and len(actions) > 1:
                key = seat, rules.format_state(state)
                actions = tuple(probe.get_policy(key)) if key in probe.answers else ()
            for action in actions:
                successor = rules.apply(state, action).state
                if successor not in visited:
                    visited.add(successor)
                    next_wave.append(successor)
                if mirror and (image := mirror.state(successor)) not in visited:
                    visited.add(image)  # a state and its image share one answer, but both are explored
                    next_wave.append(image)
        wave = next_wave


def _is_canonical(sight: AnySight, mirror: Mirror | None) -> bool:
    """Whether the player is asked about this position, rather than about its mirror image."""
    if mirror is None:
        return True
    rules = sight.rules
    return rules.format_position(sight) <= rules.format_position(mirror.sight(sight))


def _add_mirrored_answers(probe: Probe, sights: list[AnySight], mirror: Mirror) -> None:
    rules = probe.rules

    def mirror_action(text: str) -> str:
        return rules.format(mirror.action(rules.parse(text)))

    for sight in sights:
        answers = probe.answers.get((sight.seat, rules.format_position(mirror.sight(sight))))
        if answers is not None:
            key = sight.seat, rules.format_position(sight)
            probe.sights[key] = sight
            probe.answers[key] = [
                {
                    **each,
                    "action": mirror_action(each["action"]) if each["action"] else None,
                    "policy": each["policy"] and {mirror_action(a): p for a, p in each["policy"].items()},
                    "failures": [],
                    "reflected": True,
                }
                for each in answers
            ]


def _ask_about(config: ProbeConfig, probe: Probe, sights: list[AnySight], ask: Answerer) -> None:
    rules = probe.rules
    questions = [
        ProbeQuestion(sight, rules.format_position(sight), sample)
        for sight in sights
        for sample in range(config.samples)
    ]
    rows = ask(questions)
    for question in questions:
        row = rows.get(question.key)
        if row is None:
            probe.missing += 1
        else:
            key = question.sight.seat, question.position
            probe.sights[key] = question.sight
            probe.answers.setdefault(key, []).append(row)


def make_answer_row(question: ProbeQuestion, answer: Answer | NoMove, usage: Usage) -> Row:
    """Return the row for the log."""
    rules = question.sight.rules
    action = policy = None
    if isinstance(answer, Answer):
        action = rules.format(answer.action)
        if answer.policy:
            policy = {rules.format(choice): odds for choice, odds in answer.policy.items() if odds}
    return {
        "v": VERSION,
        "key": question.key,
        "game": rules.name,
        "seat": question.sight.seat.value,
        "position": question.position,
        "sample": question.sample,
        "action": action,
        "policy": policy,
        "failures": [[error.failure.value, error.detail] for error in answer.failed],
        "usage": [usage.prompt, usage.completion, usage.requests],
    }


class _ProbeSession:
    """Asks the player and logs every answer. Logged questions are not asked again."""

    def __init__(
        self, config: ProbeConfig, folder: Folder, progress: Progress, check: Callable[[], None]
    ) -> None:
        self._seed, self._progress, self._check = config.seed, progress, check
        run = config.make_run_config()
        self._name = run.names[0]
        self._model = run.list_models().get(self._name)
        self._folder, self._rows = folder, folder.load_rows()
        self._log = Log(folder.path, "1", "answers", SYNC_NOW if self._model else SYNC_SOON)
        self._requests = folder.open_request_log("probe") if self._model else None
        self._cache = PlayerCache(run, folder)
        self.budget_meter = BudgetMeter(run, folder)
        self._runner = QuestionRunner(run.model, self.budget_meter)
        self.interruptions = self._runner.interruptions

    @property
    def logged(self) -> set[str]:
        return set(self._rows)

    def ask(self, questions: list[ProbeQuestion]) -> Mapping[str, Row]:
        answers = find_answers(self._folder, self._rows, questions)
        missing = [question for question in questions if question.key not in answers]
        if missing:
            self._check()
        if missing and self._model:
            asyncio.run(self._runner.run(missing, self._ask_model, self._progress))
        else:
            for question in missing:
                player = self._cache.get_player(question.sight.rules, self._name, question.sight.seat)
                answer = ask_player(player, question.make_request(self._seed), by_policy=True)
                self._record(question, answer, Usage())
        return {each.key: self._rows[each.key] for each in questions if each.key in self._rows}

    async def _ask_model(self, question: ProbeQuestion, endpoint: Endpoint, _task_number: int) -> None:
        assert self._model
        assert self._requests
        log, request = self._requests, question.make_request(self._seed)
        context = {"question": question.key, "position": question.position}
        player = ModelPlayer(self._model, question.sight.rules, endpoint)
        decision = await player.decide(request.sight, request.rng, lambda row: log.add({**context, **row}))
        self._record(question, *decision)

    def _record(self, question: ProbeQuestion, answer: Answer | NoMove, usage: Usage) -> None:
        row = make_answer_row(question, answer, usage)
        self._log.add(row)
        self._rows[question.key] = row
        spent = self.budget_meter.spent
        cost = f", {spent} spent" if usage.requests and spent else ""
        self._progress(f"{row['game']}: {len(self._rows)} answers so far, position {question.position}{cost}")

    def close(self) -> None:
        with closing(self._log), closing(self._cache):
            if self._requests:
                self._requests.close()
