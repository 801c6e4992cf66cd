"""Perfect play in chain, from the exact value of every board."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from random import Random

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE, Seat, Sight
from duels.games.chain.boards import Boards, solve_start
from duels.games.chain.reasons import (
    can_accepting_be_right,
    choose_clearest_cell,
    describe_accepted_symbol,
    describe_ignored_threat,
    describe_purpose,
    explain_even_chance,
    list_completing_cells,
    list_possible_chains,
)
from duels.games.chain.rules import FREE, SYMBOL, Action, Answer, Coin, Observe, Phase, QuantumChain, State
from duels.solving.check import Brackets, check_equations, check_sampled_play, format_options
from duels.solving.graph import HALF, Graph, explore
from duels.solving.oracle import Check, Finding, OpenOracle, Progress, Value, Verdict, no_progress

_MAX_BOARDS_CHECKED = 7000
_MAX_CELLS_LISTED = 8
_MAX_CELLS = 13  # each additional cell takes three times the time and memory
_BRACKET_WIDTH = 1e-9


class ChainOracle(OpenOracle[Action, State]):
    """Exact values for any number of cells and length of chain. The table has 3 ** cells entries."""

    rules: QuantumChain

    def __init__(self, rules: QuantumChain) -> None:
        super().__init__(rules)
        self.boards = Boards(rules.cells, rules.run)
        self.solve_table = cache(self._make_table)
        self._limited_values = [Fraction(0)]  # the value with 0 boards left, with 1, ...

    def state_value(self, state: State) -> Fraction:
        outcome = self.rules.outcome(state)
        if outcome:
            return outcome.score(Seat.ONE)
        if state.phase is not Phase.OBSERVE:
            return self.back_up(state)
        mover_wins = (1 + self._get_observer_value(state)) / 2
        return mover_wins if state.mover is Seat.ONE else 1 - mover_wins

    def list_accepts(self) -> tuple[State, ...]:
        """Return the positions, up to symmetry, in which challenging is a mistake."""
        return tuple(
            doubtful for doubtful in iter_challenges(self.rules) if self._challenge_is_mistake(doubtful)
        )

    def _challenge_is_mistake(self, doubtful: State) -> bool:
        challenged, accepted = self.action_values(doubtful, tuple(Answer))
        return challenged != accepted and (challenged > accepted) == (doubtful.mover is Seat.ONE)

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        if sight.view != self.rules.initial():
            return
        if not self._can_list_all:
            text = (
                f"Positions where accepting is right are listed for up to {_MAX_CELLS_LISTED} cells only.\n"
            )
            yield Finding("accepts", text, None)
            return
        rows = []
        for state in self.list_accepts():
            challenge, accept = self.judge(self.rules.sight(state, state.mover.other)).actions
            rows.append((self.rules.format_state(state), accept.value, challenge.value))
        yield Finding(
            "accepts",
            self._describe_accepts(rows),
            [
                {"position": position, "accept": _encode_value(accept), "challenge": _encode_value(challenge)}
                for position, accept, challenge in rows
            ],
        )

    @property
    def _can_list_all(self) -> bool:
        return self.rules.cells <= _MAX_CELLS_LISTED

    def _describe_accepts(self, rows: list[tuple[str, Value, Value]]) -> str:
        if not rows:
            return "Challenging is never a mistake on this board.\n"
        doubts = list(iter_challenges(self.rules))
        excepted = sum(can_accepting_be_right(self.rules, doubtful) for doubtful in doubts)
        width = self.rules.cells + 2
        lines = [f"  {'':{width}}  accepting       challenging"]
        lines += (
            f"  {position:{width}}  {_format_value(a):14}  {_format_value(b)}".rstrip()
            for position, a, b in rows
        )
        return (
            f"Accepting an observation is better than challenging it in {len(rows)} "
            f"position{'s' * (len(rows) != 1)}, up to mirroring and\nexchange of symbols. Chances to win:\n"
            + "\n".join(lines)
            + f"\n{self._rule_of_thumb}.\nThat excepts {excepted:,} of all {len(doubts):,} positions. "
            f"Accepting is better in {len(rows)} of them, and nowhere else.\n"
        )

    @property
    def _rule_of_thumb(self) -> str:
        return (
            "Rule of thumb: challenge, unless a free cell beside the symbol in doubt belongs to a chain of "
            f"{self.rules.run} that you can still make"
        )

    def reason(self, sight: Sight[Action, State]) -> str:
        state = sight.view
        verdict = self.judge(sight)
        if state.phase is Phase.CHALLENGE:
            return self._explain_answer(state, sight.seat, verdict)
        if verdict.is_indifferent and verdict.value.fraction == HALF:
            return explain_even_chance(self.rules, state.cells)
        cells = [action.cell for action in verdict.best if isinstance(action, Observe)]
        cell = choose_clearest_cell(self.rules, state.cells, cells, sight.seat)
        successor = self.rules.apply(state, Observe(cell)).state
        purpose = describe_purpose(self.rules, state.cells, cell, sight.seat)
        leaves = f"leaves you {verdict.value.number:.1%}"
        if successor.phase is not Phase.CHALLENGE:
            return f"Cell {cell} {f'{purpose}, and it ' if purpose else ''}cannot be challenged: it {leaves}."
        heads, tails = self._get_coin_values(successor, sight.seat)
        clause = f"{purpose}: it {leaves}" if purpose else leaves
        return f"Cell {cell} {clause}; if it is challenged, {heads:.1%} on heads and {tails:.1%} on tails."

    def pointer(self, sight: Sight[Action, State]) -> str:
        state, seat = sight.view, sight.seat
        if state.phase is Phase.CHALLENGE:
            threat = describe_accepted_symbol(self.rules, state)
            return (
                f"{threat or 'What does the symbol in doubt do if it stands? '}If you challenge, it is gone "
                "on tails. Also look at the cells beside it: do you need them yourself?"
            )
        if list_completing_cells(self.rules, state.cells, seat):
            return f"Look for a cell that completes your chain of {self.rules.run}."
        if list_completing_cells(self.rules, state.cells, seat.other):
            return "The other player needs one more cell for a chain. Which one?"
        if not any(list_possible_chains(self.rules, state.cells, each) for each in Seat):
            return "Nobody can make a chain on this board any more, so every cell is as good as another."
        return (
            "Where is there still room for a chain of yours, and where for the other player's? A symbol "
            "beside your own builds faster, but it can be challenged."
        )

    def _explain_answer(self, doubtful: State, seat: Seat, verdict: Verdict[Action]) -> str:
        challenge, accept = (judged.value.number for judged in verdict.actions)
        heads, tails = self._get_coin_values(doubtful, seat)
        if heads == tails == accept:
            return (
                "Against perfect play, nothing is at stake here: with the symbol or without it, "
                f"you have {accept:.1%}."
            )
        return (
            f"{describe_accepted_symbol(self.rules, doubtful)}A challenge leaves you {tails:.1%} on tails "
            f"and {heads:.1%} on heads, {challenge:.1%} on average; accepting leaves you {accept:.1%}."
            f"{self._apply_rule_of_thumb(doubtful, accept >= challenge)}"
        )

    def describe_outcome(self, outcome: Action) -> str:
        return f"the coin showed {self.rules.format(outcome)}"

    def _apply_rule_of_thumb(self, doubtful: State, accept: bool) -> str:
        if not self._can_list_all:
            return ""
        verdict = "none does"
        if can_accepting_be_right(self.rules, doubtful):
            verdict = "one does" if accept else "one does, but challenging is better all the same"
        return f" {self._rule_of_thumb}; here {verdict}."

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        successor = self.rules.apply(sight.view, action).state
        chance = self.value(self.rules.sight(successor, sight.seat)).number
        if isinstance(action, Answer):
            return f"You answered {self.rules.format(action)}, which left you {chance:.1%}."
        assert isinstance(action, Observe)
        threat = describe_ignored_threat(self.rules, sight.view.cells, action.cell, sight.seat)
        sentence = (
            f"You observed cell {action.cell}, {f'{threat}, ' if threat else ''}which left you {chance:.1%}"
        )
        if successor.phase is not Phase.CHALLENGE:
            return f"{sentence}; it could not be challenged."
        heads, tails = self._get_coin_values(successor, sight.seat)
        return f"{sentence}: if challenged, {heads:.1%} on heads and {tails:.1%} on tails."

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, Answer):
            return "challenging" if action is Answer.CHALLENGE else "letting an observation stand"
        is_doubtful = self.rules.apply(sight.view, action).state.phase is Phase.CHALLENGE
        return f"observing {'beside your own symbol' if is_doubtful else 'away from your own symbols'}"

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        rules = shrink_to_checkable(self.rules)
        oracle = self
        if rules != self.rules:
            yield self._check_sampled_states()
            oracle = ChainOracle(rules)
        yield from oracle.check_all_states(explore(rules, [rules.initial(), *iter_boards(rules)], progress))
        starts = [state for state in iter_boards(rules) if oracle.state_value(state) not in (0, HALF, 1)]
        yield from check_sampled_play(rules, oracle, starts or [rules.initial()], games=200)

    def check_all_states(self, graph: Graph[State]) -> Iterator[Check]:
        """Check the values of all states of a graph by two independent methods."""
        scope = f"{format_options(self.rules)}, {len(graph):,} states"
        values = [self.state_value(state) for state in graph.states]
        yield from check_equations(self.rules, graph, values, scope)
        empty = [node for node, state in enumerate(graph.states) if FREE * self.rules.cells == state.cells]
        bounds = Brackets(graph, {node: values[node] for node in empty})
        sweeps = bounds.narrow_to(_BRACKET_WIDTH)
        yield Check(
            "value iteration on each board gives lower and upper bounds that converge to every value",
            all(
                low - _BRACKET_WIDTH <= float(value) <= high + _BRACKET_WIDTH
                for low, value, high in zip(bounds.low, values, bounds.high, strict=True)
            ),
            f"{scope}, {_BRACKET_WIDTH:.0e} wide after {sweeps} sweeps",
        )

    def _check_sampled_states(self) -> Check:
        """Check the Bellman equations in states from random play. Used if there are too many to list."""
        rng, wrong, count = Random(1), None, 0
        for _ in range(200):
            state = self.rules.initial()
            for _ in range(2 * self.rules.cells):
                if self.rules.actor(state) is None:
                    break
                if state.phase is Phase.OBSERVE:  # the values of other phases are defined by these equations
                    count += 1
                    if self.state_value(state) != self.back_up(state):
                        wrong = state
                state = self.rules.apply(state, rng.choice(self.rules.actions(state))).state
        return Check(
            "the values of states from random play follow exactly from those of the states after them",
            wrong is None,
            f"{format_options(self.rules)}, {count:,} states"
            + (f", wrong at {self.rules.format_state(wrong)}" if wrong else "")
            + f"; all states are checked for {format_options(shrink_to_checkable(self.rules))}",
        )

    def back_up(self, state: State) -> Fraction:
        """Compute a state's value from the values of the states after it."""
        actor = self.rules.actor(state)
        values = self.action_values(state, self.rules.actions(state))
        if actor is CHANCE:
            return sum((p * v for p, v in zip(self.rules.odds(state), values, strict=True)), Fraction(0))
        return max(values) if actor is Seat.ONE else min(values)

    def _get_coin_values(self, doubtful: State, seat: Seat) -> tuple[float, float]:
        challenged = self.rules.apply(doubtful, Answer.CHALLENGE).state
        heads, tails = self.action_values(challenged, tuple(Coin))
        return (float(heads), float(tails)) if seat is Seat.ONE else (float(1 - heads), float(1 - tails))

    def _get_next_board_value(self, state: State) -> Fraction:
        limit = self.rules.max_boards
        return self._unlimited_value if limit is None else self._get_limited_value(limit - state.boards - 1)

    def _get_observer_value(self, state: State) -> Fraction:
        unit, values = self.solve_table(self._get_next_board_value(state))
        own, other = make_mask(state.cells, state.mover), make_mask(state.cells, state.mover.other)
        return Fraction(values[self.boards.index(own, other)], unit)

    def _make_table(self, decohered_value: Fraction) -> tuple[int, list[int]]:
        """Return the values of all boards as a common denominator and numerators."""
        unit = self.boards.grain * decohered_value.denominator
        return unit, self.boards.solve(unit, int(decohered_value * unit))

    @cached_property
    def _unlimited_value(self) -> Fraction:
        _, values = self.solve_table(Fraction(0))
        # An even chance on one board is an even chance for any number of boards.
        return solve_start(self.boards.play_board) if values[0] else Fraction(0)

    def _get_limited_value(self, boards_left: int) -> Fraction:
        """Return the value of the empty board if `boards_left` boards remain, this one included."""
        values = self._limited_values
        while len(values) <= boards_left and values[-2:-1] != values[-1:]:
            unit, table = self.solve_table(values[-1])
            values.append(Fraction(table[0], unit))
        return values[min(boards_left, len(values) - 1)]


