"""Generate docs/environments/games/: one page per environment, from the code.

python docs/environments/build.py          write the pages
python docs/environments/build.py --check  fail if they are out of date
"""

import sys
from dataclasses import replace
from inspect import signature
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "baselines"))

from runs import FORMS, LEARNERS, Form, format_steps_to_near, number, read_form, spread

from duels import vector
from duels.core.features import EntryTokens, Feature, format_feature_value, make_limit_feature
from duels.core.options import Option, list_options
from duels.core.rules import Seat
from duels.envs.gymnasium import DuelEnv
from duels.envs.versions import LATEST, VERSIONS
from duels.games import GAMES
from duels.games.hunt.strategy import load_certificate
from duels.solving.oracle import Exactness
from duels.solving.oracles import get_oracle
from duels.solving.tables import ILLEGAL, NOBODY, Tables

FOLDER = Path(__file__).parent / "games"

NO_BASELINE = {
    "hunt": "no trained agent yet; the shipped strategy `best` has an exploitability between 0.082 and "
    "0.098 ([Grading](../grading.md))",
    "flip": "no trained agent yet; `best` is perfect up to the proven error of its values",
}
RANDOM_UNKNOWN = {
    "hunt": "within proven bounds: [Grading](../grading.md#agents-in-hunt-and-flip)",
    "flip": "unknown: the game is too large to search",
}
OFF_GRID = "0: not on the grid yet"
MEANINGS = {
    "lights": {"lights": "`X`: off, `O`: on"},
    "leap": {"my_cell": OFF_GRID, "other_cell": OFF_GRID},
    "chain": {
        "doubt": "the cell that can be challenged; 0: none",
        "phase": "the current decision; nobody acts in `coin`",
        "my_observation": "whether the symbol being placed or challenged is mine",
    },
    "hunt": {
        "my_cell": OFF_GRID,
        "my_tunnel": "whether I can still use the tunnel",
        "my_last_named": "0: none yet",
        "other_last_named": "0: none yet",
        "my_phase": "None: it is not my turn",
    },
    "flip": {
        "tiles": "`.`: nobody has seen it; digit: flipped; `a` to `e`: not flipped, but seen as 1 to 5",
        "my_quantum": "whether I still have my Quantum Flip; 1 until I have chosen the tile to keep",
        "other_quantum": "whether the opponent still has its Quantum Flip",
        "lifted": "the tiles being turned",
        "choosing": "whether the player must keep one of two lifted tiles",
    },
}
"""Explanations of features that need more than a name."""
MAX_LISTED_ACTIONS = 30


def render_page(name: str) -> str:
    """Return the Markdown page of a game."""
    game = GAMES[name]
    rules = game.rules()
    return "\n".join(
        [
            f"# {name}: {game.title}",
            "",
            f"For users who train agents on {name}: ids, observations, actions, options and the value. "
            f"{game.summary[:1].upper()}{game.summary[1:].rstrip('.')} ([rules and tips](../../{name}.md)).",
            "",
            "| property | value |",
            "|---|---|",
            *(f"| {key} | {value} |" for key, value in _list_properties(rules)),
            "",
            "## Observation",
            "",
            "An observation is a vector of zeros and ones, from the agent's point of view. A feature with "
            "two values is one number: 0 for the first value, 1 for the second. Other features are one-hot.",
            "",
            "| numbers | feature | values | meaning |",
            "|---|---|---|---|",
            *_list_features(game.encoding(rules).features, MEANINGS[name]),
            *_describe_settings(rules),
            "",
            "## Actions",
            "",
            *_actions(rules),
            "",
            "## Options",
            "",
            "| option | default | meaning |",
            "|---|---|---|",
            *(
                f"| `{option.name}` | {_default(option)} | {option.help} |"
                for option in list_options(type(rules))
            ),
            "",
            "## Versions",
            "",
            "The version changes whenever a change affects trained agents or results.",
            "",
            "| version | change |",
            "|---|---|",
            *(f"| v{number} | {changed} |" for number, changed in VERSIONS.items()),
            "",
        ]
    )


def _default(option: Option) -> str:
    return "none" if option.default is None else str(option.default)


def _list_properties(rules: Any) -> list[tuple[str, str]]:
    name, batch = rules.name, vector.make(rules)
    defaults = {name: parameter.default for name, parameter in signature(DuelEnv).parameters.items()}
    return [
        ("Gymnasium", f"`duels/{name.title()}-v{LATEST}`"),
        ("PettingZoo", f"`duels/{name}-v{LATEST}`, `{name}_v{LATEST}`; agents `player_1` and `player_2`"),
        ("OpenSpiel", f"`duels_{name}`"),
        ("JAX", f'`duels.envs.jax.make("{name}")`'),
        ("arrays", f'`duels.vector.make("{name}")`'),
        (
            "Gymnasium's defaults",
            f'`opponent="{defaults["opponent"]}"` and `seat={defaults["seat"]}`; to grade the agent, '
            'train it with `seat="random"`',
        ),
        (
            "observation",
            f"`Box(0, 1, ({batch.observation_size},))`; `float32` in Gymnasium, otherwise `int8`",
        ),
        ("actions", f"`Discrete({batch.num_actions})`"),
        ("reward", "1 for a win, -1 for a loss, otherwise 0"),
        ("limit", _limit(rules, batch)),
        (
            "illegal action",
            "loses the game in Gymnasium; for other frameworks see "
            "[Rewards and endings](../reference.md#rewards-and-endings)",
        ),
        ("keys of `info`", "see [Gymnasium](../gymnasium.md#step-by-step)"),
        ("hidden information", "yes" if rules.has_hidden_information else "no"),
        ("chance", "yes" if rules.all_outcomes() else "no"),
        ("value to Player 1", _value(rules)),
        ("exploitability of random play", _random(name)),
        ("best baseline", _baseline(name)),
    ]


