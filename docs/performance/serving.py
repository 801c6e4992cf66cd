"""The section on the server of docs/performance.md, from what benchmarks/web.py measured."""

from typing import Any

from pieces import measured, table

OURS, THEIRS, BARE = "duels", "boardgame.io", "bare"
MOST_SECONDS = 0.6
MOST_KILOBYTES = 60
LONGEST_TASK = 100
MOST_OF_THEIR_WAIT = 1 / 3


def serving() -> str:
    """The section, from its heading to its last line."""
    data = measured("web")
    fast, calm = data["flat_out"], data["thinking"]
    kinds = [kind for kind in (OURS, THEIRS, BARE) if kind in fast]
    unmeasured = ["–"] * (len(kinds) - 2)
    held = [f"{data['memory'][kind] / 1e3:.1f} KB" for kind in (OURS, THEIRS)]
    rows = [
        ("moves per second of one core", *_each(fast, kinds, "moves_per_cpu_second", "{:,.0f}")),
        ("the same, people thinking", *_each(calm, kinds, "moves_per_cpu_second", "{:,.0f}")),
        ("wait as fast as it goes, median", *_each(fast, kinds, "p50_ms", "{:,.1f} ms")),
        ("wait as fast as it goes, p99", *_each(fast, kinds, "p99_ms", "{:,.1f} ms")),
        ("wait, people thinking, median", *_each(calm, kinds, "p50_ms", "{:,.1f} ms")),
        ("wait, people thinking, p99", *_each(calm, kinds, "p99_ms", "{:,.1f} ms")),
        ("the disk alone, median", f"{data['disk']['p50_ms']:,.1f} ms", "–", *unmeasured),
        ("the disk alone, p99", f"{data['disk']['p99_ms']:,.1f} ms", "–", *unmeasured),
        ("memory for each idle watcher", *held, *unmeasured),
    ]
    pages = [
        (row["page"], f"{row['bytes'] / 1e3:.1f} KB", f"{row['longest_task_ms']:.0f} ms")
        for row in data["pages"]
    ]
    short = " The run was a short one (`--quick`)." if data["quick"] else ""
    return f"""\
## Server

`duels serve` beside boardgame.io's own server (`benchmarks/web.py`). One program plays random matches of leap
at both, {data["pairs"]} pairs at a time, each seat with an open stream. Every move of ours is synced to disk
before anybody sees it, and an event carries what changed on the page of a match, drawn for that seat.
boardgame.io keeps matches in memory and sends the state, which the browser draws.

The wait is from sending a move until the other seat is told. 'People thinking' is {data["pause"] / 1000:g} s
between two moves of a match; otherwise the next move is made at once. 'The disk alone' is how long the disk
takes to keep as much as a move writes, measured before and after people thought: no wait of ours can be
shorter. For the line on memory, {data["watchers"]:,} bystanders watch one match.

Python was {data["python"]}. When the run began, {data["cores"]} cores had a load of {data["load"]:.1f} from
elsewhere. On a busy machine, times by the clock include waiting for a core.{short}

{table(("what", *kinds), rows)}{_about_bare(kinds)}
The pages, with an empty cache, as Chromium counts them: all that is loaded, compressed, and the longest task,
with a move in the match. Tasks of less than 50 ms count as 0.

{table(("page", "loaded", "longest task"), pages)}
### What the server should do

{table(("what", "goal", "measured", "met"), _goals(data))}{_why_missed(data)}"""


def _why_missed(data: dict[str, Any]) -> str:
    """What a move costs ours and not theirs, where that shows."""
    waits = (_ratio(data[name], "p99_ms") for name in ("flat_out", "thinking"))
    if _ratio(data["flat_out"], "moves_per_cpu_second") >= 1 and max(waits) <= MOST_OF_THEIR_WAIT:
        return ""
    return """
Why what is missed is missed: to us a move is a request of its own, which Python reads, checks and answers,
then a commit, and for each seat a board that is drawn and a line that is told. boardgame.io's server runs
compiled, takes a move from a connection that is open already, and leaves disk and drawing out. As fast as it
goes, every pair always waits for a move: a third of their wait would take three times their moves a second.
The column 'bare' shows how near the stack itself comes, before there is a game: its waits are the shortest
that any work on the games could lead to.
"""


def _about_bare(kinds: list[str]) -> str:
    if BARE not in kinds:
        return ""
    return """
'bare' is what our stack can reach at most, uvicorn and a disk: a server without games that syncs what it is
sent and tells both seats, with events as large as ours mostly are (`benchmarks/serve_bare.py`).
"""


def _each(measurements: dict[str, Any], kinds: list[str], name: str, form: str) -> list[str]:
    return [form.format(measurements[kind][name]) for kind in kinds]


def _goals(data: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    moves = _ratio(data["flat_out"], "moves_per_cpu_second")
    start = data["start_up"]
    weight = max(row["bytes"] for row in data["pages"]) / 1e3
    longest = max(row["longest_task_ms"] for row in data["pages"])
    waits = [
        (f"p99 of the wait, {how}, by theirs", f"at most {MOST_OF_THEIR_WAIT:.2f}", f"{ratio:.2f}", ratio)
        for how, name in (("as fast as it goes", "flat_out"), ("people thinking", "thinking"))
        if (ratio := _ratio(data[name], "p99_ms"))
    ]
    return [
        ("moves per second of one core, by theirs", "at least 1", f"{moves:.2f}", _met(moves >= 1)),
        *((what, goal, told, _met(ratio <= MOST_OF_THEIR_WAIT)) for what, goal, told, ratio in waits),
        *(
            (
                f"first page, over a bare Python, {how}",
                f"at most {MOST_SECONDS} s",
                f"{took:.2f} s",
                _met(took <= MOST_SECONDS),
            )
            for how, took in (("by the clock", start["seconds"]), ("processor time", start["cpu"]))
        ),
        (
            "the heaviest page",
            f"at most {MOST_KILOBYTES} KB",
            f"{weight:.1f} KB",
            _met(weight <= MOST_KILOBYTES),
        ),
        (
            "the longest task of a page",
            f"at most {LONGEST_TASK} ms",
            f"{longest:.0f} ms",
            _met(longest <= LONGEST_TASK),
        ),
    ]


def _ratio(measurements: dict[str, Any], name: str) -> float:
    return float(measurements[OURS][name] / measurements[THEIRS][name])


def _met(met: bool) -> str:
    return "yes" if met else "**no**"
