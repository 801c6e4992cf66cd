"""Puzzles of the day and practice in the browser. Answers are stored in the browser, not on the server.

Workers find and grade exercises; the server handles only descriptions of them.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.analysis.wording import Glossary
from duels.core.errors import DuelsError, NotationError
from duels.core.game import Game
from duels.core.narration import PlayerNames
from duels.core.rules import AnySight
from duels.core.words import Words, strip_ink
from duels.games import GAMES
from duels.web.request_errors import NotFound, RequestError, StaleRequest
from duels.web.reviews import describe_hint
from duels.web.views import Headline, format_label, get_prompt
from duels.web.visitors import Visitor, make_token
from duels.web.workers import WorkerPool

if TYPE_CHECKING:  # slow to import
    from duels.analysis.exercises import Exercise

log = logging.getLogger("duels.web")

_MAX_CACHED = 500  # exercises
_MAX_SEED_LENGTH = 40
MAX_DAYS = 2_000
"""The largest number of days in a browser's answers, and so the longest streak."""
MAX_ANSWERS_BYTES = 64 * MAX_DAYS
"""The largest size of these answers: each day has a date and five answers."""
_MAX_RECENT_LINES = 3  # in chain: a challenge, its coin and the result
_RESULT = re.compile(rf"(\d{{4}}-\d\d-\d\d)\.([01-]{{1,{len(GAMES)}}})\.(\d{{1,4}})", re.ASCII)
_ANSWERS = {"1": True, "0": False, "-": None}
_START_DELAY = 1.0  # seconds, so that the first page is served first
_DATE_CHECK_INTERVAL = 60.0  # seconds


def get_today() -> str:
    """Return the server's date in ISO format."""
    return date.today().isoformat()


class DailyResult(NamedTuple):
    """The result of a day in the address of a shared link. It does not reveal the answers."""

    day: str
    answers: Sequence[bool | None]
    streak: int

    @classmethod
    def parse(cls, text: str) -> "DailyResult | None":
        """Parse what `format` returned, or return None."""
        parts = _RESULT.fullmatch(text)
        if not parts:
            return None
        return cls(parts[1], [_ANSWERS[mark] for mark in parts[2]], int(parts[3]))

    def format(self) -> str:
        """Return the result as text for an address."""
        return f"{self.day}.{self.marks}.{self.streak}"

    @property
    def marks(self) -> str:
        """`1` for each right answer, `0` for each wrong one and `-` for each open puzzle."""
        marks = {answer: mark for mark, answer in _ANSWERS.items()}
        return "".join(marks[answer] for answer in self.answers)

    @property
    def title(self) -> str:
        """A sentence about the result."""
        row = f", day {self.streak} in a row" if self.streak > 1 else ""
        return f"{self.answers.count(True)} of {len(GAMES)} right{row}"