def _limit(rules: Any, batch: Any) -> str:
    if rules.limit:
        return (
            f"`{rules.limit}`, none by default; set one for training, because a game need not end. "
            "The limit truncates the game"
        )
    if rules.all_outcomes():
        return "none: every game ends"
    return f"none: every game ends after at most {_longest(batch.tables)} moves (both players together)"


def _longest(tables: Tables) -> int:
    """Return the number of actions in the longest game. The game must not have cycles."""
    lengths: dict[int, int] = {}

    def longest_from(state: int) -> int:
        if tables.actor[state] == NOBODY:
            return 0
        if state not in lengths:
            successors = tables.successor[state]
            legal_successors = successors[successors != ILLEGAL]
            lengths[state] = 1 + max(
                longest_from(successor >> 1) for successor in set(legal_successors.tolist())
            )
        return lengths[state]

    return max(map(longest_from, tables.starts.tolist()))


def _describe_settings(rules: Any) -> list[str]:
    """Return the paragraphs on settings that lengthen observations."""
    paragraphs = []
    if rules.limit:
        size = make_limit_feature(replace(rules, **{rules.limit: 2})).size
        paragraphs.append(
            f'With `limit_ends="draw"` an observation ends with the number of {rules.clock} left, '
            f"one-hot from 0: `{rules.limit}=2` adds {size} numbers."
        )
    if rules.has_hidden_information:
        paragraphs.append(
            "An observation contains what the seat knows now, but no history. `memory=n` adds the last n "
            f"entries as the seat saw them, {EntryTokens(rules).width} numbers each "
            "([Observations](../reference.md#observations)).",
        )
    return [line for paragraph in paragraphs for line in ("", paragraph)]


def _learned(name: str) -> Form | None:
    """Return the largest form of a game that has baselines, or None."""
    return next((form for form in map(read_form, reversed(FORMS)) if form.game == name), None)


def _options(form: Form) -> str:
    return "".join(f", `{option}={value}`" for option, value in form.options.items())


def _random(name: str) -> str:
    form = _learned(name)
    return f"{number(form.random)}{_options(form)}" if form else RANDOM_UNKNOWN[name]


def _baseline(name: str) -> str:
    """Describe the best baseline on the largest form with baselines."""
    form = _learned(name)
    if not form:
        return NO_BASELINE[name]
    best, options = form.best, _options(form)
    steps = f"{best.steps[-1]:,}" if None in best.near else format_steps_to_near(best)
    return (
        f"{LEARNERS[best.learner]} in self-play{options}: exploitability {spread(best.final)} after {steps} "
        f"steps, over {len(best.runs)} seeds ([Baselines](../../baselines.md))"
    )


def _value(rules: Any) -> str:
    value = get_oracle(rules).value(rules.sight(rules.initial(), Seat.ONE))
    if value.exactness is Exactness.EXACT:
        return f"{value.number:g}, exactly"
    if value.exactness is Exactness.BOUND:
        return f"between {value.low:.4f} and {value.high:.4f}, proven"
    bounds = load_certificate().value
    return f"between {bounds.low:.4f} and {bounds.high:.4f}, proven; about {value.number:.3f}"


def _list_features(features: tuple[Feature, ...], meanings: dict[str, str]) -> list[str]:
    assert meanings.keys() <= {feature.name for feature in features}
    rows, start = [], 0
    for feature in features:
        end = start + feature.size - 1
        numbers = f"{start}" if start == end else f"{start}–{end}"
        values = [format_feature_value(value) for value in feature.values]
        if len(values) > 12:
            values = [*values[:3], "…", values[-1]]
        slots = f" × {feature.count}" if feature.count > 1 else ""
        meaning = meanings.get(feature.name, "")
        rows.append(f"| {numbers} | `{feature.name}`{slots} | {', '.join(values)} | {meaning} |")
        start = end + 1
    return rows


def _actions(rules: Any) -> list[str]:
    numbered = list(enumerate(rules.all_actions()))
    by_type = [list(group) for _, group in groupby(numbered, key=lambda pair: type(pair[1]))]
    shorten = len(numbered) > MAX_LISTED_ACTIONS
    listed = []
    for group in by_type:
        names = [f"{number} `{rules.format(action)}`" for number, action in group]
        listed += [*names[:3], "…", names[-1]] if shorten and len(names) > 5 else names
    return [", ".join(listed) + "."]


def main() -> None:
    """Write the pages, or check them."""
    outdated = []
    for name in GAMES:
        path = FOLDER / f"{name}.md"
        if "--check" in sys.argv[1:]:
            outdated += (
                [] if path.exists() and path.read_text(encoding="utf-8") == render_page(name) else [path.name]
            )
        else:
            path.write_text(render_page(name), encoding="utf-8")
    if outdated:
        sys.exit(f"Out of date: {', '.join(outdated)}. Run make environment-pages.")


if __name__ == "__main__":
    main()
