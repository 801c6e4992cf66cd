"""A static set of graded positions for any harness, with a card that says how it was drawn."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from duels.analysis.shortfalls import BELOW_THE_MIXTURE, measure_of
from duels.arena.folder import write_text
from duels.arena.mistakes import key_of
from duels.arena.positions import POOL, SHARE, STRATA, Position, draw_positions
from duels.core.errors import DuelsError, to_install
from duels.core.information_sets import spell
from duels.core.rules import Rules
from duels.core.words import plain
from duels.solving.oracles import oracle_for
from duels.solving.progress import Progress, quiet

VERSION = 1
"""Of the format. The same version, game, options, number and seed give the same file."""


def write_exam(
    rules: Rules[Any, Any, Any], count: int, seed: str, path: Path, progress: Progress = quiet
) -> int:
    """Write an exam and its card; how many positions it has, which is fewer where there are no more."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise DuelsError(f"An exam is written as .jsonl or .parquet, not as '{path.suffix}'.")
    if path.exists():
        raise DuelsError(f"{path} exists already; an exam is never written over another file.")
    rows = exam_rows(rules, count, seed, progress)
    if path.suffix == ".jsonl":
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        _write_parquet(rows, path)
    write_text(path.with_name(f"{path.stem}.card.md"), card(rules, len(rows), seed))
    return len(rows)


def exam_rows(
    rules: Rules[Any, Any, Any], count: int, seed: str, progress: Progress = quiet
) -> list[dict[str, Any]]:
    """The positions of an exam, each with every legal action graded."""
    drawn = draw_positions(rules, count, seed, progress)
    return [_row(rules, number, position) for number, position in enumerate(drawn)]


def _row(rules: Rules[Any, Any, Any], number: int, position: Position) -> dict[str, Any]:
    sight, verdict = position.sight, position.verdict
    key = key_of(measure_of(oracle_for(rules)))
    seen = (
        spell(rules, sight)
        if rules.has_secrets
        else [rules.format(entry) for entry in sight.history if entry is not None]
    )
    return {
        "version": VERSION,
        "number": number,
        "game": rules.name,
        "options": {k: list(v) if isinstance(v, tuple) else v for k, v in rules.options().items()},
        "seat": sight.seat.value,
        "position": position.notation,
        "history": seen,
        "board": plain(rules.game.words(rules).board(sight)),
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
        "weight": position.weight,
    }


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise DuelsError(f"Parquet needs the extra 'data': {to_install('data')}.") from None
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    flat = [{**row, "options": json.dumps(row["options"])} for row in rows]
    try:
        parquet.write_table(arrow.Table.from_pylist(flat), draft, compression="zstd")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def card(rules: Rules[Any, Any, Any], count: int, seed: str) -> str:
    """What the set is and how it was drawn, for people."""
    measure = measure_of(oracle_for(rules))
    key = key_of(measure)
    graded = "what it gives away"
    perfect = "0 is perfect"
    if measure == BELOW_THE_MIXTURE:
        graded = "how far it lies below the mixture of the strategy, negative above it"
        perfect = "0 is what the strategy gets, by its own estimates"
    bounds = [f"{100 * low:g} to {100 * high:g}" for low, high in pairwise(STRATA)]
    options = ", ".join(f"{name} {value}" for name, value in rules.options().items()) or "as in the book"
    return f"""# Exam: {rules.game.title} ({rules.name})

{count} positions, options {options}, seed {seed}, version {VERSION} of the format.
`duels exam {rules.name} --positions {count} --seed {seed}` draws the same ones.

How it was drawn: matches in which both sides give away {SHARE:.0%} of what random play would; {POOL}
decisions met for each position drawn; forced moves left out. There are {len(bounds)} strata, drawn from as
evenly as they allow, by how far the worst action falls short (its `{key}`), in points of a hundred:
{", ".join(bounds)}.
`weight` is what a position stands for: the mean of anything over all decisions met is estimated without bias
by the sum of weight times it.

Each position has every legal action with its `value` (the probability to win if both sides play perfectly
afterwards, a draw counts one half), {graded} (`{key}`), whether it is `best`, and how
often perfect play takes it (`weight`). `exactness` says how sure that is: `exact`; `bound`, within `error`; or
`estimate`.
A player's score is the sum of a position's weight times the `{key}` of what it answers: {perfect}.
"""
