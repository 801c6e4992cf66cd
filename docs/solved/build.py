"""Prints docs/solved.md and draws its pictures: every number in it comes from the oracles.

python docs/solved/build.py          writes docs/solved.md and docs/images/solved-*.svg; takes minutes if
                                     hunt has another strategy than the one studied in hunt.json
python docs/solved/build.py --check  fails if they are not what the oracles say now
"""

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import charts

from duels.core.rules import Rules, Seat, Sight
from duels.games.chain.oracle import ChainOracle
from duels.games.chain.rules import Answer, QuantumChain
from duels.games.flip.oracle import make_oracle as make_flip_oracle
from duels.games.flip.rules import QuantumTiles
from duels.games.hunt.report import sections
from duels.games.hunt.study import fingerprint, study
from duels.games.leap.oracle import LeapOracle
from duels.games.leap.rules import OFF_GRID, QuantumLeap
from duels.games.lights.oracle import LightsOracle, nim_sum
from duels.games.lights.rules import ON, Lights
from duels.solving.oracle import Oracle
from duels.terminal.advice import percent

DOCS = Path(__file__).parent.parent
STUDY = DOCS / "solved" / "hunt.json"
"""What `duels solve hunt --study --json` prints: it takes minutes, so a copy is kept."""
Pictures = dict[str, str]

HEAD = """\
# What perfect play is

Every number on this page is printed by `make solved` from the oracles, and every oracle is checked by a
second method: `duels solve GAME --verify`. A value is the probability that a player wins when both play
perfectly; never-ending play counts one half.
"""


def opening_table(rules: Rules[Any, Any, Any], sight: Sight[Any, Any], oracle: Oracle[Any, Any]) -> str:
    """The actions of a position by their value, those of equal value on one line."""
    verdict = oracle.judge(sight)
    groups: dict[str, list[str]] = {}
    for judged in sorted(verdict.actions, key=lambda judged: -judged.value.number):
        groups.setdefault(percent(judged.value), []).append(f"`{rules.format(judged.action)}`")
    rows = "".join(f"| {value} | {' '.join(names)} |\n" for value, names in groups.items())
    return f"| wins | with |\n|---|---|\n{rows}"


def lights(pictures: Pictures) -> str:
    rules = Lights()
    oracle = LightsOracle(rules)
    sight = rules.sight(rules.initial(), Seat.ONE)
    numbers = [nim_sum(ON * n) for n in range(25)]
    pictures["solved-lights"] = charts.bars(
        "Nim-value of a run of n lights", [str(n) for n in range(25)], numbers
    )
    lost = [n for n in range(1, 201) if nim_sum(ON * n) == 0]
    return f"""\
## lights: Player 1 wins

The lights that are on form runs. A run of n lights has a nim-value; the position's is their nim-sum (the
numbers added in binary without carrying). Whoever can leave a nim-sum of 0 wins: every answer breaks
it, and it can be restored. Seven lights have the nim-value {nim_sum(ON * 7)}, so Player 1 wins.

{opening_table(rules, sight, oracle)}
The simplest way to win: turn off the middle light (4) and then mirror whatever the other does.

![Nim-values of runs](images/solved-lights.svg)

The game is known as Kayles. From 71 lights on the values repeat every 12. Rows on which the first player
loses, up to 200 lights: {", ".join(map(str, lost)) or "none"}.
"""


def leap(pictures: Pictures) -> str:
    rules = QuantumLeap()
    oracle = LeapOracle(rules)
    paths = oracle.paths
    shortest = list(paths.all_shortest(OFF_GRID))
    needed = [paths.needed(cell) for cell in range(1, rules.goal)]
    pictures["solved-leap"] = charts.bars(
        "Leaps that are still needed from each cell", [str(cell) for cell in range(1, rules.goal)], needed
    )
    listed = "\n".join("    " + " - ".join(str(cell) for cell in path) for path in shortest)
    goals = [
        (goal, LeapOracle(QuantumLeap(goal)).paths.needed(OFF_GRID)) for goal in (10, 21, 100, 1000, 10_000)
    ]
    rows = "".join(f"| {goal:,} | {turns} |\n" for goal, turns in goals)
    return f"""\
## leap: Player 1 wins

The tokens never meet, so only the number of turns that each still needs counts: the player to move wins
exactly if it needs no more turns than the other. At the start both need {paths.needed(OFF_GRID)}, so Player 1
wins by not wasting one, whatever the goal is. There are {paths.count(OFF_GRID)} shortest ways to
{rules.goal}, entering included:

{listed}

![Leaps still needed](images/solved-leap.svg)

On the book's grid the longest leap is always on a shortest way. The first goal for which it is not is
{first_goal_with_a_long_way()}.

| goal | turns needed |
|---|---|
{rows}
"""


