"""The chapters of docs/solved.md on the solved games, with checks of their statements."""

import sys
from itertools import count
from typing import Any

import charts
from sample import GOAL, PLAYERS, summed_up

from duels.analysis.wording import format_bounded, format_percent
from duels.core.rules import AnyRules, AnySight, Seat
from duels.games.chain.oracle import ChainOracle, iter_boards, iter_challenges
from duels.games.chain.reasons import can_accepting_be_right
from duels.games.chain.rules import (
    FREE,
    SYMBOL,
    Action,
    Answer,
    Observe,
    Phase,
    QuantumChain,
    State,
)
from duels.games.flip.oracle import find_endings
from duels.games.flip.oracle import make_oracle as make_flip_oracle
from duels.games.flip.rules import UNKNOWN, QuantumTiles
from duels.games.leap.oracle import LeapOracle
from duels.games.leap.rules import OFF_GRID, QuantumLeap
from duels.games.lights.oracle import LightsOracle, get_nim_sum
from duels.games.lights.rules import ON, Lights, TurnOff
from duels.solving.graph import HALF, explore
from duels.solving.oracle import Oracle, Value

Pictures = dict[str, str]


def holds(fact: bool, statement: str) -> None:
    """Stop the build if a statement of the page is wrong."""
    if not fact:
        sys.exit(f"This statement of the page is wrong: {statement}")


def apart(more: Value, less: Value) -> str:
    """The difference of two values in points, with its error bound."""
    number, bound = format_bounded(more.number - less.number, more.error + less.error, 3)
    return f"{number} ± {bound}"


def findings(rules: AnyRules, oracle: Oracle[Any, Any]) -> dict[str, Any]:
    """The findings that `duels solve` prints about the opening, by name."""
    return {found.name: found.data for found in oracle.findings(rules.sight(rules.initial(), Seat.ONE))}


def opening_table(rules: AnyRules, sight: AnySight, oracle: Oracle[Any, Any]) -> str:
    """A table of the actions by value, with actions of equal value in one row."""
    verdict = oracle.judge(sight)
    groups: dict[str, list[str]] = {}
    for judged in sorted(verdict.actions, key=lambda judged: -judged.value.number):
        groups.setdefault(format_percent(judged.value), []).append(f"`{rules.format(judged.action)}`")
    rows = "".join(f"| {value} | {' '.join(names)} |\n" for value, names in groups.items())
    return f"| Player 1 wins | after |\n|---|---|\n{rows}"


