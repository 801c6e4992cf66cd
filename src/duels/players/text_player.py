"""Players that reply in text: their questions, their retries and their forfeits.

Nothing here sends a message: the arena and the integrations do that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from duels.core.errors import BadOption, quote
from duels.core.rules import AnyRules, AnySight
from duels.players.completions import FLOODED, MAX_TEXT, STOPPED_BY_FILTER, STOPPED_BY_LENGTH, Reply
from duels.players.failures import Answer, BadAnswer, Failure, NoMove
from duels.players.prompt import (
    FORMS,
    PROMPT_VERSION,
    TEXT,
    Labels,
    Message,
    add_reply,
    describe_format,
    make_briefing,
    make_question,
    parse_answer,
)

if TYPE_CHECKING:
    from random import Random

NO_MEMORY, CONVERSATION = "none", "conversation"


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The conditions under which a model is asked. Results under different conditions are not compared.

    Raises BadOption for a value that is not allowed.
    """

    memory: str = NO_MEMORY
    """`none`: each decision is a new conversation. `conversation`: a match is one conversation."""
    form: str = TEXT
    """`text`: the answer ends a text. `tool`: the model calls a tool."""
    show_actions: bool = False
    """Whether prompts list the legal actions."""
    mirror: bool = False
    """Whether positions are mirrored, so that memorized answers do not help."""
    relabel: bool = False
    """Whether cells are renamed, so that memorized answers do not help."""
    ask_forced: bool = False
    """Whether the model is asked even if it has only one legal action."""
    retries: int = 2
    """The number of retries after a failed attempt at a decision, before the match is forfeited."""

    def __post_init__(self) -> None:
        for name, allowed in (("memory", (NO_MEMORY, CONVERSATION)), ("form", FORMS)):
            if (value := getattr(self, name)) not in allowed:
                raise BadOption(f"{name} must be {' or '.join(allowed)}, not {quote(str(value))}.")

    @property
    def prompt(self) -> int:
        """The version of the prompt."""
        return PROMPT_VERSION


class TextPlayer:
    """One seat's decisions in a match, as messages and replies.

    Call `ask` for each decision. If it returns no answer, send `messages` and pass the reply to `reply`,
    until that returns an Answer or NoMove.
    """

    def __init__(
        self,
        name: str,
        rules: AnyRules,
        conditions: Conditions,
        max_tokens: int = 0,
        redact: Callable[[str], str] = str,
    ) -> None:
        """`redact` removes secrets from the replies that are stored or sent back."""
        self.name = name
        self._conditions = conditions
        self._max_tokens = max_tokens
        self._redact = redact
        self._mirror = Mirror.from_rules(rules) if conditions.mirror else None
        self._labels = Labels.from_rules(rules) if conditions.relabel else None
        self.briefing = make_briefing(rules, self._labels, conditions.form)
        """The rules and the form of an answer: the first message of each request."""
        self.question = ""
        """The text of the current or last decision."""
        self.messages: list[Message] = []
        """The messages to send."""
        self.retry_text = ""
        """Why the last attempt was not a move, and how to write an answer."""
        self._failed: list[BadAnswer] = []
        self._last_move: tuple[str, str] = "", ""  # the last answer that was a move, and the id of its call

    def ask(self, sight: AnySight, rng: "Random") -> Answer | None:
        """Begin a decision. If the only legal action is played without asking, return it as the answer."""
        if len(sight.actions) == 1 and not self._conditions.ask_forced:
            return Answer(sight.actions[0])
        self._rng, self._failed = rng, []
        self._view = self._mirror.sight(sight) if self._mirror else sight
        self.question = make_question(
            self._view, self._conditions.show_actions, self._labels, self._conditions.form
        )
        if self._conditions.memory == CONVERSATION and self.messages:
            self._continue_conversation()
        else:
            self.messages = [
                {"role": "system", "content": self.briefing},
                {"role": "user", "content": self.question},
            ]
        return None

    def _continue_conversation(self) -> None:
        text, call_id = self._last_move
        if call_id:  # endpoints require a response to every call
            self.messages = add_reply(self.messages, text, call_id, "Played.")
            self.messages.append({"role": "user", "content": self.question})
        else:
            self.messages = add_reply(self.messages, text, call_id, self.question)

    def reply(self, reply: Reply) -> Answer | NoMove | BadAnswer:
        """Return the answer in a reply, or why it has none: NoMove after the last attempt."""
        try:
            _check_reply(reply, self._max_tokens)
            action, policy = parse_answer(
                reply.text, self._view, self._labels, show_actions=self._conditions.show_actions
            )
        except BadAnswer as failure:
            return self._retry(reply, BadAnswer(failure.failure, self._redact(failure.detail)))
        self._last_move = self._redact(reply.text), reply.call_id
        if self._mirror:
            unmirror = self._mirror.action
            action = None if action is None else unmirror(action)
            policy = {unmirror(key): chance for key, chance in policy.items()} if policy else None
        if policy is not None:
            (action,) = self._rng.choices(list(policy), weights=list(policy.values()))
        return Answer(action, policy, tuple(self._failed))

    def _retry(self, reply: Reply, failure: BadAnswer) -> BadAnswer | NoMove:
        self._failed.append(failure)
        if len(self._failed) > self._conditions.retries:
            return NoMove(self.name, tuple(self._failed))
        form = describe_format(self._view, self._labels, self._conditions.form)
        self.retry_text = f"That is not a move: {failure.detail} Please answer again. {form}"
        self.messages = add_reply(self.messages, self._redact(reply.text), reply.call_id, self.retry_text)
        return failure


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


def check_disguise(rules: AnyRules, conditions: Conditions) -> None:
    """Raise BadOption if the game does not support the mirroring or relabelling of the conditions."""
    if conditions.mirror:
        Mirror.from_rules(rules)
    if conditions.relabel:
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
