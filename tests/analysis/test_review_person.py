"""A review addresses the person who played, from that seat's point of view."""

import re
from random import Random

import pytest

import duels
from duels.analysis.reasons import describe_play, explain_result, find_worst_slip, summarize_result
from duels.analysis.review import Review, Stake, review, review_record
from duels.analysis.review_json import review_to_dict
from duels.analysis.review_page import render_review_page
from duels.core.record import dump_record
from duels.core.rules import Seat
from duels.core.words import strip_ink
from duels.games import load_record
from duels.players import HUMAN
from duels.terminal.review import render_review
from tests.analysis.matches import level_match

# Player 1 gives the match away with entry 1, Player 2 back with entry 2, Player 1 again with entry 3.
ENTRIES = ("1", "3-4", "6", "2", "5", "7")


def lights(one: str = HUMAN, two: str = HUMAN) -> Review:
    match = duels.start("lights").play_text(*ENTRIES)
    return review(match, players={Seat.ONE: one, Seat.TWO: two})


def text_of(reviewed: Review) -> str:
    return strip_ink(render_review(reviewed))


def test_players_are_read_from_the_record() -> None:
    match = duels.start("lights").play_text(*ENTRIES)
    reviewed = review_record(load_record(dump_record(match, {"seat1": "club", "seat2": HUMAN})))
    assert reviewed.players == {Seat.ONE: "club", Seat.TWO: HUMAN}
    assert (reviewed.person, reviewed.side) == (Seat.TWO, Seat.TWO)
    assert review_record(load_record(dump_record(match))).person is None


def test_the_legend_defines_the_terms_of_the_reasons() -> None:
    assert "Nim-sum: every run is worth a number" in text_of(lights(HUMAN, "club"))
    assert "Nim-sum" not in text_of(review(duels.start("leap").play_text("enter", "enter", "resign")))


def winner_of(reviewed: Review) -> Seat:
    outcome = reviewed.match.outcome
    assert outcome
    assert outcome.winner
    return outcome.winner


def test_an_unfinished_match_is_reviewed_in_the_present_tense() -> None:
    match = duels.start("lights").play_text(*ENTRIES[:2])
    text = text_of(review(match, players={Seat.ONE: HUMAN, Seat.TWO: "club"}))
    assert "You are Player 1, against club (Player 2)." in text


@pytest.mark.parametrize("won", [True, False])
def test_the_only_person_is_addressed_as_you(won: bool) -> None:
    winner = winner_of(lights())
    you = winner if won else winner.other
    names = {you: HUMAN, you.other: "club"}
    text = text_of(lights(names[Seat.ONE], names[Seat.TWO]))
    assert f"Why you {'won' if won else 'lost'}:" in text
    assert f"You were {you.label}, against club ({you.other.label})." in text
    who = [line.split()[1] for line in text.splitlines() if re.match(r"\s*\d\. ", line)]
    assert who == ["you" if seat is you else "club" for seat in [Seat.ONE, Seat.TWO] * 3]
    assert you.other.label not in text.replace(f"({you.other.label})", "").split("\n", 1)[1]
    assert "Your chance to win, before and after" in text
    assert you.label not in text.replace(f"You were {you.label}", "").split("\n", 1)[1]
    assert text.rstrip().count("= 100.0, the result." if won else "= 0.0, the result.") == 1
    last = next(line for line in text.splitlines() if re.match(rf"\s*{len(ENTRIES)}\.", line))
    assert f"-> {'100.0' if won else '  0.0'}%" in last


def test_long_names_are_not_used_in_the_table() -> None:
    name = "program python -m somebody.else"
    text = text_of(lights(HUMAN, name))
    assert f"against {name} (Player 2)." in text
    assert "  2. Player 2  3-4 " in text
    assert f"{name}'s" not in text


def test_a_winners_slips_are_not_the_cause() -> None:
    won, better = explain_result(lights("club", HUMAN))
    assert (won.title, better.title) == ("Why you won", "What you could do better")
    assert won.reasons[0].text == "club's mistakes cost 200.0 points in total:"
    assert [reason.text.split(" threw")[0] for reason in won.reasons[1:3]] == [
        "club's first move (entry 1: light 1)",
        "club's second move (entry 3: light 6)",
    ]
    assert [reason.text.split(" threw")[0] for reason in better.reasons] == [
        "Your first move (entry 2: lights 3-4)"
    ]
    assert [section.title for section in explain_result(lights(HUMAN, "club"))] == ["Why you lost"]


@pytest.mark.parametrize(
    ("level", "seed", "lucky"), [("random", 6, False), ("club", 0, True)], ids=["slips of the loser", "luck"]
)
@pytest.mark.parametrize("person", Seat)
def test_the_biggest_cause_comes_first(level: str, seed: int, lucky: bool, person: Seat) -> None:
    match = level_match("chain", level, Random(seed))
    reviewed = review(match, players={person: HUMAN, person.other: level})
    loser = winner_of(reviewed).other
    luck, slips = -reviewed.luck_without_mixing(loser), reviewed.loss(loser)
    assert (luck > slips > 0) is lucky
    reasons = [reason.text for reason in explain_result(reviewed)[0].reasons]
    kinds = [
        "Luck" if text.startswith("Luck ") else "Slip"
        for text in reasons
        if text.startswith("Luck ") or " move (entry " in text
    ]
    summed = f"mistakes cost {100 * slips:.1f} points in total:"
    assert sum(summed in text for text in reasons) == (kinds.count("Slip") > 1)
    assert list(dict.fromkeys(kinds)) == (["Luck", "Slip"] if lucky else ["Slip", "Luck"])
    assert reasons[0].startswith("Luck ") is lucky


