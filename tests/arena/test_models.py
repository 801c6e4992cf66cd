"""Language models as players, over a real connection to a server with good and bad replies."""

import gc
import json
import re
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

from duels.arena.config import Config
from duels.arena.folder import Folder
from duels.arena.progress_line import format_progress
from duels.arena.report import make_report
from duels.arena.report_views import make_document
from duels.arena.run import RunProgress, run
from duels.core.errors import BadOption, DuelsError
from duels.core.match import Match
from duels.core.rules import Seat
from duels.core.words import Words
from duels.games import find_game
from duels.games.lights.words import LightsWords
from duels.play.new_match import add_machine_limit
from duels.players import endpoint as endpoints
from duels.players.endpoint import EndpointSettings
from duels.players.failures import BadAnswer, Failure
from duels.players.model import ModelPlayer
from duels.players.program import ProgramLimits
from duels.players.prompt import Labels, make_messages, parse_answer
from duels.players.text_player import Mirror
from duels.terminal.signals import SignalExit
from tests.arena.model_server import Server, played
from tests.players.test_program import BAD, is_running, wait_until
from tests.support import duels

LIGHTS = find_game("lights").rules()
pytestmark = pytest.mark.usefixtures("quick")


@pytest.mark.parametrize("model", ["well", "busy", "broken", "cut", "garbage"])
def test_a_model_plays_despite_network_faults(model: str, server: Server, tmp_path: Path) -> None:
    report = played(server, tmp_path / "run", model, matches=4)
    player = report["games"]["lights"]["players"][f"model {model}"]
    assert (report["matches"], player["failures"], player["forfeits"]) == (4, {}, 0)
    assert player["loss_per_decision"]["estimate"] == 0
    assert report["usage"][f"model {model}"]["requests"] >= player["decisions"]


@pytest.mark.parametrize("model", ["stream", "cut-stream"])
def test_replies_can_be_streamed(model: str, server: Server, tmp_path: Path) -> None:
    report = played(server, tmp_path / "run", model, stream=True)
    assert report["games"]["lights"]["players"][f"model {model}"]["failures"] == {}
    used = report["usage"][f"model {model}"]
    assert used["prompt_tokens"] == 100 * used["requests"]


@pytest.mark.parametrize(
    ("model", "failure"),
    [
        ("prose", "unreadable"),
        ("illegal", "illegal"),
        ("empty", "empty"),
        ("length", "cut off"),
        ("refuses", "refused"),
        ("flood", "flooded"),
    ],
)
def test_every_failure_has_its_class(model: str, failure: str, server: Server, tmp_path: Path) -> None:
    stats = played(server, tmp_path / "run", model)["games"]["lights"]["players"][f"model {model}"]
    assert set(stats["failures"]) == {failure}
    assert stats["failures"][failure] == 3 * stats["forfeits"] == 6


