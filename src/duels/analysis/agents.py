"""Conversion of trained agents and players' names into policies that can be graded."""

from collections.abc import Callable, Hashable, Mapping
from inspect import signature
from math import isclose
from typing import Any, TypeAlias, TypeGuard

from duels.core.errors import DuelsError, TooLarge, require_extra
from duels.core.features import (
    TRUNCATION,
    Encoding,
    EntryTokens,
    check_memory,
    ends_in_draw,
    make_limit_feature,
    number_actions,
)
from duels.core.game import Game
from duels.core.information_sets import InformationSet
from duels.core.options import OptionValue
from duels.core.rules import CHANCE, AnyRules, AnySight, Seat
from duels.core.validation import ANSWER_TOLERANCE, check_flag
from duels.games import resolve_rules
from duels.players import Player, make_player

with require_extra("vector"):
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from duels.solving.tables import get_tables, has_tables

PolicyFunction: TypeAlias = Callable[[AnySight], object]
"""Maps a sight to one of `sight.actions`, or to a mapping from actions to probabilities."""
Policy: TypeAlias = str | Player | PolicyFunction | ArrayLike | Mapping[Seat, object]
"""A player's name, a player with `odds`, a function, a table, or an object that the game can grade itself."""
BATCH_SIZE = 8192  # rows per call of an agent: more would fill the memory of a large network

NOT_DETERMINISTIC = (
    "gives different answers to the same question: it samples, or it remembers earlier questions. "
    "Return the probability of every action, or always the same action (in Stable-Baselines3, predict with "
    "deterministic=True)"
)

_MASKING = "If the agent learned without masks, wrap it with duels.mask_agent."

Agent: TypeAlias = Callable[[Any, NDArray[np.int8]], ArrayLike]
"""Maps an observation and a mask of the environments to an action's number or to action probabilities."""