def lights(pictures: Pictures) -> str:
    rules = Lights()
    oracle = LightsOracle(rules)
    sight = rules.sight(rules.initial(), Seat.ONE)
    facts = findings(rules, oracle)["nim_values"]
    pictures["solved-lights"] = charts.bars(
        "Nim-value of a run of n lights", [str(n) for n in range(len(facts["runs"]))], facts["runs"]
    )
    middle = TurnOff((rules.lights + 1) // 2, 1)
    left, right = rules.apply(sight.view, middle).state.row.split("X")
    holds(left == right and middle in oracle.judge(sight).best, "the middle light wins, by mirroring")
    lost = f"full rows of {', '.join(map(str, facts['lost_rows']))}" if facts["lost_rows"] else "no full row"
    return f"""\
## lights: Player 1 wins

Lights that are on and next to each other form a run. The length of a run determines its nim-value.
The nim-sum of
a position adds the nim-values of its runs in binary, without carrying. If you leave a nim-sum of 0, you win:
every reply changes the sum, and you can restore it to 0. A run of {rules.lights} has nim-value
{get_nim_sum(ON * rules.lights)}, so Player 1 wins.

{opening_table(rules, sight, oracle)}
To win, turn off the middle light ({rules.format(middle)}) and mirror your opponent's moves.

![Nim-values of runs](images/solved-lights.svg)

Mathematicians call the game Kayles. From {facts["repeat_from"]} lights upwards, the nim-values
repeat with period
{facts["every"]}. Player 1 loses {lost}.

`duels solve lights` prints these values. Add `--lights 12` for another length.
"""


def leap(pictures: Pictures) -> str:
    rules = QuantumLeap()
    oracle = LeapOracle(rules)
    paths = oracle.paths
    facts = findings(rules, oracle)
    shortest, clauses = facts["shortest_paths"], facts["clauses"]
    listed = "\n".join(
        "    " + "-".join(str(cell) for cell in path if cell != OFF_GRID) for path in shortest["paths"]
    )
    holds(len(shortest["paths"]) == shortest["count"], "all shortest paths are listed")
    needed = [paths.count_turns(cell) for cell in range(1, rules.goal)]
    pictures["solved-leap"] = charts.bars(
        "Leaps needed from each cell", [str(cell) for cell in range(1, rules.goal)], needed
    )
    holds(all(1 in rules.leaps(cell) for cell in range(1, rules.goal)), "a leap of 1 is always possible")
    never = " and ".join(f"'{clause}'" for clause in clauses["never_matter"])
    cost = clauses["exact_landing_costs"]
    holds(not facts["longest_leaps"]["costs_a_turn_from"], "the longest leap is on a shortest path")
    long_way = first_goal_with_a_long_way()
    others = ", ".join(
        f"{goal:,} needs {LeapOracle(QuantumLeap(goal)).paths.count_turns(OFF_GRID)} turns"
        for goal in (10, 100, 1000, 10_000)
    )
    return f"""\
## leap: Player 1 wins

The tokens do not affect each other, so only the number of turns that each player still needs matters. The
player to move wins if they need no more turns than the opponent. At the start both need {shortest["turns"]}.
Player 1 therefore wins by wasting no turn, whatever the goal. There are {shortest["count"]} shortest paths to
{rules.goal}:

{listed}

![Leaps still needed](images/solved-leap.svg)

Having to land exactly on {rules.goal} costs {cost} turn{"s" * (cost != 1)}; otherwise, doubling would
be enough.
The clauses {never} never apply, because a leap of 1 is always possible.

On the book's grid, the longest leap from every cell is part of a shortest path. The smallest goal for which
this fails is {long_way}. Other goals take longer or shorter: {others}.

`duels solve leap` prints these values. Add `--position "5 - 1"` for another position, or `--goal {long_way}`
for another goal.
"""


def first_goal_with_a_long_way() -> int:
    """The smallest goal for which the longest leap from some cell costs a turn."""
    return next(goal for goal in count(2) if LeapOracle(QuantumLeap(goal)).list_costly_longest_leaps())


def chain(pictures: Pictures) -> str:
    rules = QuantumChain()
    oracle = ChainOracle(rules)
    opening = oracle.judge(rules.sight(rules.initial(), Seat.ONE))
    holds(len(opening.best) == len(opening.actions) == rules.cells, "all first cells are equally good")
    examples = ["__XX_O_ 1", "_XXX_O_ 1", "_XXX_O_ 2", "_XX____ 2"]
    sights = [rules.parse_position(text) for text in examples]
    pictures["solved-chain"] = charts.bars(
        "Chance of the player to move, in percent",
        examples,
        [round(100 * oracle.value(sight).number, 1) for sight in sights],
    )
    sizes = [(5, 3), (6, 3), (7, 3), (8, 4), (5, 2)]
    others = ", ".join(f"{_opening_fraction(cells, run)} for {run} on {cells}" for cells, run in sizes)
    return f"""\
## chain: even

The value of the opening is exactly {opening.value.fraction}: neither side can get more than an
even chance. All
{rules.cells} first cells are equally good, and so are all replies.

{_why_even(rules, oracle)}
![Some positions](images/solved-chain.svg)

### When to accept instead of challenging

{_when_to_accept(rules, oracle)}
The value of the opening for other chains and numbers of cells is {others}.

`duels solve chain` prints these values. Add `--position "{examples[0]}"` for another position, or
`--cells 5 --run 3` for another size.
"""


def _why_even(rules: QuantumChain, oracle: ChainOracle) -> str:
    """Why neither side can get more than an even chance; each claim is checked on every board."""
    chains = (range(first, first + rules.run) for first in range(rules.cells - rules.run + 1))
    (middle,) = set(range(rules.cells)).intersection(*chains)
    boards = list(iter_boards(rules))
    held = [state for state in boards if state.cells[middle] == SYMBOL[Seat.ONE]]
    holds(all(oracle.state_value(state) >= HALF for state in held), "the middle is never below even")
    begun = [state for state in boards if rules.cells - state.cells.count(FREE) <= 1]
    mistakes = (set(oracle.action_values(state, rules.actions(state))) != {HALF} for state in begun)
    holds(not any(mistakes), "no first cell is a mistake, and no answer to it")
    holds(_second_can_block(rules, middle + 1), "two symbols that cannot be challenged stop every chain")
    return f"""\
Every chain of {rules.run} includes the middle cell, {middle + 1}. The player who holds it cannot lose that
board and never has less than an even chance. A player's first symbol on a board cannot be challenged. So
Player 1 can secure {HALF} at once, and Player 2 can too. If Player 1 leaves the middle free, Player 2 takes
it. Otherwise Player 2 observes {middle}, and then a cell on the other side of the middle that is not beside
another O. Neither can be challenged, and together they block every chain.
"""


def _second_can_block(rules: QuantumChain, middle: int) -> bool:
    """Whether the cell before the middle and one after it, both unchallengeable, block all chains of X."""

    def settled(state: State, action: Action) -> State:
        after = rules.apply(state, action).state
        return rules.apply(after, Answer.ACCEPT).state if after.phase is Phase.CHALLENGE else after

    def stops(state: State, cell: int) -> bool:
        if state.cells[cell - 1] != FREE or rules.own_neighbours(state.cells, cell, Seat.TWO):
            return False
        cells = settled(state, Observe(cell)).cells
        stretches = (cells[first : first + rules.run] for first in range(rules.cells - rules.run + 1))
        return all(SYMBOL[Seat.TWO] in stretch for stretch in stretches)

    begun = settled(settled(rules.initial(), Observe(middle)), Observe(middle - 1))
    return not rules.own_neighbours(begun.cells, middle - 1, Seat.TWO) and all(
        any(stops(settled(begun, action), cell) for cell in range(middle + 1, rules.cells + 1))
        for action in rules.actions(begun)
    )


def _when_to_accept(rules: QuantumChain, oracle: ChainOracle) -> str:
    doubts, right = list(iter_challenges(rules)), oracle.list_accepts()
    reached = _reached_challenges(rules)
    counts = [sum(_kind(rules, state) in reached for state in states) for states in (doubts, right)]
    holds(counts[0] == len(reached) and counts[1] == len(right), "play reaches all exceptions")
    excepted = [doubted for doubted in doubts if can_accepting_be_right(rules, doubted)]
    reached_excepted = sum(_kind(rules, state) in reached for state in excepted)
    holds(set(right) <= set(excepted), "where the rule says to challenge, challenging is no mistake")
    holds(all(_blocks_itself(rules, doubted) for doubted in right), "why accepting can be right")
    rows = []
    for state in right:
        challenge, accept = oracle.judge(rules.sight(state, state.mover.other)).actions
        chances = (f"{judged.value.number:.1%}" for judged in (accept, challenge))
        rows.append(f"| `{rules.format_state(state)}` | {' | '.join(chances)} |\n")
    return f"""\
Almost never. Either way it is your turn next, so accepting is better only if your opponent's new
symbol helps you. Up to mirroring and swapping symbols, play reaches {len(reached):,} positions in
which you can challenge.
Accepting is better in {len(right)} of them: there, a free cell that you need lies beside the new
symbol, so you can challenge your opponent if they take it. Without the symbol you could not.

**Challenge, unless a free cell beside the challenged symbol belongs to a chain of {rules.run} that you can
still make.**

Where the rule says to challenge, challenging is never a mistake. Its exception covers {reached_excepted}
positions, and accepting is better in {len(right)} of those. (`duels solve chain` also counts
boards that play cannot reach:
{len(doubts):,} positions, {len(excepted)} of them covered by the exception.)

| position | accepting wins | challenging wins |
|---|---|---|
{"".join(rows)}"""


def _kind(rules: QuantumChain, state: State) -> tuple[str, int]:
    """The challenged board seen by its observer as X, the same for a board and its mirror image."""
    observer = SYMBOL[state.mover]
    own = "".join(cell if cell == FREE else "XO"[cell != observer] for cell in state.cells)
    return min((own, state.doubtful_cell), (own[::-1], rules.cells + 1 - state.doubtful_cell))


def _reached_challenges(rules: QuantumChain) -> set[tuple[str, int]]:
    """The positions with a challenge that play reaches, up to symmetry."""
    return {_kind(rules, state) for state in explore(rules).states if state.phase is Phase.CHALLENGE}


def _blocks_itself(rules: QuantumChain, doubted: State) -> bool:
    """Whether the challenged symbol makes a free cell beside it challengeable."""
    beside = (
        cell for cell in (doubted.doubtful_cell - 1, doubted.doubtful_cell + 1) if 1 <= cell <= rules.cells
    )
    return any(
        doubted.cells[cell - 1] == FREE and not rules.own_neighbours(doubted.cells, cell, doubted.mover)
        for cell in beside
    )


def flip(pictures: Pictures) -> str:
    rules = QuantumTiles()
    oracle = make_flip_oracle(rules)
    start = f"{'/'.join([UNKNOWN * rules.side] * rules.side)} 0,0"
    cases = {"both": "11", "only Player 1": "10", "only Player 2": "01", "nobody": "00"}
    sights = {name: rules.parse_position(f"{start} {left} 1") for name, left in cases.items()}
    values = {name: oracle.value(sight) for name, sight in sights.items()}
    pictures["solved-flip"] = charts.bars(
        "Player 1's chance at the start, in percent, by who has a Quantum Flip",
        list(values),
        [round(100 * value.number, 2) for value in values.values()],
    )
    rows = "".join(
        f"| {name} | {format_percent(value)} | `{cases[name]}` |\n" for name, value in values.items()
    )
    both, one, two, none = values.values()
    ideas = {}
    for judged in oracle.judge(sights["both"]).actions:
        ideas.setdefault(oracle.action_class(sights["both"], judged.action), judged)
    first = "".join(
        f"| `{rules.format(judged.action)}` | {format_percent(judged.value)} |\n" for judged in ideas.values()
    )
    ends = find_endings(rules, sights["nobody"].view)
    assert ends
    (mine, theirs), target = (ends[seat] for seat in Seat), rules.target
    holds(mine.hits > theirs.hits and mine.passes - theirs.passes > mine.hits - theirs.hits, "who is first")
    even = Value.from_fraction(HALF)
    holds(both.low > even.number > none.high, "both Quantum Flips make Player 1 the better side")
    holds(one.low - none.high > none.high - two.low, "a Quantum Flip is worth more to Player 1")
    return f"""\
## flip: Player 1, by a little

Both players know the same tiles, so chance and timing decide the game. With all tiles face down,
Player 1 wins {format_percent(both)}.

| first move (all single flips are equal, and so are all Quantum Flips) | Player 1 wins |
|---|---|
{first}
`duels solve flip` prints these values.

### What a Quantum Flip is worth

| has a Quantum Flip at the start | Player 1 wins | code |
|---|---|---|
{rows}
Player 1's own Quantum Flip is worth {apart(one, none)} points if Player 2 has none, and {apart(both, two)}
points otherwise. Player 2's costs Player 1 {apart(none, two)} points if Player 1 has none, and
{apart(one, both)} points otherwise.

![Quantum Flips](images/solved-flip.svg)

The Quantum Flips make the game nearly even. Without them there is nothing to decide, and Player 1 gets close
to {target} first. Player 1 hits it in {mine.hits:.1%} of the games and Player 2 in {theirs.hits:.1%}. But
Player 1 exceeds it in {mine.passes:.1%} and Player 2 in only {theirs.passes:.1%}. So Player 1 wins
{format_percent(none)},
{apart(even, none)} points below even. The player who is in danger first gains more from a choice between two
tiles, so both Quantum Flips together add {apart(both, none)} points for Player 1.

`duels solve flip --position "{start} 00 1"` prints the last row. Use the other codes for the other rows.

### How certain this is, and when to use the Quantum Flip

{_good_play(rules)}"""


def _good_play(rules: QuantumTiles) -> str:
    """The results of matches between good players."""
    shown = summed_up()
    perfect, expert, flips = (shown[key] for key in (*PLAYERS, "quantum_flips"))
    holds(perfect["wide"] == 0, "every value that perfect play reaches is proven within a tenth of a point")
    most = f"all but {expert['wide']} of" if expert["wide"] else "all"
    return f"""\
Our goal is a proven error below {100 * GOAL:g} points in every position that good play reaches. In
{perfect["matches"]} matches between perfect players, all {perfect["decisions"]:,} decisions met this goal;
the largest error bound was {perfect["widest"]}. In {expert["matches"]} matches between experts, {most}
{expert["decisions"]:,} met it; the largest was {expert["widest"]}.

Perfect players used {flips["used"]} of their {2 * perfect["matches"]} Quantum Flips. Of
these, {flips["used_when_close"]} came at {flips["close"]} points or more, where one tile can reach
{rules.target}.
`python docs/solved/sample.py` prints this summary.
"""


def _opening_fraction(cells: int, run: int) -> str:
    rules = QuantumChain(cells, run)
    return str(ChainOracle(rules).value(rules.parse_position("_" * cells + " 1")).fraction)
