"""Tasks of inspect_ai, offline: a mock model with given replies and usage."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.arena.config import ProbeConfig
from duels.arena.exam import draw_positions, estimate_score
from duels.arena.folder import Folder
from duels.arena.probe import run_probe
from duels.arena.probe_report import make_report
from duels.core.errors import NotationError
from duels.core.rules import AnySight
from duels.games import GAMES, find_game
from duels.integrations.tasks import make_rows
from duels.play.new_match import add_machine_limit
from duels.players import make_player
from duels.solving.oracles import get_oracle
from tests.integrations.one_game import PlayedMatch, dump, make_replies, make_task, play_at_seat
from tests.integrations.test_one_game import CASES

pytestmark = pytest.mark.slow
inspect_ai = pytest.importorskip("inspect_ai", reason="make integrations-test installs it")

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
Think = Callable[[list[Any]], str]
"""Maps the messages of a request to the text of a reply."""


def make_model(think: Think, name: str = "model", form: str = "text") -> Any:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def reply(messages: list[Any], tools: list[Any], choice: Any, config: Any) -> Any:
        assert [tool.name for tool in tools] == ["play"] * (form == "tool")
        text = think(messages)
        output = ModelOutput.from_content("mockllm/model", text)
        if form == "tool":
            output = ModelOutput.for_tool_call("mockllm/model", "play", json.loads(text))
        output.usage = ModelUsage(input_tokens=9, output_tokens=3, total_tokens=12)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def evaluate(task: str, model: Any, folder: Path, roles: Any = None, **arguments: Any) -> Any:
    (log,) = inspect_ai.eval(
        task,
        model=model,
        model_roles=roles,
        task_args=arguments,
        log_dir=str(folder),
        display="none",
        max_samples=1,
    )
    return log


def get_metrics(log: Any) -> dict[str, dict[str, float]]:
    """Return the metrics by score and name."""
    return {
        score.name: {name.removeprefix("duels/"): each.value for name, each in score.metrics.items()}
        for score in log.results.scores
    }


def read_sight(messages: list[Any]) -> AnySight:
    (game,) = (game for game in GAMES.values() if game.rules_text() in messages[0].text)
    position = re.findall(r"^In notation: (.*)$", messages[-1].text, re.MULTILINE)[-1]
    try:
        return game.rules().parse_position(position)
    except NotationError:  # matches of bots have a limit, which the position counts
        return add_machine_limit(game.rules()).parse_position(position)


def play_like(level: str) -> Think:
    """Return a model that plays like one of our players, by the prompt alone."""

    def think(messages: list[Any]) -> str:
        sight = read_sight(messages)
        action = make_player(level, sight.rules).choose(sight, Random(messages[-1].text))
        return json.dumps({"action": sight.rules.format(action)})

    return think


@pytest.mark.parametrize(("game", "conditions"), CASES)
def test_inspect_plays_the_same_game(game: str, conditions: dict[str, Any], tmp_path: Path) -> None:
    replies, requests = make_replies(game, 1), list[list[dict[str, Any]]]()

    def think(messages: list[Any]) -> str:
        requests.append([{"role": each.role, "content": each.text} for each in messages])
        return replies[len(requests) - 1]

    tasks = [make_task(game, seat, **conditions) for seat in (1, 2)]
    arguments = {"retries": tasks[0].conditions.retries, "options": dict(tasks[0].options), **conditions}
    log = evaluate(f"duels/{game}", make_model(think), tmp_path, matches=2, **arguments)
    assert log.status == "success"
    for task, sample in zip(tasks, log.samples, strict=True):
        expected = play_at_seat(task, replies)
        count = len(expected.messages)
        score = sample.scores["grade"]
        played = PlayedMatch(requests[:count], score.metadata["row"])
        assert played.messages == expected.messages
        assert dump(played.row) == dump(expected.row)
        assert score.metadata["grades"] == dump([vars(grade) for grade in expected.grades or ()])
        replies, requests = replies[count:], requests[count:]


@pytest.mark.parametrize("form", ["text", "tool"])
@pytest.mark.parametrize("memory", ["none", "conversation"])
def test_scores_and_their_errors(form: str, memory: str, tmp_path: Path) -> None:
    """Perfect play loses nothing; the standard error is that of pairs."""
    model = make_model(play_like("perfect"), form=form)
    log = evaluate("duels/lights", model, tmp_path, opponent="random", matches=6, form=form, memory=memory)
    assert log.status == "success"
    metrics = get_metrics(log)
    assert set(metrics) == {"win", "adjusted", "loss", "failures", "forfeit", "reward"}
    assert {name: metrics[name]["mean"] for name in ("loss", "failures", "reward")} == {
        "loss": 0,
        "failures": 0,
        "reward": 0,
    }
    scores = [sample.scores["grade"].value["adjusted"] for sample in log.samples]
    pairs = [sum(scores[i : i + 2]) / 2 for i in (0, 2, 4)]
    mean = sum(pairs) / 3
    error = math.sqrt(sum((each - mean) ** 2 for each in pairs) / 2 / 3)
    assert metrics["adjusted"] == pytest.approx({"mean": mean, "stderr": error})
    assert log.eval.metadata["prompt"] == log.eval.task_version
    assert log.stats.model_usage["mockllm/model"].total_tokens % 12 == 0


def test_an_error_of_the_api_is_not_scored(tmp_path: Path) -> None:
    """Finished matches keep their scores, and the log says that it is incomplete."""
    perfect, requests = play_like("perfect"), [0]

    def think(messages: list[Any]) -> str:
        requests[0] += 1
        if requests[0] > 5:
            raise ConnectionError("the line is dead")
        return perfect(messages)

    log = evaluate("duels/lights", make_model(think), tmp_path, matches=4)
    assert log.status == "error"
    finished = [sample for sample in log.samples if not sample.error]
    failed = [sample for sample in log.samples if sample.error]
    assert finished
    assert failed
    assert "the line is dead" in failed[0].error.message
    assert all(sample.scores["grade"].value["reward"] <= 0 for sample in finished)
    assert all(math.isnan(sample.scores["grade"].value) for sample in failed if sample.scores)
    for sample in failed:
        assert not sample.scores or sample.scores["grade"].explanation == "The sample did not end."


def test_a_limit_leaves_a_match_without_a_score(tmp_path: Path) -> None:
    (log,) = inspect_ai.eval(
        "duels/lights",
        model=make_model(play_like("novice")),
        log_dir=str(tmp_path),
        display="none",
        task_args={"matches": 2},
        token_limit=13,
    )
    assert [sample.limit.type for sample in log.samples] == ["token", "token"]
    assert all(math.isnan(sample.scores["grade"].value) for sample in log.samples)


def test_a_model_plays_against_the_role_opponent(tmp_path: Path) -> None:
    roles = {"opponent": make_model(lambda messages: "I pass.", "other")}
    arguments = {"opponent": "model", "matches": 2}
    log = evaluate("duels/lights", make_model(play_like("perfect")), tmp_path, roles, **arguments)
    assert get_metrics(log)["win"]["mean"] == 1
    answers = {sample.scores["grade"].answer for sample in log.samples}
    assert answers == {"1 won, 2 forfeited", "2 won, 1 forfeited"}
    alone = evaluate("duels/lights", make_model(play_like("perfect")), tmp_path, **arguments)
    assert get_metrics(alone)["win"]["mean"] == 0.5


def test_until_stops_once_the_result_is_precise(tmp_path: Path) -> None:
    arguments = {"opponent": "random", "matches": 60}
    model = make_model(play_like("perfect"))
    log = evaluate("duels/lights", model, tmp_path, until=0.3, **arguments)
    summary = log.results.early_stopping
    assert 0 < len(summary.early_stops) < 60
    assert summary.metadata["margin"] <= 0.3
    scored = [sample for sample in log.samples if sample.scores]
    assert len(scored) + len(summary.early_stops) == 60


@pytest.mark.parametrize("game", ["lights", "flip"])
def test_an_exam_has_the_score_of_its_card(game: str, tmp_path: Path) -> None:
    """The weighted loss is the one that the exam computes for the same policy."""
    log = evaluate("duels/exam", make_model(play_like("greedy")), tmp_path, game=game, positions=12)
    answers = {sample.id: sample.scores["grade"].answer for sample in log.samples}
    positions = draw_positions(find_game(game).rules(), 12, "1")
    total = 0.0
    for number, position in enumerate(positions):
        names = map(position.sight.rules.format, position.sight.actions)
        shortfalls = dict(zip(names, position.shortfalls, strict=True))
        total += position.share.weight * shortfalls[answers[str(number)]]
    assert get_metrics(log)["loss"]["weighted_mean"] == pytest.approx(total)
    best = {id(p.verdict): next(i for i, a in enumerate(p.verdict.actions) if a.best) for p in positions}
    perfect = evaluate("duels/exam", make_model(answer_best), tmp_path, game=game, positions=12)
    expected, error = estimate_score(
        positions, lambda verdict: [float(i == best[id(verdict)]) for i in range(len(verdict.actions))]
    )
    loss_metrics = get_metrics(perfect)["loss"]
    assert loss_metrics["weighted_mean"] == pytest.approx(expected)
    assert error is None or loss_metrics["weighted_stderr"] == pytest.approx(error, abs=1e-9)


def answer_best(messages: list[Any]) -> str:
    sight = read_sight(messages)
    return json.dumps({"action": sight.rules.format(get_oracle(sight.rules).judge(sight).best[0])})


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_probe_measures_the_exploitability(symmetric: bool, tmp_path: Path) -> None:
    """It asks the questions of the arena's probe, and computes the same numbers."""
    arena = run_probe(ProbeConfig("greedy", ("lights",), symmetric=symmetric), tmp_path / "arena")
    rows = {row["position"]: row for row in arena.load_rows().values()}

    def think(messages: list[Any]) -> str:
        sight = read_sight(messages)
        row = rows[sight.rules.format_position(sight)]
        return json.dumps({"policy": row["policy"]} if row["policy"] else {"action": row["action"]})

    log = evaluate("duels/probe", make_model(think), tmp_path, game="lights", symmetric=symmetric)
    assert {sample.id for sample in log.samples} == {row["key"] for row in rows.values()}
    (game,) = make_report(Folder(tmp_path / "arena")).games
    assert game.exploitability
    metrics = get_metrics(log)
    values = {name: value for each in metrics.values() for name, value in each.items()}
    assert values["exploitability"] == pytest.approx(game.exploitability.estimate)
    assert values["exploitability_low"] == pytest.approx(game.exploitability.low)


