"""What the shipped strategy of hunt does and what it is worth, in numbers; needs numpy and numba.

Takes minutes. The result is plain data: docs/solved keeps a copy with the fingerprint of the strategy.
"""

import hashlib
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duels.core.rules import Seat
from duels.games.hunt import habits
from duels.games.hunt.agents import responder_bounds
from duels.games.hunt.certificate import EFFORT, claimed, problem_against
from duels.games.hunt.oracle import HuntOracle
from duels.games.hunt.report import report as report
from duels.games.hunt.rules import QuantumHunt
from duels.games.hunt.strategy import CELLS, CLAIM, DATA, OFF, Strategy, shipped
from duels.solving.pomdp import Bounds, HiddenStrategy, bounds
from duels.solving.simulation import simulate

if TYPE_CHECKING:
    from duels.solving.pairs import Habit, Meeting, Turn

Study = dict[str, Any]
LONG = 10
"""A game of more turns than this is called long."""
SHOWN_TURNS = 20
GAMES = 5000


def fingerprint() -> str:
    """Which tables, and which certificate of them, a study is about."""
    return hashlib.sha256(DATA.read_bytes() + CLAIM.read_bytes()).hexdigest()


def study() -> Generator[str, None, Study]:
    """Everything, told step by step; the generator returns the numbers."""
    strategy = shipped()
    claim = claimed()
    found: Study = {
        "strategy": fingerprint(),
        "certificate": {str(seat.value): _pair(bound) for seat, bound in claim.against.items()},
        "gives_away": _pair(claim.nash_conv),
        "value": _pair(claim.value),
        "long": LONG,
    }
    yield "both seats of the strategy against each other, by exact sums"
    sides = {seat: habits.of_strategy(tables) for seat, tables in strategy.items()}
    found |= played_out(sides)
    yield f"the same by {GAMES} matches"
    rules = QuantumHunt()
    simulated = simulate(rules, dict.fromkeys(Seat, HuntOracle(rules, strategy).weights), GAMES, "hunt")
    found["simulated"] = {
        "games": GAMES,
        "won": [simulated.won.mean, simulated.won.error],
        "turns": [simulated.entries.mean / 2, simulated.entries.error / 2],
    }
    found["habits"] = yield from _against_habits(sides)
    found["tunnel"] = yield from _worth_of_the_tunnel(strategy)
    return found


def played_out(sides: "dict[Seat, Habit]") -> Study:
    """What happens, and what both seats do, when they play each other."""
    from duels.solving.pairs import meet

    meeting = meet(sides[Seat.ONE], sides[Seat.TWO])
    conduct = {str(seat.value): _conduct(meeting, seat) for seat in Seat}
    return {"pair": _course(meeting), "seats": conduct}


def _pair(bound: Bounds) -> list[float]:
    return [bound.low, bound.high]


def _course(meeting: "Meeting") -> Study:
    """Who wins, how, and when."""
    lengths = meeting.lengths
    return {
        "won": meeting.won,
        "left": meeting.left,
        "turns": meeting.turns_on_average,
        "long": 1 - sum(lengths[:LONG]),
        "collisions": sum(turn.collided for turn in meeting.turns),
        "lengths": list(lengths[:SHOWN_TURNS]),
    }


def _conduct(meeting: "Meeting", seat: Seat) -> Study:
    """How one seat enters, moves and looks, over the whole game; chances of turns that are played."""
    turns = [turn for turn in meeting.turns if turn.seat is seat]
    moved, named = _total(turns, "moved"), _total(turns, "named")
    on_grid = moved[:OFF, :OFF]
    return {
        "enters": moved[OFF, :OFF].tolist(),
        "enters_where_named": _diagonal(turns[:1], "answered"),
        "stays": float(on_grid.trace() / on_grid.sum()),
        "stands_where_named": _diagonal(turns, "answered"),
        "names": _shares(named.sum(axis=0)),
        "names_far": _by_distance(named),
        "names_where_named": _diagonal(turns, "echoed"),
    }


def _total(turns: "list[Turn]", field: str) -> Any:
    return sum(getattr(turn, field) for turn in turns)


def _diagonal(turns: "list[Turn]", field: str) -> float | None:
    """How often a seat answers a naming with the same cell; None before anybody has named one."""
    table = _total(turns, field)[:CELLS]
    return float(table.trace() / table.sum()) if table.any() else None


def _by_distance(named: Any) -> list[float]:
    """How far from its last naming the next one is, from 1 cell up."""
    far = [0.0] * CELLS
    for last in range(CELLS):
        for cell in range(CELLS):
            far[abs(last - cell)] += float(named[last, cell])
    return _shares(far[1:])


def _shares(values: Any) -> list[float]:
    total = float(sum(values))
    return [float(value) / total for value in values]


def _against_habits(sides: "dict[Seat, Habit]") -> Generator[str, None, Study]:
    """What the strategy wins of each habit, exactly; what a best responder would, in bounds."""
    from duels.solving.pairs import meet

    found: Study = {}
    for name, weigh in habits.HABITS.items():
        yield f"against the habit '{name}'"
        tables = {seat: habits.of_weights(weigh, seat) for seat in Seat}
        as_one = meet(sides[Seat.ONE], tables[Seat.TWO])
        as_two = meet(tables[Seat.ONE], sides[Seat.TWO])
        won = [as_one.won, 1 - as_two.won]
        yield f"a best responder to the habit '{name}'"
        both = [responder_bounds(habit, seat) for seat, habit in tables.items()]
        responder = [sum(b.low for b in both) / 2, sum(b.high for b in both) / 2]
        found[name] = {"won": won, "mean": sum(won) / 2, "responder": responder}
    return found


def _worth_of_the_tunnel(strategy: Strategy) -> Generator[str, None, Study]:
    """What a best responder wins of each seat's strategy if it must not tunnel."""
    found: Study = {}
    for seat, tables in strategy.items():
        for progress in bounds(without_tunnel(problem_against(tables, seat)), EFFORT):
            yield f"a responder without a tunnel against {seat.label}, {progress.stage}"
        found[str(seat.value)] = _pair(progress.bounds)
    return found


def without_tunnel(problem: HiddenStrategy, cells: int = CELLS) -> HiddenStrategy:
    """The same problem for a responder whose tunnel is spent as it enters."""
    import numpy as np

    nodes = np.repeat(np.arange(len(problem.first_option) - 1), np.diff(problem.first_option))
    types = 2 * cells + 1  # see `type_after`: the last is off the grid, and enters with its tunnel left
    enters = nodes % types == types - 1
    return replace(problem, goes=problem.goes - cells * enters)
