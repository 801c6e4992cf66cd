"""Tasks that ask about single positions: exams and probes."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import nan, sqrt
from random import Random
from typing import Any

from duels.arena.confidence import Interval
from duels.arena.config import MODEL, ProbeConfig
from duels.arena.exam import ExamPosition, SamplingShare, draw_positions, estimate_sampling_variance
from duels.arena.probe import ProbeQuestion, collect_answers, is_exhaustive, make_answer_row
from duels.arena.probe_report import report_game
from duels.core.errors import BadOption, require_extra
from duels.core.rules import AnyRules, AnySight
from duels.games import find_game
from duels.integrations.inspect.chat import ModelChat
from duels.players.completions import Reply, Usage
from duels.players.failures import Answer, NoMove
from duels.players.prompt import PROMPT_VERSION
from duels.players.text_player import Conditions, TextPlayer, check_disguise
from duels.solving.oracles import get_oracle

with require_extra("inspect"):
    from inspect_ai import SampleSource, Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver

_RESULT = "duels"
"""The key of an answer in a sample's store."""
_UNITS = SamplingShare(0, 1.0, 1.0)


@lru_cache(maxsize=8)
def _make_rules(game: str, options: tuple[tuple[str, Any], ...]) -> AnyRules:
    return find_game(game).rules(**dict(options))


@lru_cache(maxsize=8)
def _draw(rules: AnyRules, count: int, seed: str) -> list[ExamPosition]:
    return draw_positions(rules, count, seed)


def _make_sample(sight: AnySight, conditions: Conditions, sample_id: str, metadata: dict[str, Any]) -> Sample:
    position = sight.rules.format_position(sight)
    return Sample(
        id=sample_id,
        input=f"{sight.rules.name}, Player {sight.seat.value}: {position}",
        metadata={"position": position, "seat": sight.seat.value, **metadata, "conditions": vars(conditions)},
    )


FindSight = Callable[[Mapping[str, Any]], AnySight]
"""Finds the position of a sample by its metadata."""


