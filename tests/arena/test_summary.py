"""The summary at the top of a report agrees with its tables."""

from dataclasses import replace
from math import inf
from pathlib import Path

from duels.arena import probe_report
from duels.arena.confidence import Interval
from duels.arena.config import Config, ProbeConfig
from duels.arena.folder import Folder
from duels.arena.mistakes import WorstMistakes
from duels.arena.probe import run_probe
from duels.arena.report import GameReport, describe_costliest_category, make_report, summarize_run
from duels.arena.report_views import as_csv, as_data, format_gain, make_document
from duels.arena.run import run
from duels.arena.scores import PlayerScore
from duels.core.match import Match
from duels.core.rules import Seat
from duels.games import find_game
from duels.players.text_player import Mirror
from tests.players.test_program import BAD, PYTHON


def _of(game: GameReport, player: str) -> PlayerScore:
    return next(each for each in game.scores if each.player == player)


def test_equal_mistakes_are_listed_once_with_a_count(tmp_path: Path) -> None:
    """Mistakes are counted with their mirror images."""
    folder = run(Config(("random", "novice"), ("lights",), 200), tmp_path)
    mirror = Mirror.from_rules(find_game("lights").rules())
    (game,) = make_report(folder).games
    blunders = [each for each in game.blunders if each.player == "random"]
    assert len({(each.position, each.played) for each in blunders}) == len(blunders) == 5
    most = max(blunders, key=lambda each: each.times)
    image = mirror.sight(most.sight)
    made = 0
    for row in folder.load_rows().values():
        for blunder in row["blunders"]:
            if row["players"][blunder["seat"] - 1] == "random":
                match = Match.start(most.sight.rules).play_text(*row["entries"][: blunder["entry"]])
                assert match.previous
                assert match.last
                action = match.last.action
                made += (match.previous.sight(Seat(blunder["seat"])).view, action) in (
                    (most.sight.view, most.sight.rules.parse(most.played)),
                    (image.view, mirror.action(most.sight.rules.parse(most.played))),
                )
    assert most.times == made > 1
    assert str(most).endswith(f" Made {made} times, including mirror images.")
    assert most.as_data()["times"] == made


def test_the_summary_lists_players_in_order_with_confidence(tmp_path: Path) -> None:
    report = make_report(run(Config(("random", "novice", "best"), ("lights", "leap"), 50), tmp_path))
    best, novice, random, settled = summarize_run(report)
    standing = _of(report.games[0], "random")
    low, high = (f"{100 * bound:.0f}" for bound in (standing.won.low, standing.won.high))
    assert random.startswith(f"random won {100 * standing.won.estimate:.0f}% ({low} to {high}) in lights, ")
    lost = {game.rules.name: _of(game, "random").per_match.estimate for game in report.games}
    most = max(lost, key=lost.__getitem__)
    assert f"It gives away most in {most}: {100 * lost[most]:.1f} points a match, " in random
    assert novice.startswith("novice won")
    assert best.endswith("It made no mistakes.")
    decided = sum(
        not pair.adjusted.low <= 0.5 <= pair.adjusted.high for g in report.games for pair in g.pairings
    )
    assert 0 < decided < 6
    assert settled.startswith(f"The better player is known in {decided} of 6 pairings")
    assert "random against novice in lights" in settled
    text = make_document(report).render_text()
    assert text.index("In short:") < text.index("Light Out Duel")
    assert f"<li>{best}</li>" in make_document(report).render_html()


def test_failures_are_reported_separately_from_mistakes(tmp_path: Path) -> None:
    config = Config(("random", f"mine=cmd:{PYTHON} {BAD} unknown"), ("lights",), 2, until=0.2)
    random, program, decided_player = summarize_run(make_report(run(config, tmp_path)))
    assert program == "mine won 0% in lights. Failures: 6 unreadable; it forfeited 2 matches."
    assert random.startswith("random won 100% in lights.")  # with until, fixed-size intervals do not hold
    assert decided_player == (
        "The better player is not known yet (95 % confidence, by anytime-valid intervals). Undecided, and "
        "about how many more matches each needs at this rate: random against mine in lights (10)."
    )


def test_the_worst_decisions_are_those_of_the_measured_player(tmp_path: Path) -> None:
    (ours,) = make_report(run(Config(("random", "novice"), ("lights",), 20), tmp_path / "ours")).games
    assert {each.player for each in ours.list_worst(2)} == {"random", "novice"}
    config = Config(("random", "mine=novice", "other=random"), ("lights",), 20)
    (others,) = make_report(run(config, tmp_path / "others")).games
    assert [each.player for each in others.list_worst(4)].count("mine") == 2
    assert {each.player for each in others.list_worst(1)} == {"mine", "other"}
    losses = [each.shortfall for each in others.list_worst(4)]
    assert losses == sorted(losses, reverse=True)


def test_sentences_on_mistakes_name_games_graded_by_losses(tmp_path: Path) -> None:
    report = make_report(run(Config(("best", "random"), ("lights", "hunt"), 4), tmp_path))
    best, random, *_ = summarize_run(report)
    assert best.endswith("It made no mistakes in lights.")
    lost = _of(report.games[0], "random").per_match.estimate
    assert f"It gives away {100 * lost:.1f} points a match in lights" in random


