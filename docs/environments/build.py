"""Writes docs/environments/games/: a page for every environment, from the code.

python docs/environments/build.py          writes the pages
python docs/environments/build.py --check  fails if they are not what the code says now
"""

import sys
from dataclasses import replace
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "baselines"))

from runs import FORMS, LEARNERS, Form, measured, near_in_words, number, spread

from duels import vector
from duels.core.features import Entries, Feature, format_feature_value, left_feature
from duels.core.options import Option, list_options
from duels.core.rules import Seat
from duels.envs.gymnasium import DuelEnv
from duels.envs.versions import LATEST, VERSIONS
from duels.games import GAMES
from duels.games.hunt.strategy import claimed
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle
from duels.solving.tables import ILLEGAL, NOBODY, Tables

FOLDER = Path(__file__).parent / "games"

UNLEARNED = {
    "hunt": "none of a learner yet; the shipped strategy `best` has an exploitability between 0.082 and "
    "0.098 ([Grading](../grading.md)).",
    "flip": "none of a learner yet; `best` is perfect within the bounds of its values.",
}
RANDOM_UNKNOWN = {
    "hunt": "within proven bounds: [Grading](../grading.md#agents-in-hunt-and-flip)",
    "flip": "not known: the game is too large to be searched",
}
OFF_GRID = "0: not on the grid yet"
MEANINGS = {
    "lights": {"lights": "`X`: off, `O`: on"},
    "leap": {"my_cell": OFF_GRID, "other_cell": OFF_GRID},
    "chain": {
        "doubt": "the cell that can be challenged; 0: none",
        "phase": "what is decided now; the coin falls by itself, so nobody acts in `coin`",
        "my_observation": "whether the symbol being placed or challenged is mine",
    },
    "hunt": {
        "my_cell": OFF_GRID,
        "my_tunnel": "whether I can still tunnel",
        "my_last_named": "0: none yet",
        "other_last_named": "0: none yet",
        "my_phase": "None: it is not my turn",
    },
    "flip": {
        "tiles": "`.`: nobody has seen it; digit: flipped; `a` to `e`: not flipped, but seen as 1 to 5",
        "my_quantum": "whether my Quantum Flip is left; still 1 while I choose the tile to keep",
        "other_quantum": "the same for the opponent",
        "lifted": "the tiles that are being turned",
        "choosing": "whether one of two lifted tiles is to be kept",
    },
}
"""What features and their values mean, where the name does not say it."""
MANY = 30  # actions that are not all listed


def page(name: str) -> str:
    """The page of a game."""
    game = GAMES[name]
    rules = game.rules()
    return "\n".join(
        [
            f"# {name}: {game.title}",
            "",
            f"{game.summary[:1].upper()}{game.summary[1:].rstrip('.')}. [The game](../../{name}.md).",
            "",
            "| | |",
            "|---|---|",
            *(f"| {key} | {value} |" for key, value in _facts(rules)),
            "",
            "## Observation",
            "",
            "Zeros and ones, from the agent's own point of view. A feature with two values is one number, 0 "
            "for the first and 1 for the second; any other is one-hot, in this order.",
            "",
            "| numbers | feature | values | meaning |",
            "|---|---|---|---|",
            *_layout(game.encoding(rules).features, MEANINGS[name]),
            *_longer(rules),
            "",
            "## Actions",
            "",
            *_actions(rules),
            "",
            "## Options",
            "",
            "| option | default | |",
            "|---|---|---|",
            *(
                f"| `{option.name}` | {_default(option)} | {option.help} |"
                for option in list_options(type(rules))
            ),
            "",
            "## Versions",
            "",
            "A new version comes with every change that an agent or a result would notice.",
            "",
            "| version | |",
            "|---|---|",
            *(f"| v{number} | {changed} |" for number, changed in VERSIONS.items()),
            "",
        ]
    )


def _default(option: Option) -> str:
    return "none" if option.default is None else str(option.default)


def _facts(rules: Any) -> list[tuple[str, str]]:
    name, batch = rules.name, vector.make(rules)
    defaults = {key: each.default for key, each in signature(DuelEnv).parameters.items()}
    return [
        ("Gymnasium", f"`duels/{name.title()}-v{LATEST}`"),
        ("PettingZoo", f"`duels/{name}-v{LATEST}`, `{name}_v{LATEST}`; agents `player_1` and `player_2`"),
        ("OpenSpiel", f"`duels_{name}`"),
        ("JAX", f'`duels.envs.jax.make("{name}")`'),
        ("arrays", f'`duels.vector.make("{name}")`'),
        (
            "opponent and seat",
            f"in Gymnasium `{defaults['opponent']}` and {defaults['seat']} by default; train with "
            '`seat="random"`, because grading averages both seats',
        ),
        ("observation", f"`Box(0, 1, ({batch.observation_size},))`, in Gymnasium `float32`, else `int8`"),
        ("actions", f"`Discrete({batch.num_actions})`"),
        ("reward", "1 for a win, -1 for a loss, otherwise 0"),
        ("limit", _limit(rules, batch)),
        (
            "illegal action",
            "loses the game in Gymnasium; elsewhere see "
            "[Rewards and endings](../reference.md#rewards-and-endings)",
        ),
        ("`info`", "its keys: [Gymnasium](../gymnasium.md#step-by-step)"),
        ("hidden information", "yes" if rules.has_secrets else "no"),
        ("chance", "yes" if rules.all_outcomes() else "no"),
        ("value to Player 1", _value(rules)),
        ("exploitability of random play", _random(name)),
        ("best known baseline", _baseline(name)),
    ]


