"""Perfect play in lights. The game is Kayles: a row is a sum of runs, each with a nim-value."""

import re
from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import reduce
from operator import xor

from duels.core.rules import Seat, Sight
from duels.core.words import join_and
from duels.games.lights.rules import ON, Lights, State, TurnOff
from duels.solving.check import check_backward_induction, check_sampled_play
from duels.solving.nimbers import TakeAndBreak, compute_nimbers
from duels.solving.oracle import Check, Finding, OpenOracle, Progress, no_progress

# The code of an octal game: taking one or two lights may leave no run, one run or two runs (1 + 2 + 4 = 7).
KAYLES = TakeAndBreak((7, 7))

# Winning Ways, chapter 4: the nim-values of rows of 0 to 71 lights. From there on, twelve values repeat.
PUBLISHED = (
    *(0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4, 1, 2, 7, 1, 4, 3, 2, 1, 4, 6, 7),
    *(4, 1, 2, 8, 5, 4, 7, 2, 1, 8, 6, 7, 4, 1, 2, 3, 1, 4, 7, 2, 1, 8, 2, 7),
    *(4, 1, 2, 8, 1, 4, 7, 2, 1, 4, 2, 7, 4, 1, 2, 8, 1, 4, 7, 2, 1, 8, 6, 7),
)
PUBLISHED_PERIOD = (4, 1, 2, 8, 1, 4, 7, 2, 1, 8, 2, 7)

_WON, _LOST = Fraction(1), Fraction(0)
_MAX_RUNS_LISTED = 5
_MAX_LIGHTS_BRUTE_FORCE = 9
_MAX_RUN_DIRECT = 600
_MAX_RUN_LISTED = 24


class LightsOracle(OpenOracle[TurnOff, State]):
    """Exact values for rows of any length."""

    rules: Lights

    def state_value(self, state: State) -> Fraction:
        return _state_value(get_nim_sum(state.row), state.mover)

    def reason(self, sight: Sight[TurnOff, State]) -> str:
        verdict = self.judge(sight)
        row_now = f"You see {_describe_row(sight.view.row)}"
        if verdict.value.number == 0:
            return f"{row_now}: whatever you turn off, the other player can bring it back to 0."
        best = self.rules.format(verdict.best[0])
        row_after = self.rules.apply(sight.view, verdict.best[0]).state.row
        if ON not in row_after:
            return f"Turning off {best} turns off the last light."
        move = f"{row_now}; turning off {best} leaves {_describe_row(row_after)}"
        if _is_paired(row_after):
            return f"{move}: answer every move by the same move in the equal run."
        return f"{move}, and whatever the other player then turns off, you can bring it back to 0."

    def pointer(self, sight: Sight[TurnOff, State]) -> str:
        verdict = self.judge(sight)
        if verdict.value.number == 0:
            return "Every move loses unless the other player errs, so make the row hard to read."
        rows = [self.rules.apply(sight.view, action).state.row for action in verdict.best]
        if any(ON not in row for row in rows):
            return "Can you turn off all the lights that are left in one move?"
        if any(_is_paired(row) for row in rows):
            return (
                "Look for a move that leaves groups of equal length, in pairs. Then you can answer every "
                "move by the same move in the other group of the pair, and the last light is yours."
            )
        return (
            "Leave groups that balance each other, as two equal groups do. Some unequal groups balance too: "
            "1 and 4 lights, 3 and 6, 2 and 7, or 1, 2 and 3 together."
        )

    def effect(self, sight: Sight[TurnOff, State], action: TurnOff) -> str:
        successor = self.rules.apply(sight.view, action).state
        clause = f"You turned off {self.rules.format(action)}, which left {_describe_row(successor.row)}"
        reply = self.rules.format(self.judge(self.rules.sight(successor, successor.mover)).best[0])
        return f"{clause}: by turning off {reply}, the other player could bring it to 0."

    def mistake_category(self, sight: Sight[TurnOff, State], action: TurnOff) -> str:
        return "turning off one light" if action.count == 1 else "turning off a pair"

    def theme(self, sight: Sight[TurnOff, State], action: TurnOff) -> Hashable:
        """Return the lengths of the runs before and after the action, to group similar positions."""
        row_after = self.rules.apply(sight.view, action).state.row
        return _sort_run_lengths(sight.view.row), _sort_run_lengths(row_after)

    def findings(self, sight: Sight[TurnOff, State]) -> Iterator[Finding]:
        if sight.view != self.rules.initial():
            return
        values = [KAYLES.nimber(n) for n in range(_MAX_RUN_LISTED + 1)]
        period, lost = KAYLES.period, list_lost_rows()
        rows = f"only rows of {join_and([str(n) for n in lost])}" if lost else "no row at all"
        yield Finding(
            "nim_values",
            f"Nim-values of runs of 0 to {_MAX_RUN_LISTED}: {' '.join(map(str, values))}.\n"
            f"From {period.start} on they repeat every {period.length}. The player to move loses {rows}.\n",
            {"runs": values, "repeat_from": period.start, "every": period.length, "lost_rows": lost},
        )

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        direct = compute_nimbers(KAYLES.digits, _MAX_RUN_DIRECT + 1)
        yield Check(
            "nim-values are the published ones of Kayles",
            tuple(direct[: len(PUBLISHED)]) == PUBLISHED
            and all(direct[n] == PUBLISHED_PERIOD[n % 12] for n in range(len(PUBLISHED), len(direct))),
            f"rows of 0 to {_MAX_RUN_DIRECT}",
        )
        yield Check(
            "the proven period agrees with direct computation",
            all(KAYLES.nimber(n) == nimber for n, nimber in enumerate(direct)),
            f"from rows of {KAYLES.period.start} on they repeat every {KAYLES.period.length}",
        )
        small = Lights(min(self.rules.lights, _MAX_LIGHTS_BRUTE_FORCE))
        rows = (f"{n:0{small.lights}b}".translate({48: "X", 49: "O"}) for n in range(2**small.lights))
        starts = [State(row, seat) for row in rows for seat in Seat]
        yield check_backward_induction(small, starts, LightsOracle(small).state_value, progress)
        yield from check_sampled_play(small, LightsOracle(small), starts[3::37], games=200)