def first_goal_with_a_long_way() -> int:
    """The smallest goal for which the longest leap from some cell costs a turn."""
    for goal in count(2):
        rules = QuantumLeap(goal)
        needed = LeapOracle(rules).paths.needed
        if any(needed(cell + max(rules.leaps(cell))) + 1 > needed(cell) for cell in range(1, goal)):
            return goal
    raise AssertionError("there is one")


def chain(pictures: Pictures) -> str:
    rules = QuantumChain()
    oracle = ChainOracle(rules)
    declines = oracle.declines()
    rows = []
    for state in declines:
        sight = rules.parse_position(rules.format_state(state))
        values = {judged.action: judged.value for judged in oracle.judge(sight).actions}
        accept, challenge = values[Answer.ACCEPT], values[Answer.CHALLENGE]
        rows.append(f"| `{rules.format_state(state)}` | {accept.fraction} | {challenge.fraction} |\n")
    opening = oracle.value(rules.parse_position("_______ 1"))
    examples = ["__XX_O_ 1", "_XXX_O_ 1", "_XXX_O_ 2", "_XX____ 2"]
    sights = [rules.parse_position(text) for text in examples]
    pictures["solved-chain"] = charts.bars(
        "Chance of the player to move, in percent",
        examples,
        [round(100 * oracle.value(sight).number, 1) for sight in sights],
    )
    sizes = [(5, 3), (6, 3), (7, 3), (8, 4), (5, 2)]
    size_rows = "".join(f"| {cells} | {run} | {_opening_fraction(cells, run)} |\n" for cells, run in sizes)
    return f"""\
## chain: nobody

The opening is worth exactly {opening.fraction}: neither side can get more than an even chance.
All seven first cells are equally good; what decides games are the mistakes after
that. Values are exact fractions; their denominators divide 2·6^7.

![Some positions](images/solved-chain.svg)

### When to decline a challenge

Almost never: a challenge costs nothing and fails the other's observation half of the time. Up to mirroring
and swapping the symbols there are {len(declines)} positions in which declining is better, because the
symbol helps you more where it is than a lost turn would hurt the other. (`?` is the cell in doubt.)

| position | declining wins | challenging wins |
|---|---|---|
{"".join(rows)}
### Other sizes

| cells | in a row | value of the opening |
|---|---|---|
{size_rows}"""


def flip(pictures: Pictures) -> str:
    rules = QuantumTiles()
    oracle = make_flip_oracle(rules)
    board = "/".join(["....."] * 5)
    cases = {
        "both": "11",
        "only Player 1": "10",
        "only Player 2": "01",
        "nobody": "00",
    }
    values = {
        name: oracle.value(rules.parse_position(f"{board} 0,0 {left} 1")) for name, left in cases.items()
    }
    pictures["solved-flip"] = charts.bars(
        "Player 1's chance at the start, in percent, by who has a Quantum Flip",
        list(values),
        [round(100 * value.number, 1) for value in values.values()],
    )
    rows = "".join(f"| {name} | {percent(value)} |\n" for name, value in values.items())
    both, one, two = values["both"].number, values["only Player 1"].number, values["only Player 2"].number
    none = values["nobody"].number
    opening = rules.parse_position(f"{board} 0,0 11 1")
    ideas = {}
    for judged in oracle.judge(opening).actions:
        ideas.setdefault(oracle.idea(opening, judged.action), judged)
    first = "".join(
        f"| `{rules.format(judged.action)}` | {percent(judged.value)} |\n" for judged in ideas.values()
    )
    return f"""\
## flip: {"Player 1" if both > 0.5 else "Player 2"}, by a little

Both players know the same, so the game is one of chance and timing: what is left in the bag, who is how far
from 21, who still has the Quantum Flip. With all tiles face down Player 1 wins {percent(values["both"])}.

| first move (all flips alike, all Quantum Flips alike) | Player 1 wins |
|---|---|
{first}
### What a Quantum Flip is worth

| has a Quantum Flip | Player 1 wins at the start |
|---|---|
{rows}
To Player 1 its own is worth {100 * (one - none):.1f} points when the other has none and
{100 * (both - two):.1f} when the other has one. It is best kept for the end, where choosing between two
tiles can hit 21 or avoid passing it.

![Quantum Flips](images/solved-flip.svg)
"""


