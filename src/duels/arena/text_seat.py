"""A seat of a match for a player that reads and writes text.

Frameworks that evaluate or train language models play through it: they ask the arena's questions and get its
grades. It sends nothing and knows no framework.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, TypeAlias

from duels.arena.config import MODEL, check_table
from duels.arena.match_plan import GradedDecision, Judge, MatchPlan, MatchStats, play_dialogue
from duels.core.errors import BadOption, DuelsError, GameOver, UnknownName, quote
from duels.core.options import OptionValue
from duels.core.rules import AnyRules, AnySight, Seat, as_seat
from duels.games import find_game
from duels.play.new_match import add_machine_limit
from duels.play.step import DecisionRequest, ask_player
from duels.players import Player, find_player_kind, make_player
from duels.players.completions import Reply
from duels.players.failures import Answer, BadAnswer, NoMove
from duels.players.prompt import Message
from duels.players.text_player import Conditions, TextPlayer, check_disguise

MIN_REWARD = -1.0
"""The reward of a forfeit, and the lowest reward. A match is worth one point, so nobody can lose more."""
_get_judge = lru_cache(maxsize=64)(Judge)


@dataclass(frozen=True)
class MatchTask:
    """A match to play from one seat. The same task gives the same match if it gets the same replies.

    Raises DuelsError if there is no such game, opponent, seat, option or condition.

    >>> task = MatchTask("lights", "club", options={"lights": 5}, conditions=Conditions(show_actions=True))
    >>> MatchTask.from_row(task.as_row()) == task
    True
    """

    game: str
    opponent: str = "club"
    """A built-in player, or `model` for another text seat (see `TextSeat.make_self_play`)."""
    seat: int = 1
    seed: str = "1"
    pair: int = 0
    """The number of the pair: two tasks with the same seed and both seats."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    conditions: Conditions = field(default_factory=Conditions)

    def __post_init__(self) -> None:
        as_seat(self.seat)
        if not isinstance(self.seed, str):
            raise BadOption(f"seed must be a string, not {self.seed!r}.")
        if self.opponent != MODEL and not find_player_kind(self.opponent).make:
            raise UnknownName(f"{quote(self.opponent)} is a person, not a machine player.")
        check_disguise(self.rules, self.conditions)

    @property
    def rules(self) -> AnyRules:
        """The rules, with a limit if play could otherwise continue forever."""
        return add_machine_limit(find_game(self.game).rules(**self.options))

    @property
    def plan(self) -> MatchPlan:
        """The match as the arena plans it."""
        options = tuple(sorted(self.rules.options().items()))
        names = MODEL, f"{MODEL} (2)" if self.opponent == MODEL else self.opponent
        return MatchPlan(self.game, options, names if self.seat == 1 else names[::-1], self.seed, self.pair)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "MatchTask":
        """Return the task in a row of a dataset. Other columns are ignored.

        `options` and `conditions` may be JSON or mappings. Raises BadOption if they are neither, and the
        errors of MatchTask.
        """
        values = {each.name: row[each.name] for each in fields(cls) if row.get(each.name) is not None}
        for name in ("options", "conditions"):
            if isinstance(value := values.get(name, {}), str):
                value = json.loads(value)
            if not isinstance(value, Mapping):
                raise BadOption(f"{name} must be a table, not {value!r}.")
            values[name] = {key: item for key, item in value.items() if item is not None}
        values["conditions"] = parse_conditions(values["conditions"])
        return cls(**values)

    def as_row(self) -> dict[str, Any]:
        """Return the task as a row of strings and numbers, which any dataset library can store."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        return row | {
            "options": json.dumps(dict(self.options)),
            "conditions": json.dumps(asdict(self.conditions)),
        }


def parse_conditions(values: Mapping[str, Any]) -> Conditions:
    """Make conditions from names and values. Raises UnknownName or BadOption if one is not allowed."""
    return Conditions(**check_table(values, Conditions, "conditions", "condition"))


@dataclass(frozen=True)
class DecisionGrade:
    """A decision and its loss under perfect play. Values are those of the seat that decided."""

    entry: int
    """The number of the entry in the match, from 1 on."""
    action: str | None
    """The action in notation, or None for a forfeit."""
    loss: float
    """The value that the action gives away; 0 for a best action."""
    best: tuple[str, ...]
    """The best actions in notation."""
    before: float
    """The value of the position: the probability of winning if both sides play perfectly."""
    after: float
    """The value of the action; 0 after a forfeit."""
    failures: tuple[str, ...]
    """The kinds of failed attempts before the decision, as in the arena's reports."""

    @classmethod
    def from_decision(cls, rules: AnyRules, decision: GradedDecision) -> "DecisionGrade":
        """Return the grade of a decision."""
        answer, verdict = decision.answer, decision.verdict
        best, before = tuple(map(rules.format, verdict.best)), verdict.value.number
        failures = tuple(error.failure.value for error in answer.failed)
        if isinstance(answer, NoMove):
            return cls(decision.entry, None, before, best, before, 0.0, failures)
        loss, after = verdict.loss(answer.action), verdict.get_action_value(answer.action).value.number
        return cls(decision.entry, rules.format(answer.action), loss, best, before, after, failures)


