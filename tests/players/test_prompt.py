"""The prompt contract: what a question says, and which answers are moves."""

import json
import re
from collections.abc import Iterator
from random import Random

import pytest

from duels.core.match import Match
from duels.core.rules import AnySight, Seat
from duels.games import GAMES, find_game
from duels.play.new_match import add_machine_limit
from duels.players.completions import Reply
from duels.players.failures import BadAnswer, Failure
from duels.players.prompt import Labels, make_messages, parse_answer
from duels.players.text_player import Conditions, TextPlayer
from duels.solving.oracles import get_oracle

LIGHTS = find_game("lights").rules()
EXAMPLE = re.compile(r'as in ({"action": "[^"]+"})')


def iter_decisions(game: str, count: int) -> Iterator[AnySight]:
    rules, rng = add_machine_limit(find_game(game).rules()), Random(7)
    decisions = 0
    while decisions < count:
        match = Match.start(rules)
        while (actor := match.actor) is not None and decisions < count:
            if isinstance(actor, Seat):
                decisions += 1
                yield match.sight(actor)
            match = match.play(actor, rng.choice(match.actions))


def list_examples(question: str) -> list[str]:
    return [json.loads(text)["action"] for text in EXAMPLE.findall(question)]


@pytest.mark.parametrize("game", GAMES)
def test_every_example_is_a_legal_action_and_every_kind_has_one(game: str) -> None:
    for sight in iter_decisions(game, 1000):
        question = make_messages(sight, False)[1]["content"]
        examples = [sight.rules.parse(text) for text in list_examples(question)]
        assert set(examples) <= set(sight.actions)
        assert {type(example) for example in examples} == {type(action) for action in sight.actions}


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_of_a_prompt_have_no_instructions_for_a_keyboard(game: str) -> None:
    system = make_messages(Match.start(find_game(game).rules()).sight(Seat.ONE), False)[0]["content"]
    assert "At the terminal" not in system
    assert "Enter" not in system
    assert "stop" not in system.partition("Good to know")[2]


@pytest.mark.parametrize(
    ("game", "resource", "form"),
    [
        ("flip", "Your Quantum Flip", "both tiles of a Quantum Flip"),
        ("hunt", "Quantum Tunneling", "tunnel and"),
    ],
)
def test_a_resource_is_offered_only_while_it_is_left(game: str, resource: str, form: str) -> None:
    questions = [make_messages(sight, False)[1]["content"] for sight in iter_decisions(game, 500)]
    assert {f"{resource} is left" in each for each in questions if form in each} == {True}
    assert {form in each for each in questions if f"{resource} is spent" in each} == {False}


def test_a_retry_repeats_the_form_and_adds_no_example() -> None:
    """The notation's own examples may be illegal now, or good moves: `4` wins the opening of lights."""
    for game in GAMES:
        for sight in iter_decisions(game, 50):
            player = TextPlayer("model", sight.rules, Conditions(ask_forced=True))
            for text in ("A fine mess.", '{"action": "99"}', '{"action": ""}'):
                player.ask(sight, Random(1))
                player.reply(Reply(text, "stop"))
                reason, _, form = player.retry_text.partition(" Please answer again. ")
                assert form == player.question.rpartition("\n\n")[2]
                assert not re.search(r"\d", reason.replace("'99'", ""))


def test_examples_are_as_often_best_as_random_actions() -> None:
    oracle, examples, expected = get_oracle(LIGHTS), 0.0, 0.0
    count = 0
    for number in range(1, 2**7):
        row = "".join("XO"[number >> bit & 1] for bit in range(7))
        sight = LIGHTS.parse_position(f"{row} 1")
        best = {LIGHTS.format(action) for action in oracle.judge(sight).best}
        for pair in ("-" in text for text in list_examples(make_messages(sight, False)[1]["content"])):
            kind = [text for action in sight.actions if ("-" in (text := LIGHTS.format(action))) is pair]
            expected += len(best & set(kind)) / len(kind)
            count += 1
        examples += sum(text in best for text in list_examples(make_messages(sight, False)[1]["content"]))
    assert abs(examples - expected) < 3 * count**0.5 / 2


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        ("5454./3.5../...../...../....a 18,8 01 1", "Your Quantum Flip is spent, your opponent's is left."),
        ("5454./3.5../...../...../....a 18,8 01 1", "turned face down again: E5 is a 1."),
        ("...../4..../..1../..e../..b.. 1,4 11 1 D3|E3", "Your opponent's Quantum Flip is left."),
        (
            "...../4..../..1../..e../..b.. 1,4 11 1 D3|E3",
            "turned up D3 (a 5) and E3 (a 2). Keep one of them.",
        ),
        ("5454./3.5../...../...../..... 18,8 10 1", "Your Quantum Flip is left, your opponent's is spent."),
    ],
)
def test_a_question_states_resources_in_words(position: str, sentence: str) -> None:
    flip = find_game("flip").rules()
    assert sentence in make_messages(flip.parse_position(position), False)[1]["content"]


