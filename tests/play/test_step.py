"""One step of a match: the same seed and players give the same match everywhere."""

import ast
from pathlib import Path
from random import Random
from typing import Any

import pytest

import duels
from duels.analysis.export import Export, play_matches
from duels.arena.match_plan import Judge, MatchPlan, play_match
from duels.core.errors import GameOver, NotYourTurn
from duels.core.match import AnyMatch, Match
from duels.core.options import OptionValue
from duels.core.record import format_header
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.games import find_game
from duels.play.dice import Dice, StreamDice
from duels.play.library import read_record
from duels.play.step import decide_next_entry, play_out
from duels.players import Player, RandomPlayer, make_player
from duels.players.failures import BadAnswer, Failure, NoMove
from duels.web.decisions import decide_bot_move
from tests.support import GAME_NAMES, lines_of
from tests.support import duels as command
from tests.test_imports import imports, modules, room_of

LIMITS: dict[str, dict[str, OptionValue]] = {"chain": {"max_boards": 3}, "hunt": {"max_turns": 8}}
PLAYERS = [("club", "novice"), ("perfect", "casual"), ("random", "greedy")]
SEED, NUMBER = "same", 3


def play_at_the_terminal(rules: AnyRules, players: tuple[str, str], seed: str, folder: Path) -> list[str]:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in rules.options().items()]
    seats = ["--seat1", players[0], "--seat2", players[1]]
    path = folder / "match.duel"
    assert command(folder, "play", rules.name, *options, *seats, "--seed", seed, "--save", path).code == 0
    return lines_of(read_record(path).match)


def play_in_the_arena(rules: AnyRules, players: tuple[str, str], seed: str) -> list[str]:
    plan = MatchPlan(rules.name, tuple(rules.options().items()), players, seed, 0)
    seated = {seat: make_player(players[seat - 1], rules) for seat in Seat}
    entries: list[str] = play_match(plan, Judge(rules), seated)["entries"]
    return entries


def play_on_the_server(rules: AnyRules, players: tuple[str, str], seed: str) -> list[str]:
    header = format_header(rules, {"seat1": players[0], "seat2": players[1], "seed": seed})
    played: list[str] = []
    while True:
        change = decide_bot_move("id", 0, header, played, lambda name, rules, id: make_player(name, rules))
        played += [entry.text for entry in change.entries]
        if change.ends_match:
            return played


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("name", GAME_NAMES)
def test_the_same_seed_and_players_give_the_same_match(
    name: str, players: tuple[str, str], tmp_path: Path
) -> None:
    rules = find_game(name).rules(**LIMITS.get(name, {}))
    (line,) = play_matches(Export(rules, players, SEED, NUMBER + 1), NUMBER, lambda done, games: None, 1)
    exported = [turn["action"] for turn in line["turns"]]
    seed = f"{SEED} {NUMBER}"
    assert play_at_the_terminal(rules, players, seed, tmp_path) == exported
    assert play_in_the_arena(rules, players, seed) == exported
    assert play_on_the_server(rules, players, seed) == exported


def test_only_step_draws_chance_and_asks_players() -> None:
    drawing = {
        module
        for module, path in modules()
        for name in imports(ast.parse(path.read_text(encoding="utf-8")))
        if name in ("duels.core.match.draw", "duels.core.match.play_through")
    }
    # Games and solvers may not import the step; they draw where they verify values.
    others = {module for module in drawing if room_of(module) not in ("games", "solving")}
    assert others == {"duels.play.dice"}


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_step_is_pure(name: str) -> None:
    players, dice = dict.fromkeys(Seat, RandomPlayer()), Dice("7")
    match: AnyMatch = Match.start(find_game(name).rules(**LIMITS.get(name, {})))
    while not match.over:
        before, entry = lines_of(match), decide_next_entry(match, players, dice)
        assert entry == decide_next_entry(match, players, Dice("7"))
        assert entry.actor is match.actor
        assert lines_of(match) == before
        match = entry.play(match)
    with pytest.raises(GameOver):
        decide_next_entry(match, players, dice)


def test_a_step_does_not_ask_people() -> None:
    with pytest.raises(NotYourTurn):
        decide_next_entry(duels.start("lights"), dict.fromkeys(Seat), Dice("7"))


class Silent:
    """A player that gives no move."""

    def choose(self, sight: AnySight, rng: Random) -> Any:
        raise NoMove("silent", (BadAnswer(Failure.LATE, "no answer came in time."),))


def test_a_player_without_a_move_forfeits() -> None:
    players: dict[Seat, Player | None] = {Seat.ONE: RandomPlayer(), Seat.TWO: Silent()}
    match = play_out(duels.start("lights"), players, Dice("7"))
    assert match.outcome
    assert match.outcome.code == "1 won, 2 forfeited"
    entry = decide_next_entry(match.after(1), players, Dice("7"))
    assert entry.no_move
    with pytest.raises(NoMove):
        _ = entry.action


def test_a_stream_draws_in_order_up_to_a_limit() -> None:
    """The same numbers as of a generator that is asked for chance and for players in turn."""
    rules = find_game("chain").rules()
    rng, match = Random(3), Match.start(rules)
    while not match.over and match.length < 30:
        actor = match.actor
        assert actor is not None
        match = match.play(actor, duels.draw(match, rng) if actor is CHANCE else rng.choice(match.actions))
    players = dict.fromkeys(Seat, RandomPlayer())
    assert lines_of(play_out(Match.start(rules), players, StreamDice(Random(3)), 30)) == lines_of(match)
