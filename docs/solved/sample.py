"""Results of flip matches between good players: the error bounds of values, and the use of Quantum Flips.

The matches are those of `duels export flip --games 200` with `--player perfect` and `--player expert`. They
take minutes, so flip.json stores the results.

python docs/solved/sample.py         prints a summary
"""

import hashlib
import json
import math
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from duels.analysis import wording
from duels.analysis.export import Export, play_match
from duels.games.flip import rules, table

STORED = Path(__file__).with_name("flip.json")
PLAYERS = ("perfect", "expert")
MATCHES = 200
REPLAYED = 3
"""The number of matches per player that are played again to see whether the stored ones are current."""
GOAL = 0.001
"""The largest error of a value, as a probability, that we allow where good play leads."""

Played = dict[str, list[dict[str, Any]]]


def sample() -> Played:
    """Return the results of each match by player. Play the matches if the stored ones are out of date."""
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    if stored.pop("made_by", None) == digest_inputs() and all(
        stored[player][:REPLAYED] == list(islice(_played(player), REPLAYED)) for player in PLAYERS
    ):
        return stored
    if "--check" in sys.argv:
        sys.exit(f"{STORED.name} describes other matches. Run make solved.")
    print("Playing matches of flip. This takes minutes.", file=sys.stderr, flush=True)
    played = {player: list(_played(player)) for player in PLAYERS}
    STORED.write_text(_as_lines(played), encoding="utf-8")
    return played


def digest_inputs() -> str:
    """Return a digest of the sample's settings and flip's table."""
    settings = repr((PLAYERS, MATCHES, GOAL)).encode()
    return hashlib.sha256(settings + table.SHIPPED.read_bytes()).hexdigest()


def _played(player: str) -> Iterator[dict[str, Any]]:
    run = Export(rules.QuantumTiles(), (player, player), "export", MATCHES)
    for number in range(MATCHES):
        yield shown_by(play_match(run, number)["turns"])


def shown_by(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarize the turns of one match."""
    decisions = [turn for turn in turns if turn["actor"] != "chance"]
    errors = [turn["error"] for turn in decisions]
    return {
        "decisions": len(decisions),
        "wide": sum(error >= GOAL for error in errors),
        "widest": math.ceil(1e6 * max(errors)) / 1e6,
        "used_at": [_score(turn) for turn in decisions if "+" in turn["action"]],
    }


def _score(turn: dict[str, Any]) -> int:
    """The score of the deciding player, from the position: board, scores, Quantum Flips left, player."""
    scores = turn["position"].split()[1].split(",")
    return int(scores[turn["actor"] - 1])


def _format_bound(error: float) -> str:
    return f"{wording.format_bounded(0.0, error, 3)[1]} points"


def summed_up() -> dict[str, Any]:
    """Summarize all matches: error bounds by player, and the use of Quantum Flips."""
    played = sample()
    book = rules.QuantumTiles()
    used = sorted(score for match in played["perfect"] for score in match["used_at"])
    close = book.target - book.values
    sure = {
        player: {
            "matches": len(matches),
            "decisions": sum(match["decisions"] for match in matches),
            "wide": sum(match["wide"] for match in matches),
            "widest": _format_bound(max(match["widest"] for match in matches)),
        }
        for player, matches in played.items()
    }
    late = sum(score >= close for score in used) / len(used)
    return sure | {"quantum_flips": {"used": len(used), "close": close, "used_when_close": f"{late:.0%}"}}


def _as_lines(played: Played) -> str:
    """One match per line, for readable diffs."""
    parts = (
        f'"{player}": [\n' + ",\n".join(json.dumps(match) for match in matches) + "\n]"
        for player, matches in played.items()
    )
    return "{\n" + f'"made_by": "{digest_inputs()}",\n' + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    print(json.dumps(summed_up(), indent=2))
