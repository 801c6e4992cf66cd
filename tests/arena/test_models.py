"""Language models as players, over a real connection to a server that has good and bad days."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copytree
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from duels.arena.config import Config
from duels.arena.folder import Folder, merge
from duels.arena.progress_line import ProgressLine
from duels.arena.report import as_data, report_on
from duels.arena.report_text import as_text
from duels.arena.run import Progress, run
from duels.arena.summary import of_run
from duels.core.errors import BadOption, DuelsError
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import GAMES, find_game
from duels.play.new_match import limited
from duels.players import endpoint as endpoints
from duels.players.endpoint import Settings
from duels.players.failures import Failed, Failure
from duels.players.labels import Labels
from duels.players.model import Mirror
from duels.players.program import Limits
from duels.players.prompt import opening_messages, read_move
from tests.arena.model_server import KEY, Server, serving
from tests.players.test_program import BAD, is_running, wait_until
from tests.support import COMMAND, duels, environment

LIGHTS = find_game("lights").rules()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "_FIRST_WAIT", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def played(server: Server, folder: Path, model: str, matches: int = 2, **settings: Any) -> dict[str, Any]:
    """The report on a run of a model against random moves in lights."""
    found = Settings(server.url, **settings)
    config = Config(("random", f"model:{model}"), ("lights",), matches, model=found)
    run(config, folder)
    return as_data(report_on(Folder(folder)))


@pytest.mark.parametrize("model", ["well", "busy", "broken", "cut", "garbage"])
def test_a_model_plays_whatever_the_wire_does(model: str, server: Server, tmp_path: Path) -> None:
    told = played(server, tmp_path / "run", model, matches=4)
    player = told["games"]["lights"]["players"][f"model {model}"]
    assert (told["matches"], player["failures"], player["forfeits"]) == (4, {}, 0)
    assert player["loss_per_decision"]["estimate"] == 0
    assert told["usage"][f"model {model}"]["requests"] >= player["decisions"]


@pytest.mark.parametrize("model", ["stream", "cut-stream"])
def test_replies_come_in_streams(model: str, server: Server, tmp_path: Path) -> None:
    told = played(server, tmp_path / "run", model, stream=True)
    assert told["games"]["lights"]["players"][f"model {model}"]["failures"] == {}
    used = told["usage"][f"model {model}"]
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
    told = played(server, tmp_path / "run", model)["games"]["lights"]["players"][f"model {model}"]
    assert set(told["failures"]) == {failure}
    assert told["failures"][failure] == 3 * told["forfeits"] == 6


def test_the_reason_is_given_back(server: Server, tmp_path: Path) -> None:
    told = played(server, tmp_path / "run", "learns")["games"]["lights"]["players"]["model learns"]
    assert told["forfeits"] == 0
    assert told["failures"]["unreadable"] >= told["decisions"]


@pytest.mark.parametrize(("model", "settings"), [("down", {}), ("slow", {"request_seconds": 0.1})])
def test_what_the_wire_breaks_off_is_nobodys_loss(
    model: str, settings: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    found = Settings(server.url, total_seconds=0.2, **settings)
    config = Config(("random", "club", f"model:{model}"), ("lights",), 2, model=found)
    folder = run(config, tmp_path / "run")
    assert folder.unfinished
    assert {tuple(sorted(row["players"])) for row in folder.rows().values()} == {("club", "random")}
    assert not [row for row in folder.rows().values() if row["failures"]]


@pytest.mark.parametrize("until", [None, 0.4])
def test_a_run_ends_if_the_endpoint_stays_down(until: float | None, server: Server, tmp_path: Path) -> None:
    before = server.asked["down"]
    found = Settings(server.url, total_seconds=0.001, concurrency=1)
    config = Config(("random", "model:down"), ("lights",), 100, until=until, model=found)
    assert run(config, tmp_path / "run").unfinished
    assert server.asked["down"] - before == 3


def test_whoever_watches_is_told_what_is_waited_for(server: Server, tmp_path: Path) -> None:
    config = Config(("random", "model:down"), ("lights",), 2, model=Settings(server.url, total_seconds=1))
    lines: list[str] = []
    run(config, tmp_path / "run", listener=lambda progress: lines.append(ProgressLine.text(progress, 1)))
    assert lines[0] == "0 of 2 matches"
    told = "0 of 2 matches; 'down' gave no reply: status 500, 'out of order'; trying again in "
    assert lines[1:]
    assert all(line.startswith(told) for line in lines[1:])


class _Enough(Exception):
    """A listener's own."""


