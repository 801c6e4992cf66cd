"""How much the strategy for hunt can give away at most, recomputed from its tables; needs numpy and numba."""

from collections.abc import Iterator
from dataclasses import dataclass

from duels.core.rules import Seat
from duels.games.hunt.certify.pomdp import Effort, Step, bounds
from duels.games.hunt.certify.responder_problem import folded, problem_against
from duels.games.hunt.strategy import Strategy, read_claim
from duels.solving.bounds import Bounds
from duels.solving.progress import Progress, quiet

EFFORT = Effort(sweeps=7, trials=25_000, depth=8)


@dataclass(frozen=True)
class Certificate:
    """What a best responder with full memory wins against each seat's strategy."""

    against: dict[Seat, Bounds]

    @property
    def nash_conv(self) -> Bounds:
        """The sum of what both best responders gain over the value of the game."""
        pair = self.against.values()
        return Bounds(max(0.0, sum(b.low for b in pair) - 1), sum(b.high for b in pair) - 1)

    @property
    def value(self) -> Bounds:
        """Player 1's chance of winning when both play perfectly."""
        return Bounds(1 - self.against[Seat.ONE].high, self.against[Seat.TWO].high)


def claimed() -> Certificate:
    """The certificate that is shipped with the strategy; `HuntOracle.verify` recomputes it."""
    stored = read_claim()
    return Certificate({seat: Bounds(*stored[str(seat.value)]) for seat in Seat})


def certify(strategy: Strategy, effort: Effort = EFFORT) -> Iterator[tuple[Seat, Step]]:
    """Bound the best response to each seat's strategy, step by step; the last step of each seat counts."""
    for seat in Seat:
        for step in bounds(folded(problem_against(strategy[seat], seat)), effort):
            yield seat, step


def certificate(strategy: Strategy, progress: Progress = quiet) -> Certificate:
    """The certificate after all the effort; takes minutes."""
    found: dict[Seat, Bounds] = {}
    for seat, step in certify(strategy):
        found[seat] = step.bounds
        progress(f"best responder against {seat.label}: {step.bounds.in_words()}")
    return Certificate(found)
