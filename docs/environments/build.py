"""Writes docs/environments/games/: a page for every environment, from the code.

python docs/environments/build.py          writes the pages
python docs/environments/build.py --check  fails if they are not what the code says now
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "baselines"))

from runs import FORMS, LEARNERS, measured, near_in_words, spread

from duels import vector
from duels.core.features import Feature, said
from duels.core.options import Option, options_of
from duels.core.rules import Seat
from duels.envs.versions import LATEST, VERSIONS
from duels.games import GAMES
from duels.games.hunt.certificate import claimed
from duels.solving.oracle import Exactness
from duels.solving.oracles import oracle_for

FOLDER = Path(__file__).parent / "games"

UNLEARNED = {
    "hunt": "none of a learner yet; the shipped strategy `best` has an exploitability between 0.082 and "
    "0.098 ([Grading](../grading.md)).",
    "flip": "none of a learner yet; `best` is perfect within the bounds of its values.",
}
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
            "Zeros and ones, from the agent's own point of view. A feature with two values is one number; "
            "any other is one-hot, in this order.",
            "",
            "| numbers | feature | values |",
            "|---|---|---|",
            *_layout(game.encoding(rules).features),
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
                for option in options_of(type(rules))
            ),
            "",
            "## Versions",
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
    limit = (
        f"`{rules.limit}`, none by default: without one a game need not end"
        if rules.limit
        else "none: every game ends"
    )
    return [
        ("Gymnasium", f"`duels/{name.title()}-v{LATEST}`"),
        ("PettingZoo", f"`duels/{name}-v{LATEST}`, `{name}_v{LATEST}`; agents `player_1` and `player_2`"),
        ("OpenSpiel", f"`duels_{name}`"),
        ("arrays", f'`duels.vector.make("{name}")`'),
        ("observation", f"`Box(0, 1, ({batch.observation_size},))`, in Gymnasium `float32`, else `int8`"),
        ("actions", f"`Discrete({batch.num_actions})`"),
        ("reward", "1 for a win, -1 for a loss, otherwise 0"),
        ("limit", limit),
        ("hidden information", "yes" if rules.has_secrets else "no"),
        ("chance", "yes" if rules.all_outcomes() else "no"),
        ("value to Player 1", _value(rules)),
        ("best known baseline", _baseline(name)),
    ]


def _baseline(name: str) -> str:
    """The best of the baselines, on the largest form that was learned, or that there is none."""
    forms = [form for form in map(measured, FORMS) if form.game == name]
    if not forms:
        return UNLEARNED[name]
    form = forms[-1]
    best = form.best
    options = "".join(f", `{option}={value}`" for option, value in form.options.items())
    steps = f"{best.steps[-1]:,}" if None in best.near else near_in_words(best)
    return (
        f"{LEARNERS[best.learner]} in self-play{options}: exploitability {spread(best.final)} after {steps} "
        f"steps, over {len(best.runs)} seeds ([Baselines](../../baselines.md))."
    )


def _value(rules: Any) -> str:
    value = oracle_for(rules).value(rules.sight(rules.initial(), Seat.ONE))
    if value.exactness is Exactness.EXACT:
        return f"{value.number:g}, exactly"
    if value.exactness is Exactness.BOUND:
        return f"between {value.low:.4f} and {value.high:.4f}, proven"
    bounds = claimed().value
    return f"between {bounds.low:.4f} and {bounds.high:.4f}, proven; about {value.number:.3f}"


def _layout(features: tuple[Feature, ...]) -> list[str]:
    rows, start = [], 0
    for feature in features:
        end = start + feature.size - 1
        places = f"{start}" if start == end else f"{start}–{end}"
        values = [said(value) for value in feature.values]
        if len(values) > 12:
            values = [*values[:3], "…", values[-1]]
        slots = f" × {feature.count}" if feature.count > 1 else ""
        rows.append(f"| {places} | `{feature.name}`{slots} | {', '.join(values)} |")
        start = end + 1
    return rows


def _actions(rules: Any) -> list[str]:
    names = [rules.format(action) for action in rules.all_actions()]
    if len(names) > MANY:
        first, last = names[: MANY // 2], names[-3:]
        told = [f"{number} `{name}`" for number, name in enumerate(first)]
        told += ["…", *(f"{len(names) - 3 + place} `{name}`" for place, name in enumerate(last))]
    else:
        told = [f"{number} `{name}`" for number, name in enumerate(names)]
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
