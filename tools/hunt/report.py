"""The study of hunt's strategy as Markdown, for the terminal and for docs/solved.md."""

from textwrap import fill
from typing import Any

from duels.core.rules import Seat
from duels.solving.oracle import Bounds

Study = dict[str, Any]
CONFIDENT = 1.96
"""Standard errors in a 95% confidence interval."""


def report(study: Study) -> str:
    """Return the whole report."""
    return "\n".join(f"### {heading}\n\n{text}" for heading, text in sections(study).items())


def sections(study: Study) -> dict[str, str]:
    """Return the sections by heading."""
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
        [f"against {seat.label}'s strategy", *_outwards(study["certificate"][str(seat.value)], "%")]
        for seat in Seat
    ]
    least, most = (_outwards(study["gives_away"], digits=digits) for digits in (1, 2))
    low, high = _outwards(study["value"], "%")
    simulated = study["simulated"]
    text = _paragraph(
        f"Together, the strategies of both seats provably lose at most {most[1]} points to best",
        f"responders, and at least {least[0]}. Under perfect play, Player 1 wins between {low} and {high}.",
        f"If both seats play the strategy, Player 1 wins {_percent(study['won'], 2)} by exact calculation.",
        f"In {simulated['games']:,} simulated matches, Player 1 won {_sampled(simulated['won'], 100)}%",
        "(95% confidence).",
    )
    return _table(["a best responder wins", "at least", "at most"], rows) + text


def _entering(study: Study) -> str:
    seats = _seats(study)
    entered = {f"{name} enters": conduct["enters"] for name, conduct in seats.items()}
    answer = seats[Seat.TWO.label]["enters_where_named"]
    text = _paragraph(
        "Player 1 cannot observe the same cell twice in a row, but Player 2 enters the cell just observed",
        f"with only {_percent(answer)}; a random choice would be {_even(seats)}.",
    )
    return _by_cell(entered) + text


def _looking(study: Study) -> str:
    seats = _seats(study)
    far = [conduct["names_far"] for conduct in seats.values()]
    rows = [[str(away), *map(_percent, shares)] for away, shares in enumerate(zip(*far, strict=True), 1)]
    echo = _paragraph(
        f"The strategy repeats the opponent's last observation on {_of_both(seats, 'names_where_named')}",
        f"of the turns; a random choice would be {_even(seats)}.",
    )
    by_cell = _by_cell({f"{name} observes": conduct["names"] for name, conduct in seats.items()})
    away = "The distance between a player's successive observations:"
    return f"Over the whole game:\n\n{by_cell}\n{away}\n\n{_table(['cells away', *seats], rows)}{echo}"


def _moving(study: Study) -> str:
    seats = _seats(study)
    rows, worths = [], []
    for seat in Seat:
        with_it, without = study["certificate"][str(seat.value)], study["tunnel"][str(seat.value)]
        least, most = _outwards([max(0.0, with_it[0] - without[1]), with_it[1] - without[0]])
        rows.append([f"against {seat.label}'s strategy", _range(with_it), _range(without)])
        worths.append(f"between {least} and {most} points against {seat.label}")
    staying = _paragraph(
        f"On the grid, the token stays on {_of_both(seats, 'stays')} of the turns, because moving onto the",
        "other token loses. Its movement ends on the cell that the opponent last observed on",
        f"{_of_both(seats, 'stands_where_named')} of the turns.",
    )
    tunnel = _paragraph("The strategy never tunnels. A best responder gains little by it:")
    worth = _paragraph(
        f"The tunnel is worth {' and '.join(worths)}. Never tunnel to a neighbouring cell:",
        "a step looks the same and keeps the tunnel.",
    )
    table = _table(["a best responder wins", "with its tunnel", "without"], rows)
    return f"{staying.lstrip()}{tunnel}\n{table}{worth}"


def _lasting(study: Study) -> str:
    simulated = study["simulated"]
    return _paragraph(
        f"A game lasts {_sampled(simulated['turns'])} turns on average, counting both players.",
        f"{_percent(simulated['long'])} of the games last more than {study['long']} turns.",
        f"{_percent(simulated['collisions'])} end in a collision, the others with an observation.",
    ).lstrip()


def _habits(study: Study) -> str:
    rows = []
    habits = study["habits"].values()
    games, error = max(habit["games"] for habit in habits), max(habit["error"] for habit in habits)
    for name, habit in study["habits"].items():
        won = map(_percent, (*habit["won"], habit["mean"]))
        rows.append([name, *won, _range(habit["responder"])])
    header = ["opponent", "as Player 1", "as Player 2", "both seats", "best responder"]
    lost = [name for name, habit in study["habits"].items() if habit["mean"] < 0.5]
    opening = _paragraph(
        "How often the strategy beats simple players, and how often a best responder to each of them would",
        "win, averaged over both seats. The best responder's results are proven. The strategy played",
        f"{games:,} simulated matches in each seat (95% confidence for both: ± {100 * CONFIDENT * error:.1f}",
        "points).",
    )
    explained = _paragraph(
        "'uniform' takes any legal action, and 'never tunnels' any except the tunnel. 'always stays' enters",
        "anywhere and never moves again. 'sweeps' moves like 'never tunnels' and observes 1, 2, 3 … in",
        "order. 'edge runner' stays on position 1 or 7.",
        f"Over both seats, the strategy loses to: {', '.join(lost)}."
        if lost
        else "Over both seats, the strategy wins more than half against every one of them.",
    )
    return f"{opening.lstrip()}\n{_table(header, rows)}{explained}"


def _seats(study: Study) -> dict[str, Study]:
    return {seat.label: study["seats"][str(seat.value)] for seat in Seat}


def _of_both(seats: dict[str, Study], what: str) -> str:
    return " and ".join(f"{_percent(conduct[what])} ({name})" for name, conduct in seats.items())


def _paragraph(*pieces: str) -> str:
    return "\n" + fill(" ".join(pieces), 110) + "\n"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(line)} |\n" for line in (header, *rows)]
    return "".join([lines[0], f"|{'---|' * len(header)}\n", *lines[1:]])


def _by_cell(series: dict[str, list[float]]) -> str:
    cells = range(1, len(next(iter(series.values()))) + 1)
    rows = [[name, *(_percent(share) for share in shares)] for name, shares in series.items()]
    return _table(["cell", *map(str, cells)], rows)


def _even(seats: dict[str, Study]) -> str:
    return _percent(1 / len(seats[Seat.ONE.label]["enters"]))


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}%"


def _range(pair: list[float]) -> str:
    return f"{' to '.join(_outwards(pair))}%"


def _outwards(pair: list[float], unit: str = "", digits: int = 1) -> list[str]:
    """Format bounds in percent, rounded outwards."""
    return [f"{bound}{unit}" for bound in Bounds(*pair).percent(digits)]


def _sampled(pair: list[float], scale: float = 1.0) -> str:
    """A mean with its 95% confidence interval, from its standard error."""
    return f"{scale * pair[0]:.2f} ± {scale * CONFIDENT * pair[1]:.2f}"