class Puzzles:
    """The puzzles of the day, and exercises by seed."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers
        self._daily: dict[str, tuple[str, str, dict[str, Any]]] = {}
        """The date, the board for the home page and the description of each game's puzzle."""
        self._preparation: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Find each day's puzzles in the background, since the home page shows them."""
        self._preparation = asyncio.create_task(self._prepare())

    async def stop(self) -> None:
        """Cancel the background task."""
        if self._preparation:
            self._preparation.cancel()
            await asyncio.gather(self._preparation, return_exceptions=True)

    async def _prepare(self) -> None:
        await asyncio.sleep(_START_DELAY)
        while True:
            for game in GAMES.values():
                with suppress(DuelsError):
                    await self._describe_daily(game)
            await asyncio.sleep(_DATE_CHECK_INTERVAL)  # a timer to midnight would be late after a suspend

    def get_daily_board(self, game: Game) -> str:
        """Return the board of today's puzzle, or an empty string if it has not been found yet."""
        day, board, _ = self._daily.get(game.name, ("", "", {}))
        return board if day == get_today() else ""

    # -- today ----------------------------------------------------------------------------------

    def list_daily(self) -> dict[str, Any]:
        """Return today's puzzles with their boards."""
        games = [
            {"name": game.name, "title": game.title, "board": self.get_daily_board(game)}
            for game in GAMES.values()
        ]
        return {"date": get_today(), "games": games, "most_days": MAX_DAYS}

    async def show_daily(self, game: Game, visitor: Visitor) -> dict[str, Any]:
        """Return today's puzzle of a game, without its answer."""
        description = await self._describe_daily(game, visitor)
        return {
            "kind": "daily",
            "date": get_today(),
            "seed": "",
            "aim": None,
            "most_days": MAX_DAYS,
            **description,
        }

    async def grade_daily(self, game: Game, day: str, answer: str, visitor: Visitor) -> dict[str, Any]:
        """Grade an answer to today's puzzle. Raises StaleRequest if `day` is over."""
        if day != get_today():
            raise StaleRequest("This puzzle is from another day. Reload the page for today's.")
        _check_has_daily(game)
        find = partial(_find_daily, game, date.today())
        return await self._workers.run(partial(_grade_exercise, find, answer), visitor)

    def make_share_text(self, answered: Mapping[str, Any]) -> dict[str, Any]:
        """Return the streak and the text to share, from the browser's answers by date."""
        from duels.analysis.exercises import count_streak, format_daily_result

        results = {
            str(day): [None if was_right is None else bool(was_right) for was_right in answers]
            for day, answers in list(answered.items())[-MAX_DAYS:]
            if isinstance(answers, list) and len(answers) <= len(GAMES)
        }
        day = date.today()
        streak = count_streak(results, day)
        answers = results.get(day.isoformat(), [])
        code = DailyResult(day.isoformat(), answers, streak).format() if set(answers) - {None} else ""
        return {"streak": streak, "text": format_daily_result(day, answers, streak), "result": code}

    async def _describe_daily(self, game: Game, visitor: Visitor | None = None) -> dict[str, Any]:
        _check_has_daily(game)
        day = date.today()
        if self._daily.get(game.name, ("",))[0] != day.isoformat():
            board, description = await self._workers.run(partial(_describe_daily, game, day), visitor)
            self._daily[game.name] = day.isoformat(), board, description
        return self._daily[game.name][2]

    # -- lessons --------------------------------------------------------------------------------

    async def show_lesson(self, game: Game, visitor: Visitor) -> dict[str, Any]:
        """Return the steps of a game's lesson. Raises NotFound if the game has none."""
        if lesson := await self._workers.run(partial(_describe_lesson, game), visitor):
            return {"game": game.name, "title": game.title, "steps": lesson}
        raise NotFound()

    # -- practice -------------------------------------------------------------------------------

    async def show_practice(self, game: Game, seed: str, aim: str, visitor: Visitor) -> dict[str, Any]:
        """Return the exercise of a seed, or a random one, without its answer."""
        seed = seed[:_MAX_SEED_LENGTH] or make_token()
        difficulty = _parse_aim(aim)
        description = await self._workers.run(partial(_describe_practice, game, seed, difficulty), visitor)
        return {"kind": "practice", "date": "", "seed": seed, "aim": difficulty, **description}

    async def show_hint(self, game: Game, seed: str, aim: str, visitor: Visitor) -> dict[str, Any]:
        """Return a hint for the exercise of a seed."""
        find = partial(_find_exercise, game, seed[:_MAX_SEED_LENGTH], _parse_aim(aim))
        return await self._workers.run(partial(_find_hint, find), visitor)

    async def grade_practice(
        self, game: Game, seed: str, aim: str, answer: str, skill: Any, visitor: Visitor
    ) -> dict[str, Any]:
        """Grade an answer and update the skill, which sets the difficulty of the next exercise."""
        find = partial(_find_exercise, game, seed[:_MAX_SEED_LENGTH], _parse_aim(aim))
        result = await self._workers.run(partial(_grade_exercise, find, answer), visitor)
        from duels.analysis.exercises import Skill

        updated = Skill.from_data(skill)
        updated.update(result["right"])
        return {**result, "skill": updated.as_data()}


def _check_has_daily(game: Game) -> None:
    if game.name not in GAMES:
        raise NotFound()


# -- in a worker --------------------------------------------------------------------------------


@lru_cache(2 * len(GAMES))
def _find_daily(game: Game, day: date) -> "Exercise":
    from duels.analysis.exercises import get_daily_puzzle

    return get_daily_puzzle(day, game)


@lru_cache(_MAX_CACHED)
def _find_exercise(game: Game, seed: str, aim: float) -> "Exercise":
    from duels.analysis.exercises import Skill, exercises, select_by_skill

    exercise = next(select_by_skill(exercises(game, seed), Skill(aim)), None)
    if exercise is None:
        raise RequestError(f"No exercise was found for {game.name}. Try another game.")
    return exercise


