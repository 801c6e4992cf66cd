"""Turns what people have, a trained agent or a player's name, into a policy that can be graded."""

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias, TypeGuard

from duels.core.errors import DuelsError, TooLarge
from duels.core.extras import require_extra
from duels.core.features import (
    TRUNCATION,
    Encoding,
    EntryTokens,
    check_memory,
    is_limit_draw,
    make_limit_feature,
    number_actions,
)
from duels.core.game import Game
from duels.core.information_sets import InformationSet
from duels.core.options import OptionValue
from duels.core.rules import CHANCE, AnyRules, AnySight
from duels.core.validation import ANSWER_TOLERANCE, check_flag
from duels.games import resolve_rules
from duels.players import Player, make_player

with require_extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from duels.solving.tables import get_tables

BATCH_SIZE = 8192  # rows that an agent is asked for at once: more would fill the memory of a large network

NOT_DETERMINISTIC = (
    "answers differently when it is asked the same question again: it draws at random, or remembers what it "
    "was asked. Let it return the probability of every action, or always the same action (in "
    "Stable-Baselines3, predict with deterministic=True)"
)

_MASKING = "One that learned without masks has to be masked here, as an opponent too: duels.masked does that."

Agent: TypeAlias = Callable[[Any, NDArray[np.int8]], ArrayLike]
"""From an observation and a mask, as the environments give them, to an action's number or to [action]
probabilities."""


