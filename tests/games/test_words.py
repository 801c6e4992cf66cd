"""Every game's words: the entry for an action parses to that action."""

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from duels.core.match import Match, draw
from duels.core.rules import AnyRules, AnySight, Seat
from duels.core.words import Question, Words
from duels.games import GAMES
from duels.games.flip.rules import QuantumTiles, State
from duels.games.flip.words import FlipWords

SMALL = ("lights", "leap", "chain", "hunt")


def reachable_sights(rules: AnyRules) -> Iterator[AnySight]:
    """Return the sights of the seat to act in all reachable states, one per view."""
    todo = [rules.initial()]
    states = set(todo)
    views = set()
    while todo:
        state = todo.pop()
        actor = rules.actor(state)
        if isinstance(actor, Seat):
            sight = rules.sight(state, actor)
            if (actor, sight.view) not in views:
                views.add((actor, sight.view))
                yield sight
        for action in rules.actions(state):
            after = rules.apply(state, action).state
            if after not in states:
                states.add(after)
                todo.append(after)


def random_sights(rules: AnyRules, rng: Random) -> Iterator[AnySight]:
    """Return the sights of the seat to act in all states of a random match."""
    match = Match.start(rules)
    while actor := match.actor:
        if isinstance(actor, Seat):
            yield match.sight(actor)
            match = match.play(actor, rng.choice(match.actions))
        else:
            match = match.play(actor, draw(match, rng))


def enter(words: Words[Any, Any], sight: AnySight, entries: tuple[str, ...]) -> tuple[Any, list[Question]]:
    """Return the action of the entries, and the questions that they answered."""
    dialogue = words.ask(sight)
    questions: list[Question] = []
    left = list(entries)
    try:
        question = next(dialogue)
        while True:
            questions.append(question)
            question = dialogue.send(left.pop(0))
    except StopIteration as end:
        assert not left, f"{left} was never asked for"
        return end.value, questions


def check(words: Words[Any, Any], sight: AnySight) -> None:
    for action in sight.actions:
        entries = words.entries(sight, action)
        entered, questions = enter(words, sight, entries)
        assert entered == action
        assert len(questions) == len(entries)
        assert not any(question.notice for question in questions), "an entry was refused"
        in_other_case = tuple(entry.swapcase() for entry in entries)
        assert enter(words, sight, in_other_case)[0] == action


@pytest.mark.parametrize("name", SMALL)
def test_entries_parse_to_their_action_in_every_state(name: str) -> None:
    rules = GAMES[name].rules()
    words = GAMES[name].words(rules)
    for sight in reachable_sights(rules):
        check(words, sight)


@pytest.mark.parametrize("seed", range(12))
def test_entries_parse_to_their_action_in_random_matches_of_flip(seed: int) -> None:
    rules = GAMES["flip"].rules()
    words = GAMES["flip"].words(rules)
    for sight in random_sights(rules, Random(seed)):
        check(words, sight)


def test_prompts_reveal_no_secrets() -> None:
    """What a prompt says depends on what both players know: it is printed on a shared screen."""
    rules = GAMES["hunt"].rules()
    words = GAMES["hunt"].words(rules)
    prompts: dict[object, str] = {}
    for sight in reachable_sights(rules):
        public = (sight.seat, sight.view.phase, sight.view.last_observed)
        assert prompts.setdefault(public, next(words.ask(sight)).prompt) == next(words.ask(sight)).prompt
    assert len(prompts) > 100


@pytest.mark.parametrize("entry", ["m4", "M 4", "move 4", "4"])
def test_hunt_accepts_the_first_letter_of_a_movement(entry: str) -> None:
    rules = GAMES["hunt"].rules()
    dialogue = rules.game.words(rules).ask(Match.start(rules).sight(Seat.ONE))
    next(dialogue)
    with pytest.raises(StopIteration) as result:
        dialogue.send(entry)
    assert rules.format(result.value.value) == "move 4"


def test_hunt_says_position_like_its_book() -> None:
    rules: AnyRules = GAMES["hunt"].rules()
    drawing = rules.game.drawing(rules)
    texts = [rules.game.card(), rules.game.summary]
    for sight in random_sights(rules, Random(1)):
        labels = re.findall(r' (?:aria-label|data-veiled)="([^"]*)"', drawing.draw(sight, targets=True))
        texts += [*labels, drawing.instruction(sight)]
    assert "positions" in rules.game.card()
    assert not [each for each in texts if "cell" in each.lower()]


def enter_q_in_flip(state: State) -> str:
    """The notice that flip gives if the player to move enters Q."""
    rules = QuantumTiles()
    dialogue = FlipWords(rules).ask(rules.sight(state, state.mover))
    next(dialogue)
    return dialogue.send("q").notice


def test_flip_says_that_the_quantum_flip_is_spent() -> None:
    state = replace(QuantumTiles().initial(), quantum=(False, True))
    coordinates = "Please enter a coordinate from A1 to E5."
    assert enter_q_in_flip(state) == f"You have already used your Quantum Flip. {coordinates}"


def test_flip_says_that_no_two_face_down_tiles_are_adjacent() -> None:
    state = replace(QuantumTiles().initial(), tiles="1.2.3.1.2.3.1.2.3.1.2.3.1")
    assert enter_q_in_flip(state).startswith("No two face-down tiles are adjacent,")