def test_a_run_that_is_broken_off_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    """No request, no row, no program: all are gone when the run has ended, however it ends."""
    pid_file = tmp_path / "pid"
    bot = f"hangs=cmd:{sys.executable} -I -S {BAD} fork {pid_file}"
    limits = Limits(move_seconds=60)
    config = Config(
        ("model:well", "model:badly", bot), ("lights",), 200, limits=limits, model=Settings(server.url)
    )

    def leave(progress: Progress) -> None:
        if progress.played:
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
            raise _Enough

    before = server.asked["well"] + server.asked["badly"]
    with pytest.raises(_Enough):
        run(config, tmp_path / "run", listener=leave)
    assert not [each for each in threading.enumerate() if each.name.startswith("asyncio")]
    asked = server.asked["well"] + server.asked["badly"] - before
    kept = list(Folder(tmp_path / "run").requests())
    assert asked <= len(kept) <= asked + 8  # what was under way is kept too
    assert sum("at_most" in each for each in kept) <= 8
    started = int(pid_file.read_text())
    wait_until(lambda: not is_running(started))


def test_unfinished_matches_are_played_when_the_run_goes_on(server: Server, tmp_path: Path) -> None:
    config = Config(("random", "model:well"), ("lights",), 4, model=Settings(server.url, total_seconds=0.1))
    with mock.patch.object(endpoints.Endpoint, "_post", side_effect=TimeoutError("no answer")):
        assert not run(config, tmp_path / "run").rows()
    folder = run(config, tmp_path / "run")
    assert (len(folder.rows()), folder.unfinished) == (4, ())


def test_a_wrong_model_ends_the_run_with_a_clear_line(server: Server, tmp_path: Path) -> None:
    flags = ("--players", "random,model:unknown", "--games", "lights", "--matches", "2", "--workers", "1")
    done = duels(tmp_path, "arena", "run", *flags, "--base-url", server.url, "--out", tmp_path / "run")
    assert done.code == 1
    assert done.err == "duels: 'unknown' gave no reply: status 404, 'there is no model unknown'\n"


def test_a_budget_stops_cleanly_and_the_run_can_go_on(server: Server, tmp_path: Path) -> None:
    prices: dict[str, Any] = {"input_price": 10_000.0, "output_price": 0.0}  # a request is 1 usd
    model = Settings(server.url, concurrency=1, **prices)
    small = Config(("random", "model:well"), ("lights",), 10, budget="5usd", model=model)
    folder = run(small, tmp_path / "run")
    assert folder.unfinished == ("The budget of 5 usd is spent.",)
    assert sum(1 for _ in folder.requests()) == 5
    assert 0 < len(folder.rows()) < 10
    with pytest.raises(DuelsError, match="counts money in usd, not in eur"):
        run(replace(small, budget="500eur"), folder.path)
    large = Config(("random", "model:well"), ("lights",), 10, budget="500usd", model=model)
    folder = run(large, tmp_path / "run")
    assert len(folder.rows()) == 10
    used = as_data(report_on(folder))["usage"]["model well"]
    assert used["cost"] == used["requests"]
    asked = sum(1 for _ in folder.requests())
    with closing(folder.request_log("killed")) as log:
        log.add({"id": "1", "match": "never finished", "seat": 1, "status": 200, "usage": [100, 0, 1]})
    told = f"With matches that were broken off: {asked + 1} requests, cost {asked + 1}.00 usd."
    text = as_text(report_on(folder))
    assert told in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert f"Models took {asked + 1} requests and cost {asked + 1}.00 usd." in text
    assert as_data(report_on(folder))["usage"]["model well"] == used
    with closing(folder.request_log("cut")) as log:
        log.add({"id": "2", "match": "never finished", "seat": 1, "status": 0, "at_most": [150, 1000]})
        log.add({"id": "3", "match": "never finished", "seat": 1, "status": 429})
    (cost,) = (each for each in of_run(report_on(folder)) if each.startswith("Models took"))
    assert cost == (
        f"Models took {asked + 3} requests and cost {asked + 1}.00 usd, and at most 1.50 usd more for "
        "1 request whose tokens were not reported. "
        "2 of them have no reply in the logs (429, 5xx, timeouts, cut connections, a run that was killed or "
        "is under way, damaged lines)."
    )


