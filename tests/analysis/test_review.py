"""A review accounts for the result: the opening's value, luck, and what both gave away."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.review import review_match
from duels.core.match import Match, playing
from duels.core.record import dumps
from duels.core.rules import CHANCE, Seat
from duels.games import find_game
from duels.games.hunt.oracle import ALLOWANCE
from duels.terminal.commands import run

OPEN_GAMES = ("lights", "leap", "chain")
SEEDS = {"lights": 20, "leap": 20, "chain": 20, "flip": 2, "hunt": 5}


def random_match(game: str, rng: Random, most: int = 80) -> Match[Any, Any, Any]:
    *_, match = islice(playing(duels.start(game), rng, lambda match, _: rng.choice(match.actions)), most + 1)
    return match


def perfect_match(game: str, rng: Random) -> Match[Any, Any, Any]:
    room = find_game(game)
    player = duels.make_player("perfect", room, room.rules())
    *_, match = playing(duels.start(game), rng, lambda match, seat: player.choose(match.sight(seat), rng))
    return match


@pytest.mark.parametrize("game", SEEDS)
def test_luck_and_losses_add_up_to_the_result(game: str) -> None:
    room = find_game(game)
    oracle = room.oracle(room.rules())
    for seed in range(SEEDS[game]):
        match = random_match(game, Random(seed))
        review = review_match(room, match, oracle)
        total = review.opening + review.luck - review.loss(Seat.ONE) + review.loss(Seat.TWO)
        assert total == pytest.approx(review.result)
        if match.outcome:
            assert review.result == float(match.outcome.winner is Seat.ONE)
        for moment in review.moments:
            assert moment.loss >= 0
            if moment.actor is not CHANCE and game in OPEN_GAMES:
                assert moment.luck == 0  # nothing is hidden: a decision alone moves nothing else


@pytest.mark.parametrize("played", [random_match, perfect_match])
def test_luck_in_hunt_is_what_an_observation_brings_beyond_what_could_be_expected(
    played: Callable[[str, Random], Match[Any, Any, Any]],
) -> None:
    """Worked out apart: over all places where the other token may have been, each seen with open eyes."""
    room = find_game("hunt")
    oracle = room.oracle(room.rules())
    ended: Counter[str] = Counter()
    for seed in range(15):
        for moment in review_match(room, played("hunt", Random(seed)), oracle).moments:
            before = moment.match.previous
            assert before
            assert isinstance(moment.actor, Seat)
            own = moment.luck - moment.mixing
            if moment.mishap or moment.alike == "Lost already.":
                ended["collided"] += 1  # told where it came about, not where it came to light
                continue
            if not moment.entry.startswith("observe"):
                assert own == pytest.approx(0)  # nobody has answered anything yet
                continue
            sight, others = before.sight(moment.actor), before.sight(moment.actor.other)
            action = room.rules().parse(moment.entry)
            belief = {name: p for name, p in oracle.belief(sight).items() if name != "tunnel left"}
            expected = sum(
                p
                * oracle.worth_seeing_all(
                    sight, replace(others, view=replace(others.view, cell=cell)), action
                )
                for p, cell in zip(belief.values(), (*range(1, 8), 0), strict=True)
            )
            outcome = moment.match.outcome
            if outcome:
                came = float(outcome.winner is moment.actor)
                ended["won" if came else "lost"] += 1
            else:
                came = 1 - oracle.value(moment.match.sight(moment.actor.other)).number
            assert (own if moment.actor is Seat.ONE else -own) == pytest.approx(came - expected)
    assert min(ended["won"], ended["collided"]) > 1


def test_resigning_gives_the_rest_away() -> None:
    room = find_game("lights")
    match = duels.start("lights").play_text("1", "resign")
    review = review_match(room, match, room.oracle(match.rules))
    assert review.moments[-1].loss == 1
    assert review.moments[-1].mark == "blunder"
    assert review.result == 1


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.duel"
    match = duels.start("lights").play_text("1-2", "4", "3", "5-6", "7")
    path.write_text(dumps(match), encoding="utf-8")
    return path


def test_review_tells_why_the_match_was_lost(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record)]) == 0
    out = capsys.readouterr().out
    assert "Why you lost, Player 2:\n- Entry 2, 4, gave away 100.0 points; best was " in out
    assert "You turned off 4, which left runs of 1 and 3, worth 1 and 3, nim-sum 2:" in " ".join(out.split())
    position = re.search(r"\n  Position: (.*)\n", out)
    assert position
    assert run(["solve", "lights", "--position", position[1]]) == 0
    assert max(map(len, out.split("Why you lost")[1].splitlines())) <= 100
    assert "blunder, gave away 100.0 points" in out
    assert "= 100.0, the result." in out


def reviewed(tmp_path: Path, match: Match[Any, Any, Any], *options: str) -> None:
    path = tmp_path / "some.duel"
    path.write_text(dumps(match), encoding="utf-8")
    assert run(["review", str(path), *options]) == 0


def test_where_all_is_lost_nothing_is_called_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reviewed(tmp_path, duels.start("lights").play_text("4", "1", "7", "2-3", "5-6"))
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("  1.")).endswith("  best")
    assert next(line for line in lines if line.startswith("  2.")).endswith("  all actions lose alike")
    assert "- The game is lost for you from the start if the other player makes no mistake." in lines
    assert "- You gave nothing away." in lines


def test_bad_luck_is_told_apart_from_slips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = next(match for seed in range(50) if (match := random_match("chain", Random(seed))).over)
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    review = review_match(find_game("chain"), match, find_game("chain").oracle(match.rules))
    assert match.outcome
    assert match.outcome.winner
    loser = match.outcome.winner.other
    against = review.luck if loser is Seat.TWO else -review.luck
    told = f"Luck took {100 * against:.1f}" if against > 0 else f"by {-100 * against:.1f} points"
    assert f"Why you lost, {loser.label}:" in out
    assert told in out


def test_the_command_to_look_into_a_position_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = find_game("lights").rules(lights=9)
    reviewed(tmp_path, Match.start(rules).play_text("1", "9", "2-3", "4", "5", "6-7", "8"))
    out = capsys.readouterr().out
    (command,) = re.findall(r"Look into the first of these positions: (.*)\n", out)
    assert command.startswith("duels solve lights --lights 9 --position ")
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.startswith("lights: ")


# Its values are proven to within several points only.
WIDE = ("B1", "4", "A2", "2", "C4", "2", "E4", "3", "D1", "1")


def test_a_decision_not_proven_wrong_is_best_and_may_cost_so_much_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("flip").play_text(*WIDE, "A4")
    reviewed(tmp_path, match)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(" 11."))
    reviewed(tmp_path, match, "--json")
    moment = json.loads(capsys.readouterr().out)["moments"][10]
    assert (moment["mark"], moment["loss"]) == ("best", 0)
    assert moment["loss_error"] > 0.05
    assert f"  best, gave away at most {100 * moment['loss_error']:.1f} points" in line
    assert "A4" in moment["best"]


def test_what_a_decision_cost_is_told_with_how_far_that_may_be_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("flip").play_text(*WIDE, "A4+A5")
    reviewed(tmp_path, match)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(" 11."))
    room = find_game("flip")
    before = match.previous
    assert before
    verdict = room.oracle(match.rules).judge(before.sight(Seat.TWO))
    (taken,) = (judged for judged in verdict.actions if match.rules.format(judged.action) == "A4+A5")
    told = re.search(r"gave away ([0-9.]+) ± ([0-9.]+) points", line)
    assert told
    loss, error = (float(number) / 100 for number in told.groups())
    assert loss == pytest.approx(verdict.value.number - taken.value.number, abs=0.0005)
    assert loss - error <= verdict.value.low - taken.value.high
    assert loss + error >= verdict.value.high - taken.value.low


def test_an_unfinished_match_is_reviewed_as_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("chain").play_text("2", "5", "1", "challenge", "tails", "6", "accept", "7")
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    assert out.startswith("chain: unfinished; the values are as it stands.")
    assert "50.0 at the start + 0.0 luck - 8.3 + 0.0 given away = 41.7, the value as it stands." in out
    assert "Why" not in out
    reviewed(tmp_path, match, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["finished"] is False
    total = answer["opening"] + answer["luck"] - answer["loss"]["1"] + answer["loss"]["2"]
    assert total == pytest.approx(answer["result"])


def test_a_hunt_shows_both_beliefs_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("hunt").play_text(
        *("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")
    )
    page = tmp_path / "hunt.html"
    reviewed(tmp_path, match, "--html", str(page))
    out = capsys.readouterr().out
    strips = [line for line in out.splitlines() if re.match(r" +\d+\. [\[(]", line)]
    assert len(strips) == 8
    assert all(len(re.findall(r"[\[(].[\])]", line)) == 14 for line in strips)
    # Before the last entry both are where they are, and Player 1 cannot be on the cell that it named.
    one_of_two, two_of_one = strips[-1][5:26], strips[-1][29:50]
    assert one_of_two[15] == two_of_one[6] == "("
    assert one_of_two[3:6] == "[ ]"
    assert "(All values are estimates.)" in out
    text = page.read_text(encoding="utf-8")
    assert text.count('<td class="cell') == 8 * 14
    assert text.count("cell true") == 7 + 5  # Player 1 entered with the first entry, Player 2 with the third


def test_review_as_json(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["winner"] == 1
    assert [moment["entry"] for moment in answer["moments"]] == ["1-2", "4", "3", "5-6", "7"]
    losses = answer["loss"]
    assert answer["opening"] + answer["luck"] - losses["1"] + losses["2"] == pytest.approx(answer["result"])


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_review_page_stands_alone(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert run(["review", str(record), "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    parsed = _Page()
    parsed.feed(text)
    assert parsed.tags.count("circle") == 6  # the start and five entries
    assert parsed.sources == []
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    steps = json.loads(re.search(r"const steps = (.*);", text)[1])  # type: ignore[index]
    assert len(steps) == 6
    assert "States: X X O O O O O" in steps[1]["text"]


def line_of(out: str, number: int) -> str:
    return next(line for line in out.splitlines() if line.startswith(f"{number:>3}."))


def test_all_chances_are_player_1s_and_the_only_move_is_called_so(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", str(record)]) == 0
    out = capsys.readouterr().out
    assert "Player 1's chance to win, before and after" in out
    assert "0.0% -> 100.0%  blunder" in line_of(out, 2)
    assert line_of(out, 5).endswith("100.0% -> 100.0%  only move")


def test_the_curve_has_an_axis_and_no_gaps(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(record)]) == 0
    lines = capsys.readouterr().out.splitlines()
    bottom = next(line for line in lines if line.startswith("  0% |"))
    axis, numbers = lines[lines.index(bottom) + 1 :][:2]
    assert len(bottom) == len(axis) == 6 + 2 * 6
    assert " " not in bottom[6:]
    assert "▁" in bottom
    assert numbers.split() == ["0", "5", "entries"]


def full_board() -> tuple[str, ...]:
    """Entries that fill a board without a chain: every observation is accepted."""
    match: Match[Any, Any, Any] = duels.start("chain")
    cells = iter(("1", "3", "2", "4", "5", "6", "7"))
    entries: list[str] = []
    while not any(event.restarts for turn in match.turns for event in turn.events):
        entry = "accept" if "accept" in map(match.rules.format, match.actions) else next(cells)
        match = match.play_text(entry)
        entries.append(entry)
    return tuple(entries)


def test_new_boards_are_marked_and_a_long_match_is_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = full_board()
    reviewed(tmp_path, duels.start("chain").play_text(*board, "4"))
    lines = capsys.readouterr().out.splitlines()
    (marker,) = (place for place, line in enumerate(lines) if "--- a new board ---" in line)
    assert lines[marker - 1].startswith(f"{len(board):>3}.")
    room = find_game("chain")
    oracle, rng = room.oracle(room.rules()), Random(5)
    match: Match[Any, Any, Any] = duels.start("chain")
    while not match.over and len(match.turns) < 60:
        actor = match.actor
        best = oracle.judge(match.sight(actor)).best if isinstance(actor, Seat) else match.actions
        assert actor
        match = match.play(actor, rng.choice(best))
    assert len(match.turns) == 60
    reviewed(tmp_path, match)
    out = capsys.readouterr().out
    summed = re.search(r"entries (\d+) to (\d+): nothing given away, no luck, 50.0% throughout", out)
    assert summed
    assert f"\n{summed[1]:>3}. " not in out


def test_what_the_strategy_never_does_is_a_slip_and_no_luck() -> None:
    room = find_game("hunt")
    oracle = room.oracle(room.rules())
    slips = 0
    for seed in range(8):
        for moment in review_match(room, random_match("hunt", Random(seed)), oracle).moments:
            assert isinstance(moment.actor, Seat)
            gained = (
                moment.after - moment.before if moment.actor is Seat.ONE else moment.before - moment.after
            )
            no_surprise = not moment.entry.startswith("observe") and not moment.mishap
            if no_surprise and moment.entry not in moment.best:
                unluckily = -moment.mixing if moment.actor is Seat.ONE else moment.mixing
                assert moment.loss + unluckily == pytest.approx(-gained, abs=1e-6)
                assert moment.mark != "best"
                slips += moment.loss > 0
            assert moment.loss == 0 or abs(moment.mixing) <= ALLOWANCE + 1e-9
    assert slips


def test_perfect_play_of_hunt_is_hardly_ever_told_that_it_made_mistakes() -> None:
    room = find_game("hunt")
    oracle = room.oracle(room.rules())
    marks: Counter[str] = Counter()
    for seed in range(40):
        review = review_match(room, perfect_match("hunt", Random(seed)), oracle)
        marks += Counter(moment.mark for moment in review.moments)
    charged = marks["inaccuracy"] + marks["mistake"] + marks["blunder"]
    assert charged < 0.03 * sum(marks.values())
    assert marks["good"]  # rarely taken, and taken all the same


def test_estimates_have_no_error_and_positions_can_be_solved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(tmp_path, duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3"), "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"] is None
    assert [moment["position"] for moment in answer["moments"]][2] == "2: ?, observe 5"


def test_the_page_shows_what_was_shown_and_lists_the_slips(tmp_path: Path) -> None:
    match = duels.start("flip").play_text("A1+A2", "3,5", "keep A1", "A3", "4")
    page = tmp_path / "flip.html"
    reviewed(tmp_path, match, "--html", str(page))
    text = page.read_text(encoding="utf-8")
    steps = json.loads(re.search(r"const steps = (.*);", text)[1])  # type: ignore[index]
    assert "Shown and face down: A2 is a 5." in steps[3]["text"]
    assert "Quantum Flips left: Player 2." in steps[3]["text"]
    assert re.findall(r'<li data-step="(\d+)"', text) == ["1"]


def test_a_long_curve_keeps_its_dots_apart(tmp_path: Path) -> None:
    page = tmp_path / "long.html"
    reviewed(tmp_path, random_match("chain", Random(1), 150), "--html", str(page))
    places = [float(x) for x in re.findall(r'cx="([0-9.]+)"', page.read_text(encoding="utf-8"))]
    assert len(places) > 100
    assert min(b - a for a, b in pairwise(places)) >= 12


def test_one_seats_copy_is_not_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = duels.start("hunt").play_text("move 3", "observe 5", "move 5", "observe 3")
    path = tmp_path / "copy.duel"
    path.write_text(dumps(match, seat=Seat.ONE), encoding="utf-8")
    assert run(["review", str(path)]) == 1
    err = capsys.readouterr().err
    assert "a review needs the whole record" in err
    assert "once it is over" not in err


def test_an_unfinished_hunt_is_not_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hunt.duel"
    path.write_text(dumps(duels.start("hunt").play_text("move 3", "observe 5")), encoding="utf-8")
    assert run(["review", str(path)]) == 1
    assert "once it is over" in capsys.readouterr().err


def steps_of(page: Path) -> list[dict[str, str]]:
    found = re.search(r"const steps = (.*);", page.read_text(encoding="utf-8"))
    assert found
    steps: list[dict[str, str]] = json.loads(found[1])
    return steps


def test_a_page_breaks_no_lines_of_the_account(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert run(["review", str(record), "--html", str(page)]) == 0
    account = page.read_text(encoding="utf-8").split("<pre>")[1].split("</pre>")[0]
    (slip,) = (line for line in account.splitlines() if line.startswith("- Entry 2, 4, gave away"))
    assert len(slip) > 150
    assert slip.endswith(".")


def test_a_page_of_a_hunt_shows_both_tokens_and_tells_luck_as_the_terminal_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = duels.start("hunt").play_text(
        *("move 3", "observe 5", "move 6", "observe 1", "move 3", "observe 2", "move 6", "observe 3")
    )
    page = tmp_path / "hunt.html"
    reviewed(tmp_path, match, "--html", str(page))
    out, steps = capsys.readouterr().out, steps_of(page)
    assert "Player 1:\n[1][2][Q]" in steps[4]["text"]
    assert "Player 2:\n[1][2][3][4][5][Q]" in steps[4]["text"]
    parts = 0
    for number in range(1, 9):
        told = re.findall(r"(?:the mix|luck) [+-][0-9.]+ points for Player 1", line_of(out, number))
        parts += len(told)
        assert all(part.lower() in steps[number]["text"].lower() for part in told), number
        assert len(re.findall("points for Player 1", steps[number]["text"])) == len(told)
    assert parts > 3
    account = " ".join(out.split("Given away")[1].split())
    assert re.search(
        r"Luck: \S+ points for Player 1, the mix [+-]\d+\.\d of it \(where perfect play", account
    )