def test_a_quantum_flip_in_progress_is_neither_left_nor_spent() -> None:
    """In notation it counts as left, because it is used up by the choice after it."""
    sight = find_game("flip").rules().parse_position("...../4..../..1../..e../..b.. 1,4 11 1 D3|E3")
    assert "Your Quantum Flip is" not in make_messages(sight, False)[1]["content"]


@pytest.mark.parametrize(
    ("game", "entries", "sentence"),
    [
        ("chain", "1 2 3 4 5 6 7", "This is board 2. If board 50 ends without a winner, nobody wins."),
        ("hunt", "tunnel_3 observe_1", "This is turn 2. If turn 50 ends without a winner, nobody wins."),
    ],
)
def test_a_question_says_how_near_the_limit_is(game: str, entries: str, sentence: str) -> None:
    match = Match.start(add_machine_limit(find_game(game).rules()))
    match = match.play_text(*(entry.replace("_", " ") for entry in entries.split()))
    for relabel in (False, True):
        labels = Labels.from_rules(match.rules) if relabel else None
        assert isinstance(match.actor, Seat)
        assert sentence in make_messages(match.sight(match.actor), False, labels)[1]["content"]


def test_the_history_says_who_did_what() -> None:
    hunt = Match.start(find_game("hunt").rules()).play_text("move 4", "observe 3", "tunnel 6", "observe 2")
    assert (
        "Played so far: you: move 4; you: observe 3; your opponent: hidden; your opponent: observe 2."
        in make_messages(hunt.sight(Seat.ONE), False)[1]["content"]
    )
    chain = Match.start(find_game("chain").rules()).play_text("4", "1", "5", "challenge", "heads")
    assert (
        "Played so far: your opponent: 4; you: 1; your opponent: 5; you: challenge; chance: heads."
        in make_messages(chain.sight(Seat.TWO), False)[1]["content"]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('First {"action": "1"}, no: {"action": "4"}', "4"),
        ("I will take the pair.\n\n2-3", "2-3"),
        ("2\u20133", "2-3"),
        ("**2-3**", "2-3"),
        ('{"thought": {"x": 1}, "action": "5"}', "5"),
        ('```json\n{\n  "action": "6"\n}\n```', "6"),
        ('{"action": 6}', "6"),
        ("{'action': '6'}", "6"),
        (r"The answer is $\boxed{4}$.", "4"),
        (r"\boxed{\text{4}}", "4"),
        ('So:\n"4"', "4"),
        ("So:\n4.", "4"),
    ],
)
def test_the_grammar_of_answers(text: str, expected: str) -> None:
    action, policy = parse_answer(text, Match.start(LIGHTS).sight(Seat.ONE))
    assert (LIGHTS.format(action), policy) == (expected, None)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("", Failure.EMPTY),
        ("``` \n", Failure.EMPTY),
        ('The answer looks like {"action": "1"}, but I am not sure.', Failure.UNREADABLE),
        ("I play 4", Failure.UNREADABLE),
        ('{"action": "1"} {"note": "done"}', Failure.UNREADABLE),
        ('{"action": "9"}', Failure.ILLEGAL),
        ("{" * 500_000 + "}", Failure.UNREADABLE),
    ],
)
def test_anything_else_is_not_a_move(text: str, failure: Failure) -> None:
    with pytest.raises(BadAnswer) as problem:
        parse_answer(text, Match.start(LIGHTS).sight(Seat.ONE))
    assert problem.value.failure is failure
