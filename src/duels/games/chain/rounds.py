"""Games played in rounds that can start over for ever: what the start is worth, exactly."""

from collections.abc import Callable
from fractions import Fraction

Round = Callable[[Fraction, int], tuple[Fraction, Fraction]]
"""Given u and a side (+1, -1): g(u), and the slope of g on that side of u."""


def start_worth(play_round: Round) -> Fraction:
    """The worth of the start to the player who begins: 1 a sure win, -1 a sure loss, 0 for never-ending play.

    Both players have the same chances when they begin. A round ends almost surely, however it is played,
    in a win, in a loss, or in a new start with either player to begin. Let g(u) be the worth of a round
    to the player who begins it, if a new start is worth u to whoever begins then. g is made of finitely
    many straight pieces (one for a pair of pure strategies of a round) none steeper than 1, so
    g(u) - u never rises, and its zeros are an interval.

    The worth of the start is the zero `a` nearest to 0. Proof that player P can make sure of it: P plays
    every round as is best when new starts are worth `a` to whoever begins, so the expected worth to P
    never falls, from round to round.
    If a = 0: a new start is worth 0, as never-ending play is, so nothing is lost by waiting for ever.
    If a > 0 (a < 0 is the same with sides changed): in a never-ending match the worth, bounded and never
    falling in expectation, converges; at new starts it is a or -a, so from some time on the same player
    always begins. If it is the other one, P gets 0 instead of -a: more than was promised. That P always
    begins has probability 0 if P picks, among the best ways to play a round, one that is also best for
    all u slightly below a (there is one, as g has finitely many pieces). For against any reply, with r
    and s the chances that P or the other begins next and w those of winning less those of losing,
    w + (r - s) u >= g(u) > u; were r = 1, then w = s = 0, and u > u. So r < 1, for each of the finitely
    many pure replies.
    """
    from_zero = play_round(Fraction(0), 1)
    if from_zero[0] == 0:
        return Fraction(0)
    if from_zero[0] > 0:
        return _least_zero(play_round, from_zero)

    def turned(u: Fraction, side: int) -> tuple[Fraction, Fraction]:
        value, slope = play_round(-u, -side)
        return -value, slope

    return -_least_zero(turned, turned(Fraction(0), 1))


def _least_zero(play_round: Round, from_zero: tuple[Fraction, Fraction]) -> Fraction:
    """The least u with g(u) = u, where g(0) > 0.

    Newton's steps from either side of it, each of which passes a whole piece of g or lands on the zero;
    a halving wherever a step would leave the bracket.
    """
    low, high = Fraction(0), Fraction(2)  # g stays within 1, so the zero does, and lies between these
    at, (value, slope) = low, from_zero
    while True:
        step = at + (value - at) / (1 - slope) if slope < 1 else at
        at = step if low < step < high else (low + high) / 2
        value, slope = play_round(at, -1)
        if value == at and slope < 1:
            return at  # g(u) > u just below it, and so everywhere below it
        if value > at:
            low = at
            value, slope = play_round(at, 1)
        else:
            high = at