@dataclass(frozen=True)
class MoveResult:
    """The reply was a move, and the match continues."""

    grade: DecisionGrade | None
    """None for a forced move."""


@dataclass(frozen=True)
class RetryRequest:
    """The reply was not a move. The model may try again."""

    reason: str
    text: str
    """The text to send to the model."""


@dataclass(frozen=True)
class Forfeit:
    """The reply was not a move, and no attempt is left: the seat lost the match."""

    reason: str


@dataclass(frozen=True)
class MatchEnd:
    """The reply was a move, after which the match ended."""

    grade: DecisionGrade | None
    result: str
    """The result in a record, such as `1 won`."""


ReplyResult: TypeAlias = MoveResult | RetryRequest | Forfeit | MatchEnd
"""The result of a reply."""


class _TextMatch:
    """A match with one or two text seats. It plays on until a text seat must decide."""

    def __init__(
        self, plan: MatchPlan, texts: Mapping[Seat, TextPlayer], players: Mapping[Seat, Player]
    ) -> None:
        self.texts = texts
        self._players = players
        self.rules = plan.rules()
        self.stats = MatchStats()
        self.request: DecisionRequest | None = None
        self.row: dict[str, Any] | None = None
        self.is_broken = False
        self._dialogue = play_dialogue(plan, _get_judge(self.rules), self.stats)
        self._advance(lambda: next(self._dialogue))

    def answer(self, answer: Answer | NoMove) -> None:
        """Play the answer of the text seat to move, and play to the next question."""
        self._advance(lambda: self._dialogue.send(answer))

    def _advance(self, resume: Any) -> None:
        self.is_broken, self.request = True, None
        try:
            request = resume()
            while (answer := self._decide(request)) is not None:
                request = self._dialogue.send(answer)
            self.request = request
        except StopIteration as end:
            self.row = end.value
        self.is_broken = False  # not reached if a player or the rules raised an error

    def _decide(self, request: DecisionRequest) -> Answer | NoMove | None:
        """Return the decision of a built-in player, or a forced move; None if a model must be asked."""
        if request.seat in self.texts:
            return self.texts[request.seat].ask(request.sight, request.rng)
        return ask_player(self._players[request.seat], request, by_policy=True)