def table_of(
    agent: Agent,
    game: str | Game | AnyRules,
    *,
    batch: bool = False,
    limit_ends: str = TRUNCATION,
    dtype: DTypeLike = np.float32,
    **options: OptionValue,
) -> NDArray[np.float64]:
    """Return the probabilities of `agent`, indexed [state, action], for `exploitability` and `duels.vector`.

    The agent is called with every observation and its mask, or if `batch` is true, with arrays whose rows
    are observations and masks. Observations have this `dtype`. With `limit_ends="draw"` they include the time
    left until the limit, as in the environments, and the table is indexed [clock, state, action]. Raises
    DuelsError if the agent is not deterministic or its answers are invalid, and TooLarge if the game has no
    tables.

    >>> import duels
    >>> table = duels.table_of(lambda observation, mask: mask / mask.sum(), "lights")
    >>> table.shape
    (222, 13)
    """
    observation_type = parse_observation_dtype(dtype)
    if not callable(agent):
        raise DuelsError(f"An agent must be a function of an observation and a mask, not {agent!r}.")
    if not accepts_arguments(agent, 2):
        raise DuelsError("An agent must accept two arguments, an observation and a mask.")
    if "memory" in options:
        raise DuelsError("An agent with a memory has no table: use duels.policy_of instead.")
    rules = resolve_rules(game, **options)
    try:
        tables = get_tables(rules).tables
    except TooLarge as problem:
        raise TooLarge(
            f"{problem} duels.policy_of turns an agent into a function instead, which duels.exploitability "
            "can grade if the game is small enough to be searched."
        ) from None
    decisions = np.flatnonzero(tables.actor >= 0)
    encoded = tables.observation[tables.actor[decisions], decisions]
    inputs = np.column_stack([encoded, tables.legal[decisions]]).astype(np.int8)
    unique_inputs, index = np.unique(inputs, axis=0, return_inverse=True)
    observations, masks = np.split(unique_inputs, [encoded.shape[1]], axis=1)
    check_flag("batch", batch)

    def make_table(time_left: NDArray[np.int8]) -> NDArray[np.float64]:
        columns = [observations, np.tile(time_left, (len(observations), 1))]
        rows = np.column_stack(columns).astype(observation_type)
        first_answer, second_answer = (_ask(agent, batch, rows, masks) for _ in range(2))
        if not np.allclose(first_answer, second_answer, rtol=0, atol=ANSWER_TOLERANCE):
            raise DuelsError(f"The agent {NOT_DETERMINISTIC}.")
        table = np.zeros(tables.legal.shape)
        table[decisions] = first_answer[index.ravel()]
        return table

    if not ends_in_draw(limit_ends):
        return make_table(np.zeros(0, np.int8))
    feature = make_limit_feature(rules)
    marks = feature.encode_values()
    return np.stack(
        [make_table(np.frombuffer(marks[moves_left], np.int8)) for moves_left in feature.values[:0:-1]]
    )


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
    """Turn `agent` into a function of a `Sight`, for `exploitability` of games or agents without tables.

    The agent takes the observations of the environments, in this `dtype`. With `limit_ends="draw"` they
    include the time left until the limit. With `memory` they include that number of recent entries. If
    `batch` is true, the agent is called with arrays of one row. The function raises DuelsError if
    the agent's answer is invalid.

    >>> import duels
    >>> policy = duels.policy_of(lambda observation, mask: mask.argmax(), "hunt")
    >>> policy(duels.start("hunt").sight(duels.Seat.ONE))
    {Move(cell=1): 1.0}
    """
    observation_type = parse_observation_dtype(dtype)
    rules = resolve_rules(game, **options)
    check_flag("batch", batch)
    limit_features = (make_limit_feature(rules),) if ends_in_draw(limit_ends) else ()
    encoding = Encoding((*rules.game.encoding(rules).features, *limit_features))
    actions = rules.all_actions()
    history = _RecentEntries(rules, memory) if check_memory(rules, memory) else None

    def policy(sight: AnySight) -> dict[Any, float]:
        encoded = encoding.encode(sight.view, sight.seat) + (history.encode(sight) if history else b"")
        observation = np.frombuffer(encoded, np.int8).astype(observation_type)
        mask = np.array([action in sight.actions for action in actions], np.int8)
        odds = _ask(agent, batch, observation[None], mask[None])[0]
        return {actions[number]: float(odds[number]) for number in np.flatnonzero(odds)}

    return policy


_MAX_SCORE = np.finfo(np.float64).max / 4  # so that differences of scores do not overflow
_ILLEGAL_SCORE = -2 * _MAX_SCORE


def mask_agent(scores: Callable[[Any], ArrayLike], *, softmax: bool = False) -> Agent:
    """Return an agent that plays the legal action with the highest score.

    Use it for a network that learned without masks. `scores` maps an observation, or rows of them, to a
    number for every action, such as logits or values; a PyTorch tensor with gradients works too. With
    `softmax` the scores are logits, and the agent returns their softmax over the legal actions. The agent
    raises DuelsError if the score of a legal action is NaN.

    >>> import duels, numpy as np
    >>> agent = duels.mask_agent(lambda observation: np.arange(13.0))
    >>> int(agent(None, np.array([1, 1, 1] + [0] * 10)))
    2
    """
    check_flag("softmax", softmax)

    def agent(observation: Any, mask: NDArray[np.int8]) -> NDArray[Any]:
        output: Any = scores(observation)
        array = np.asarray(output.detach() if hasattr(output, "detach") else output)
        # A legal action with a score of -inf is still better than an illegal one.
        legal = np.where(mask == 1, np.clip(array, -_MAX_SCORE, _MAX_SCORE), _ILLEGAL_SCORE)
        if np.isnan(legal).any():
            raise DuelsError("The network returned NaN for a legal action: its training diverged.")
        return _softmax(legal) if softmax else legal.argmax(axis=-1)

    return agent


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    odds: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return odds