def test_failures_are_listed_below_the_table(tmp_path: Path) -> None:
    report = make_report(run(Config(("random", "club"), ("lights",), 2), tmp_path))
    (game,) = report.games
    failures = {"crashed": 72, "illegal": 431, "late": 31, "unreadable": 23}
    standings = tuple(replace(each, failures=failures) for each in game.scores)
    text = make_document(replace(report, games=(replace(game, scores=standings),))).render_text()
    assert "\n  club: 72 crashed, 431 illegal, 31 late, 23 unreadable\n" in text


def test_the_most_frequent_mistakes_come_first(tmp_path: Path) -> None:
    (game,) = make_report(run(Config(("random", "novice"), ("lights",), 20), tmp_path)).games
    blunders = [each for each in game.blunders if each.player == "random"]
    worst = WorstMistakes(2)
    for mistake, times in zip(blunders, (1, 2, 5, 3), strict=False):
        worst.add(replace(mistake, shortfall=0.5, times=times))
    assert not worst.is_settled(0.5)
    assert worst.is_settled(0.4)
    assert [each.times for each in worst.mistakes] == [5, 3]


def test_boards_name_the_player_to_move(tmp_path: Path) -> None:
    (game,) = make_report(run(Config(("random", "novice"), ("leap",), 20), tmp_path)).games
    for mistake in game.blunders:
        token = game.rules.game.words(game.rules).seat_name(mistake.sight.seat)
        assert f"<figcaption>{token} to move. " in mistake.render_figure()
        assert f'aria-label="{token} to move."' in mistake.render_figure()


def test_savings_in_pairs_need_enough_pairs(tmp_path: Path) -> None:
    (game,) = make_report(run(Config(("random", "novice"), ("lights",), 40), tmp_path)).games
    (pair,) = game.pairings
    guess = Interval(250.0, -inf, inf)
    assert format_gain(replace(pair, variance_ratio=guess)) == "250x?"
    assert format_gain(replace(pair, variance_ratio=Interval(3.0, 2.53, 99.7))) == "2.5 to 100x"
    assert format_gain(replace(pair, variance_ratio=guess, match_pairs=pair.match_pairs[:4])) == "–"


def test_the_summary_mentions_many_cut_off_matches(tmp_path: Path) -> None:
    config = Config(("best", "expert"), ("chain",), 6, options={"chain": {"max_boards": 1}})
    report = make_report(run(config, tmp_path))
    cut = report.games[0].pairings[0].cut_off
    assert cut >= 2
    where = f"best against expert in chain ({cut} of 6)"
    assert summarize_run(report)[-1] == f"Many matches were cut off by the limit and count one half: {where}."


def test_a_single_pairing_is_settled_or_not(tmp_path: Path) -> None:
    alike = make_report(run(Config(("random", "other=random"), ("lights",), 40), tmp_path / "alike"))
    sure = "(95 % confidence, by anytime-valid intervals)."
    assert (
        summarize_run(alike)[-1]
        == f"The better player is not known yet {sure} Undecided: random against other in lights."
    )
    unlike = make_report(run(Config(("random", "best"), ("lights",), 60), tmp_path / "unlike"))
    assert summarize_run(unlike)[-1] == f"The better player is known {sure}"


def test_a_run_without_matches_says_so(tmp_path: Path) -> None:
    with Folder.open_locked(tmp_path, Config(("random", "best"), ("lights",), 2)) as folder:
        report = make_report(folder)
    assert summarize_run(report) == ["No matches yet."]
    assert "50.0" not in make_document(report).render_text().replace("Player 1 wins 50.0%", "")
    assert "50.0 (" not in make_document(report).render_html()
    game = as_data(report)["games"]["lights"]
    assert game["players"]["best"]["won"] is game["pairings"][0]["adjusted"] is None
    assert "lights,best,0,,,,given away,,,,,0,0,0" in as_csv(report)


def test_frequent_decisions_are_not_blamed_for_their_number() -> None:
    common, costly = (83, 4.7), (20, 2.0)
    assert describe_costliest_category({"stepping": common, "observing beside your own symbol": costly}) == (
        ", most when observing beside its own symbol (10.0 a decision)"
    )
    assert describe_costliest_category({"stepping": common, "naming": (19, 2.0)}) == ""  # too few to tell
    assert (
        describe_costliest_category({"stepping": (20, 0.0), "naming": (20, 0.0)})
        == describe_costliest_category({})
        == ""
    )


def test_a_probe_is_summarized_by_game(tmp_path: Path) -> None:
    folder = run_probe(ProbeConfig("casual", ("lights", "hunt"), positions=4), tmp_path)
    report = probe_report.make_report(folder)
    text = " ".join(probe_report.make_document(report).render_text().split())
    assert "It beats random, novice. It loses to greedy, club, expert, best." in text
    assert "- hunt: its choices are" in text
    assert "lights: it gives away" in text[: text.index("Light Out Duel")]
    assert "<li>lights: it gives away" in probe_report.make_document(report).render_html()