def find_runs(row: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each run of lights that are on, counted from 0, end excluded."""
    return [match.span() for match in re.finditer(f"{ON}+", row)]


def get_nim_sum(row: str) -> int:
    """Return the XOR of the runs' nim-values. It is 0 exactly if the player to move loses."""
    return reduce(xor, (KAYLES.nimber(end - start) for start, end in find_runs(row)), 0)


def list_lost_rows() -> list[int]:
    """Return every length of a row of lit lights that the player to move loses."""
    period = KAYLES.period
    repeating = range(period.start, period.start + period.length)
    assert all(KAYLES.nimber(n) for n in repeating), "infinitely many rows would be lost"
    return [n for n in range(1, period.start) if KAYLES.nimber(n) == 0]


def _sort_run_lengths(row: str) -> tuple[int, ...]:
    return tuple(sorted(end - start for start, end in find_runs(row)))


def _is_paired(row: str) -> bool:
    lengths = _sort_run_lengths(row)
    return lengths[::2] == lengths[1::2]


def _state_value(nim_sum: int, mover: Seat) -> Fraction:
    return _LOST if (nim_sum == 0) == (mover is Seat.ONE) else _WON


def _describe_row(row: str) -> str:
    lengths = [end - start for start, end in find_runs(row)]
    if len(lengths) == 1:
        return f"one run of {lengths[0]}, nim-sum {get_nim_sum(row)}"
    if len(lengths) > _MAX_RUNS_LISTED:
        return f"{len(lengths)} runs, nim-sum {get_nim_sum(row)}"
    counts = join_and([str(length) for length in lengths])
    values = join_and([str(KAYLES.nimber(length)) for length in lengths])
    return f"runs of {counts}, worth {values}, nim-sum {get_nim_sum(row)}"


def make_oracle(rules: Lights, progress: Progress = no_progress) -> LightsOracle:
    """Return the oracle. It needs no preparation and reports no progress."""
    return LightsOracle(rules)