def test_a_signal_ends_a_run_without_a_traceback(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The handler of a signal runs between two steps of any task."""
    stopped = mock.patch.object(ModelPlayer, "decide", side_effect=SignalExit(signal.SIGTERM))
    with stopped, pytest.raises(SignalExit):
        played(server, tmp_path / "run", "well")
    gc.collect()
    assert "never retrieved" not in caplog.text + capfd.readouterr().err


def test_the_model_receives_the_reason_of_a_failure(server: Server, tmp_path: Path) -> None:
    stats = played(server, tmp_path / "run", "learns")["games"]["lights"]["players"]["model learns"]
    assert stats["forfeits"] == 0
    assert stats["failures"]["unreadable"] >= stats["decisions"]


@pytest.mark.parametrize(("model", "settings"), [("down", {}), ("slow", {"request_seconds": 0.1})])
def test_a_match_that_the_network_interrupts_is_not_lost(
    model: str, settings: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    endpoint = EndpointSettings(server.url, total_seconds=0.2, **settings)
    config = Config(("random", "club", f"model:{model}"), ("lights",), 2, model=endpoint)
    folder = run(config, tmp_path / "run")
    assert folder.unfinished
    assert {tuple(sorted(row["players"])) for row in folder.load_rows().values()} == {("club", "random")}
    assert not [row for row in folder.load_rows().values() if row["failures"]]


@pytest.mark.parametrize("until", [None, 0.4])
def test_a_run_ends_if_the_endpoint_stays_down(until: float | None, server: Server, tmp_path: Path) -> None:
    before = server.requests_by_model["down"]
    endpoint = EndpointSettings(server.url, total_seconds=0.001, concurrency=1)
    config = Config(("random", "model:down"), ("lights",), 100, until=until, model=endpoint)
    assert run(config, tmp_path / "run").unfinished
    assert server.requests_by_model["down"] - before == 3


def test_the_progress_line_gives_the_reason_for_a_delay(server: Server, tmp_path: Path) -> None:
    config = Config(
        ("random", "model:down"), ("lights",), 2, model=EndpointSettings(server.url, total_seconds=1)
    )
    lines: list[str] = []
    run(config, tmp_path / "run", listener=lambda progress: lines.append(format_progress(progress, 1)))
    assert lines[0] == "0 of 2 matches"
    line_start = "0 of 2 matches; 'down' gave no reply: status 500, 'out of order'; trying again in "
    assert lines[1:]
    assert all(line.startswith(line_start) for line in lines[1:])


class _Enough(Exception):
    """An error of a listener."""


def test_an_interrupted_run_leaves_no_processes(server: Server, tmp_path: Path) -> None:
    """No request, log or program outlives the run, however it ends."""
    pid_file = tmp_path / "pid"
    bot = f"hangs=cmd:{sys.executable} -I -S {BAD} fork {pid_file}"
    limits = ProgramLimits(move_seconds=60)
    config = Config(
        ("model:well", "model:badly", bot),
        ("lights",),
        200,
        limits=limits,
        model=EndpointSettings(server.url),
    )

    def leave(progress: RunProgress) -> None:
        if progress.played:
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
            raise _Enough

    before = server.requests_by_model["well"] + server.requests_by_model["badly"]
    with pytest.raises(_Enough):
        run(config, tmp_path / "run", listener=leave)
    assert not [each for each in threading.enumerate() if each.name.startswith("asyncio")]
    requests = server.requests_by_model["well"] + server.requests_by_model["badly"] - before
    logged_requests = list(Folder(tmp_path / "run").iter_requests())
    assert requests <= len(logged_requests) <= requests + 8  # includes pending requests
    assert sum("at_most" in each for each in logged_requests) <= 8
    started = int(pid_file.read_text())
    wait_until(lambda: not is_running(started))


def test_a_resumed_run_plays_unfinished_matches(server: Server, tmp_path: Path) -> None:
    config = Config(
        ("random", "model:well"), ("lights",), 4, model=EndpointSettings(server.url, total_seconds=0.1)
    )
    with mock.patch.object(endpoints.Endpoint, "_post", side_effect=TimeoutError("no answer")):
        assert not run(config, tmp_path / "run").load_rows()
    folder = run(config, tmp_path / "run")
    assert (len(folder.load_rows()), folder.unfinished) == (4, ())


def test_a_wrong_model_ends_the_run_with_a_clear_line(server: Server, tmp_path: Path) -> None:
    flags = ("--players", "random,model:unknown", "--games", "lights", "--matches", "2", "--workers", "1")
    result = duels(tmp_path, "arena", "run", *flags, "--base-url", server.url, "--out", tmp_path / "run")
    assert result.code == 1
    assert result.err == "duels: 'unknown' gave no reply: status 404, 'there is no model unknown'\n"


def test_legal_actions_are_listed_only_on_request() -> None:
    sight = Match.start(LIGHTS).sight(Seat.ONE)
    without_actions, with_actions = (make_messages(sight, show)[1]["content"] for show in (False, True))
    assert "You may play: 1, 2," in with_actions
    assert "You may play" not in without_actions
    assert "In notation: OOOOOOO 1" in without_actions


def test_a_retry_after_an_illegal_answer_does_not_list_legal_actions(server: Server, tmp_path: Path) -> None:
    for shown in (False, True):
        folder = tmp_path / f"{shown}"
        played(server, folder, "illegal", show_actions=shown)
        again = [each["request"]["messages"] for each in Folder(folder).iter_requests()]
        reasons = {messages[3]["content"] for messages in again if len(messages) > 3}
        assert reasons
        for reason in reasons:
            assert reason.startswith("That is not a move: '7-8' is not allowed now")
            assert ("now; allowed: " in reason) is shown


def test_asks_for_the_notation_in_a_game_without_answer_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LightsWords, "answer_forms", Words.answer_forms)
    question = make_messages(Match.start(LIGHTS).sight(Seat.ONE), False)[1]["content"]
    assert 'Write your action in the game\'s notation, as in {"action": ' in question


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("game", ["lights", "chain", "hunt"])
def test_mirrored_games_are_equivalent(game: str, seed: int) -> None:
    rules = add_machine_limit(find_game(game).rules())
    mirror, rng, match = Mirror.from_rules(rules), Random(seed), Match.start(rules)
    image = Match.start(rules)
    while (actor := match.actor) is not None:
        action = rng.choice(match.actions)
        assert {mirror.action(each) for each in match.actions} == set(image.actions)
        match, image = match.play(actor, action), image.play(actor, mirror.action(action))
        for seat in Seat:
            mirrored, real = mirror.sight(match.sight(seat)), image.sight(seat)
            assert mirrored == replace(real, events=tuple(real.events), history=tuple(real.history))
            if match.actor is seat:
                assert make_messages(mirrored, True) == make_messages(real, True)
        assert mirror.action(mirror.action(action)) == action


def test_a_mirrored_model_plays_the_mirrored_move(server: Server, tmp_path: Path) -> None:
    report = played(server, tmp_path / "run", "badly", mirror=True, show_actions=True)
    assert report["model"]["mirror"]
    rows = Folder(tmp_path / "run").load_rows().values()
    (first,) = (row["entries"][0] for row in rows if row["players"][0] == "model badly")
    assert first == "7"
    with pytest.raises(DuelsError, match="leap has no mirror symmetry"):
        Mirror.from_rules(find_game("leap").rules())


RENAMED = ("lights", "chain", "hunt")


@pytest.mark.parametrize("game", RENAMED)
def test_renamed_cells_round_trip(game: str) -> None:
    rules = find_game(game).rules()
    labels, rng, match = Labels.from_rules(rules), Random(5), Match.start(rules)
    assert len(set(labels.names)) == rules.game.find("mirror", "cells")(rules)
    while isinstance(match.actor, Seat):
        sight = match.sight(match.actor)
        messages = make_messages(sight, True, labels)
        question = messages[1]["content"]
        assert not re.search(r"[0-9]", re.sub(r"Player [12]", "", question))
        assert "number" not in question
        assert labels.legend in messages[0]["content"]
        for action in sight.actions:
            text = labels.format(action)
            assert labels.parse(text.lower()) == action
            assert text in question
            assert parse_answer(json.dumps({"policy": {text: 1}}), sight, labels) == (None, {action: 1})
        match = match.play(match.actor, rng.choice(match.actions))


def test_numbers_of_renamed_cells_are_rejected() -> None:
    sight, labels = Match.start(LIGHTS).sight(Seat.ONE), Labels.from_rules(LIGHTS)
    first, _, third = labels.names[:3]
    for text, failure in (("1", Failure.UNREADABLE), ("pass", Failure.UNREADABLE)):
        with pytest.raises(BadAnswer, match=f"'{text}' is not an action; allowed: {first}, ") as problem:
            parse_answer(text, sight, labels)
        assert problem.value.failure is failure
    with pytest.raises(BadAnswer, match=f"'{first}-{third}' is not an action; allowed: {first}, "):
        parse_answer(f"{first}-{third}", sight, labels)
    after = Match.start(LIGHTS).play_text("1").sight(Seat.TWO)
    with pytest.raises(BadAnswer, match=f"not allowed now; allowed: {labels.names[1]}, ") as problem:
        parse_answer(first, after, labels)
    assert problem.value.failure is Failure.ILLEGAL


@pytest.mark.parametrize("game", ["leap", "flip"])
def test_numbered_actions_are_not_renamed(game: str) -> None:
    message = f"The cells of {game} cannot be renamed"
    with pytest.raises(DuelsError, match=message):
        Config(("random", "model:x"), (game,), 2, model=EndpointSettings("http://localhost", relabel=True))
    with pytest.raises(DuelsError, match="At most 18 cells"):
        Labels.from_rules(find_game("lights").rules(lights=19))


def test_reports_name_the_conditions(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well", memory="conversation", form="tool", mirror=True)
    text = make_document(make_report(Folder(tmp_path / "run"))).render_text()
    conditions = "in one conversation per match, answering by a tool call, legal actions not shown"
    assert f"{conditions}, positions mirrored" in " ".join(text.split())


def test_a_model_plays_with_renamed_cells(server: Server, tmp_path: Path) -> None:
    report = played(server, tmp_path / "run", "first", show_actions=True, relabel=True)
    assert report["model"]["relabel"]
    assert report["games"]["lights"]["players"]["model first"]["failures"] == {}
    rows = Folder(tmp_path / "run").load_rows().values()
    (first,) = (row["entries"][0] for row in rows if row["players"][0] == "model first")
    assert first == "1"
    assert "positions mirrored" not in make_document(make_report(Folder(tmp_path / "run"))).render_text()
    text = make_document(make_report(Folder(tmp_path / "run"))).render_text()
    assert "cells renamed" in " ".join(text.split())
    assert "seconds each" in text
    assert "seconds" not in json.dumps(report)  # equal runs have equal data


def test_the_prompt_lists_differences_from_the_rule_card() -> None:
    rules = find_game("chain").rules(max_boards=50, cells=5, run=3)
    system = make_messages(Match.start(rules).sight(Seat.ONE), False)[0]["content"]
    assert "This match differs from these rules: cells 5" in system
    assert "max_boards 50" in system
    book = find_game("flip").rules()
    messages = make_messages(Match.start(book).sight(Seat.ONE), False)
    assert "differs" not in messages[0]["content"]
    assert "\n   1   2   3   4   5\nA [ ]" in messages[1]["content"]
    assert messages[1]["content"].startswith("You are Player 1, and it is your turn.")
    probed = make_messages(LIGHTS.parse_position("XXOOOOO 1"), False)[1]["content"]
    assert "Earlier moves do not matter" in probed
    begun = make_messages(Match.start(LIGHTS).sight(Seat.ONE), False)[1]["content"]
    assert "Nothing has been played." in begun


@pytest.mark.parametrize(
    "text", ["Light 4 is best.", "4\nbecause it wins", '{"action": [4]}', '{"action": true}']
)
def test_answers_are_not_guessed_from_prose(text: str) -> None:
    with pytest.raises(BadAnswer) as problem:
        parse_answer(text, Match.start(LIGHTS).sight(Seat.ONE))
    assert problem.value.failure is Failure.UNREADABLE


@pytest.mark.parametrize("url", ["ftp://x", "http://user:pass@host/v1"])
def test_rejects_invalid_addresses(url: str) -> None:
    with pytest.raises(BadOption, match="base_url"):
        EndpointSettings(url)


def test_a_model_needs_an_address() -> None:
    with pytest.raises(BadOption, match="--base-url"):
        Config(("random", "model:x"), ("lights",), 2)