class TextSeat:
    """One seat of a match, for a player that reads and writes text.

    The seat plays the opponent and chance, and stops where a reply is needed.

    >>> seat = TextSeat(MatchTask("lights", "random", seed="3", options={"lights": 3}))
    >>> seat.question.splitlines()[0]
    'You are Player 1, and it is your turn.'
    >>> seat.reply("I take two.").reason
    "'I take two' is not an action."
    >>> result = seat.reply('{"action": "2"}')  # the remaining move is forced, so the match ends
    >>> result.result, result.grade.loss, result.grade.best, result.grade.failures
    ('1 won', 0.0, ('2',), ('unreadable',))
    >>> seat.scores()
    {'win': 1.0, 'adjusted': 1.0, 'loss': 0.0, 'failures': 1.0, 'forfeit': 0.0, 'reward': 0.0}
    """

    def __init__(self, task: MatchTask | Mapping[str, Any], opponent: Player | None = None) -> None:
        """Start a match. `opponent` plays instead of the task's opponent; the row keeps the task's name."""
        task = task if isinstance(task, MatchTask) else MatchTask.from_row(task)
        seat, plan = Seat(task.seat), task.plan
        if task.opponent == MODEL and not opponent:
            raise BadOption("a match of two models has two text seats: use TextSeat.make_self_play.")
        player = opponent or make_player(task.opponent, plan.rules())
        texts = {seat: TextPlayer(MODEL, plan.rules(), task.conditions)}
        self._join(task, seat, _TextMatch(plan, texts, {seat.other: player}))

    @classmethod
    def make_self_play(
        cls, task: MatchTask, conditions: Conditions | None = None
    ) -> "tuple[TextSeat, TextSeat]":
        """Return both seats of one match; the first is the task's seat.

        The second seat plays instead of the task's opponent, under `conditions`. By default, these are the
        task's conditions.
        """
        seat, plan = Seat(task.seat), task.plan
        texts = {
            seat: TextPlayer(MODEL, plan.rules(), task.conditions),
            seat.other: TextPlayer(plan.players[seat.other - 1], plan.rules(), conditions or task.conditions),
        }
        match = _TextMatch(plan, texts, {})
        seats = cls.__new__(cls), cls.__new__(cls)
        seats[0]._join(task, seat, match)
        seats[1]._join(task, seat.other, match)
        return seats

    def _join(self, task: MatchTask, seat: Seat, match: _TextMatch) -> None:
        self.task = task
        self.seat = seat
        self._match = match
        self._player = match.texts[seat]

    # -- what to send to the model -----------------------------------------------------------------------

    @property
    def briefing(self) -> str:
        """The rules and the form of an answer, for the system message."""
        return self._player.briefing

    @property
    def question(self) -> str:
        """The text of the current decision, or of the last one if the seat is not to move."""
        return self._player.question

    @property
    def messages(self) -> list[Message]:
        """The conversation to send now, in the format of OpenAI's chat completions."""
        return self._player.messages

    @property
    def sight(self) -> AnySight | None:
        """Everything that the seat knows, or None if it is not to move."""
        request = self._match.request
        return request.sight if request and request.seat is self.seat else None

    @property
    def actions(self) -> tuple[str, ...]:
        """The legal actions in notation; empty if the seat is not to move."""
        sight = self.sight
        return tuple(map(sight.rules.format, sight.actions)) if sight else ()

    # -- the match ---------------------------------------------------------------------------------------

    @property
    def is_to_move(self) -> bool:
        """Whether the seat has to decide now."""
        return self.sight is not None

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self._match.row is not None

    def reply(self, text: str, finish_reason: str = "stop", call_id: str = "") -> ReplyResult:
        """Play the move in a model's reply.

        `finish_reason` is `stop`, `length` or `content_filter`. With a `call_id`, the text is the arguments
        of a tool call. Raises GameOver after the end, DuelsError if the seat is not to move or an error broke
        off the match. Errors of players and rules pass through.
        """
        self._check_turn()
        answer = self._player.reply(Reply(text, finish_reason, call_id=call_id))
        if isinstance(answer, BadAnswer):
            return RetryRequest(answer.detail, self._player.retry_text)
        decided = len(self.grades)
        self._match.answer(answer)
        if isinstance(answer, NoMove):
            return Forfeit(str(answer))
        grade = next(iter(self.grades[decided:]), None)
        return MatchEnd(grade, self.row["result"]) if self.row else MoveResult(grade)

    def _check_turn(self) -> None:
        if self._match.is_broken:
            raise DuelsError("The match was broken off by an error.")
        if self.over:
            raise GameOver("The match is over.")
        if not self.is_to_move:
            raise DuelsError(f"It is not the turn of {self.seat.label}.")

    # -- grades ------------------------------------------------------------------------------------------

    @property
    def grades(self) -> list[DecisionGrade]:
        """The grades of this seat's decisions so far, without forced moves."""
        rules, graded = self._match.rules, self._match.stats.graded
        return [DecisionGrade.from_decision(rules, each) for each in graded if each.seat is self.seat]

    @property
    def row(self) -> dict[str, Any] | None:
        """The arena's row of the match, or None if it is not over."""
        return self._match.row

    @property
    def reward(self) -> float | None:
        """The negated sum of the losses, at least MIN_REWARD; MIN_REWARD for a forfeit.

        None if the match is not over: an unfinished match has no reward.
        """
        if not self.over:
            return None
        grades = self.grades
        if any(grade.action is None for grade in grades):
            return MIN_REWARD
        return max(MIN_REWARD, 0.0 - sum(grade.loss for grade in grades))

    def scores(self) -> dict[str, float] | None:
        """Return the seat's numbers, or None if the match is not over.

        `win` is 1, 0.5 or 0; `adjusted` is the same without luck; `loss` is the sum of the losses; `failures`
        counts attempts that were not moves; `forfeit` is 1 if the seat forfeited; `reward` is the reward.
        """
        row, grades = self.row, self.grades
        if row is None:
            return None
        win, adjusted = row["score"], row["adjusted"]
        if self.seat is Seat.TWO:
            win, adjusted = 1 - win, 1 - adjusted
        return {
            "win": win,
            "adjusted": adjusted,
            "loss": sum(grade.loss for grade in grades if grade.action is not None),
            "failures": float(sum(failure[0] == self.seat for failure in row["failures"])),
            "forfeit": float(any(grade.action is None for grade in grades)),
            "reward": self.reward,
        }
