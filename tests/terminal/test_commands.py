"""Help, exit codes, stdout and stderr of every command."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from unittest import mock

import click
import pytest

from duels.core.options import list_options
from duels.games import GAMES, find_game
from duels.games.hunt.strategy import load_certificate
from duels.play.library import read_record
from duels.play.new_match import MACHINE_LIMIT
from duels.players import PLAYER_KINDS
from duels.terminal.commands import cli
from tests.support import COMMAND, GAME_NAMES, command, duels, environment, lines_of, sample_record

CONTEXT = click.Context(cli, info_name="duels", **cli.context_settings)
COMMANDS = {name: each for name in cli.list_commands(CONTEXT) if (each := cli.get_command(CONTEXT, name))}


def examples(help_text: str) -> list[str]:
    """Return the example commands at the end of a help text, without their descriptions."""
    lines = help_text.split("Examples:\n", 1)[1].splitlines()
    return [re.split(r"\s{3,}", line.strip())[0] for line in lines if line.strip()]


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_ends_with_examples_that_exist(name: str | None, tmp_path: Path) -> None:
    arguments = [name] if name else []
    result = duels(tmp_path, *arguments, "--help")
    assert (result.code, result.err) == (0, "")
    assert duels(tmp_path, *arguments, "-h").out == result.out
    assert examples(result.out)
    for example in examples(result.out):
        words = shlex.split(example.split(">")[0].split("|")[0].removeprefix('eval "$(').removesuffix(')"'))
        assert words[0] == "duels"
        assert name is None or words[1] == name
        if words[1:] and words[1] in COMMANDS:
            parse(words[1], words[2:], tmp_path)


def parse(name: str, arguments: list[str], folder: Path) -> None:
    """Parse an example's arguments without running it."""
    files = [folder / word if word.endswith(".duel") else word for word in arguments]
    for path in files:
        if isinstance(path, Path) and name != "play":
            path.write_bytes(sample_record("hunt", 4))
    assert COMMANDS[name].make_context(name, [str(word) for word in files], CONTEXT)


def test_help_names_every_command_and_every_kind_of_player(tmp_path: Path) -> None:
    text = duels(tmp_path, "--help").out
    assert {"games", "rules", "play", "replay", "resume", "verify"} <= set(COMMANDS)
    message = " ".join(text.split())
    for name, each in COMMANDS.items():
        assert each.help
        assert f"{name} {each.help.split(chr(10) * 2)[0]} " in message, "the whole first paragraph"
    play = " ".join(duels(tmp_path, "play", "--help").out.split())
    for option in ("--seat1", "--seat2", "--first", "--seed", "--chance", "--save", "--plain"):
        assert option in play
    assert all(kind in play for kind in ("human", "casual", "cmd:COMMAND", "model:NAME"))


def test_help_states_the_limit_of_machine_matches(tmp_path: Path) -> None:
    play, export = (" ".join(duels(tmp_path, name, "--help").out.split()) for name in ("play", "export"))
    assert f"after {MACHINE_LIMIT} boards of chain or {MACHINE_LIMIT} turns of hunt" in play
    assert f"after {MACHINE_LIMIT} boards of chain or {MACHINE_LIMIT} turns of hunt unless" in export


def test_players_claims_no_more_than_is_proven(tmp_path: Path) -> None:
    *_, best, perfect = json.loads(duels(tmp_path, "players", "--json").out)
    assert (best["player"], perfect["player"]) == ("best", "perfect")
    assert set(best["proven"]) == {"hunt", "flip"}
    most = load_certificate().nash_conv.high
    assert f"at most {100 * most:.2f} points" in best["proven"]["hunt"]
    text = duels(tmp_path, "players").out
    for name, proven in best["proven"].items():
        assert f"{name}: {proven}\n" in text


def test_every_option_has_a_help_text() -> None:
    for name, each in COMMANDS.items():
        assert each.help, name
        for parameter in each.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"


