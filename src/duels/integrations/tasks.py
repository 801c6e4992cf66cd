"""Rows of datasets, one per match."""

from collections.abc import Mapping
from typing import Any

from duels.arena.config import MODEL, make_match_seed
from duels.arena.text_seat import MatchTask, parse_conditions
from duels.core.errors import BadOption
from duels.core.options import OptionValue


def make_rows(
    game: str,
    opponent: str = "club",
    matches: int = 20,
    seed: str = "1",
    options: Mapping[str, OptionValue] | None = None,
    **conditions: Any,
) -> list[dict[str, Any]]:
    """Return rows of matches against a built-in player, in pairs with the same seed and swapped seats.

    They are the matches of `duels arena run --players model=model:NAME,OPPONENT` with the same seed. Raises
    BadOption for an odd number of matches, and the errors of MatchTask.

    >>> rows = make_rows("lights", "club", matches=2, show_actions=True)
    >>> [(row["game"], row["opponent"], row["seat"], row["pair"]) for row in rows]
    [('lights', 'club', 1, 0), ('lights', 'club', 2, 0)]
    """
    if type(matches) is not int or matches < 2 or matches % 2:
        raise BadOption(f"matches must be an even number of 2 or more, not {matches!r}.")
    template = MatchTask(
        game, opponent, options=options or {}, conditions=parse_conditions(conditions)
    ).as_row()
    seeds = [make_match_seed(seed, game, MODEL, opponent, pair) for pair in range(matches // 2)]
    return [
        template | {"seed": match_seed, "pair": pair, "seat": seat}
        for pair, match_seed in enumerate(seeds)
        for seat in (1, 2)
    ]
