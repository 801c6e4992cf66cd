"""Language models as players, which decide through a chat endpoint."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from duels.core.errors import BadOption
from duels.core.rules import AnyRules, AnySight
from duels.players import MODEL
from duels.players.completions import FLOODED, MAX_TEXT, STOPPED_BY_FILTER, STOPPED_BY_LENGTH, Reply, Usage
from duels.players.endpoint import Endpoint, EndpointSettings, Recorder
from duels.players.failures import Answer, BadAnswer, Failure, NoMove
from duels.players.prompt import Labels, make_messages, make_retry_messages, parse_answer

if TYPE_CHECKING:
    from random import Random


class ModelPlayer:
    """Requests one decision at a time from a model, without memory between them."""

    def __init__(self, model: str, rules: AnyRules, endpoint: Endpoint) -> None:
        self.name = MODEL + model
        self._model = model
        self._endpoint = endpoint
        self._settings = endpoint.settings
        self._mirror = Mirror.from_rules(rules) if self._settings.mirror else None
        self._labels = Labels.from_rules(rules) if self._settings.relabel else None

    async def decide(self, sight: AnySight, rng: "Random", record: Recorder) -> tuple[Answer | NoMove, Usage]:
        """Return the model's answer or NoMove, and the usage.

        Raises TransportError or BudgetSpent, which leave the match unfinished.
        """
        if len(sight.actions) == 1 and not self._settings.ask_forced:
            return Answer(sight.actions[0]), Usage()
        view = self._mirror.sight(sight) if self._mirror else sight
        messages = make_messages(view, self._settings.show_actions, self._labels)
        failed: list[BadAnswer] = []
        used = Usage()
        while len(failed) <= self._settings.retries:
            reply = await self._endpoint.chat(self._model, messages, record)
            used += reply.usage
            try:
                _check_reply(reply, self._settings.max_tokens)
                action, policy = parse_answer(
                    reply.text, view, self._labels, show_actions=self._settings.show_actions
                )
            except BadAnswer as failure:
                text, detail = map(self._endpoint.without_key, (reply.text, failure.detail))
                messages = make_retry_messages(messages, text, detail)
                failed.append(BadAnswer(failure.failure, detail))
                continue
            if self._mirror:
                unmirror = self._mirror.action
                action = None if action is None else unmirror(action)
                policy = {unmirror(key): chance for key, chance in policy.items()} if policy else None
            if policy is not None:
                (action,) = rng.choices(list(policy), weights=list(policy.values()))
            return Answer(action, policy, tuple(failed)), used
        return NoMove(self.name, tuple(failed)), used


def _check_reply(reply: Reply, max_tokens: int) -> None:
    if reply.refusal or reply.finish == STOPPED_BY_FILTER:
        raise BadAnswer(Failure.REFUSED, f"the model refused: {reply.refusal or 'a content filter applied'}.")
    if reply.finish == FLOODED:
        raise BadAnswer(Failure.FLOODED, f"the answer is longer than {MAX_TEXT:,} characters.")
    if reply.finish == STOPPED_BY_LENGTH:
        limit = (
            f"the limit of {max_tokens} tokens (--max-tokens)"
            if max_tokens
            else "the endpoint's length limit"
        )
        raise BadAnswer(Failure.CUT_OFF, f"the answer was cut off at {limit}.")


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


def check_disguise(rules: AnyRules, settings: EndpointSettings) -> None:
    """Raise BadOption if the game does not support the mirroring or relabelling of the settings."""
    if settings.mirror:
        Mirror.from_rules(rules)
    if settings.relabel:
        Labels.from_rules(rules)


@dataclass(frozen=True)
class Mirror:
    """A game's symmetry, which maps actions, states and events to the mirrored board."""

    action: Callable[[Any], Any]
    state: Callable[[Any], Any]
    """Maps the state, or a seat's view in games with hidden information."""
    event: Callable[[Any], Any]

    @classmethod
    def from_rules(cls, rules: AnyRules) -> "Mirror":
        """Return the game's symmetry. Raises BadOption if it has none."""
        functions = [rules.game.find("mirror", name) for name in ("mirror", "mirror_state", "mirror_event")]
        if None in functions:
            raise BadOption(f"{rules.name} has no mirror symmetry, so its positions cannot be mirrored.")
        return cls(*(partial(function, rules) for function in functions))

    def sight(self, sight: AnySight) -> AnySight:
        """Return the sight of the same match on the mirrored board."""
        actions = {self.action(action) for action in sight.actions}
        return replace(
            sight,
            view=self.state(sight.view),
            actions=tuple(action for action in sight.rules.all_actions() if action in actions),
            history=tuple(None if entry is None else self.action(entry) for entry in sight.history),
            events=tuple(map(self.event, sight.events)),
        )