def test_games(tmp_path: Path) -> None:
    result = duels(tmp_path, "games")
    assert (result.code, result.err) == (0, "")
    header, *rows = result.out.partition("\n\n")[0].splitlines()
    assert header.split()[:3] == ["game", "rule", "book"]
    assert [row.split()[0] for row in rows] == list(GAMES)
    assert all(game.title in row for game, row in zip(GAMES.values(), rows, strict=True))
    assert "five published, machine-written rule books" in result.out
    listed = json.loads(duels(tmp_path, "games", "--json").out)
    assert [entry["game"] for entry in listed] == list(GAMES)
    assert all(set(entry) == {"game", "title", "summary", "source"} for entry in listed)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_rules_shows_the_card(name: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "rules", name.upper())
    assert (result.code, result.err) == (0, "")
    assert result.out == find_game(name).card()
    assert len(result.out.splitlines()) > 5


@pytest.mark.parametrize("name", GAME_NAMES)
def test_verify(name: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    for turns in (0, 4, 10_000):
        path.write_bytes(sample_record(name, turns))
        match = read_record(path).match
        done = duels(tmp_path, "verify", path)
        assert (done.code, done.err) == (0, "")
        result = match.outcome.reason if match.outcome else "unfinished"
        assert done.out == f"{path}: legal, {name}, {len(match.turns)} entries; {result}\n"
        answer = json.loads(duels(tmp_path, "verify", "--json", path).out)
        assert answer == {
            "legal": True,
            "game": name,
            "entries": len(match.turns),
            "winner": match.outcome.winner if match.outcome else None,
            "result": match.outcome.code if match.outcome else None,
        }


@pytest.mark.parametrize(
    "arguments",
    [
        "bogus",
        "--bogus",
        "play",
        "play chess",
        "play lights --seat1 nobody",
        "play lights --first 3",
        "play lights --bogus",
        "play lights extra",
        "play chain --chance edge",
        "play lights --chance heads",
        "play chain --chance 4",
        "play lights --seed \udcff",
        "rules",
        "rules chess",
        "replay missing.duel",
        "resume missing.duel",
        "verify missing.duel",
        "share missing.duel --seat 1",
        "replay x --seat 3",
        "completion tcsh",
        "export lights --against nobody",
        "games extra",
    ],
)
def test_wrong_usage_exits_two_with_a_message_on_stderr(arguments: str, tmp_path: Path) -> None:
    result = duels(tmp_path, *arguments.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: duels")
    assert result.err.splitlines()[-1].startswith("Error: ")
    assert not list(tmp_path.iterdir()), "no match was started"


@pytest.mark.parametrize("arguments", ["replay", "review", "verify", "share --seat 1"])
def test_without_a_file_the_last_match_is_taken(arguments: str, tmp_path: Path) -> None:
    none = duels(tmp_path, *arguments.split())
    assert (none.code, none.out) == (1, "")
    assert none.err == "duels: You have not played a match yet. Start one with: duels play GAME\n"
    duels(tmp_path, "play", "lights", entered="1\n4\nquit\n")
    elsewhere = tmp_path / "elsewhere.duel"
    duels(tmp_path, "play", "lights", "--save", elsewhere, entered="2\n1\nresign\n")
    assert duels(tmp_path, "play", "leap", entered="quit\n").err.endswith("nothing was saved.\n")
    last, named = duels(tmp_path, *arguments.split()), duels(tmp_path, *arguments.split(), elsewhere)
    assert last == named
    assert last.code == 0


@pytest.mark.parametrize("arguments", ["replay", "review", "verify", "resume", "share --seat 1"])
def test_a_file_that_is_not_a_record_gives_one_line_of_error(arguments: str, tmp_path: Path) -> None:
    result = duels(tmp_path, *arguments.split(), tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"duels: {tmp_path}: ")
    assert result.err.count("\n") == 1


def test_matches_lists_the_newest_match_first(tmp_path: Path) -> None:
    none = duels(tmp_path, "matches")
    assert (none.code, none.out, none.err) == (0, "", "You have not played a match yet.\n")
    assert json.loads(duels(tmp_path, "matches", "--json").out) == []
    duels(tmp_path, "play", "lights", "--seat2", "greedy", entered="1\n4\nresign\n")
    duels(tmp_path, "play", "flip", entered="quit\n")
    damaged = tmp_path / "matches" / "damaged.duel"
    damaged.write_text("duels record 9\n")
    elsewhere = tmp_path / "else where.duel"
    duels(tmp_path, "play", "hunt", "--save", elsewhere, entered="5\nquit\n")
    result = duels(tmp_path, "matches", "--json")
    assert result.err.startswith(f"Skipped {damaged}: ")
    hunt, lights = json.loads(result.out)
    assert (hunt["game"], hunt["players"], hunt["result"]) == ("hunt", ["human", "human"], None)
    assert hunt["file"] == str(elsewhere)
    assert (lights["game"], lights["players"]) == ("lights", ["human", "greedy"])
    assert lights["result"] == "2 won, 1 resigned"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", lights["played"])
    listed = duels(tmp_path, "matches")
    rows = [re.split("  +", row) for row in listed.out.splitlines()]
    name = Path(lights["file"]).name
    assert [row[1:] for row in rows] == [
        ["hunt", "human - human", "unfinished", str(elsewhere)],
        ["lights", "human - greedy", "you lost", name],
    ]
    assert listed.err.endswith(f"Times are UTC. Files without a folder are in {tmp_path / 'matches'}.\n")
    assert name in listed.out
    assert duels(tmp_path, "verify", name).code == 0, "a listed file name needs no folder"


def test_long_names_and_results_stay_in_separate_columns(tmp_path: Path) -> None:
    (tmp_path / "matches").mkdir()
    for number, (one, end) in enumerate((("program of a name that is long", "forfeit"), ("human", "resign"))):
        (tmp_path / "matches" / f"{number}.duel").write_text(
            f"duels record 2\ngame: lights\nseat1: {one}\nseat2: {one}\nseed: 1\n\n1\n{end}\n"
            f"result: 1 won, 2 {end}ed\n"
        )
    rows = [re.split("  +", row) for row in duels(tmp_path, "matches").out.splitlines()]
    assert {tuple(row[2:4]) for row in rows} == {
        ("human - human", "Player 1 won, Player 2 resigned"),
        (" - ".join(["program of a name that is long"] * 2), "Player 1 won, Player 2 forfeited"),
    }


def test_matches_lists_twenty_unless_all_is_passed(tmp_path: Path) -> None:
    (tmp_path / "matches").mkdir()
    for number in range(25):
        (tmp_path / "matches" / f"{number}.duel").write_bytes(sample_record("lights", 3))
    assert len(duels(tmp_path, "matches").out.splitlines()) == 20
    assert len(duels(tmp_path, "matches", "--all").out.splitlines()) == 25


def test_errors_list_the_valid_choices(tmp_path: Path) -> None:
    assert all(name in duels(tmp_path, "play", "chess").err for name in GAMES)
    assert all(name in duels(tmp_path, "play", "lights", "--seat1", "x").err for name in PLAYER_KINDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("plya lights", "Error: No such command 'plya'. Did you mean play?\n"),
        ("xyzzy", "Error: No such command 'xyzzy'. duels --help lists the commands.\n"),
        (
            "play lihgts",
            "There is no game 'lihgts'; did you mean lights? There are lights, leap, chain, hunt, flip",
        ),
        ("rules XYZZY", "There is no game 'XYZZY'; there are lights, leap, "),
        (
            "play lights --seat2 Cassual",
            "There is no player 'Cassual'; did you mean casual? There are ",
        ),
        (f"play {'lights' * 10_000}", "There is no game 'lightslights"),
    ],
)
def test_a_mistyped_name_suggests_the_nearest(arguments: str, message: str, tmp_path: Path) -> None:
    result = duels(tmp_path, *arguments.split())
    assert result.code == 2
    assert message in result.err


def test_exit_codes_of_the_real_command(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.duel"
    damaged.write_text("duels record 1\ngame: lights\n\n9\n")
    for arguments, entered, code in (
        (("games",), b"", 0),
        (("play", "lights"), b"quit\n", 0),
        (("play", "lights"), b"resign\n", 0),
        (("verify", damaged), b"", 1),
        (("play", "chess"), b"", 2),
        (("play", "lights"), b"", 130),
        ((), b"", 0),
        ((), b"quit\n", 0),
        ((), b"play\nlights\n\n\n", 0),
    ):
        result = command(tmp_path, *arguments, entered=entered)
        assert result.returncode == code, (arguments, result)
        assert b"Traceback" not in result.stderr


def test_data_goes_to_stdout_and_notices_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    played = duels(tmp_path, "play", "hunt", "--save", path, entered="MOVE 3\nOBSERVE 5\nsave\nquit\n")
    assert str(path) not in played.out
    assert played.err == f"Saved: {path}\n\nThe match is saved. Continue with: duels resume {path}\n"
    resumed = duels(tmp_path, "resume", path, entered="quit\n")
    assert resumed.err.startswith(f"Resuming {path}.\n")
    assert "Resuming" not in resumed.out
    replayed = duels(tmp_path, "replay", path)
    assert replayed.err.count("\n") == 1
    assert "hidden information stays hidden" in replayed.err
    assert duels(tmp_path, "replay", path, "--seat", "1").err == ""


@pytest.mark.parametrize("name", GAME_NAMES)
def test_replay_step_prints_every_turn_in_a_pipe(name: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    path.write_bytes(sample_record(name, 10_000))
    stepped = duels(tmp_path, "replay", path, "--step")
    assert stepped.code == 0
    assert stepped.out == duels(tmp_path, "replay", path).out


@pytest.mark.parametrize(("first", "one", "two"), [("1", "human", "random"), ("2", "random", "human")])
def test_first_decides_who_is_player_1(first: str, one: str, two: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    play = ("play", "lights", "--seat1", "human", "--seat2", "random", "--first", first, "--save", path)
    result = duels(tmp_path, *play, entered="resign\n")
    headers = read_record(path).headers
    assert (headers["seat1"], headers["seat2"]) == (one, two)
    message = f"Player 1: {one}. Player 2: {two}.\n"
    assert (message in result.err) == (first != "1")
    assert len(lines_of(read_record(path).match)) == 1 + (one == "random")


@pytest.mark.parametrize(
    ("first", "message"), [("1", ""), ("2", "The person at seat 2 is Player 1 and moves first.\n")]
)
def test_a_notice_between_two_people_names_player_1(first: str, message: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "play", "chain", "--first", first, entered="4\nquit\n")
    assert result.err.removesuffix(result.err.splitlines()[-1] + "\n") == f"{message}\n"
    assert "Player 1 (X), it's your turn." in result.out, "names do not change"


def test_first_random_chooses_either_seat(tmp_path: Path) -> None:
    seen, message = set(), set()
    for number in range(60):
        path = tmp_path / f"{number}.duel"
        play = ("play", "lights", "--first", "random", "--save", path)
        assert duels(tmp_path, *play, "--seat2", "random", entered="resign\n").code == 0
        seen.add(read_record(path).headers["seat1"])
        message.add(duels(tmp_path, *play[:-2], entered="quit\n").err.splitlines()[0])
    assert seen == {"human", "random"}
    assert message == {f"The person at seat {seat} is Player 1 and moves first." for seat in (1, 2)}


def test_demo_plays_each_game_once_and_saves_nothing(tmp_path: Path) -> None:
    result = duels(tmp_path, "demo")
    assert (result.code, result.err) == (0, "")
    titles = re.findall(r"^=== (\w+): ", result.out, flags=re.MULTILINE)
    assert titles == list(GAMES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", GAME_NAMES)
@pytest.mark.parametrize("kind", ["random", "greedy"])
def test_machines_play_whole_matches(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "match.duel"
    play = ("play", name, "--seat1", kind, "--seat2", "random", "--seed", "4", "--save", path)
    assert duels(tmp_path, *play).code == 0
    outcome = read_record(path).match.outcome
    assert outcome
    assert outcome.winner


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tmp_path: Path) -> None:
    result = duels(tmp_path, "completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_DUELS_COMPLETE={shell}_complete" in result.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("duels ", set(COMMANDS)),
        ("duels re", {"replay", "resume", "review"}),
        ("duels play ", set(GAMES)),
        ("duels play L", {"lights", "leap"}),
        ("duels rules h", {"hunt"}),
        ("duels play lights --seat1 ", set(PLAYER_KINDS)),
        ("duels play lights --first ", {"1", "2", "random"}),
    ],
)
def test_completion_offers_commands_games_and_players(words: str, expected: set[str], tmp_path: Path) -> None:
    variables = {"_DUELS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = subprocess.run(
        COMMAND, env=environment(tmp_path, **variables), capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    assert {line.split(",", 1)[1] for line in result.stdout.splitlines()} == expected


def test_version_prints_the_version(tmp_path: Path) -> None:
    assert re.fullmatch(r"duels \d+\.\d+\.\d+\n", duels(tmp_path, "--version").out)


def test_unencodable_output_is_replaced(tmp_path: Path) -> None:
    for arguments in (["rules", "chain"], ["play", "lights"], ["games"]):
        result = subprocess.run(
            [*COMMAND, *arguments],
            env=environment(tmp_path, PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
            input="é…\nquit\n".encode(),
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0
        assert b"Traceback" not in result.stderr


def test_every_help_describes_every_kind_of_option(tmp_path: Path) -> None:
    """Options can be numbers, flags, names and tuples."""
    from tests.outside import nim

    with mock.patch.dict(GAMES, {"nim": nim.GAME}):
        for name in ("play", "solve", "levels", "practice", "export"):
            result = duels(tmp_path, name, "nim", "--help")
            assert result.code == 0
            for option in list_options(nim.GAME.rules_class()):
                assert f"--{option.name.replace('_', '-')}" in result.out


@pytest.mark.parametrize("name", ["\x1b[2J.duel", "two\nlines.duel", "\u202eleud.duel", "\udcff.duel"])
def test_control_characters_in_file_names_are_escaped(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    file = str(path)
    for arguments in (["play", "lights", "--save", file], ["resume", file]):
        result = duels(tmp_path, *arguments, entered="1\n4\nquit\n")
        assert result.code == 0
        assert all(line.isprintable() for line in (result.out + result.err).split("\n"))
    path.write_text("no record")
    for arguments in (["verify", file], ["replay", file], ["resume", file], ["resume"]):
        result = duels(tmp_path, *arguments)
        assert result.code == 1
        assert all(line.isprintable() for line in result.err.split("\n"))
    assert duels(tmp_path, "play", "lights", "--save", path).err.count("\n") == 4


@pytest.mark.parametrize("command", ["play", "practice", "lesson", "rules"])
def test_a_missing_game_lists_the_games(command: str, tmp_path: Path) -> None:
    result = duels(tmp_path, command)
    assert result.code == 2
    assert "Choose lights, leap, chain, hunt or flip" in " ".join(result.err.split())


def test_a_wrong_date_explains_the_format(tmp_path: Path) -> None:
    assert "--date YYYY-MM-DD" in duels(tmp_path, "daily", "--help").out
    result = duels(tmp_path, "daily", "--date", "tomorrow")
    assert result.code == 2
    assert "'tomorrow' is not a date. Enter it as YYYY-MM-DD." in " ".join(result.err.split())


@pytest.mark.parametrize("command", ["arena", "bot"])
def test_no_summary_of_a_command_is_truncated(command: str, tmp_path: Path) -> None:
    assert (
        "..."
        not in duels(tmp_path, command, "--help").out.partition("Commands:")[2].partition("Examples:")[0]
    )