def test_the_play_is_described_by_its_worst_entry() -> None:
    lost = lights(HUMAN, "club")
    assert describe_play(lost) == "2 blunders, the last at entry 3; otherwise well played."
    assert describe_play(lights("club", HUMAN)) == "One blunder at entry 2; otherwise well played."
    assert describe_play(lights("club", "club")) == "", "nobody reads it"
    worst = find_worst_slip(lost)
    assert worst
    assert worst.number == 3
    one = review(level_match("chain", "club", Random(0)), players={Seat.ONE: HUMAN, Seat.TWO: "club"})
    lucky = one.luck_without_mixing(Seat.ONE) > 0
    assert describe_play(one).endswith(". You were lucky." if lucky else ". You were unlucky.")


def test_the_summary_names_the_deciding_cause() -> None:
    assert summarize_result(lights(HUMAN, "club")).startswith(
        "Your second move (light 6) threw away the win; "
    )
    summary = summarize_result(lights("club", HUMAN))
    assert summary.startswith("club's second move (light 6) threw away the win; ")
    assert summarize_result(lights("club", "club")) == ""
    lucky = review(level_match("chain", "club", Random(0)))
    luck = next(reason.text for reason in explain_result(lucky)[0].reasons if reason.text.startswith("Luck "))
    assert summarize_result(lucky) == luck
    won = review(
        duels.start("lights").play_text("4", "1", "7", "2-3", "5-6"),
        players={Seat.ONE: HUMAN, Seat.TWO: "club"},
    )
    assert summarize_result(won) == "The game is won for you from the start if you make no mistake."


def test_a_single_position_is_described_in_the_singular() -> None:
    assert "Analyse this position with: duels solve lights" in text_of(lights("club", HUMAN))
    assert "Analyse the first of these positions with: duels solve lights" in text_of(lights(HUMAN, "club"))


def test_bots_are_never_addressed_as_you() -> None:
    for reviewed in (lights("club", "casual"), lights("greedy", "greedy")):
        text = text_of(reviewed)
        assert not re.search(r"\byou\b|\byour\b", text, re.IGNORECASE)
        assert f"Why {winner_of(reviewed).other.label} lost:" in text
        assert "Player 1's chance to win" in text
        assert "Player 1 was" in text
    page = render_review_page(lights("club", "casual"))
    steps = page[page.index("const steps") : page.index("let now")]
    assert not re.search(r"\byou\b", steps, re.IGNORECASE)


def test_reviews_of_two_people_address_the_loser() -> None:
    text = text_of(lights())
    assert f"Why you lost, {winner_of(lights()).other.label}:" in text
    assert "Player 1's chance to win" in text


def test_data_name_the_reader_and_use_player_1s_values() -> None:
    one, two = review_to_dict(lights(HUMAN, "club")), review_to_dict(lights("club", HUMAN))
    assert (one["you"], two["you"], review_to_dict(lights())["you"]) == (1, 2, None)
    assert one["players"] == {"1": HUMAN, "2": "club"}
    assert one["score"] == two["score"]
    assert one["opening"] + one["luck"] - one["loss"]["1"] + one["loss"]["2"] == pytest.approx(one["score"])
    assert "you is the seat of the only person" in one["values"]


def test_stakes_are_the_largest_loss_of_a_reply() -> None:
    match = duels.start("chain").play_text("2", "5", "3")
    reviewed = review(match)
    (stake,) = (moment.stake for moment in reviewed.entries if moment.number == 2)
    assert stake
    assert stake == Stake(replies=5, mistakes=1, max_loss=stake.max_loss)
    assert stake.max_loss == pytest.approx(1 / 36)
    assert (
        "all actions are equally good; 1 of Player 1's 5 replies would have lost up to 2.8 points"
        in text_of(reviewed)
    )
    assert review_to_dict(reviewed)["moments"][1]["stake"]["mistakes"] == 1
    assert reviewed.entries[-1].stake is None  # nobody has replied


def test_a_quantum_flip_and_the_choice_after_it_count_as_one_move() -> None:
    flips = ["A1", "5", "B1", "4", "A2", "5", "B2", "4", "A3", "5", "B3", "4", "A4", "1", "B4", "3"]
    match = duels.start("flip").play_text(*flips, "C4+C5", "2,5", "keep C4", "C1", "3", "C2", "4")
    text = text_of(review(match, players={Seat.ONE: HUMAN, Seat.TWO: "club"}))
    assert "- Your fifth move (entry 19: keep C4) cost" in text
