"""Puzzles in the browser: today's, and practice. Nothing is kept here: the browser remembers its answers."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from duels.analysis.wording import Glossary
from duels.core.errors import DuelsError, NotationError
from duels.core.game import Game
from duels.core.narration import PlayerNames
from duels.core.rules import AnySight
from duels.core.words import Words, strip_ink
from duels.games import GAMES
from duels.web.refusals import Missing, Refusal, Stale
from duels.web.views import Headline, label, prompt_of
from duels.web.visitors import new_token
from duels.web.workers import Workers

if TYPE_CHECKING:  # all of it is heavy, and loaded when it is asked for
    from duels.analysis.exercises import Exercise

log = logging.getLogger("duels.web")

_MOST_KEPT = 500  # exercises; each can be found again from its seed
_LONGEST_SEED = 40
MOST_DAYS = 2_000
"""Of answers that a browser sends: a streak is no longer."""
MOST_BYTES = 64 * MOST_DAYS
"""Of all these answers: a day's are its date and five words."""
_USUAL_AIM = 0.2
_NEWEST = 3  # lines on what happened last: in chain a challenge, its coin, and what came of it
_AFTER = 1.0  # seconds: the first page comes first
_EVERY = 60.0  # seconds between looks at the date


def today() -> str:
    """The date at this server, by which puzzles are named."""
    return date.today().isoformat()


class Puzzles:
    """The puzzles of the day, and exercises by their seeds."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._kept: OrderedDict[tuple[str, str, float | None], Exercise] = OrderedDict()
        self._preparing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look for each day's puzzles in the background: the home page shows them."""
        self._preparing = asyncio.create_task(self._prepare())

    async def end(self) -> None:
        """Look no further."""
        if self._preparing:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)

    async def _prepare(self) -> None:
        await asyncio.sleep(_AFTER)
        while True:
            for game in GAMES.values():
                with suppress(DuelsError):
                    await self._of_day(game)  # looked for once a day
            await asyncio.sleep(_EVERY)  # and not until midnight: a machine that slept would miss it

    def at_hand(self, game: Game) -> AnySight | None:
        """Today's position, if it was found already: that takes a while after the start of server or day."""
        found = self._kept.get((game.name, today(), None))
        return found.sight if found else None

    def drawn(self, game: Game) -> str:
        """Its board; nothing while it is being looked for."""
        sight = self.at_hand(game)
        return game.drawing(sight.rules).draw(sight) if sight else ""

    # -- today ----------------------------------------------------------------------------------

    def day(self) -> dict[str, Any]:
        """What there is today."""
        games = [
            {"name": game.name, "title": game.title, "board": self.drawn(game)} for game in GAMES.values()
        ]
        return {"date": today(), "games": games, "most_days": MOST_DAYS}

    async def daily(self, game: Game) -> dict[str, Any]:
        """Today's puzzle of a game."""
        exercise = await self._of_day(game)
        return {"kind": "daily", "date": today(), "seed": "", "aim": None, **_as_data(exercise)}

    async def grade_daily(self, game: Game, day: str, answer: str) -> dict[str, Any]:
        """How good an answer to today's puzzle is."""
        if day != today():
            raise Stale("That was another day's puzzle: there is a new one.")
        return await self._grade(await self._of_day(game), answer)

    def share(self, answered: Mapping[str, Any]) -> dict[str, Any]:
        """The line to show to others, from the answers by date that a browser has kept."""
        from duels.analysis.exercises import count_streak, format_daily_result

        kept = {
            str(day): [bool(right) for right in rights]
            for day, rights in list(answered.items())[-MOST_DAYS:]
            if isinstance(rights, list) and len(rights) <= len(GAMES)
        }
        day = date.today()
        days = count_streak(kept, day)
        return {"streak": days, "text": format_daily_result(day, kept.get(day.isoformat(), []), days)}

    async def _of_day(self, game: Game) -> "Exercise":
        from duels.analysis.exercises import get_daily_puzzle

        if game.name not in GAMES:
            raise Missing()
        day = date.today()
        return await self._find((game.name, day.isoformat(), None), partial(get_daily_puzzle, day, game))

    # -- practice -------------------------------------------------------------------------------

    async def practice(self, game: Game, seed: str, aim: str) -> dict[str, Any]:
        """An exercise: the one of this seed, or any."""
        seed = seed[:_LONGEST_SEED] or new_token()
        wanted = _aim(aim)
        exercise = await self._of_seed(game, seed, wanted)
        return {"kind": "practice", "date": "", "seed": seed, "aim": wanted, **_as_data(exercise)}

    async def grade_practice(
        self, game: Game, seed: str, aim: str, answer: str, skill: Any
    ) -> dict[str, Any]:
        """How good an answer is, and how hard the next exercise should be."""
        graded = await self._grade(await self._of_seed(game, seed[:_LONGEST_SEED], _aim(aim)), answer)
        from duels.analysis.exercises import Skill

        now = Skill.from_data(skill)
        now.update(graded["right"])
        return {**graded, "skill": now.as_data()}

    async def _of_seed(self, game: Game, seed: str, aim: float) -> "Exercise":
        def find() -> "Exercise":
            from duels.analysis.exercises import Skill, exercises, select_by_skill

            found = next(select_by_skill(exercises(game, seed), Skill(aim)), None)
            if found is None:
                raise Refusal(f"No positions with a clear answer were found in {game.name}.")
            return found

        return await self._find((game.name, seed, aim), find)

    # -- both -----------------------------------------------------------------------------------

    async def _find(self, key: tuple[str, str, float | None], find: "Callable[[], Exercise]") -> "Exercise":
        exercise = self._kept.get(key)
        if exercise is None:
            exercise = self._kept[key] = await self._workers.run(find)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return exercise

    async def _grade(self, exercise: "Exercise", answer: str) -> dict[str, Any]:
        rules = exercise.sight.rules
        try:
            action = rules.parse(answer)
        except NotationError as error:
            raise Refusal(str(error)) from None
        if action not in exercise.sight.actions:
            raise Refusal(f"'{rules.format(action)}' is not allowed here.")
        graded = await self._workers.run(partial(exercise.grade, action))
        answers = [rules.format(answer) for answer in exercise.answers]
        return {"right": graded.right, "text": Glossary().explain(graded.text), "answers": answers}


