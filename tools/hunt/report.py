"""A study of hunt's strategy in words and tables, for the terminal and for docs/solved.md."""

from textwrap import fill
from typing import Any

from duels.core.rules import Seat
from duels.solving.bounds import Bounds

Study = dict[str, Any]
CONFIDENT = 1.96
"""Standard errors, for 95 %."""


def report(study: Study) -> str:
    """All of it."""
    return "\n".join(f"### {heading}\n\n{text}" for heading, text in sections(study).items())


def sections(study: Study) -> dict[str, str]:
    """By heading."""
    return {
        "What is proven": _proven(study),
        "How to enter": _entering(study),
        "Where to look": _looking(study),
        "When to move, when to tunnel": _moving(study),
        "How long a game lasts": _lasting(study),
        "What naive habits cost": _habits(study),
    }


def _proven(study: Study) -> str:
    rows = [
        [f"against {seat.label}'s strategy", *_outwards(study["certificate"][str(seat.value)], " %")]
        for seat in Seat
    ]
    least, most = (_outwards(study["gives_away"], digits=digits) for digits in (1, 2))
    low, high = _outwards(study["value"], " %")
    simulated = study["simulated"]
    text = _paragraph(
        f"The pair is certified to give away at most {most[1]} points, both seats together; at least",
        f"{least[0]} of them can be taken. Player 1's chance under perfect play of both lies between {low}",
        f"and {high}. Against each other, by exact sums over both memories and both tokens, the strategy's",
        f"Player 1 wins {_percent(study['pair']['won'], 2)}; in {simulated['games']:,} simulated matches it",
        f"won {_sampled(simulated['won'], 100)} % (± 95 % confidence). `duels solve hunt`",
        "and `duels review` show that number too, for every position: what the strategy wins against",
        "itself.",
    )
    return _table(["a best responder wins", "at least", "at most"], rows) + text


def _entering(study: Study) -> str:
    seats = _seats(study)
    entered = {f"{name} enters": conduct["enters"] for name, conduct in seats.items()}
    shares = [share for part in entered.values() for share in part]
    answer = seats[Seat.TWO.label]["enters_where_named"]
    text = _paragraph(
        f"No cell is entered with less than {_percent(min(shares))} or more than {_percent(max(shares))}.",
        "Player 2 enters on the very cell that Player 1 has just named, and cannot name again at once, with",
        f"{_percent(answer)}; choosing at random that would be {_even(seats)}.",
    )
    return _by_cell(entered) + text


def _looking(study: Study) -> str:
    seats = _seats(study)
    far = [conduct["names_far"] for conduct in seats.values()]
    rows = [[str(away), *map(_percent, shares)] for away, shares in enumerate(zip(*far, strict=True), 1)]
    echo = _paragraph(
        f"The cell that the other has just named is named next on {_of_both(seats, 'names_where_named')}",
        f"of the turns; choosing at random that would be {_even(seats)}.",
    )
    by_cell = _by_cell({f"{name} names": conduct["names"] for name, conduct in seats.items()})
    away = "How far the next cell named is from the one that the same player named before:"
    return f"Over the whole game:\n\n{by_cell}\n{away}\n\n{_table(['cells away', *seats], rows)}{echo}"


def _moving(study: Study) -> str:
    seats = _seats(study)
    rows, worths = [], []
    for seat in Seat:
        with_it, without = study["certificate"][str(seat.value)], study["tunnel"][str(seat.value)]
        least, most = _outwards([max(0.0, with_it[0] - without[1]), with_it[1] - without[0]])
        rows.append([f"against {seat.label}'s strategy", _range(with_it), _range(without)])
        worths.append(f"between {least} and {most} points against {seat.label}")
    random, kept = (_percent(1 - study["habits"][name]["mean"]) for name in ("uniform", "never tunnels"))
    staying = _paragraph(
        f"Once on the grid the token stays where it is on {_of_both(seats, 'stays')} of the turns: whoever",
        "moves onto the other loses. It ends its movement on the cell that the other has just named on",
        f"{_of_both(seats, 'stands_where_named')} of the turns.",
    )
    tunnel = _paragraph("The strategy never tunnels. What a best responder to it has of its own tunnel:")
    worth = _paragraph(
        f"So its tunnel is worth {' and '.join(worths)}. Whoever plays at random wins {random} against the",
        f"strategy, and {kept} without tunnelling. Tunnelling where a step would do is never better than the",
        "step: nobody sees the difference, and the tunnel is kept.",
    )
    table = _table(["a best responder wins", "with its tunnel", "without"], rows)
    return f"{staying.lstrip()}{tunnel}\n{table}{worth}"


def _lasting(study: Study) -> str:
    pair, simulated = study["pair"], _sampled(study["simulated"]["turns"])
    return _paragraph(
        f"{pair['turns']:.2f} turns on average, both players' counted ({simulated} when simulated).",
        f"{_percent(pair['long'])} of the games last more than {study['long']} turns.",
        f"{_percent(pair['collisions'])} end in a collision, the others by an observation.",
    ).lstrip()


def _habits(study: Study) -> str:
    rows = []
    for name, habit in study["habits"].items():
        won = map(_percent, (*habit["won"], habit["mean"]))
        rows.append([name, *won, _range(habit["responder"])])
    header = ["habit", "as Player 1", "as Player 2", "both seats", "a best responder, both seats"]
    lost = [name for name, habit in study["habits"].items() if habit["mean"] < 0.5]
    opening = _paragraph(
        "How often the strategy beats a player with a habit, by exact sums, and how often a best responder",
        "would who knows the habit:",
    )
    explained = _paragraph(
        "'uniform' takes any legal action; 'never tunnels' any but the tunnel; 'always stays' enters",
        "anywhere, never moves again and names anything; 'sweeps' moves like 'never tunnels' and names 1, 2,",
        "3 … in order; 'stays and sweeps' does both.",
        f"Both seats together the strategy loses to: {', '.join(lost)}."
        if lost
        else "Both seats together the strategy wins more than half against every one of them.",
    )
    return f"{opening.lstrip()}\n{_table(header, rows)}{explained}"


def _seats(study: Study) -> dict[str, Study]:
    return {seat.label: study["seats"][str(seat.value)] for seat in Seat}


def _of_both(seats: dict[str, Study], what: str) -> str:
    return " and ".join(f"{_percent(conduct[what])} ({name})" for name, conduct in seats.items())


def _paragraph(*pieces: str) -> str:
    return "\n" + fill(" ".join(pieces), 110) + "\n"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _by_cell(series: dict[str, list[float]]) -> str:
    cells = range(1, len(next(iter(series.values()))) + 1)
    rows = [[name, *(_percent(share) for share in shares)] for name, shares in series.items()]
    return _table(["cell", *map(str, cells)], rows)


def _even(seats: dict[str, Study]) -> str:
    return _percent(1 / len(seats[Seat.ONE.label]["enters"]))


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _range(pair: list[float]) -> str:
    return f"{' to '.join(_outwards(pair))} %"


def _outwards(pair: list[float], unit: str = "", digits: int = 1) -> list[str]:
    """Bounds in percent, rounded so that they still hold."""
    return [f"{bound}{unit}" for bound in Bounds(*pair).percent(digits)]


def _sampled(pair: list[float], scale: float = 1.0) -> str:
    """A mean with its 95 % confidence interval, from its standard error."""
    return f"{scale * pair[0]:.2f} ± {scale * CONFIDENT * pair[1]:.2f}"