@solver
def answer_question(find_sight: FindSight) -> Solver:
    """Ask about the position of a sample, with retries."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sight, conditions = find_sight(state.metadata), Conditions(**state.metadata["conditions"])
        player, chat = (
            TextPlayer(MODEL, sight.rules, conditions),
            ModelChat(get_model(), conditions.form),
        )
        answer: object = player.ask(sight, Random(f"{state.metadata['seed']} {state.sample_id}"))
        while not isinstance(answer, Answer | NoMove):
            text, finish, call_id = await chat.ask(player.messages)
            state.messages, state.output = [*chat.messages], chat.output or state.output
            answer = player.reply(Reply(text, finish, call_id=call_id))
        question = ProbeQuestion(sight, state.metadata["position"], state.metadata.get("sample", 0))
        requests = sum(message.role == "assistant" for message in chat.messages)
        state.store.set(_RESULT, make_answer_row(question, answer, Usage(requests=requests)))
        state.completed = True
        return state

    return solve


def _grade(sight: AnySight, row: Mapping[str, Any]) -> dict[str, float]:
    """Return what an answer loses. Without a valid answer, the value of the position is lost."""
    oracle = get_oracle(sight.rules)
    verdict = oracle.judge(sight)
    shortfalls = dict(zip(map(sight.rules.format, sight.actions), oracle.shortfalls(verdict), strict=True))
    loss = verdict.value.number if row["action"] is None else shortfalls[row["action"]]
    return {"loss": loss, "failures": float(len(row["failures"])), "forfeit": float(row["action"] is None)}


async def _score(state: TaskState, find_sight: FindSight) -> Score:
    row = state.store.get(_RESULT)
    if not row:
        return Score.unscored(reason="no_response", explanation="The question was not answered.")
    return Score(
        value=_grade(find_sight(state.metadata), row), answer=row["action"] or "", metadata={"answer": row}
    )


def _make_task(name: str, dataset: list[Sample] | SampleSource, find_sight: FindSight, grade: Scorer) -> Task:
    return Task(
        name=name,
        dataset=dataset,
        solver=answer_question(find_sight),
        scorer=grade,
        score_on_error=True,
        metadata={"prompt": PROMPT_VERSION},
        version=PROMPT_VERSION,
    )


# -- exams -----------------------------------------------------------------------------------------------


def _find_exam_sight(metadata: Mapping[str, Any]) -> AnySight:
    rules = _make_rules(metadata["game"], tuple(metadata["options"].items()))
    position: ExamPosition = _draw(rules, metadata["positions"], metadata["seed"])[metadata["number"]]
    return position.sight


def _read_results(scores: list[SampleScore]) -> list[tuple[SamplingShare, float]]:
    results = []
    for each in scores:
        share = (each.sample_metadata or {}).get("share")
        results.append((SamplingShare(**share) if share else _UNITS, each.score.as_float()))
    return results


@metric
def weighted_mean() -> Metric:
    """Return the mean over good play, estimated from the weighted sample of positions."""

    def compute(scores: list[SampleScore]) -> float:
        results = _read_results(scores)
        total = sum(share.weight for share, _ in results)
        return sum(share.weight * result for share, result in results) / total if total else nan

    return compute


@metric
def weighted_stderr() -> Metric:
    """Return the standard error of the weighted mean due to the sampling of positions (Hájek)."""

    def compute(scores: list[SampleScore]) -> float:
        variance = estimate_sampling_variance(_read_results(scores))
        return nan if variance is None else sqrt(variance)

    return compute


@scorer(metrics={"*": [weighted_mean(), weighted_stderr()]})
def grade_answer() -> Scorer:
    """Score an answer: `loss`, `failures` and `forfeit`."""

    async def score(state: TaskState, target: Target) -> Score:
        return await _score(state, _find_exam_sight)

    return score


@task
def exam(
    game: str,
    positions: int = 200,
    seed: str | int = "1",
    options: dict[str, Any] | None = None,
    form: str = Conditions.form,
    show_actions: bool = Conditions.show_actions,
    mirror: bool = Conditions.mirror,
    relabel: bool = Conditions.relabel,
    retries: int = Conditions.retries,
) -> Task:
    """Ask about positions of good play, those of `duels exam` with the same seed."""
    conditions = Conditions(
        form=form, show_actions=show_actions, mirror=mirror, relabel=relabel, retries=retries
    )
    rules = find_game(game).rules(**(options or {}))
    check_disguise(rules, conditions)
    exam_data = {"game": game, "options": rules.options(), "positions": positions, "seed": str(seed)}
    drawn = _draw(_make_rules(game, tuple(rules.options().items())), positions, str(seed))
    samples = [
        _make_sample(
            position.sight,
            conditions,
            str(number),
            {**exam_data, "number": number, "share": vars(position.share)},
        )
        for number, position in enumerate(drawn)
    ]
    return _make_task(f"exam-{game}", samples, _find_exam_sight, grade_answer())


# -- probes ----------------------------------------------------------------------------------------------


def _find_probe_sight(metadata: Mapping[str, Any]) -> AnySight:
    sight: AnySight = find_game(metadata["game"]).rules().parse_position(metadata["position"])
    return sight


def _read_config(metadata: Mapping[str, Any]) -> ProbeConfig:
    settings = {name: metadata[name] for name in ("samples", "symmetric", "seed")}
    return ProbeConfig("random", (metadata["game"],), **settings)  # the samples' answers replace the player


class ProbeSource(SampleSource):
    """The questions of a probe: each wave asks about the positions that the answers so far lead to."""

    def __init__(self, config: ProbeConfig, conditions: Conditions) -> None:
        self._config, self._conditions = config, conditions
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._question_keys: set[str] = set()

    def initial_samples(self) -> list[Sample]:
        """Return the first questions."""
        return self._find_new_questions()

    async def next_samples(self) -> list[Sample] | None:
        """Return the questions that the answers lead to, or None at the end."""
        return self._find_new_questions() or None

    async def sample_complete(self, sample: EvalSample) -> None:
        """Keep the answer of a sample."""
        if row := (sample.store or {}).get(_RESULT):
            self._answers[row["key"]] = row

    def _find_new_questions(self) -> list[Sample]:
        samples: list[Sample] = []

        def ask(questions: list[ProbeQuestion]) -> Mapping[str, Mapping[str, Any]]:
            new = [question for question in questions if question.key not in self._question_keys]
            samples.extend(map(self._make_sample, new))
            self._question_keys.update(question.key for question in new)
            return {each.key: self._answers[each.key] for each in questions if each.key in self._answers}

        collect_answers(self._config, find_game(self._config.games[0]).rules(), ask)
        return samples

    def _make_sample(self, question: ProbeQuestion) -> Sample:
        settings = {name: getattr(self._config, name) for name in ("samples", "symmetric", "seed")}
        metadata = {"game": question.sight.rules.name, "sample": question.sample, **settings}
        return _make_sample(question.sight, self._conditions, question.key, metadata)


@metric
def exploitability() -> Metric:
    """Return what the best opponent gains over a fair share, with its interval; NaN until all is answered."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        rows = {row["key"]: row for each in scores if (row := (each.score.metadata or {}).get("answer"))}
        if not rows:
            return _name_bounds(None)
        config = _read_config(scores[0].sample_metadata or {})

        def find(questions: list[ProbeQuestion]) -> Mapping[str, Mapping[str, Any]]:
            return {each.key: rows[each.key] for each in questions if each.key in rows}

        probe = collect_answers(config, find_game(config.games[0]).rules(), find)
        result = None if probe.missing else report_game(probe, MODEL, MODEL).exploitability
        return _name_bounds(result)

    return compute


def _name_bounds(interval: Interval | None) -> dict[str, float]:
    names = {"exploitability": "estimate", "exploitability_low": "low", "exploitability_high": "high"}
    return {name: getattr(interval, field, nan) for name, field in names.items()}


@scorer(metrics=[{"*": [mean(), stderr()]}, exploitability()])
def grade_probe() -> Scorer:
    """Score an answer: `loss`, `failures` and `forfeit`; over all answers, the exploitability."""

    async def score(state: TaskState, target: Target) -> Score:
        return await _score(state, _find_probe_sight)

    return score


@task
def probe(
    game: str,
    samples: int = 1,
    symmetric: bool = False,
    seed: str | int = "1",
    form: str = Conditions.form,
    show_actions: bool = Conditions.show_actions,
    mirror: bool = Conditions.mirror,
    relabel: bool = Conditions.relabel,
    retries: int = Conditions.retries,
) -> Task:
    """Ask about every position that an opponent can reach, like `duels arena probe`.

    Raises BadOption for large games, about which `exam` asks a sample.
    """
    conditions = Conditions(
        form=form, show_actions=show_actions, mirror=mirror, relabel=relabel, retries=retries
    )
    rules = find_game(game).rules()
    check_disguise(rules, conditions)
    if not is_exhaustive(rules):
        raise BadOption(f"{game} is too large to ask about every position: use duels/exam -T game={game}.")
    config = ProbeConfig("random", (game,), samples, symmetric=symmetric, seed=str(seed))
    return _make_task(f"probe-{game}", ProbeSource(config, conditions), _find_probe_sight, grade_probe())