def parse_observation_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return the NumPy type of observations. Raises DuelsError if it is not numeric."""
    try:
        numpy_type = np.dtype(dtype)
    except TypeError:
        raise DuelsError(f"'dtype' must be a NumPy dtype, not {dtype!r}.") from None
    if numpy_type.kind not in "iuf":
        raise DuelsError(f"'dtype' must be numeric, such as int8 or float32, not {numpy_type}.")
    return numpy_type


class _RecentEntries:
    """Encodes the last entries that a seat has seen, as in the environments."""

    def __init__(self, rules: AnyRules, memory: int) -> None:
        self._rules, self._memory = rules, memory
        self._entries = EntryTokens(rules)
        self._marks = self._entries.encode_tokens()
        self._action_numbers = number_actions(rules)

    def encode(self, sight: AnySight) -> bytes:
        information_set = InformationSet.start(self._rules, sight.seat)
        tokens = [EntryTokens.NOTHING] * self._memory
        for entry in sight.history:
            actor = information_set.match.actor
            if actor is not CHANCE:
                tokens.append(
                    EntryTokens.HIDDEN
                    if entry is None
                    else self._entries.token(self._action_numbers[entry], is_own=actor is sight.seat)
                )
            information_set = information_set.add_entry(entry)
        return b"".join(self._marks[token] for token in tokens[: -self._memory - 1 : -1])


def _ask(
    agent: Agent, batch: bool, observations: NDArray[Any], masks: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Return the agent's probabilities, indexed [row, action]."""
    if batch:
        return ask_batch(agent, observations, masks)
    rows = zip(observations, masks, strict=True)
    return np.stack([parse_probabilities(agent(row.copy(), mask.copy()), mask) for row, mask in rows])