def iter_boards(rules: QuantumChain, movers: Iterable[Seat] = Seat) -> Iterator[State]:
    """Yield every board on which the game is not over, reachable or not."""
    for symbols in product(FREE + "".join(SYMBOL.values()), repeat=rules.cells):
        cells = "".join(symbols)
        if FREE in cells and not rules.chain_of(cells):
            yield from (State(cells, mover) for mover in movers)


def iter_challenges(rules: QuantumChain) -> Iterator[State]:
    """Yield every position in which a challenge is possible, up to symmetry."""
    seen = set()
    for state in iter_boards(rules, (Seat.ONE,)):
        for action in rules.actions(state):
            doubtful = rules.apply(state, action).state
            if doubtful.phase is Phase.CHALLENGE:
                mirrored = (doubtful.cells[::-1], rules.cells + 1 - doubtful.doubtful_cell)
                if mirrored not in seen:
                    seen.add((doubtful.cells, doubtful.doubtful_cell))
                    yield doubtful


def shrink_to_checkable(rules: QuantumChain) -> QuantumChain:
    """Return the rules, with fewer cells if there are too many states to check all of them."""
    cells = rules.cells
    while cells > 1 and 3**cells * (rules.max_boards or 1) > _MAX_BOARDS_CHECKED:
        cells -= 1
    return replace(rules, cells=cells, run=min(rules.run, cells))


def _format_value(value: Value) -> str:
    return f"{value.number:6.1%}  {value.fraction}"


def _encode_value(value: Value) -> dict[str, object]:
    return {"value": value.number, "exact": str(value.fraction)}


def make_mask(cells: str, seat: Seat) -> int:
    """Return the cells that hold the symbol of `seat`, as a bit mask."""
    return sum(1 << i for i, symbol in enumerate(cells) if symbol == SYMBOL[seat])


def make_oracle(rules: QuantumChain, progress: Progress = no_progress) -> ChainOracle:
    """Return the oracle. Raises DuelsError if there are too many cells to solve."""
    if rules.cells > _MAX_CELLS:
        raise DuelsError(f"chain is solved for up to {_MAX_CELLS} cells, not for {rules.cells}.")
    return ChainOracle(rules)
