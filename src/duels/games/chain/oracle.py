"""Perfect play in chain: every board's exact worth, and the odds of every challenge on top of it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from random import Random

from duels.core.errors import DuelsError
from duels.core.rules import CHANCE, Seat, Sight
from duels.games.chain.boards import Boards, start_worth
from duels.games.chain.reasons import (
    accepting_may_be_right,
    if_it_stands,
    left_open,
    most_telling,
    nothing_at_stake,
    purpose,
)
from duels.games.chain.rules import FREE, SYMBOL, Action, Answer, Coin, Observe, Phase, QuantumChain, State
from duels.solving.check import Brackets, check_equations, check_sampled_play, format_options
from duels.solving.graph import HALF, Graph, explore
from duels.solving.oracle import Check, Finding, OpenOracle, Value, Verdict
from duels.solving.progress import Progress, no_progress

_MOST_BOARDS_CHECKED = 7000
_MOST_CELLS_LISTED = 8
_MOST_CELLS = 13  # every cell more takes three times as long, and as much memory
_WIDTH = 1e-9


class ChainOracle(OpenOracle[Action, State]):
    """Values for any number of cells and length of chain, all exact; the table takes 3 ** cells numbers."""

    rules: QuantumChain

    def __init__(self, rules: QuantumChain) -> None:
        super().__init__(rules)
        self.boards = Boards(rules.cells, rules.run)
        self._table = cache(self._make_table)
        self._fresh_after = [Fraction(0)]  # a fresh board that is not played, one that is the last, ...

    def state_value(self, state: State) -> Fraction:
        outcome = self.rules.outcome(state)
        if outcome:
            return outcome.score(Seat.ONE)
        if state.phase is not Phase.OBSERVE:
            return self._one_step_on(state)
        mover_wins = (1 + self._observer_worth(state)) / 2
        return mover_wins if state.mover is Seat.ONE else 1 - mover_wins

    def declines(self) -> tuple[State, ...]:
        """Every position, up to mirroring and exchange of symbols, where challenging is a mistake."""
        return tuple(doubted for doubted in all_challenges(self.rules) if self._challenge_is_mistake(doubted))

    def _challenge_is_mistake(self, doubted: State) -> bool:
        challenged, accepted = self.action_values(doubted, tuple(Answer))
        return challenged != accepted and (challenged > accepted) == (doubted.mover is Seat.ONE)

    def findings(self, sight: Sight[Action, State]) -> Iterator[Finding]:
        if sight.view != self.rules.initial():
            return
        if not self._all_can_be_listed:
            text = (
                f"Where accepting is right is listed for up to {_MOST_CELLS_LISTED} cells only: here are too "
            )
            yield Finding("accepts", f"{text}many positions to go through.\n", None)
            return
        found = []
        for state in self.declines():
            challenge, accept = self.judge(self.rules.sight(state, state.mover.other)).actions
            found.append((self.rules.format_state(state), accept.value, challenge.value))
        yield Finding(
            "accepts",
            self._accepts_in_words(found),
            [
                {"position": position, "accept": _as_data(accept), "challenge": _as_data(challenge)}
                for position, accept, challenge in found
            ],
        )

    @property
    def _all_can_be_listed(self) -> bool:
        return self.rules.cells <= _MOST_CELLS_LISTED

    def _accepts_in_words(self, found: list[tuple[str, Value, Value]]) -> str:
        if not found:
            return "Challenging is never a mistake on this board: accepting is better in no position.\n"
        doubts = list(all_challenges(self.rules))
        excepted = sum(accepting_may_be_right(self.rules, doubted) for doubted in doubts)
        width = self.rules.cells + 2
        lines = [f"  {'':{width}}  accepting       challenging"]
        lines += (f"  {position:{width}}  {_told(a):14}  {_told(b)}".rstrip() for position, a, b in found)
        return (
            f"Accepting an observation is better than challenging it in {len(found)} "
            f"position{'s' * (len(found) != 1)}, up to mirroring and\nexchange of symbols. Chances to win:\n"
            + "\n".join(lines)
            + f"\n{self._rule_of_thumb}.\nThat excepts {excepted:,} of all {len(doubts):,} positions. "
            f"Accepting is better in {len(found)} of them, and nowhere else.\n"
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
            return self._reason_to_answer(state, sight.seat, verdict)
        if verdict.is_indifferent and verdict.value.fraction == HALF:
            return nothing_at_stake(self.rules, state.cells)
        cells = [action.cell for action in verdict.best if isinstance(action, Observe)]
        cell = most_telling(self.rules, state.cells, cells, sight.seat)
        after = self.rules.apply(state, Observe(cell)).state
        does = purpose(self.rules, state.cells, cell, sight.seat)
        leaves = f"leaves you {verdict.value.number:.1%}"
        if after.phase is not Phase.CHALLENGE:
            return f"Cell {cell} {f'{does}, and it ' if does else ''}cannot be challenged: it {leaves}."
        heads, tails = self._coin(after, sight.seat)
        told = f"{does}: it {leaves}" if does else leaves
        return f"Cell {cell} {told}; if it is challenged, {heads:.1%} on heads and {tails:.1%} on tails."

    def _reason_to_answer(self, doubted: State, seat: Seat, verdict: Verdict[Action]) -> str:
        challenge, accept = (judged.value.number for judged in verdict.actions)
        heads, tails = self._coin(doubted, seat)
        if heads == tails == accept:
            return f"Nothing is at stake here: with the symbol or without it, you have {accept:.1%}."
        return (
            f"{if_it_stands(self.rules, doubted)}A challenge leaves you {tails:.1%} on tails and {heads:.1%} "
            f"on heads, {challenge:.1%} on average; accepting leaves you {accept:.1%}."
            f"{self._thumb_here(doubted, accept >= challenge)}"
        )

    def describe_outcome(self, outcome: Action) -> str:
        return f"the coin showed {self.rules.format(outcome)}"

    def _thumb_here(self, doubted: State, accept: bool) -> str:
        if not self._all_can_be_listed:
            return ""
        here = "none does"
        if accepting_may_be_right(self.rules, doubted):
            here = "one does" if accept else "one does, but challenging is better all the same"
        return f" {self._rule_of_thumb}; here {here}."

    def effect(self, sight: Sight[Action, State], action: Action) -> str:
        after = self.rules.apply(sight.view, action).state
        left = self.value(self.rules.sight(after, sight.seat)).number
        if isinstance(action, Answer):
            return f"You answered {self.rules.format(action)}, which left you {left:.1%}."
        assert isinstance(action, Observe)
        open_ = left_open(self.rules, sight.view.cells, action.cell, sight.seat)
        told = f"You observed cell {action.cell}, {f'{open_}, ' if open_ else ''}which left you {left:.1%}"
        if after.phase is not Phase.CHALLENGE:
            return f"{told}; it could not be challenged."
        heads, tails = self._coin(after, sight.seat)
        return f"{told}: if challenged, {heads:.1%} on heads and {tails:.1%} on tails."

    def mistake_category(self, sight: Sight[Action, State], action: Action) -> str:
        if isinstance(action, Answer):
            return "challenging" if action is Answer.CHALLENGE else "letting an observation stand"
        after = self.rules.apply(sight.view, action).state
        beside = after.phase is Phase.CHALLENGE
        return f"observing {'beside your own symbol' if beside else 'away from your own symbols'}"

    def verify(self, progress: Progress = no_progress) -> Iterator[Check]:
        rules = largest_proven(self.rules)
        oracle = self
        if rules != self.rules:
            yield self._sampled_equations()
            oracle = ChainOracle(rules)
        yield from oracle._proof(explore(rules, [rules.initial(), *all_boards(rules)], progress))
        starts = [state for state in all_boards(rules) if oracle.state_value(state) not in (0, HALF, 1)]
        yield from check_sampled_play(rules, oracle, starts or [rules.initial()], games=200)

    def _proof(self, graph: Graph[State]) -> Iterator[Check]:
        about = f"{format_options(self.rules)}, {len(graph):,} states"
        values = [self.state_value(state) for state in graph.states]
        yield from check_equations(self.rules, graph, values, about)
        empty = [node for node, state in enumerate(graph.states) if FREE * self.rules.cells == state.cells]
        bounds = Brackets(graph, {node: values[node] for node in empty})
        sweeps = bounds.close_to(_WIDTH)
        yield Check(
            "bounds from below and above, by value iteration on each board, close in on every value",
            all(
                low - _WIDTH <= float(value) <= high + _WIDTH
                for low, value, high in zip(bounds.low, values, bounds.high, strict=True)
            ),
            f"{about}, {_WIDTH:.0e} wide after {sweeps} sweeps",
        )

    def _sampled_equations(self) -> Check:
        """Where the states are too many to list: the equations of some that random play meets."""
        rng, wrong, count = Random(1), None, 0
        for _ in range(200):
            state = self.rules.initial()
            for _ in range(2 * self.rules.cells):
                if self.rules.actor(state) is None:
                    break
                if state.phase is Phase.OBSERVE:  # the others' values are made from what follows
                    count += 1
                    if self.state_value(state) != self._one_step_on(state):
                        wrong = state
                state = self.rules.apply(state, rng.choice(self.rules.actions(state))).state
        return Check(
            "the value of states met in random play follows exactly from those of the states after them",
            wrong is None,
            f"{format_options(self.rules)}, {count:,} states"
            + (f", wrong at {self.rules.format_state(wrong)}" if wrong else "")
            + f"; all of them are proven for {format_options(largest_proven(self.rules))}",
        )

    def _one_step_on(self, state: State) -> Fraction:
        actor = self.rules.actor(state)
        after = self.action_values(state, self.rules.actions(state))
        if actor is CHANCE:
            return sum((o * w for o, w in zip(self.rules.odds(state), after, strict=True)), Fraction(0))
        return max(after) if actor is Seat.ONE else min(after)

    def _coin(self, doubted: State, seat: Seat) -> tuple[float, float]:
        """What heads and tails leave to `seat` if the observation in doubt is challenged."""
        in_the_air = self.rules.apply(doubted, Answer.CHALLENGE).state
        heads, tails = self.action_values(in_the_air, tuple(Coin))
        return (float(heads), float(tails)) if seat is Seat.ONE else (float(1 - heads), float(1 - tails))

    def _next_board(self, state: State) -> Fraction:
        """What a fresh board is worth after this one."""
        limit = self.rules.max_boards
        return self._fresh_board if limit is None else self._limited(limit - state.boards - 1)

    def _observer_worth(self, state: State) -> Fraction:
        unit, worths = self._table(self._next_board(state))
        mine, theirs = mask(state.cells, state.mover), mask(state.cells, state.mover.other)
        return Fraction(worths[self.boards.index(mine, theirs)], unit)

    def _make_table(self, decohered: Fraction) -> tuple[int, list[int]]:
        """The worths of all boards where a decohered board is worth so much, and their unit."""
        unit = self.boards.grain * decohered.denominator
        return unit, self.boards.worths(unit, int(decohered * unit))

    @cached_property
    def _fresh_board(self) -> Fraction:
        """The worth of the empty board when there is no limit of boards."""
        _, worths = self._table(Fraction(0))
        # If it is an even chance, it is one whether the game goes on or not.
        return start_worth(self.boards.play_board) if worths[0] else Fraction(0)

    def _limited(self, boards_left: int) -> Fraction:
        """The worth of the empty board when so many may still be played, this one included."""
        worths = self._fresh_after
        while len(worths) <= boards_left and worths[-2:-1] != worths[-1:]:
            unit, table = self._table(worths[-1])
            worths.append(Fraction(table[0], unit))
        return worths[min(boards_left, len(worths) - 1)]


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


def largest_proven(rules: QuantumChain) -> QuantumChain:
    """The rules themselves, or on so few cells that every state of theirs can be checked."""
    cells = rules.cells
    while cells > 1 and 3**cells * (rules.max_boards or 1) > _MOST_BOARDS_CHECKED:
        cells -= 1
    return replace(rules, cells=cells, run=min(rules.run, cells))


def _told(value: Value) -> str:
    return f"{value.number:6.1%}  {value.fraction}"


def _as_data(value: Value) -> dict[str, object]:
    return {"value": value.number, "exact": str(value.fraction)}


def mask(cells: str, seat: Seat) -> int:
    """The cells that hold the symbol of `seat`, as bits."""
    return sum(1 << i for i, symbol in enumerate(cells) if symbol == SYMBOL[seat])


def make_oracle(rules: QuantumChain, progress: Progress = no_progress) -> ChainOracle:
    if rules.cells > _MOST_CELLS:
        raise DuelsError(
            f"Perfect play of chain is known for {_MOST_CELLS} cells at most, not {rules.cells}."
        )
    return ChainOracle(rules)
