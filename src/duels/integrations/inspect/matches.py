"""Tasks that play matches."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from inspect import signature
from typing import Any

from duels.arena.config import MODEL
from duels.arena.scores import score_pairing
from duels.arena.text_seat import MatchTask, TextSeat
from duels.core.errors import BadOption, require_extra
from duels.games import GAMES
from duels.integrations.inspect.chat import ModelChat
from duels.integrations.inspect.samples import end_sample, make_task
from duels.integrations.tasks import make_rows

with require_extra("inspect"):
    from inspect_ai import Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import mean, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.util import EarlyStop

OPPONENT_ROLE = "opponent"
"""The model role that plays if the opponent is `model`. Without the role, the model plays against itself."""


@solver
def play_match() -> Solver:
    """Play the match of a sample to its end."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        match = MatchTask.from_row(state.metadata)
        form, model = match.conditions.form, get_model()
        seats, models = list[TextSeat](), [model]
        if match.opponent == MODEL:
            seats += TextSeat.make_self_play(match)
            models.append(get_model(role=OPPONENT_ROLE))
        else:
            seats.append(TextSeat(match))
        chats = [ModelChat(each, form) for each in models]
        while not seats[0].over:
            number = next(number for number, seat in enumerate(seats) if seat.is_to_move)
            seat = seats[number]
            seat.reply(*await chats[number].ask(seat.messages))
            state.messages = [*chats[0].messages]
            state.output = chats[0].output or state.output
        row, scores = seats[0].row, seats[0].scores()
        assert row
        assert scores
        end_sample(
            state,
            {"adjusted": scores["adjusted"], **scores},  # inspect_ai shows the first one as the result
            answer=row["result"],
            explanation=f"{row['result']} after {len(row['entries'])} entries: {' '.join(row['entries'])}",
            row=row,
            grades=[asdict(grade) for grade in seats[0].grades],
        )
        return state

    return solve


class UntilPrecise:
    """Stops a task once the anytime-valid interval of the adjusted result is narrow enough.

    Checking after every pair is allowed, as for `duels arena run --until`.
    """

    def __init__(self, max_margin: float, player: str, opponent: str) -> None:
        self._max_margin = max_margin
        self._players = player, opponent
        self._pairs: list[int] = []
        self._rows: list[Mapping[str, Any]] = []
        self._margin: float | None = None

    async def start_task(self, task: Any, samples: list[Sample], epochs: int) -> str:
        """Begin a task."""
        self._pairs = sorted({sample.metadata["pair"] for sample in samples})
        self._rows, self._margin = [], None
        return "duels"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Return a stop if the result is precise enough."""
        if self._margin is None or self._margin > self._max_margin:
            return None
        reason = f"The margin has fallen to {self._margin:.3f}; the target is {self._max_margin:g}."
        return EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, Any]) -> None:
        """Add the row of a match."""
        metadata = next(iter(scores.values())).score.metadata or {} if scores else {}
        if row := metadata.get("row"):
            self._rows.append(row)
            self._margin = score_pairing(*self._players, self._rows, self._pairs, False).adjusted.margin

    async def complete_task(self) -> dict[str, Any]:
        """Return the last margin."""
        return {"margin": self._margin}


def make_match_task(
    game: str,
    opponent: str = "club",
    matches: int = 20,
    seed: str | int = "1",
    until: float | None = None,
    options: dict[str, Any] | None = None,
    **conditions: Any,
) -> Task:
    """Play matches of any installed game against a built-in player, or `model` for the role `opponent`.

    Matches come in pairs, with the same seed and swapped seats. `until` is a margin: the task stops once the
    luck-adjusted result is known to within it. A match that an error or a limit stopped has no score.
    """
    if until is not None and not 0 < until < 0.5:
        raise BadOption(f"until must be a number above 0 and below 0.5, not {until!r}.")
    rows = make_rows(game, opponent, matches, str(seed), options, **conditions)
    samples = [
        Sample(
            id=f"{row['pair']}-{row['seat']}",
            input=f"{game} against {opponent}, seat {row['seat']}, pair {row['pair']}",
            metadata=row,
        )
        for row in rows
    ]
    players = MatchTask.from_row(rows[0]).plan.players
    return make_task(
        name=game,
        dataset=samples,
        solver=play_match(),
        metrics={"*": [mean(), stderr(cluster="pair")]},  # a pair is two matches with the same seed
        early_stopping=None if until is None else UntilPrecise(until, *players),
    )


def _make_game_task(game: str) -> Callable[..., Task]:
    def play(**arguments: Any) -> Task:
        return make_match_task(game, **arguments)

    play.__signature__ = signature(partial(make_match_task, game))  # type: ignore[attr-defined]
    return task(name=game)(play)  # type: ignore[no-any-return]


match = task(name="match")(make_match_task)
GAME_TASKS = {game: _make_game_task(game) for game in GAMES}
"""The tasks of the games in the package, by name."""