@pytest.mark.parametrize(
    ("settings", "budget", "told"),
    [
        ({}, "5usd", "a budget needs prices"),
        ({"input_price": 1.0, "output_price": 1.0}, "5", "such as 5usd"),
    ],
)
def test_a_budget_without_prices_is_refused(settings: dict[str, Any], budget: str, told: str) -> None:
    with pytest.raises(BadOption, match=told):
        Config(("random", "model:x"), ("lights",), 2, budget=budget, model=Settings("http://x", **settings))


PRICES: dict[str, Any] = {"input_price": 0.0, "output_price": 1000.0, "max_tokens": 1000}
"""Of output only: a reply of ten tokens costs 0.01, the longest 1."""


def test_what_may_have_been_charged_counts_against_a_budget(server: Server, tmp_path: Path) -> None:
    before = server.asked["slow"]
    model = Settings(server.url, concurrency=1, request_seconds=0.1, total_seconds=60, **PRICES)
    config = Config(("random", "model:slow"), ("lights",), 2, budget="3usd", model=model)
    for budget, told in (("3usd", "3 usd is spent, 3 of it at most"), ("5usd", "5 usd is spent, 5 of it")):
        folder = run(replace(config, budget=budget), tmp_path / "run")
        assert told in folder.unfinished[0]
        assert server.asked["slow"] - before == int(budget[0])
    assert not folder.rows()


@pytest.mark.parametrize(
    ("damaged", "lost"),
    [
        ((0,), 0),  # the request of one whose reply is there
        ((1,), 1),  # the reply: what it took is not known
        ((0, 1), 1),
        ((0, 1, 3), 2),
    ],
)
def test_a_request_that_cannot_be_read_counts_with_the_most_that_it_may_cost(
    damaged: tuple[int, ...], lost: int, server: Server, tmp_path: Path
) -> None:
    model = Settings(server.url, concurrency=1, **PRICES)
    config = Config(("random", "model:well"), ("lights",), 2, budget="1usd", model=model)
    assert not run(config, tmp_path / "run").unfinished
    log = tmp_path / "run" / "requests-models.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(line[place in damaged :] for place, line in enumerate(lines)))
    merge([tmp_path / "run"], tmp_path / "merged")
    for name in ("run", "merged"):
        said = " ".join(of_run(report_on(Folder(tmp_path / name))))
        assert f"Models took {len(lines) // 2} requests" in said
        assert ("usd more for" in said) is bool(lost)
        assert not lost or f"at most {lost}.00 usd more for {lost} request" in said
    before = server.asked["well"]
    folder = run(replace(config, matches=4), tmp_path / "run")
    assert bool(folder.unfinished) is bool(lost)
    assert (server.asked["well"] == before) is bool(lost)


