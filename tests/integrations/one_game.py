"""A seeded list of replies for all adapters of a game, and the result that each adapter must give."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from duels.arena.config import Config
from duels.arena.run import run
from duels.arena.text_seat import (
    DecisionGrade,
    Forfeit,
    MatchEnd,
    MatchTask,
    RetryRequest,
    TextSeat,
)
from duels.games import find_game
from duels.integrations.tasks import make_rows
from duels.players.endpoint import EndpointSettings
from tests.players.scripted_endpoint import answering, completion

OPPONENT = "club"
OPTIONS: dict[str, dict[str, Any]] = {"chain": {"max_boards": 1}, "hunt": {"max_turns": 6}}
RETRIES = 12
"""Many replies of the list are illegal where they fall."""


@dataclass(frozen=True)
class PlayedMatch:
    """The output of an adapter for a match: the texts for the model, the arena's row, and the grades."""

    messages: list[list[dict[str, Any]]]
    """The messages of each request."""
    row: dict[str, Any]
    grades: list[DecisionGrade] | None = None
    """None if the door does not list them."""
    texts: list[str] = field(default_factory=list)
    """The texts of one conversation: the opening, then the answer to each call."""
    reward: float | None = None


def make_task(game: str, seat: int, **conditions: Any) -> MatchTask:
    rows = make_rows(game, OPPONENT, 2, options=OPTIONS.get(game), retries=RETRIES, **conditions)
    return MatchTask.from_row(rows[seat - 1])


def make_replies(game: str, seed: int, count: int = 400) -> list[str]:
    """Return replies that are often legal somewhere in the game, and sometimes not readable at all."""
    rules, rng = find_game(game).rules(), Random(seed)
    actions = [rules.format(action) for action in rules.all_actions()]
    forms = [
        'I think.\n{{"action": "{}"}}',
        "{{'action': '{}'}}",
        "\\boxed{{{}}}",
        "{}.",
        "Maybe {} or so",
        "",
    ]
    return [rng.choices(forms, (10, 2, 2, 2, 1, 1))[0].format(rng.choice(actions)) for _ in range(count)]


def make_actions(game: str, seed: int, count: int = 400) -> list[str]:
    """Return actions for tool calls, often legal somewhere in the game, and some that are none."""
    rules, rng = find_game(game).rules(), Random(seed)
    actions = [rules.format(action) for action in rules.all_actions()]
    return [rng.choices([rng.choice(actions), "", "I pass"], (15, 1, 1))[0] for _ in range(count)]


def play_at_seat_by_tool(task: MatchTask, actions: Sequence[str]) -> PlayedMatch:
    """Play through the text seat alone, by tool calls."""
    seat = TextSeat(task)
    texts = [f"{seat.briefing}\n\n{seat.question}"]
    for number, action in enumerate(actions):
        result = seat.reply(json.dumps({"action": action}), call_id=str(number))
        if isinstance(result, (Forfeit, MatchEnd)):
            break
        texts.append(result.text if isinstance(result, RetryRequest) else seat.question)
    scores = seat.scores()
    assert seat.row
    assert scores
    end = {1.0: "You won", 0.0: "You lost"}.get(scores["win"], "Nobody won")
    failure = f"No attempt is left: {result.reason} " if isinstance(result, Forfeit) else ""
    texts.append(f"{failure}The match is over. {end}.")
    return PlayedMatch([], seat.row, seat.grades, texts, seat.reward)


def play_at_seat(task: MatchTask, replies: Sequence[str]) -> PlayedMatch:
    """Play through the text seat alone."""
    seat, messages = TextSeat(task), []
    for reply in replies:
        if seat.over:
            break
        messages.append(seat.messages)
        seat.reply(reply)
    assert seat.row
    return PlayedMatch(messages, seat.row, seat.grades)


def play_in_arena(task: MatchTask, replies: Sequence[str], folder: Path) -> list[PlayedMatch]:
    """Play both matches of the task's pair in a run of the arena, seat 1 first."""
    conditions = asdict(task.conditions)
    with answering(*map(completion, replies)) as server:
        settings = EndpointSettings(server.url, concurrency=1, **conditions)
        players = ("model=model:it", task.opponent)
        options = {task.game: task.options} if task.options else {}
        rows = run(Config(players, (task.game,), 2, options=options, model=settings), folder).load_rows()
    requests, played = [request["messages"] for request in server.requests], []
    for seat in (1, 2):
        row = dict(rows[replace(task, seat=seat).plan.key])
        count = row.pop("usage")[seat - 1][2]
        played.append(PlayedMatch(requests[:count], row))
        requests = requests[count:]
    return played


def dump(row: object) -> Any:
    """Return a value as it comes back from JSON."""
    return json.loads(json.dumps(row))
