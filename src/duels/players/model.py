"""A language model as a player, asked through a chat endpoint."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duels.core.errors import DuelsError
from duels.core.rules import Rules, Sight
from duels.players.endpoint import Endpoint, Recorder, Settings, Usage
from duels.players.failures import Answer, Failed, Failure, NoMove
from duels.players.naming import MODEL
from duels.players.prompt import again_messages, opening_messages, read_move

if TYPE_CHECKING:
    from random import Random


class ModelPlayer:
    """Asks a model about one decision at a time; it remembers nothing between them."""

    def __init__(self, model: str, rules: Rules[Any, Any, Any], endpoint: Endpoint) -> None:
        self.name = MODEL + model
        self._model = model
        self._endpoint = endpoint
        self._settings = endpoint.settings
        self._mirror = Mirror.of(rules) if self._settings.mirror else None

    async def decide(self, sight: Sight[Any, Any], rng: "Random", record: Recorder) -> tuple[Answer, Usage]:
        """The model's move and what it took; ModelGaveNone if there is none.

        TransportFailed and BudgetSpent leave the match unfinished.
        """
        shown = self._mirror.sight(sight) if self._mirror else sight
        messages = opening_messages(shown, self._settings.show_actions)
        failed: list[Failed] = []
        used = Usage()
        while len(failed) <= self._settings.retries:
            text = ""
            try:
                reply = await self._endpoint.chat(self._model, messages, record)
                used, text = used + reply.usage, reply.text
                action, policy = self._read(reply.text, reply.finish, reply.refusal, shown)
            except Failed as failure:
                failed.append(failure)
                messages = [*messages, *again_messages(text, failure.detail)]
                continue
            if self._mirror:
                back = self._mirror.action
                action = None if action is None else back(action)
                policy = {back(each): chance for each, chance in policy.items()} if policy else None
            if policy is not None:
                (action,) = rng.choices(list(policy), weights=list(policy.values()))
            return Answer(action, policy, tuple(failed)), used
        raise ModelGaveNone(self.name, tuple(failed), used)

    @staticmethod
    def _read(
        text: str, finish: str, refusal: str, sight: Sight[Any, Any]
    ) -> tuple[Any | None, dict[Any, float] | None]:
        if refusal or finish == "content_filter":
            raise Failed(Failure.REFUSED, f"the model refused: {refusal or 'by a filter of contents'}.")
        if finish == "length":
            raise Failed(Failure.CUT_OFF, "the answer was cut off by its limit of length.")
        return read_move(text, sight)


class SeatedModel:
    """A model at a seat of a match that waits for it; requests are not kept."""

    def __init__(self, model: str, rules: Rules[Any, Any, Any], settings: Settings) -> None:
        self.name = MODEL + model
        self._model = model
        self._rules = rules
        self._settings = settings

    def choose(self, sight: Sight[Any, Any], rng: "Random") -> Any:
        """The model's move; NoMove if it gives none, TransportFailed if it cannot be reached."""
        return asyncio.run(self._ask(sight, rng)).action

    async def _ask(self, sight: Sight[Any, Any], rng: "Random") -> Answer:
        async with Endpoint(self._settings) as endpoint:
            player = ModelPlayer(self._model, self._rules, endpoint)
            answer, _ = await player.decide(sight, rng, lambda request: None)
            return answer


class ModelGaveNone(NoMove):
    """A model gave no move, and what that took."""

    def __init__(self, player: str, failed: tuple[Failed, ...], used: Usage) -> None:
        super().__init__(player, failed)
        self.used = used


@dataclass(frozen=True)
class Mirror:
    """A game's symmetry: the same action, and the same state, on the mirrored board."""

    action: Callable[[Any], Any]
    state: Callable[[Any], Any]

    @classmethod
    def of(cls, rules: Rules[Any, Any, Any]) -> "Mirror":
        """The game's own; DuelsError where its board has none."""
        found = [rules.game.find("mirror", name) for name in ("mirror", "mirror_state")]
        if None in found:
            raise DuelsError(f"{rules.name} has no mirror images to ask instead.")
        action, state = (make(rules) for make in found)
        return cls(action, state)

    def sight(self, sight: Sight[Any, Any]) -> Sight[Any, Any]:
        """What the seat would know had everything been played on the mirrored board."""
        history = tuple(self.action(entry) for entry in sight.history)
        return sight.rules.sight(self.state(sight.view), sight.seat, (), history)