def test_requests_that_are_in_several_folders_are_paid_for_once(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well", **PRICES)
    copytree(tmp_path / "run", tmp_path / "copy")
    merge([tmp_path / "run", tmp_path / "copy"], tmp_path / "merged")
    asked, merged = (list(Folder(tmp_path / name).requests()) for name in ("run", "merged"))
    assert merged == asked


def test_a_request_that_was_never_sent_costs_nothing(tmp_path: Path) -> None:
    model = Settings("http://127.0.0.1:1/v1", concurrency=1, total_seconds=0.05, **PRICES)
    config = Config(("random", "model:none"), ("lights",), 2, budget="1usd", model=model)
    folder = run(config, tmp_path / "run")
    assert "ConnectError" in folder.unfinished[0]
    assert not [row for row in folder.requests() if "at_most" in row]


def test_a_budget_needs_an_endpoint_that_reports_tokens(server: Server, tmp_path: Path) -> None:
    config = Config(("random", "model:silent"), ("lights",), 2, model=Settings(server.url, **PRICES))
    assert len(run(config, tmp_path / "free").rows()) == 2
    with pytest.raises(DuelsError, match="does not report tokens, so no budget can be kept"):
        run(replace(config, budget="5usd"), tmp_path / "run")
    with pytest.raises(BadOption, match="max_tokens is 0"):
        replace(config, budget="5usd", model=replace(config.model, max_tokens=0))


def test_shards_share_a_budget(server: Server, tmp_path: Path) -> None:
    before = server.asked["well"]
    model = Settings(server.url, concurrency=1, **PRICES)
    config = Config(("random", "model:well"), ("lights",), 100, budget="0.1usd", model=model)
    for _ in range(2):
        for part in (1, 2):
            folder = run(config, tmp_path / "run", shard=(part, 2))
            told = "The budget of 0.05 usd for one of 2 parts is spent."
            assert folder.unfinished == (told,)
        assert server.asked["well"] - before == 10


def test_the_key_is_sent_and_never_written_down(server: Server, tmp_path: Path) -> None:
    played(server, tmp_path / "run", "well")
    assert f"Bearer {KEY}" in server.keys
    kept = [each.read_text() for each in (tmp_path / "run").rglob("*") if each.is_file()]
    assert not [text for text in kept if KEY in text or server.url in text]


def test_a_key_that_comes_back_is_not_written_down_either(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DuelsError, match=r"status 401, 'wrong key: Bearer \[key\]'"):
        played(server, tmp_path / "run", "echoes")
    (asked,) = (each.read_text() for each in (tmp_path / "run").glob("requests-*.jsonl"))
    assert "Bearer [key]" in asked
    assert KEY not in asked


def test_every_request_and_reply_is_kept(server: Server, tmp_path: Path) -> None:
    before = server.asked["badly"]
    played(server, tmp_path / "run", "badly", matches=4)
    kept = list(Folder(tmp_path / "run").requests())
    assert len(kept) == server.asked["badly"] - before
    assert {"id", "match", "seat", "entry", "request", "status", "reply", "seconds", "usage"} == set(kept[0])
    assert kept[0]["request"]["model"] == "badly"


def test_requests_under_way_at_kill_9_are_kept_and_counted(server: Server, tmp_path: Path) -> None:
    words = ["arena", "run", "--players", "random,model:hangs", "--games", "lights", "--matches", "6"]
    words += ["--base-url", server.url, "--budget", "3usd", "--input-price", "0", "--output-price", "1000"]
    command = [*COMMAND, *words, "--max-tokens", "1000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: server.asked["hangs"] == 6)
    finally:
        process.kill()
        process.wait()
    for folder in (tmp_path / "run", tmp_path / "merged"):
        kept = list(Folder(folder).requests())
        assert [each["request"]["model"] for each in kept] == ["hangs"] * 6
        assert [each["at_most"][1] for each in kept] == [1000] * 6
        (cost,) = (each for each in of_run(report_on(Folder(folder))) if each.startswith("Models took"))
        assert "Models took 6 requests and cost 0.00 usd, and at most 6.00 usd more" in cost
        if folder.name == "run":
            merge([folder], tmp_path / "merged")
    again = duels(tmp_path, *words, "--max-tokens", "1000", "--out", tmp_path / "run")
    assert "The budget of 3 usd is spent, 6 of it at most by requests without" in again.err
    assert server.asked["hangs"] == 6


def test_actions_are_shown_only_where_that_is_declared() -> None:
    sight = Match.start(LIGHTS).sight(Seat.ONE)
    hidden, shown = (opening_messages(sight, show)[1]["content"] for show in (False, True))
    assert "You may play: 1, 2," in shown
    assert "You may play" not in hidden
    assert "In notation: OOOOOOO 1" in hidden


def test_what_is_legal_is_not_told_after_an_illegal_answer_either(server: Server, tmp_path: Path) -> None:
    for shown in (False, True):
        folder = tmp_path / f"{shown}"
        played(server, folder, "illegal", show_actions=shown)
        again = [each["request"]["messages"] for each in Folder(folder).requests()]
        reasons = {messages[3]["content"] for messages in again if len(messages) > 3}
        assert reasons
        for reason in reasons:
            assert reason.startswith("That is no move: '7-8' is not allowed now")
            assert ("now; allowed: " in reason) is shown


@pytest.mark.parametrize("game", GAMES)
def test_every_question_says_how_its_answer_is_written_and_not_what_is_legal(game: str) -> None:
    rules, rng = limited(find_game(game).rules()), Random(7)
    match, kinds = Match.start(rules), set()
    while (actor := match.actor) is not None:
        if isinstance(actor, Seat):
            sight = match.sight(actor)
            told = opening_messages(sight, False)
            assert told == opening_messages(replace(sight, actions=()), False)
            *_, last = told[1]["content"].splitlines()
            examples = [rules.parse(text) for text in re.findall(r'{"action": "([^"]+)"}', last)]
            here = {type(action) for action in sight.actions}
            assert here & {type(example) for example in examples}
            kinds |= {type(example) for example in examples}
            assert kinds >= here
            assert all(last.count(rules.format(example)) == 2 for example in examples[1:])
        match = match.play(actor, rng.choice(match.actions))


def test_a_game_of_somebody_elses_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duels.games.lights.answers", ModuleType("empty"))
    told = opening_messages(Match.start(LIGHTS).sight(Seat.ONE), False)[1]["content"]
    assert told.endswith('notation of the game. The last line of your answer looks like {"action": "1"}.')


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("game", ["lights", "chain", "hunt"])
def test_mirror_images_are_the_same_game(game: str, seed: int) -> None:
    rules = limited(find_game(game).rules())
    mirror, rng, match = Mirror.of(rules), Random(seed), Match.start(rules)
    image = Match.start(rules)
    while (actor := match.actor) is not None:
        action = rng.choice(match.actions)
        assert {mirror.action(each) for each in match.actions} == set(image.actions)
        match, image = match.play(actor, action), image.play(actor, mirror.action(action))
        for seat in Seat:
            mirrored, real = mirror.sight(match.sight(seat)), image.sight(seat)
            assert mirrored == replace(real, events=tuple(real.events), history=tuple(real.history))
            if match.actor is seat:
                assert opening_messages(mirrored, True) == opening_messages(real, True)
        assert mirror.action(mirror.action(action)) == action


def test_a_mirrored_model_plays_the_mirrored_move(server: Server, tmp_path: Path) -> None:
    told = played(server, tmp_path / "run", "badly", mirror=True, show_actions=True)
    assert told["model"]["mirror"]
    rows = Folder(tmp_path / "run").rows().values()
    (first,) = (row["entries"][0] for row in rows if row["players"][0] == "model badly")
    assert first == "7"
    with pytest.raises(DuelsError, match="leap has no mirror images"):
        Mirror.of(find_game("leap").rules())


RENAMED = ("lights", "chain", "hunt")


@pytest.mark.parametrize("game", RENAMED)
def test_renamed_cells_have_no_numbers_left_and_are_read_back(game: str) -> None:
    rules = find_game(game).rules()
    labels, rng, match = Labels.of(rules), Random(5), Match.start(rules)
    assert len(set(labels.names)) == rules.game.find("labels", "cells")(rules)
    while isinstance(match.actor, Seat):
        sight = match.sight(match.actor)
        told = opening_messages(sight, True, labels)
        question = told[1]["content"]
        assert not re.search(r"[0-9]", re.sub(r"Player [12]", "", question))
        assert "number" not in question
        assert labels.legend in told[0]["content"]
        for action in sight.actions:
            text = labels.format(action)
            assert labels.parse(text.lower()) == action
            assert text in question
            assert read_move(json.dumps({"policy": {text: 1}}), sight, labels) == (None, {action: 1})
        match = match.play(match.actor, rng.choice(match.actions))


def test_renamed_cells_are_not_read_by_their_numbers() -> None:
    sight, labels = Match.start(LIGHTS).sight(Seat.ONE), Labels.of(LIGHTS)
    first, _, third = labels.names[:3]
    for text, failure in (("1", Failure.UNREADABLE), ("pass", Failure.UNREADABLE)):
        with pytest.raises(Failed, match=f"the places are {first}, ") as problem:
            read_move(text, sight, labels)
        assert problem.value.failure is failure
    with pytest.raises(Failed, match="is no action; the places are"):
        read_move(f"{first}-{third}", sight, labels)
    after = Match.start(LIGHTS).play_text("1").sight(Seat.TWO)
    with pytest.raises(Failed, match=f"not allowed now; allowed: {labels.names[1]}, ") as problem:
        read_move(first, after, labels)
    assert problem.value.failure is Failure.ILLEGAL


@pytest.mark.parametrize("game", ["leap", "flip"])
def test_cells_that_are_more_than_places_are_not_renamed(game: str) -> None:
    told = f"{game} has no cells that are places in a row"
    with pytest.raises(DuelsError, match=told):
        Config(("random", "model:x"), (game,), 2, model=Settings("http://localhost", relabel=True))
    with pytest.raises(DuelsError, match="at most 18 cells"):
        Labels.of(find_game("lights").rules(lights=19))


def test_a_model_plays_with_renamed_cells(server: Server, tmp_path: Path) -> None:
    told = played(server, tmp_path / "run", "first", show_actions=True, relabel=True)
    assert told["model"]["relabel"]
    assert told["games"]["lights"]["players"]["model first"]["failures"] == {}
    rows = Folder(tmp_path / "run").rows().values()
    (first,) = (row["entries"][0] for row in rows if row["players"][0] == "model first")
    assert first == "1"
    assert "positions mirrored" not in as_text(report_on(Folder(tmp_path / "run")))
    text = as_text(report_on(Folder(tmp_path / "run")))
    assert "cells renamed" in text
    assert "seconds each" in text
    assert "seconds" not in json.dumps(told)  # equal runs have equal data


def test_the_prompt_says_what_differs_from_the_rule_card() -> None:
    rules = find_game("chain").rules(max_boards=50, cells=5, run=3)
    system = opening_messages(Match.start(rules).sight(Seat.ONE), False)[0]["content"]
    assert "This match differs from that: cells 5" in system
    assert "max_boards 50" in system
    book = find_game("flip").rules()
    told = opening_messages(Match.start(book).sight(Seat.ONE), False)
    assert "differs" not in told[0]["content"]
    assert "\n   1   2   3   4   5\nA [ ]" in told[1]["content"]
    assert told[1]["content"].startswith("You are Player 1, and it is your turn.")
    probed = opening_messages(LIGHTS.parse_position("XXOOOOO 1"), False)[1]["content"]
    assert "what was played before does not matter" in probed
    begun = opening_messages(Match.start(LIGHTS).sight(Seat.ONE), False)[1]["content"]
    assert "Played so far, one entry after another (? was hidden from you): nothing." in begun


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('First {"action": "1"}, no: {"action": "4"}', "4"),
        ("I will take the pair.\n\n2-3", "2-3"),
        ("**2-3**", "2-3"),
        ('{"thought": {"x": 1}, "action": "5"} {"note": "done"}', "5"),
        ('```json\n{"action": "6"}\n```', "6"),
    ],
)
def test_the_last_object_or_the_last_line_counts(text: str, read: str) -> None:
    action, policy = read_move(text, Match.start(LIGHTS).sight(Seat.ONE))
    assert (LIGHTS.format(action), policy) == (read, None)


@pytest.mark.parametrize("text", ["Light 4 is best.", "4\nbecause it wins", '{"move": "4"} {"action": 4}'])
def test_nothing_is_guessed_out_of_prose(text: str) -> None:
    with pytest.raises(Failed) as problem:
        read_move(text, Match.start(LIGHTS).sight(Seat.ONE))
    assert problem.value.failure is Failure.UNREADABLE


@pytest.mark.parametrize("url", ["ftp://x", "http://user:pass@host/v1"])
def test_an_address_is_checked(url: str) -> None:
    with pytest.raises(BadOption, match="base_url"):
        Settings(url)


def test_a_model_needs_an_address() -> None:
    with pytest.raises(BadOption, match="--base-url"):
        Config(("random", "model:x"), ("lights",), 2)