def ask_batch(agent: Agent, observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the probabilities of an agent that accepts batches, indexed [row, action].

    Raises DuelsError if an answer is invalid.
    """
    answers: list[NDArray[np.float64]] = []
    for start in range(0, len(masks), BATCH_SIZE):
        batch_masks = masks[start : start + BATCH_SIZE]
        answer = np.asarray(agent(observations[start : start + BATCH_SIZE].copy(), batch_masks.copy()))
        if answer.shape[:1] != (len(batch_masks),):
            raise DuelsError(
                f"The agent returned an array of shape {answer.shape} for {len(batch_masks)} rows; "
                "it must return one answer per row. If it takes a single observation, grade it with "
                'batch=False, or use it as an opponent with vectorization_mode="sync".'
            )
        answers.append(_parse_rows(answer, batch_masks))
    return np.concatenate(answers)


def parse_probabilities(output: ArrayLike, mask: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the probability of each action from an agent's answer. Raises DuelsError if it is invalid."""
    answer = np.asarray(output)
    rows = _parse_rows(answer.reshape(1, *answer.shape), mask[None])
    return rows.reshape(mask.shape)


def _parse_rows(answer: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.float64]:
    rows = np.arange(len(masks))
    odds: NDArray[np.float64]
    if answer.size == len(masks) and answer.dtype.kind in "iu":
        actions = answer.reshape(len(masks))
        clipped = np.clip(actions, 0, masks.shape[1] - 1)
        odds = np.eye(masks.shape[1])[clipped]
        is_invalid = (clipped != actions) | (masks[rows, clipped] == 0)
        problem = "The agent chose action {answer}, but only {allowed} are allowed. {masking}"
    elif answer.shape == masks.shape and answer.dtype.kind in "iuf":
        odds = np.where(masks == 1, answer, 0).astype(np.float64)
        is_invalid = (answer < 0).any(axis=1) | ~np.isclose(odds.sum(axis=1), 1)
        problem = "The agent's probabilities of the allowed actions {allowed} do not sum to 1. {masking}"
    else:
        odds, is_invalid = np.zeros(masks.shape), rows == 0
        problem = (
            f"An agent must return an action's number or {masks.shape[1]} probabilities, not {{answer!r}}."
        )
    for row in np.flatnonzero(is_invalid):
        allowed = np.flatnonzero(masks[row]).tolist()
        value = answer[row].item() if answer[row].size == 1 else answer[row]
        raise DuelsError(problem.format(answer=value, allowed=allowed, masking=_MASKING))
    return odds


def accepts_arguments(function: Callable[..., Any], arguments: int) -> bool:
    """Return whether a function accepts this many arguments; True if its signature is unknown."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def is_player(policy: object) -> TypeGuard[Player]:
    """Return whether `policy` is a player. Arrays, which also have a method `choose`, are not."""
    return callable(getattr(policy, "choose", None)) and not isinstance(policy, np.ndarray)


def get_player_odds(player: str | Player, rules: AnyRules) -> Callable[[AnySight], dict[Any, float]]:
    """Return the method `odds` of a player, given itself or by name. Raises DuelsError if it has none."""
    seated = make_player(player, rules) if isinstance(player, str) else player
    odds: Callable[[AnySight], dict[Any, float]] | None = getattr(seated, "odds", None)
    if odds is None:
        name = repr(player) if isinstance(player, str) else type(player).__name__
        raise DuelsError(f"The player {name} has no method 'odds' with its action probabilities.")
    return odds


# -- policies ----------------------------------------------------------------------------------------


def normalize_policy(policy: Any, rules: AnyRules) -> Any:
    """Return a policy as a table or a function. Raises DuelsError if it is of another type."""
    if isinstance(policy, str):  # our own players are deterministic
        return get_player_odds(policy, rules)
    if is_player(policy):
        policy = get_player_odds(policy, rules)
    elif callable(policy) and not accepts_arguments(policy, 1):
        converter = "duels.table_of" if has_tables(rules) else "duels.policy_of"
        raise DuelsError(
            "A policy function must accept one argument, a Sight. "
            f"To grade an agent that takes an observation and a mask, use {converter}(agent, {rules.name!r})."
        )
    elif not callable(policy) and np.ndim(policy) == 0 and type(policy).__module__ == "builtins":
        raise DuelsError(
            "A policy must be a player or its name, a table (see duels.table_of) or a function from a Sight "
            f"to an action or to a mapping from actions to probabilities, not a {type(policy).__name__}."
        )
    return _require_determinism(policy) if callable(policy) else policy


def _require_determinism(policy: PolicyFunction) -> PolicyFunction:
    def odds(sight: AnySight) -> Mapping[Any, float]:
        first_odds, second_odds = get_action_odds(policy, sight), get_action_odds(policy, sight)
        differences = [
            abs(first_odds.get(action, 0) - second_odds.get(action, 0))
            for action in {**first_odds, **second_odds}
        ]
        if max(differences) > ANSWER_TOLERANCE:
            raise DuelsError(f"At {sight.view}, the policy {NOT_DETERMINISTIC}.")
        return first_odds

    return odds


def get_action_odds(policy: PolicyFunction, sight: AnySight) -> Mapping[Any, float]:
    """Return the policy's probabilities of actions. Raises DuelsError if they are invalid."""
    answer = policy(sight)
    if not isinstance(answer, Hashable | Mapping):
        raise DuelsError(f"A policy must return an action or a mapping, not a {type(answer).__name__}.")
    odds: Mapping[Any, float] = answer if isinstance(answer, Mapping) else {answer: 1.0}
    for action, probability in odds.items():
        if action not in sight.actions and probability != 0:
            raise DuelsError(
                f"The policy chose {action!r}, which is not allowed at {sight.view}: "
                "choose one of `sight.actions`."
            )
    total = sum(odds.values())
    if not (all(p >= 0 for p in odds.values()) and isclose(total, 1, rel_tol=1e-5)):
        raise DuelsError(f"The policy's probabilities must sum to 1, but do not at {sight.view}.")
    return {action: probability / total for action, probability in odds.items() if probability}