def table_of(
    agent: Agent,
    game: str | Game | AnyRules,
    *,
    batch: bool = False,
    limit_ends: str = TRUNCATION,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> NDArray[np.float64]:
    """[state, action] what `agent` does everywhere in the game, for `exploitability` and `duels.vector`.

    It is asked for every pair of an observation and a mask; with `batch`, for many of them at once: an array
    of observations and one of masks, a row each. It is asked twice; an agent that samples, and so
    answers differently, is refused. Observations are of this `dtype`. An agent of environments
    with `limit_ends="draw"` is shown what is left of the limit: then it is [clock, state, action].
    """
    kind = parse_observation_dtype(dtype)
    if not callable(agent):
        raise DuelsError(f"An agent is a function of an observation and a mask, not {agent!r}.")
    if not accepts_arguments(agent, 2):
        raise DuelsError(
            "An agent is called with two arguments, an observation and a mask; this one cannot be."
        )
    if "memory" in options:
        raise DuelsError("An agent with a memory has no table: duels.policy_of makes a function of it.")
    rules = resolve_rules(game, **options)
    try:
        tables = get_tables(rules).tables
    except TooLarge as problem:
        raise TooLarge(
            f"{problem} duels.policy_of makes a function of an agent instead, which duels.exploitability "
            "grades in forms that are small enough to be searched."
        ) from None
    deciding = np.flatnonzero(tables.actor >= 0)
    shown = tables.observation[tables.actor[deciding], deciding]
    given = np.column_stack([shown, tables.legal[deciding]]).astype(np.int8)
    asked, place = np.unique(given, axis=0, return_inverse=True)
    observations, masks = np.split(asked, [shown.shape[1]], axis=1)
    check_flag("batch", batch)

    def at(left: NDArray[np.int8]) -> NDArray[np.float64]:
        with_left = np.column_stack([observations, np.tile(left, (len(observations), 1))]).astype(kind)
        first, again = (_ask(agent, batch, with_left, masks) for _ in range(2))
        if not np.allclose(first, again, rtol=0, atol=ANSWER_TOLERANCE):
            raise DuelsError(f"The agent {NOT_DETERMINISTIC}.")
        table = np.zeros(tables.legal.shape)
        table[deciding] = first[place.ravel()]
        return table

    if not is_limit_draw(limit_ends):
        return at(np.zeros(0, np.int8))
    feature = make_limit_feature(rules)
    marks = feature.marks()
    return np.stack([at(np.frombuffer(marks[left], np.int8)) for left in reversed(feature.values[1:])])


def policy_of(
    agent: Agent,
    game: str | Game | AnyRules,
    *,
    batch: bool = False,
    limit_ends: str = TRUNCATION,
    memory: int = 0,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> Callable[[AnySight], dict[Any, float]]:
    """What `agent` does as a function of a `Sight`, for `exploitability` of games or agents without tables.

    It is shown what the environments show it: with `limit_ends="draw"` what is left of the limit, with
    `memory` so many of the last entries, all of this `dtype`. One that takes `batch` is asked for one row.
    """
    kind = parse_observation_dtype(dtype)
    rules = resolve_rules(game, **options)
    check_flag("batch", batch)
    left = (make_limit_feature(rules),) if is_limit_draw(limit_ends) else ()
    encoding = Encoding((*rules.game.encoding(rules).features, *left))
    actions = rules.all_actions()
    past = _Past(rules, memory) if check_memory(rules, memory) else None

    def policy(sight: AnySight) -> dict[Any, float]:
        shown = encoding.encode(sight.view, sight.seat) + (past.shown(sight) if past else b"")
        mask = np.array([action in sight.actions for action in actions], np.int8)
        odds = _ask(agent, batch, np.frombuffer(shown, np.int8).astype(kind)[None], mask[None])[0]
        return {actions[number]: float(odds[number]) for number in np.flatnonzero(odds)}

    return policy


_LARGEST = np.finfo(np.float64).max / 4  # of a legal action's score: differences are numbers, too
_ILLEGAL = -2 * _LARGEST


def mask_agent(scores: Callable[[Any], ArrayLike], *, softmax: bool = False) -> Agent:
    """The agent that takes, of the legal actions, the one with the highest score.

    `scores` is what a network gives: from an observation, or rows of them, to a number for every action, such
    as logits or values; a PyTorch tensor that still records gradients will do. So an agent that has learned
    without masks can be graded and played against. With `softmax` the scores are logits, and the agent
    returns their softmax over the legal actions. NaN for a legal action is refused.
    """
    check_flag("softmax", softmax)

    def agent(observation: Any, mask: NDArray[np.int8]) -> NDArray[Any]:
        given: Any = scores(observation)
        told = np.asarray(given.detach() if hasattr(given, "detach") else given)
        # A legal action that is never taken, with a score of -inf, is still better than an illegal one.
        legal = np.where(mask == 1, np.clip(told, -_LARGEST, _LARGEST), _ILLEGAL)
        if np.isnan(legal).any():
            raise DuelsError("The network gives NaN as the score of a legal action: its training diverged.")
        return _softmax(legal) if softmax else legal.argmax(axis=-1)

    return agent


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    odds: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return odds


def parse_observation_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The NumPy type of an observation's numbers; DuelsError if that cannot be one."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise DuelsError(f"The dtype of observations is one of NumPy's, not {dtype!r}.") from None
    if kind.kind not in "iuf":
        raise DuelsError(f"Observations are numbers: a dtype such as int8 or float32, not {kind}.")
    return kind


class _Past:
    """The last entries that a seat has seen, as the environments show them."""

    def __init__(self, rules: AnyRules, memory: int) -> None:
        self._rules, self._memory = rules, memory
        self._entries = EntryTokens(rules)
        self._marks = self._entries.marks()
        self._number = number_actions(rules)

    def shown(self, sight: AnySight) -> bytes:
        known = InformationSet.start(self._rules, sight.seat)
        tokens = [EntryTokens.NOTHING] * self._memory
        for entry in sight.history:
            actor = known.match.actor
            if actor is not CHANCE:
                hidden = entry is None
                tokens.append(
                    EntryTokens.HIDDEN
                    if hidden
                    else self._entries.token(self._number[entry], mine=actor is sight.seat)
                )
            known = known.add_entry(entry)
        return b"".join(self._marks[token] for token in tokens[: -self._memory - 1 : -1])


def _ask(
    agent: Agent, batch: bool, observations: NDArray[Any], masks: NDArray[np.int8]
) -> NDArray[np.float64]:
    """[row, action] the probabilities of an agent, which is asked for all rows at once or one by one."""
    if batch:
        return ask_batch(agent, observations, masks)
    rows = zip(observations, masks, strict=True)
    return np.stack([parse_probabilities(agent(seen.copy(), mask.copy()), mask) for seen, mask in rows])


def ask_batch(agent: Agent, observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.float64]:
    """[row, action] the probabilities of an agent that is asked for many rows at once, AT_ONCE at most."""
    answers: list[NDArray[np.float64]] = []
    for first in range(0, len(masks), BATCH_SIZE):
        part = masks[first : first + BATCH_SIZE]
        answer = np.asarray(agent(observations[first : first + BATCH_SIZE].copy(), part.copy()))
        if answer.shape[:1] != (len(part),):
            raise DuelsError(
                f"An agent that is asked for {len(part)} rows must return {len(part)} answers, not an array "
                f"of shape {answer.shape}. One that takes a single observation is graded with batch=False, "
                'and is an opponent with vectorization_mode="sync".'
            )
        answers.append(_probabilities_of_rows(answer, part))
    return np.concatenate(answers)


def parse_probabilities(given: ArrayLike, mask: NDArray[np.int8]) -> NDArray[np.float64]:
    """[action] an agent's probabilities, from its answer; DuelsError if that is none."""
    answer = np.asarray(given)
    rows = _probabilities_of_rows(answer.reshape(1, *answer.shape), mask[None])
    return rows.reshape(mask.shape)


def _probabilities_of_rows(answer: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.float64]:
    """[row, action] the probabilities of every row; DuelsError says what is wrong with the first that is."""
    rows = np.arange(len(masks))
    odds: NDArray[np.float64]
    if answer.size == len(masks) and answer.dtype.kind in "iu":
        taken = answer.reshape(len(masks))
        known = np.clip(taken, 0, masks.shape[1] - 1)
        odds = np.eye(masks.shape[1])[known]
        wrong = (known != taken) | (masks[rows, known] == 0)
        problem = "The agent takes action {answer} where only {allowed} are allowed. {masking}"
    elif answer.shape == masks.shape and answer.dtype.kind in "iuf":
        odds = np.where(masks == 1, answer, 0).astype(np.float64)
        wrong = (answer < 0).any(axis=1) | ~np.isclose(odds.sum(axis=1), 1)
        problem = "The agent's probabilities of the allowed actions {allowed} do not sum to 1. {masking}"
    else:
        odds, wrong = np.zeros(masks.shape), rows == 0
        problem = f"An agent gives an action's number or {masks.shape[1]} probabilities, not {{answer!r}}."
    for row in np.flatnonzero(wrong):
        allowed = np.flatnonzero(masks[row]).tolist()
        given = answer[row].item() if answer[row].size == 1 else answer[row]
        raise DuelsError(problem.format(answer=given, allowed=allowed, masking=_MASKING))
    return odds


def accepts_arguments(function: Callable[..., Any], arguments: int) -> bool:
    """Whether it accepts this many arguments; True if its signature is unknown."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def is_player(thing: object) -> TypeGuard[Player]:
    """Whether it can decide for a seat as players do; arrays have a method of that name too."""
    return callable(getattr(thing, "choose", None)) and not isinstance(thing, np.ndarray)


def get_player_odds(player: str | Player, rules: AnyRules) -> Callable[[AnySight], dict[Any, float]]:
    """A function that tells how likely a player, itself or by its name, is to take each action."""
    odds = getattr(make_player(player, rules) if isinstance(player, str) else player, "odds", None)
    if odds is None:
        named = repr(player) if isinstance(player, str) else type(player).__name__
        raise DuelsError(f"The player {named} does not tell how likely it takes which action.")
    told: Callable[[AnySight], dict[Any, float]] = odds
    return told
