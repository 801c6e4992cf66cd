"""The top of a report, in a few sentences: who is how good at what, where they go wrong, how sure that is."""

from collections.abc import Iterable, Mapping

from duels.arena.confidence import Interval
from duels.arena.report import GameReport, Report
from duels.arena.scores import Pairing, Standing
from duels.solving.oracle import BELOW_THE_MIXTURE

_MOST_NAMED = 3  # pairings
_NOTHING = 0.00005  # rounds to 0.00 points
_EVEN = 0.5
_PAIRS_TO_SETTLE = 20  # with fewer, results that hold under peeking tell hardly more than nothing
_MANY_CUT = 0.2  # of the matches of a pairing: so many halves hide who is better
_ENOUGH = 20  # decisions of a sort, to say what they cost


def of_run(report: Report) -> list[str]:
    """A sentence or two for each player, the best first; then how sure that is, and what it cost."""
    if not report.matches:
        return ["Nothing has been played yet.", *_cost(report), *report.notes]
    ordered = sorted(report.players, key=lambda player: -_share(report, player))
    told = [_player(report, player) for player in ordered]
    return [*told, *_settled(report), *_cut_off(report), *_cost(report), *report.notes]


def _share(report: Report, player: str) -> float:
    """The share of the points over all games, each counting alike."""
    won = [each.won.estimate for _, each in _played(report, player)]
    return sum(won) / len(won) if won else 0.0


def _played(report: Report, player: str) -> list[tuple[GameReport, Standing]]:
    found = [(game, each) for game in report.games for each in game.standings]
    return [(game, each) for game, each in found if each.player == player and each.matches]


def _player(report: Report, player: str) -> str:
    played = _played(report, player)
    if not played:
        return f"{player} has not played yet."
    won = ", ".join(f"{_won(report, each)} in {game.rules.name}" for game, each in played)
    told = [f"{player} won {won}.", _mistakes(played), _failures([each for _, each in played])]
    return " ".join(filter(None, told))


def _won(report: Report, each: Standing) -> str:
    share = f"{100 * each.won.estimate:.0f}%"
    return share if report.until is not None else f"{share} ({_range(each.won)})"


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"


def _mistakes(played: list[tuple[GameReport, Standing]]) -> str:
    """The game in which a player gives away most in a match, and in which sort of decision."""
    graded = [(game, each) for game, each in played if each.decisions and game.measure != BELOW_THE_MIXTURE]
    if not graded:
        return ""
    game, worst = max(graded, key=lambda each: each[1].per_match.estimate)
    if worst.per_match.estimate < _NOTHING:
        games = ", ".join(game.rules.name for game, _ in graded)
        return f"It made no mistakes{'' if len(graded) == len(played) else f' in {games}'}."
    most = "" if len(graded) == 1 else f" most in {game.rules.name}:"
    where = f" in {game.rules.name}" if len(graded) == 1 < len(played) else ""
    points = f"{100 * worst.per_match.estimate:.1f} points a match{where}"
    return f"It gives away{most} {points}{most_when(worst.manners)}."


def most_when(manners: Mapping[str, tuple[float, float]]) -> str:
    """The sort of decision that costs most each time, as the end of a sentence; nothing if that is not known.

    Not the sort with the largest part of the loss: that may just be the commonest.
    """
    each = {
        manner: short / count for manner, (count, short) in manners.items() if count >= _ENOUGH and manner
    }
    if len(each) < 2 or max(each.values()) < _NOTHING:
        return ""
    manner = max(each, key=each.__getitem__)
    return f", most when {manner.replace('your', 'its')} ({100 * each[manner]:.1f} a decision)"


def by_class(failures: Mapping[str, int]) -> str:
    """Failures as a list, such as `6 illegal, 10 unreadable`."""
    return ", ".join(f"{count} {kind}" for kind, count in failures.items())


def _failures(standings: Iterable[Standing]) -> str:
    forfeits, failures = 0, dict[str, int]()
    for each in standings:
        forfeits += each.forfeits
        for kind, count in each.failures.items():
            failures[kind] = failures.get(kind, 0) + count
    if not failures:
        return ""
    told = by_class(dict(sorted(failures.items())))
    lost = f"; it forfeited {forfeits} match{'es' * (forfeits != 1)}" if forfeits else ""
    return f"Failures: {told}{lost}."


def _settled(report: Report) -> list[str]:
    """For how many pairings it is known who is better, and for which it is not."""
    pairings = [(game, each) for game in report.games for each in game.pairings if each.matches]
    still_open = [(game, each) for game, each in pairings if not _is_settled(each)]
    known = len(pairings) - len(still_open)
    if not known and all(len(each.units) < _PAIRS_TO_SETTLE for _, each in pairings):
        return [f"Too few pairs of matches to settle who is better: about {_PAIRS_TO_SETTLE} are needed."]
    if len(pairings) == 1:
        told = "Who is better is settled" if known else "Who is better is not settled"
    else:
        told = f"Who is better is settled for {known or 'none'} of {len(pairings)} pairings"
    named = _named([f"{each.one} against {each.two} in {game.rules.name}" for game, each in still_open])
    left = f" Open: {named}." if known and still_open else ""
    by = "by the intervals that hold however often one looks"  # those for a fixed size may tell more
    return [f"{told}, {'each ' * (len(pairings) > 1)}at 95%, {by}.{left}"]


def _named(pairings: list[str]) -> str:
    more = f" and {len(pairings) - _MOST_NAMED} more" if len(pairings) > _MOST_NAMED else ""
    return ", ".join(pairings[:_MOST_NAMED]) + more


def _cut_off(report: Report) -> list[str]:
    """Where the limit ended many matches."""
    cut = [
        f"{each.one} against {each.two} in {game.rules.name} ({each.cut_off} of {each.matches})"
        for game in report.games
        for each in game.pairings
        if each.matches and each.cut_off >= _MANY_CUT * each.matches
    ]
    return [f"Many matches were cut off by the limit and count one half: {_named(cut)}."] if cut else []


def _is_settled(each: Pairing) -> bool:
    return each.adjusted.excludes(_EVEN)


def _cost(report: Report) -> list[str]:
    return report.spending.told("Models", report.prices, limited=bool(report.conditions.get("max_tokens")))
