"""A static set of graded positions for any harness, with a card that says how it was drawn."""

import json
import shlex
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from duels.arena.folder import parquet_of
from duels.arena.mistakes import key_of
from duels.arena.positions import POOL, SHARE, STRATA, Policy, Position, draw_positions, score
from duels.arena.tables import Table
from duels.core.errors import DuelsError
from duels.core.information_sets import format_history
from duels.core.options import Option, options_data
from duels.core.rules import AnyRules
from duels.core.words import strip_ink
from duels.files import write_atomically
from duels.players.levels import LEVEL_SHARES as LEVELS
from duels.players.levels import mix_actions
from duels.solving.oracle import BELOW_THE_MIXTURE
from duels.solving.oracles import get_oracle
from duels.solving.progress import Progress, no_progress

VERSION = 1
"""Of the format. The same version, game, options, number and seed give the same file."""


def write_exam(
    rules: AnyRules,
    count: int,
    seed: str,
    path: Path,
    progress: Progress = no_progress,
    over: bool = False,
) -> int:
    """Write an exam and its card; how many positions it has, which is fewer where there are no more.

    FileExistsError, if one of them is there already, unless it is to be written `over`.
    """
    if path.suffix not in (".jsonl", ".parquet"):
        raise DuelsError(f"An exam is written as .jsonl or .parquet, not as '{path.suffix}'.")
    drawn = draw_positions(rules, count, seed, progress)
    rows = exam_rows(rules, drawn)
    if path.suffix == ".jsonl":
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    else:
        content = parquet_of({**row, "options": json.dumps(row["options"])} for row in rows)
    write_atomically(path, content, over)
    write_atomically(card_of(path), card(rules, count, drawn, seed).encode(), over)
    return len(rows)


def card_of(path: Path) -> Path:
    """Where the card of an exam is: beside it, one for each file."""
    return path.with_name(f"{path.name}.card.md")


def too_few(asked: int, found: int) -> str:
    """That an exam has fewer positions than were asked for, and why, in a sentence; nothing if it has all."""
    if found == asked:
        return ""
    met = f"{asked * POOL} decisions of good play had no more than {found} different ones among them"
    return f"{asked} positions were asked for, but {met}."


def exam_rows(rules: AnyRules, drawn: Sequence[Position]) -> list[dict[str, Any]]:
    """The positions of an exam, each with every legal action graded."""
    return [_row(rules, number, position) for number, position in enumerate(drawn)]


def _row(rules: AnyRules, number: int, position: Position) -> dict[str, Any]:
    sight, verdict = position.sight, position.verdict
    key = key_of(get_oracle(rules).measure)
    return {
        "version": VERSION,
        "number": number,
        "game": rules.name,
        "options": options_data(rules.options()),
        "seat": sight.seat.value,
        "position": position.notation,
        "history": format_history(sight),
        "board": strip_ink(str(rules.game.words(rules).board(sight))),
        "value": verdict.value.number,
        "exactness": verdict.value.exactness.value,
        "error": verdict.value.error,
        "actions": [
            {
                "action": rules.format(judged.action),
                "value": judged.value.number,
                key: short,
                "best": judged.best,
                "weight": judged.weight,
            }
            for judged, short in zip(verdict.actions, position.shortfalls, strict=True)
        ],
        "stratum": position.stratum,
        "group": position.share.group,
        "chance": position.share.chance,
        "weight": position.weight,
    }


def card(rules: AnyRules, asked: int, drawn: Sequence[Position], seed: str) -> str:
    """What the set is, how it was drawn and how precise scores on it are, for people.

    There may be fewer positions than were asked for.
    """
    measure = get_oracle(rules).measure
    key = key_of(measure)
    graded = "what it gives away"
    after, player = "if both sides play perfectly", "perfect play"
    perfect = "0 is perfect"
    if measure == BELOW_THE_MIXTURE:
        graded = "how far it lies below the mixture of the strategy, negative above it"
        after, player = "as the strategy estimates it", "the strategy"
        perfect = "0 is what the strategy gets, by its own estimates"
    bounds = [f"{100 * low:g} to {100 * high:g}" for low, high in pairwise(STRATA)]
    options = ", ".join(f"{name} {value}" for name, value in rules.options().items()) or "as in the book"
    words = ["duels", "exam", rules.name]
    for name, value in rules.options().items():
        words += ["--option", f"{name}={Option.format(value)}"]
    command = shlex.join([*words, "--positions", str(asked), "--seed", seed, "--out", "exam.jsonl"])
    how_many = "\n".join(filter(None, [f"`{command}` draws the same ones.", too_few(asked, len(drawn))]))
    return f"""# Exam: {rules.game.title} ({rules.name})

{len(drawn)} positions, options {options}, seed {seed}, version {VERSION} of the format.
{how_many}

How it was drawn: matches in which both sides give away {SHARE:.0%} of what random play would; {POOL}
decisions met for each position drawn; forced moves left out. There are {len(bounds)} strata, drawn from as
evenly as they allow, by how far the worst action falls short (its `{key}`), in points of a hundred:
{", ".join(bounds)}. Within a stratum a position is drawn with a chance in proportion to how often it was met.
`weight` is the share of all decisions met that a position stands for; the weights sum to 1. The mean of
anything over all decisions met is estimated without bias by the sum of weight times it.

Each position has every legal action with its `value` (the probability to win {after}
afterwards, a draw counts one half), {graded} (`{key}`), whether it is `best`, and how
often {player} takes it (`weight`). `exactness` says how sure that is: `exact`; `bound`, within `error`;
or `estimate`.
A player's score is the sum of a position's weight times the `{key}` of what it answers: {perfect}.

How precise a score is: `chance` is how likely a position was to be drawn, 1 if it was taken for certain, and
`group` what it was drawn from: its stratum, or all strata together where there are fewer positions than
strata. In each group take the n positions with a chance below 1, and x, weight times the `{key}` of what was
answered. Let m be the mean of x, each counting 1 - chance; add up (1 - chance) (x - m)², and multiply by
n / (n - 1). The sum over all groups is the variance of a score, as an estimate of the mean over all decisions
met (Hájek's approximation); the standard error is its square root. It is 0 where every position was taken for
certain, and not known (–) where a group has n = 1. A player that draws its answers adds, for each position,
chance times the square of its weight times the variance of its `{key}`. For some of our players, each
position answered once, this comes to, in points of a hundred:

{_scores(drawn)}"""


def _scores(drawn: Sequence[Position]) -> str:
    """What random and the levels are expected to score, and how precise that is, as a table."""
    players: dict[str, Policy] = {"random": lambda verdict: [1 / len(verdict.actions)] * len(verdict.actions)}
    players |= {name: partial(mix_actions, share=share) for name, share in LEVELS.items()}
    rows = []
    for name, policy in players.items():
        found, error = score(drawn, policy)
        rows.append([name, f"{100 * found:z.2f}", "–" if error is None else f"{100 * error:.2f}"])
    return Table("", ["player", "score", "standard error"], rows).markdown()
