"""Observations open to a challenge: all there can be, and a rule of thumb for answering them."""

from collections.abc import Iterable, Iterator
from itertools import product

from duels.core.rules import Seat
from duels.games.chain.rules import FREE, SYMBOL, Phase, QuantumChain, State


def all_boards(rules: QuantumChain, movers: Iterable[Seat] = Seat) -> Iterator[State]:
    """Every board on which the game goes on, reachable or not."""
    for symbols in product(FREE + "".join(SYMBOL.values()), repeat=rules.cells):
        cells = "".join(symbols)
        if FREE in cells and not rules.chain_of(cells):
            yield from (State(cells, mover) for mover in movers)


def all_challenges(rules: QuantumChain) -> Iterator[State]:
    """Every position in which a challenge is to be decided, up to mirroring and exchange of symbols."""
    met = set()
    for state in all_boards(rules, (Seat.ONE,)):
        for action in rules.actions(state):
            doubted = rules.apply(state, action).state
            if doubted.phase is Phase.CHALLENGE:
                mirrored = (doubted.cells[::-1], rules.cells + 1 - doubted.doubt)
                if mirrored not in met:
                    met.add((doubted.cells, doubted.doubt))
                    yield doubted


def accepting_may_be_right(rules: QuantumChain, doubted: State) -> bool:
    """Whether a free cell beside the symbol in doubt belongs to a chain that who answers can still make.

    The rule of thumb: where it is not so, a challenge is no mistake; where it is so, it seldom is one. Proven
    for boards of up to 8 cells by asking the oracle about every position.
    """
    observer = SYMBOL[doubted.mover]
    cells = doubted.cells[: doubted.doubt - 1] + observer + doubted.cells[doubted.doubt :]
    beside = [n - 1 for n in (doubted.doubt - 1, doubted.doubt + 1) if 1 <= n <= rules.cells]
    return any(
        cells[n] == FREE and start <= n < start + rules.run
        for start in range(rules.cells - rules.run + 1)
        if observer not in cells[start : start + rules.run]
        for n in beside
    )
