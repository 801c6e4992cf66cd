"""What matches of flip between good players show: how sure the oracle was, and when Quantum Flips were used.

They are the matches that `duels export flip --games 200 --player perfect` writes, and with `--player expert`.
That takes minutes, so what they show is kept in flip.json while the first match of each comes out the same.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from duels.games import find_game
from duels.players import make_player
from duels.terminal.export import Export, play_one

KEPT = Path(__file__).with_name("flip.json")
PLAYERS = ("perfect", "expert")
MATCHES = 200
GOAL = 0.001
"""How far the value of a position may be off, in probability, wherever good play leads."""


def sample() -> dict[str, list[dict[str, Any]]]:
    """What each match shows, by its players; played anew only if it would come out otherwise."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if all(kept.get(player, [None])[0] == next(_played(player)) for player in PLAYERS):
        return kept  # type: ignore[no-any-return]
    if "--check" in sys.argv:
        sys.exit(f"{KEPT.name} is about other matches: run make solved")
    print("… playing matches of flip", flush=True)
    played = {player: list(_played(player)) for player in PLAYERS}
    KEPT.write_text(_as_lines(played), encoding="utf-8")
    return played


def _played(player: str) -> Iterator[dict[str, Any]]:
    room = find_game("flip")
    rules = room.rules()
    oracle, seated = room.oracle(rules), [make_player(player, room, rules)] * 2
    run = Export(room, rules, (player, player), "export", MATCHES)
    for number in range(MATCHES):
        yield shown_by(play_one(run, number, oracle, seated)["turns"])


def shown_by(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """What the turns of one match show."""
    decisions = [turn for turn in turns if turn["actor"] != "chance"]
    errors = [turn["error"] for turn in decisions]
    return {
        "decisions": len(decisions),
        "wide": sum(error >= GOAL for error in errors),
        "widest": round(max(errors), 6),
        "used_at": [_score(turn) for turn in decisions if "+" in turn["action"]],
    }


def _score(turn: dict[str, Any]) -> int:
    """The score of whoever decides, from the position: board, scores, Quantum Flips left, player."""
    scores = turn["position"].split()[1].split(",")
    return int(scores[turn["actor"] - 1])


def _as_lines(played: dict[str, list[dict[str, Any]]]) -> str:
    """A match a line, so that a change can be read."""
    parts = (
        f'"{player}": [\n' + ",\n".join(json.dumps(match) for match in matches) + "\n]"
        for player, matches in played.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"