def _limit(rules: Any, batch: Any) -> str:
    if rules.limit:
        return (
            f"`{rules.limit}`, none by default: without one a game need not end, so set one for training. "
            "It truncates the game"
        )
    if rules.all_outcomes():
        return "none: every game ends"
    return f"none: every game ends, after at most {_longest(batch.tables)} moves of both players together"


def _longest(tables: Tables) -> int:
    """How many actions the longest game has, of a game without cycles."""
    lengths: dict[int, int] = {}

    def left(state: int) -> int:
        if tables.actor[state] == NOBODY:
            return 0
        if state not in lengths:
            follow = tables.successor[state]
            lengths[state] = 1 + max(left(after >> 1) for after in set(follow[follow != ILLEGAL].tolist()))
        return lengths[state]

    return max(map(left, tables.starts.tolist()))


def _longer(rules: Any) -> list[str]:
    """By how much settings lengthen observations."""
    told = []
    if rules.limit:
        size = left_feature(replace(rules, **{rules.limit: 2})).size
        told.append(
            f'With `limit_ends="draw"` an observation ends with how much of `{rules.limit}` is left, one-hot '
            f"from 0: `{rules.limit}=2` adds {size} numbers."
        )
    if rules.has_secrets:
        told.append(
            "An observation is what the seat knows now, not what it remembers. `memory=n` adds the last n "
            f"entries as the seat saw them, {Entries(rules).width} numbers each "
            "([Observations](../reference.md#observations)).",
        )
    return [line for paragraph in told for line in ("", paragraph)]


def _learned(name: str) -> Form | None:
    """The largest form of a game that was learned."""
    return next((form for form in map(measured, reversed(FORMS)) if form.game == name), None)


def _options(form: Form) -> str:
    return "".join(f", `{option}={value}`" for option, value in form.options.items())


def _random(name: str) -> str:
    form = _learned(name)
    return f"{number(form.random)}{_options(form)}" if form else RANDOM_UNKNOWN[name]


def _baseline(name: str) -> str:
    """The best of the baselines, on the largest form that was learned, or that there is none."""
    form = _learned(name)
    if not form:
        return UNLEARNED[name]
    best, options = form.best, _options(form)
    steps = f"{best.steps[-1]:,}" if None in best.near else near_in_words(best)
    return (
        f"{LEARNERS[best.learner]} in self-play{options}: exploitability {spread(best.final)} after {steps} "
        f"steps, over {len(best.runs)} seeds ([Baselines](../../baselines.md))."
    )


def _value(rules: Any) -> str:
    value = get_oracle(rules).value(rules.sight(rules.initial(), Seat.ONE))
    if value.exactness is Exactness.EXACT:
        return f"{value.number:g}, exactly"
    if value.exactness is Exactness.BOUND:
        return f"between {value.low:.4f} and {value.high:.4f}, proven"
    bounds = claimed().value
    return f"between {bounds.low:.4f} and {bounds.high:.4f}, proven; about {value.number:.3f}"


def _layout(features: tuple[Feature, ...], meanings: dict[str, str]) -> list[str]:
    assert meanings.keys() <= {feature.name for feature in features}
    rows, start = [], 0
    for feature in features:
        end = start + feature.size - 1
        places = f"{start}" if start == end else f"{start}–{end}"
        values = [format_feature_value(value) for value in feature.values]
        if len(values) > 12:
            values = [*values[:3], "…", values[-1]]
        slots = f" × {feature.count}" if feature.count > 1 else ""
        rows.append(
            f"| {places} | `{feature.name}`{slots} | {', '.join(values)} | {meanings.get(feature.name, '')} |"
        )
        start = end + 1
    return rows


def _actions(rules: Any) -> list[str]:
    numbered = list(enumerate(rules.all_actions()))
    kinds = [list(kind) for _, kind in groupby(numbered, key=lambda each: type(each[1]))]
    shorten = len(numbered) > MANY
    told = []
    for kind in kinds:
        names = [f"{place} `{rules.format(action)}`" for place, action in kind]
        told += [*names[:3], "…", names[-1]] if shorten and len(names) > 5 else names
    return [", ".join(told) + "."]


def main() -> None:
    """Write the pages, or check them."""
    wrong = []
    for name in GAMES:
        path = FOLDER / f"{name}.md"
        if "--check" in sys.argv[1:]:
            wrong += [] if path.exists() and path.read_text(encoding="utf-8") == page(name) else [path.name]
        else:
            path.write_text(page(name), encoding="utf-8")
    if wrong:
        sys.exit(f"Not what the code says: {', '.join(wrong)}; run make environment-pages.")


if __name__ == "__main__":
    main()