def hunt(pictures: Pictures) -> str:
    found = json.loads(STUDY.read_text(encoding="utf-8"))
    seats = {f"Player {seat}": conduct for seat, conduct in found["seats"].items()}
    cells = [str(cell) for cell in range(1, len(seats["Player 1"]["enters"]) + 1)]
    pictures["solved-hunt-enter"] = charts.grouped(
        "Where the strategy enters, in percent",
        cells,
        {name: conduct["enters"] for name, conduct in seats.items()},
    )
    pictures["solved-hunt-look"] = charts.grouped(
        "How many cells away from its last observation a player's next one is, in percent",
        cells[:-1],
        {name: conduct["names_far"] for name, conduct in seats.items()},
    )
    pictures["solved-hunt-length"] = charts.bars(
        "On which turn the game ends, in percent",
        [str(turn) for turn in range(1, len(found["pair"]["lengths"]) + 1)],
        [round(100 * chance, 1) for chance in found["pair"]["lengths"]],
    )
    pictures["solved-hunt-habits"] = charts.bars(
        "What the strategy wins against a habit, both seats together, in percent",
        list(found["habits"]),
        [round(100 * habit["mean"], 1) for habit in found["habits"].values()],
    )
    shown = {
        "How to enter": "![Entering](images/solved-hunt-enter.svg)",
        "Where to look": "![Looking](images/solved-hunt-look.svg)",
        "How long a game lasts": "![Turns](images/solved-hunt-length.svg)",
        "What naive habits cost": "![Habits](images/solved-hunt-habits.svg)",
    }
    chapters = "\n".join(
        f"### {heading}\n\n{text}" + (f"\n{shown[heading]}\n" if heading in shown else "")
        for heading, text in sections(found).items()
    )
    return f"""\
## hunt: not solved, but bounded

Both tokens are hidden, so perfect play is a mixed strategy, and nobody has found it. `duels` ships a strategy
for both seats with a certificate: bounds on what the best possible opponent, with a perfect memory, wins
against it in the real, unlimited game. `duels solve hunt --verify` recomputes the certificate and
`duels solve hunt --study` everything below; both take minutes. A point is 1 % to win.

{chapters}
How the strategy was found and what else was tried is told in [hunt-strategy.md](hunt-strategy.md).
"""


def renew_the_study() -> None:
    """Work the study of hunt out anew if the strategy is not the one that it is about."""
    if STUDY.exists() and json.loads(STUDY.read_text(encoding="utf-8"))["strategy"] == fingerprint():
        return
    if "--check" in sys.argv:
        sys.exit(f"{STUDY.name} is about another strategy: run make solved")
    steps = study()
    while True:
        try:
            print(f"… {next(steps)}", flush=True)
        except StopIteration as end:
            STUDY.write_text(json.dumps(end.value, indent=2) + "\n", encoding="utf-8")
            return


def _opening_fraction(cells: int, run: int) -> str:
    rules = QuantumChain(cells, run)
    return str(ChainOracle(rules).value(rules.parse_position("_" * cells + " 1")).fraction)


CHAPTERS: tuple[Callable[[Pictures], str], ...] = (lights, leap, chain, flip, hunt)


def main() -> None:
    renew_the_study()
    pictures: Pictures = {}
    page = "\n".join([HEAD, *(chapter(pictures) for chapter in CHAPTERS)])
    files = {DOCS / "solved.md": page}
    files |= {DOCS / "images" / f"{name}.svg": picture for name, picture in pictures.items()}
    stale = [
        path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        sys.exit(f"not what the oracles say: {', '.join(path.name for path in stale)}" if stale else 0)
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