def _parse_aim(text: str) -> float:
    from duels.analysis.exercises import Skill

    return round(Skill.from_data({"aim": text}).aim, 2)


def _narrate_history(sight: AnySight, words: Words[Any, Any]) -> list[str]:
    """Return the log as the seat knows it; only the latest lines if the board shows the rest."""
    events, names = tuple(sight.events), PlayerNames(reader=sight.seat)
    newest = (words.narrate(events[:end]).sentences for end in range(len(events), 0, -1))
    lines = (" ".join(strip_ink(sentence.render(names)) for sentence in line) for line in newest if line)
    return list(islice(lines, None if sight.rules.has_hidden_information else _MAX_RECENT_LINES))[::-1]


def _grade_exercise(find: Callable[[], "Exercise"], answer: str) -> dict[str, Any]:
    exercise = find()
    rules = exercise.sight.rules
    try:
        action = rules.parse(answer)
    except NotationError as error:
        raise RequestError(str(error)) from None
    if action not in exercise.sight.actions:
        allowed = ", ".join(map(rules.format, exercise.sight.actions))
        raise RequestError(f"'{rules.format(action)}' is not allowed here; allowed: {allowed}.")
    result = exercise.grade(action)
    answers = [rules.format(answer) for answer in exercise.answers]
    return {"right": result.right, "text": Glossary().explain(result.text), "answers": answers}


def _find_hint(find: Callable[[], "Exercise"]) -> dict[str, Any]:
    from duels.analysis.hints import hint

    exercise = find()
    return describe_hint(hint(exercise.sight, exercise.oracle), exercise.sight.rules)


def _describe_daily(game: Game, day: date) -> tuple[str, dict[str, Any]]:
    """Return the board of a day's puzzle without buttons, and the puzzle without its answer."""
    exercise = _find_daily(game, day)
    return game.drawing(exercise.sight.rules).draw(exercise.sight), _describe_exercise(exercise)


def _describe_practice(game: Game, seed: str, aim: float) -> dict[str, Any]:
    return _describe_exercise(_find_exercise(game, seed, aim))


@lru_cache
def _describe_lesson(game: Game) -> list[dict[str, Any]]:
    from duels.analysis.lessons import get_lesson

    return [
        {
            **_describe_decision(step.sight),
            "task": step.task,
            "retry": step.retry,
            "lesson": step.lesson,
            "answers": [step.sight.rules.format(answer) for answer in step.answers],
            "marks": dict(step.marks),
        }
        for step in get_lesson(game)
    ]


def _describe_decision(sight: AnySight) -> dict[str, Any]:
    """Return the board and the legal actions of the seat to move."""
    rules = sight.rules
    drawing = rules.game.drawing(rules)
    return {
        "seat": sight.seat.value,
        "board": drawing.draw(sight, targets=True, names=PlayerNames(reader=sight.seat)),
        "text": strip_ink(str(rules.game.words(rules).board(sight))),
        "actions": [
            {
                "action": rules.format(action),
                "label": format_label(rules, action),
                "on_board": drawing.is_on_board(action),
            }
            for action in sight.actions
        ],
    }


def _describe_exercise(exercise: "Exercise") -> dict[str, Any]:
    """Return an exercise without its answer."""
    sight = exercise.sight
    rules, game = sight.rules, sight.rules.game
    words = game.words(rules)
    prompt = get_prompt(words, sight)
    decision = _describe_decision(sight)
    drawing = game.drawing(rules)
    return {
        "game": game.name,
        "title": game.title,
        "seat": decision["seat"],
        "sentence": Headline(f"You are {words.seat_name(sight.seat)}, to move.", drawing.instruction(sight)),
        "prompt": prompt,
        "position": exercise.position,
        "board": decision["board"],
        "seen": _narrate_history(sight, words),
        "secrets": rules.has_hidden_information,
        "text": decision["text"],
        "unshown": drawing.recap(sight),
        "remembered": strip_ink(words.recap(sight).render()),
        "told": Glossary().explain(exercise.oracle.equivalence_note),
        "belief": dict(exercise.oracle.belief(sight)),
        "hidden": exercise.oracle.hidden,
        "actions": decision["actions"],
    }
