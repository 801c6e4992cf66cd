"""Language models as players, which decide through a chat endpoint."""

import asyncio
from typing import TYPE_CHECKING, Any

from duels.core.rules import AnyRules, AnySight
from duels.players import MODEL
from duels.players.completions import Usage
from duels.players.endpoint import Endpoint, EndpointSettings, Recorder
from duels.players.failures import Answer, NoMove
from duels.players.text_player import TextPlayer

if TYPE_CHECKING:
    from random import Random


class ModelPlayer:
    """Requests a model's decisions in one match, one at a time."""

    def __init__(self, model: str, rules: AnyRules, endpoint: Endpoint) -> None:
        self.name = MODEL + model
        self._model = model
        self._endpoint = endpoint
        settings = endpoint.settings
        self._player = TextPlayer(self.name, rules, settings, settings.max_tokens, endpoint.without_key)

    async def decide(self, sight: AnySight, rng: "Random", record: Recorder) -> tuple[Answer | NoMove, Usage]:
        """Return the model's answer or NoMove, and the usage.

        Raises TransportError or BudgetSpent, which leave the match unfinished.
        """
        answer: object = self._player.ask(sight, rng)
        used = Usage()
        while not isinstance(answer, Answer | NoMove):
            reply = await self._endpoint.chat(self._model, self._player.messages, record)
            used += reply.usage
            answer = self._player.reply(reply)
        return answer, used


class SeatedModel:
    """A model at one seat of a match that waits for each reply. Requests are not recorded."""

    def __init__(self, model: str, rules: AnyRules, settings: EndpointSettings) -> None:
        self.name = MODEL + model
        self._model = model
        self._rules = rules
        self._settings = settings

    def choose(self, sight: AnySight, rng: "Random") -> Any:
        """Return the model's move. Raises NoMove if it gives none, TransportError if it is unreachable."""
        return asyncio.run(self._ask(sight, rng)).action

    async def _ask(self, sight: AnySight, rng: "Random") -> Answer:
        async with Endpoint(self._settings) as endpoint:
            player = ModelPlayer(self._model, self._rules, endpoint)
            answer, _ = await player.decide(sight, rng, lambda request: None)
            if isinstance(answer, NoMove):
                raise answer
            return answer
