"""Tasks that ask about single positions: exams and probes."""

from collections.abc import Callable, Mapping
from math import nan, sqrt
from random import Random
from typing import Any

from duels.arena.confidence import Interval
from duels.arena.config import MODEL, ProbeConfig
from duels.arena.exam import SamplingShare, draw_positions, estimate_sampling_variance
from duels.arena.probe import ProbeQuestion, collect_answers, is_exhaustive, make_answer_row
from duels.arena.probe_report import report_game
from duels.arena.text_seat import parse_conditions
from duels.core.errors import BadOption, require_extra
from duels.core.rules import AnyRules, AnySight
from duels.games import find_game
from duels.integrations.inspect.chat import ModelChat
from duels.integrations.inspect.samples import SCORE, end_sample, make_task
from duels.players.completions import Reply, Usage
from duels.players.failures import Answer, NoMove
from duels.players.text_player import NO_MEMORY, Conditions, TextPlayer, check_disguise
from duels.solving.oracles import get_oracle

with require_extra("inspect"):
    from inspect_ai import SampleSource, Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import Metric, SampleScore, mean, metric, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver


def _make_sample(sight: AnySight, conditions: Conditions, sample_id: str, **metadata: Any) -> Sample:
    game, seat, position = sight.rules.name, sight.seat.value, sight.rules.format_position(sight)
    described = {"game": game, "seat": seat, "position": position, "conditions": vars(conditions)}
    return Sample(
        id=sample_id, input=f"{game}, Player {seat}: {position}", metadata={**described, **metadata}
    )


FindSight = Callable[[Mapping[str, Any]], AnySight]
"""Finds the position of a sample by its metadata."""


@solver
def answer_question(find_sight: FindSight) -> Solver:
    """Ask about the position of a sample, with retries."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sight, conditions = find_sight(state.metadata), Conditions(**state.metadata["conditions"])
        player = TextPlayer(MODEL, sight.rules, conditions)
        chat = ModelChat(get_model(), conditions.form)
        answer: object = player.ask(sight, Random(f"{state.metadata['seed']} {state.sample_id}"))
        while not isinstance(answer, Answer | NoMove):
            text, finish, call_id = await chat.ask(player.messages)
            state.messages, state.output = [*chat.messages], chat.output or state.output
            answer = player.reply(Reply(text, finish, call_id=call_id))
        question = ProbeQuestion(sight, state.metadata["position"], state.metadata.get("sample", 0))
        requests = sum(message.role == "assistant" for message in chat.messages)
        row = make_answer_row(question, answer, Usage(requests=requests))
        end_sample(state, _grade(sight, row), row["action"] or "", row=row)
        return state

    return solve


def _grade(sight: AnySight, row: Mapping[str, Any]) -> dict[str, float]:
    """Return what an answer loses. Without a valid answer, the value of the position is lost."""
    oracle = get_oracle(sight.rules)
    verdict = oracle.judge(sight)
    shortfalls = dict(zip(map(sight.rules.format, sight.actions), oracle.shortfalls(verdict), strict=True))
    loss = verdict.value.number if row["action"] is None else shortfalls[row["action"]]
    return {"loss": loss, "failures": float(len(row["failures"])), "forfeit": float(row["action"] is None)}


def _parse_conditions(rules: AnyRules, values: Mapping[str, Any]) -> Conditions:
    conditions = parse_conditions(values)
    check_disguise(rules, conditions)
    if conditions.memory != NO_MEMORY:
        raise BadOption("Each position is asked about afresh: leave out memory.")
    return conditions


# -- exams -----------------------------------------------------------------------------------------------


def _read_results(scores: list[SampleScore]) -> list[tuple[SamplingShare, float]]:
    return [
        (SamplingShare(**(each.sample_metadata or {})["share"]), each.score.as_float()) for each in scores
    ]


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


@task
def exam(
    game: str,
    positions: int = 200,
    seed: str | int = "1",
    options: dict[str, Any] | None = None,
    **conditions: Any,
) -> Task:
    """Ask about positions from good play, the same as in `duels exam` with the same seed."""
    rules = find_game(game).rules(**(options or {}))
    allowed = _parse_conditions(rules, conditions)
    drawn = draw_positions(rules, positions, str(seed))
    samples = [
        _make_sample(
            position.sight,
            allowed,
            str(number),
            seed=str(seed),
            number=number,
            share=vars(position.share),
        )
        for number, position in enumerate(drawn)
    ]
    return make_task(
        name=f"exam-{game}",
        dataset=samples,
        solver=answer_question(lambda metadata: drawn[metadata["number"]].sight),
        metrics={"*": [weighted_mean(), weighted_stderr()]},
    )


# -- probes ----------------------------------------------------------------------------------------------


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
        if stored := sample.store.get(SCORE):
            row = stored["metadata"]["row"]
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
        seed, number = self._config.seed, question.sample
        return _make_sample(question.sight, self._conditions, question.key, seed=seed, sample=number)


def _make_config(game: str, settings: Mapping[str, Any]) -> ProbeConfig:
    return ProbeConfig("random", (game,), **settings)  # the samples' answers replace the player


@metric
def exploitability(game: str, **settings: Any) -> Metric:
    """Return the best opponent's gain over its fair share, and the interval; NaN if an answer is missing.

    `settings` are fields of ProbeConfig.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        rows = {row["key"]: row for each in scores if (row := (each.score.metadata or {}).get("row"))}

        def find(questions: list[ProbeQuestion]) -> Mapping[str, Mapping[str, Any]]:
            return {each.key: rows[each.key] for each in questions if each.key in rows}

        probe = collect_answers(_make_config(game, settings), find_game(game).rules(), find)
        result = None if probe.missing else report_game(probe, MODEL, MODEL).exploitability
        return _name_bounds(result)

    return compute


def _name_bounds(interval: Interval | None) -> dict[str, float]:
    names = {"exploitability": "estimate", "exploitability_low": "low", "exploitability_high": "high"}
    return {name: getattr(interval, field, nan) for name, field in names.items()}


@task
def probe(
    game: str, samples: int = 1, symmetric: bool = False, seed: str | int = "1", **conditions: Any
) -> Task:
    """Ask about every position that an opponent can reach, like `duels arena probe`.

    Raises BadOption for games that are too large; use `exam` for these.
    """
    rules = find_game(game).rules()
    allowed = _parse_conditions(rules, conditions)
    if not is_exhaustive(rules):
        raise BadOption(f"{game} is too large to ask about every position: use duels/exam -T game={game}.")
    settings = {"samples": samples, "symmetric": symmetric, "seed": str(seed)}
    return make_task(
        name=f"probe-{game}",
        dataset=ProbeSource(_make_config(game, settings), allowed),
        solver=answer_question(lambda metadata: rules.parse_position(metadata["position"])),
        metrics=[{"*": [mean(), stderr()]}, exploitability(game, **settings)],
    )
