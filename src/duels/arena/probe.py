"""Probes: questions to a player about positions, which cost less than matches.

In a small game a probe asks about every position that an opponent can reach against the answers so far.
Results against any opponent and the exploitability then follow exactly. In other games it asks about
positions drawn from good play. Questions about a small game have no history.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from duels.arena.config import ProbeConfig
from duels.arena.exam import draw_positions
from duels.arena.folder import Folder
from duels.arena.logs import SYNC_NOW, SYNC_SOON, VERSION, Log, Row
from duels.arena.models import BudgetMeter, QuestionRunner
from duels.arena.pool import PlayerCache, make_program_check
from duels.core.errors import BadOption
from duels.core.extras import require_extra
from duels.core.rules import AnyRules, AnySight, OpenRules, Seat
from duels.games import find_game
from duels.play.step import DecisionRequest, ask_player
from duels.players.completions import Usage
from duels.players.endpoint import Endpoint
from duels.players.failures import Answer, NoMove
from duels.players.model import Mirror, ModelPlayer
from duels.solving.progress import Progress, no_progress

with require_extra("arena"):
    from duels.analysis.grading import has_state_table


@dataclass
class Probe:
    """Questions and answers in one game. Keys are a seat and a position in notation."""

    rules: AnyRules
    is_exhaustive: bool
    """Whether every position that can occur was asked, rather than drawn positions."""
    sights: dict[tuple[Seat, str], AnySight] = field(default_factory=dict)
    answers: dict[tuple[Seat, str], list[Row]] = field(default_factory=dict)
    weights: dict[tuple[Seat, str], float] = field(default_factory=dict)
    missing: int = 0
    """Questions without an answer so far."""

    def get_policy(self, key: tuple[Seat, str]) -> dict[Any, float]:
        return estimate_policy(self.answers[key], self.sights[key])


def estimate_policy(answers: list[Row], sight: AnySight) -> dict[Any, float]:
    """Estimate a policy from answers. It sums to less than 1 if some questions had no answer."""
    rules = sight.rules
    policy: dict[Any, float] = defaultdict(float)
    for answer in answers:
        if answer["policy"]:
            for text, chance in answer["policy"].items():
                policy[rules.parse(text)] += chance / len(answers)
        elif answer["action"] is not None:
            policy[rules.parse(answer["action"])] += 1 / len(answers)
    return dict(policy)


def run_probe(config: ProbeConfig, out: Path, progress: Progress = no_progress) -> Folder:
    """Ask the missing questions of a probe, which may be new or interrupted.

    Raises BadOption if `symmetric` does not apply to a game, DuelsError if the folder belongs to another run
    or a program does not start.
    """
    if config.symmetric:
        for game in config.games:
            rules = find_game(game).rules()
            if not _is_exhaustive(rules):
                only = "--symmetric works only in games where every position is asked"
                raise BadOption(f"{only}, and {rules.name} is too large.")
            Mirror.of(rules)
    check = make_program_check(config.make_run_config(), out)
    with (
        Folder.open_locked(out, config) as folder,
        closing(_ProbeSession(config, folder, progress, check)) as session,
    ):
        for game in config.games:
            collect_answers(config, find_game(game).rules(), session.ask, progress)
        folder.unfinished = tuple(dict.fromkeys(session.interruptions))
        folder.is_spent = session.budget_meter.is_spent
    return folder


def _is_exhaustive(rules: AnyRules) -> bool:
    """Whether a game is small enough to ask about every position."""
    return isinstance(rules, OpenRules) and has_state_table(rules)


def iter_probes(folder: Folder, progress: Progress = no_progress) -> Iterator[Probe]:
    """Yield the logged answers of each game; nobody is asked."""
    rows, config = folder.load_rows(), folder.config
    settings = {name: config[name] for name in ("samples", "positions", "symmetric", "seed")}
    probe_config = ProbeConfig("random", tuple(config["games"]), **settings)  # any player will do

    def look_up(questions: "list[ProbeQuestion]") -> dict[str, Row]:
        return {each.key: rows[each.key] for each in questions if each.key in rows}

    for game in config["games"]:
        yield collect_answers(probe_config, find_game(game).rules(), look_up, progress)


@dataclass(frozen=True)
class ProbeQuestion:
    sight: AnySight
    position: str
    sample: int

    @property
    def key(self) -> str:
        rules = self.sight.rules
        content = [VERSION, rules.name, sorted(rules.options().items()), self.sight.seat.value]
        return sha256(json.dumps([*content, self.position, self.sample]).encode()).hexdigest()[:32]


Answerer = Callable[[list[ProbeQuestion]], Mapping[str, Row]]
"""Returns the rows of questions by key. It leaves out questions that cannot be answered now."""


def collect_answers(
    config: ProbeConfig, rules: AnyRules, answer: Answerer, progress: Progress = no_progress
) -> Probe:
    """Ask about one game, in waves, until no new position can be reached."""
    probe = Probe(rules, _is_exhaustive(rules))
    if probe.is_exhaustive:
        for seat in Seat:
            _explore(config, probe, seat, answer)
    else:
        for each in draw_positions(rules, config.positions, config.seed, progress):
            probe.weights[each.sight.seat, each.notation] = each.share.weight
            probe.sights[each.sight.seat, each.notation] = each.sight
        _ask_about(config, probe, list(probe.sights.values()), answer)
    return probe


def _explore(config: ProbeConfig, probe: Probe, seat: Seat, answer: Answerer) -> None:
    """Ask about every position of one seat that an opponent can reach."""
    rules = probe.rules
    assert isinstance(rules, OpenRules)
    mirror = Mirror.of(rules) if config.symmetric else None
    seen = {rules.initial()}
    wave = [rules.initial()]
    while wave:
        sights = [rules.sight(state, seat) for state in wave if rules.actor(state) is seat]
        choices = [sight for sight in sights if len(sight.actions) > 1]
        canonical = [sight for sight in choices if _is_canonical(sight, mirror)]
        _ask_about(config, probe, canonical, answer)
        if mirror:
            _add_mirrored_answers(
                probe, [sight for sight in choices if not _is_canonical(sight, mirror)], mirror
            )
        following = []
        for state in wave:
            actions = rules.actions(state)
            if rules.actor(state) is seat and len(actions) > 1:
                key = seat, rules.format_state(state)
                actions = tuple(probe.get_policy(key)) if key in probe.answers else ()
            for action in actions:
                after = rules.apply(state, action).state
                if after not in seen:
                    seen.add(after)
                    following.append(after)
                if mirror and (image := mirror.state(after)) not in seen:
                    seen.add(image)  # a position is answered whenever its mirror image is
                    following.append(image)
        wave = following


def _is_canonical(sight: AnySight, mirror: Mirror | None) -> bool:
    """Whether a position is asked itself, rather than its mirror image."""
    if mirror is None:
        return True
    rules = sight.rules
    return rules.format_position(sight) <= rules.format_position(mirror.sight(sight))


def _add_mirrored_answers(probe: Probe, sights: list[AnySight], mirror: Mirror) -> None:
    for sight in sights:
        rules, image = sight.rules, mirror.sight(sight)
        key = sight.seat, rules.format_position(sight)
        answers = probe.answers.get((sight.seat, rules.format_position(image)))

        def mirror_action(text: str, rules: AnyRules = rules) -> str:
            return rules.format(mirror.action(rules.parse(text)))

        if answers is not None:
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


def _ask_about(config: ProbeConfig, probe: Probe, sights: list[AnySight], answer: Answerer) -> None:
    rules = probe.rules
    questions = [
        ProbeQuestion(sight, rules.format_position(sight), sample)
        for sight in sights
        for sample in range(config.samples)
    ]
    rows = answer(questions)
    for each in questions:
        row = rows.get(each.key)
        if row is None:
            probe.missing += 1
        else:
            key = each.sight.seat, each.position
            probe.sights[key] = each.sight
            probe.answers.setdefault(key, []).append(row)


class _ProbeSession:
    """Asks the player and logs every answer. Logged questions are not asked again."""

    def __init__(
        self, config: ProbeConfig, folder: Folder, progress: Progress, check: Callable[[], None]
    ) -> None:
        self._seed, self._progress, self._check = config.seed, progress, check
        run = config.make_run_config()
        self._name = run.names[0]
        self._model = run.list_models().get(self._name)
        self._rows = dict(folder.load_rows())
        self._log = Log(folder.path, "1", "answers", SYNC_NOW if self._model else SYNC_SOON)
        self._requests = folder.open_request_log("probe") if self._model else None
        self._cache = PlayerCache(run, folder)
        self.budget_meter = BudgetMeter(run, folder)
        self._runner = QuestionRunner(run.model, self.budget_meter)
        self.interruptions = self._runner.interruptions

    def ask(self, questions: list[ProbeQuestion]) -> Mapping[str, Row]:
        missing = [each for each in questions if each.key not in self._rows]
        if missing:
            self._check()
        if missing and self._model:
            asyncio.run(self._runner.run(missing, self._ask_model, self._progress))
        else:
            for each in missing:
                player = self._cache.get_player(each.sight.rules, self._name, each.sight.seat)
                question = DecisionRequest(each.sight.seat, each.sight, self._rng(each))
                self._record(each, ask_player(player, question, by_policy=True), Usage())
        return {each.key: self._rows[each.key] for each in questions if each.key in self._rows}

    def _rng(self, each: ProbeQuestion) -> Random:
        return Random(f"{self._seed} {each.key}")

    async def _ask_model(self, each: ProbeQuestion, endpoint: Endpoint, _number: int) -> None:
        assert self._model
        assert self._requests
        add, context = self._requests.add, {"question": each.key, "position": each.position}
        player = ModelPlayer(self._model, each.sight.rules, endpoint)
        self._record(
            each,
            *await player.decide(each.sight, self._rng(each), lambda request: add({**context, **request})),
        )

    def _record(self, each: ProbeQuestion, answer: Answer | NoMove, used: Usage) -> None:
        rules = each.sight.rules
        action = policy = None
        if isinstance(answer, Answer):
            action = rules.format(answer.action)
            if answer.policy:
                policy = {rules.format(taken): chance for taken, chance in answer.policy.items() if chance}
        row = {
            "v": VERSION,
            "key": each.key,
            "game": rules.name,
            "seat": each.sight.seat.value,
            "position": each.position,
            "sample": each.sample,
            "action": action,
            "policy": policy,
            "failures": [[failed.failure.value, failed.detail] for failed in answer.failed],
            "usage": [used.prompt, used.completion, used.requests],
        }
        self._log.add(row)
        self._rows[each.key] = row
        spent = self.budget_meter.spent
        cost = f", {spent} spent" if used.requests and spent else ""
        self._progress(f"{rules.name}: {len(self._rows)} answers so far, position {each.position}{cost}")

    def close(self) -> None:
        with closing(self._log), closing(self._cache):
            if self._requests:
                self._requests.close()