def test_a_probe_waits_for_every_answer(tmp_path: Path) -> None:
    log = evaluate("duels/probe", make_model(answer_best), tmp_path, game="lights")
    values = {name: value for each in get_metrics(log).values() for name, value in each.items()}
    assert values["exploitability"] == pytest.approx(0)
    with pytest.raises(Exception, match="too large to ask about every position"):
        evaluate("duels/probe", make_model(answer_best), tmp_path, game="hunt")


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    commands = re.findall(r"^inspect eval (\S+) (.*)$", PAGE, re.MULTILINE)
    assert {name for name, _ in commands} >= {"duels/lights", "duels/probe", "duels/exam"}
    for name, rest in commands:
        texts = dict(re.findall(r"-T (\w+)=(\S+)", rest))
        arguments: dict[str, Any] = {
            key: json.loads(text) if text[0].isdigit() else text for key, text in texts.items()
        }
        if name not in ("duels/probe", "duels/exam"):
            arguments["matches"] = 2
        roles = {"opponent": make_model(answer_best, "other")} if "--model-role" in rest else None
        log = evaluate(name, make_model(answer_best), tmp_path, roles, **arguments)
        assert log.status == "success", rest


def test_rows_become_samples(tmp_path: Path) -> None:
    log = evaluate("duels/match", make_model(answer_best), tmp_path, game="leap", matches=2, seed=7)
    assert [sample.metadata for sample in log.samples] == make_rows("leap", matches=2, seed="7")
    with pytest.raises(Exception, match="until must be a number"):
        evaluate("duels/leap", make_model(answer_best), tmp_path, until=2)
    with pytest.raises(Exception, match="'opponet' is not a condition"):
        evaluate("duels/leap", make_model(answer_best), tmp_path, opponet="club")
    with pytest.raises(Exception, match="leave out memory"):
        evaluate("duels/exam", make_model(answer_best), tmp_path, game="leap", memory="conversation")
