"""What matches of flip between good players show: how sure the oracle was, and when Quantum Flips were used.

They are the matches that `duels export flip --games 200 --player perfect` writes, and with `--player expert`.
That takes minutes, so what they show is kept in flip.json, with the fingerprint of what they depend on.

python docs/solved/sample.py         prints what they show
"""

import hashlib
import json
import math
import sys
from collections.abc import Iterator
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from duels.analysis import wording
from duels.analysis.export import Export, play_one
from duels.core.rules import Seat
from duels.games.flip import abstraction, bounds, grid, oracle, rules, table, values
from duels.players import levels, make_player

KEPT = Path(__file__).with_name("flip.json")
PLAYERS = ("perfect", "expert")
MATCHES = 200
GOAL = 0.001
"""How far the value of a position may be off, in probability, wherever good play leads."""

Played = dict[str, list[dict[str, Any]]]


def sample() -> Played:
    """What each match shows, by its players; played anew only if it might come out otherwise."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    # Matches depend on more than the fingerprint covers: the first ones show whether that is as it was.
    if kept.pop("made_by", None) == fingerprint() and all(
        kept[player][0] == next(_played(player)) for player in PLAYERS
    ):
        return kept
    if "--check" in sys.argv:
        sys.exit(f"{KEPT.name} is about other matches: run make solved")
    print("… playing matches of flip, for minutes", file=sys.stderr, flush=True)
    played = {player: list(_played(player)) for player in PLAYERS}
    KEPT.write_text(_as_lines(played), encoding="utf-8")
    return played


def fingerprint() -> str:
    """Of what is asked, the table, and the modules that decide how matches go and what is known of them."""
    found = hashlib.sha256(repr((PLAYERS, MATCHES, GOAL)).encode() + table.SHIPPED.read_bytes())
    for module in (rules, abstraction, table, grid, values, bounds, oracle, levels):
        # As text: a checkout may have other ends of lines.
        found.update(Path(getsourcefile(module) or "").read_text(encoding="utf-8").encode())
    return found.hexdigest()


def _played(player: str) -> Iterator[dict[str, Any]]:
    book = rules.QuantumTiles()
    judge, seated = oracle.make_oracle(book), dict.fromkeys(Seat, make_player(player, book))
    run = Export(book, (player, player), "export", MATCHES)
    for number in range(MATCHES):
        yield shown_by(play_one(run, number, judge, seated)["turns"])


def shown_by(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """What the turns of one match show."""
    decisions = [turn for turn in turns if turn["actor"] != "chance"]
    errors = [turn["error"] for turn in decisions]
    return {
        "decisions": len(decisions),
        "wide": sum(error >= GOAL for error in errors),
        "widest": math.ceil(1e6 * max(errors)) / 1e6,
        "used_at": [_score(turn) for turn in decisions if "+" in turn["action"]],
    }


def _score(turn: dict[str, Any]) -> int:
    """The score of whoever decides, from the position: board, scores, Quantum Flips left, player."""
    scores = turn["position"].split()[1].split(",")
    return int(scores[turn["actor"] - 1])


def summed_up() -> dict[str, Any]:
    """What all matches show together: by players, how sure the oracle was; when Quantum Flips were used."""
    played = sample()
    book = rules.QuantumTiles()
    used = sorted(score for match in played["perfect"] for score in match["used_at"])
    close = book.target - book.values
    sure = {
        player: {
            "matches": len(matches),
            "decisions": sum(match["decisions"] for match in matches),
            "wide": sum(match["wide"] for match in matches),
            "widest": wording.at_most(max(match["widest"] for match in matches)),
        }
        for player, matches in played.items()
    }
    late = sum(score >= close for score in used) / len(used)
    return sure | {"quantum_flips": {"used": len(used), "close": close, "used_when_close": f"{late:.0%}"}}


def _as_lines(played: Played) -> str:
    """A match a line, so that a change can be read."""
    parts = (
        f'"{player}": [\n' + ",\n".join(json.dumps(match) for match in matches) + "\n]"
        for player, matches in played.items()
    )
    return "{\n" + f'"made_by": "{fingerprint()}",\n' + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    print(json.dumps(summed_up(), indent=2))