def _aim(text: str) -> float:
    try:
        aim = float(text)
    except ValueError:
        aim = -1.0
    return round(aim, 2) if 0 <= aim <= 1 else _USUAL_AIM


def _seen(sight: AnySight, words: Words[Any, Any]) -> list[str]:
    """What the seat has seen so far; the last of it where its board shows the rest."""
    events, names = tuple(sight.events), PlayerNames(reader=sight.seat)
    newest = (words.narrate(events[:end]).sentences for end in range(len(events), 0, -1))
    told = (" ".join(strip_ink(each.render(names)) for each in said) for said in newest if said)
    return list(islice(told, None if sight.rules.has_secrets else _NEWEST))[::-1]


def _as_data(exercise: "Exercise") -> dict[str, Any]:
    """An exercise without its answer."""
    sight = exercise.sight
    rules, game = sight.rules, sight.rules.game
    words = game.words(rules)
    prompt = prompt_of(words, sight)
    drawing = game.drawing(rules)
    return {
        "game": game.name,
        "title": game.title,
        "seat": sight.seat.value,
        "sentence": Headline(f"You are {words.seat_name(sight.seat)}, to move.", drawing.instruction(sight)),
        "prompt": prompt,
        "position": exercise.position,
        "board": drawing.draw(sight, targets=True, names=PlayerNames(reader=sight.seat)),
        "seen": _seen(sight, words),
        "secrets": rules.has_secrets,
        "text": strip_ink(str(words.board(sight))),
        "unshown": drawing.recap(sight),
        "remembered": strip_ink(words.recap(sight).render()),
        "told": Glossary().explain(exercise.oracle.equivalence_note),
        "belief": dict(exercise.oracle.belief(sight)),
        "hidden": exercise.oracle.hidden,
        "actions": [
            {
                "action": rules.format(action),
                "label": label(rules, action),
                "on_board": drawing.is_on_board(action),
            }
            for action in sight.actions
        ],
    }
