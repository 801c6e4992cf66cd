"""The arena's section of docs/performance.md."""

from pieces import measured, table


def arena() -> str:
    """What runs cost, and other arenas' loops beside them."""
    data = measured("arena")
    runs = [
        (
            row["game"],
            f"{row['bare']:,.1f}",
            f"{row['one']:,.1f}",
            f"{100 * (row['bare'] / row['one'] - 1):+.0f}%",
            f"{100 * row['overhead']:+.0f}%",
            f"{100 * row['overhead_two']:+.0f}%",
            f"{row['wall_two'] / row['wall_one']:.1f}",
        )
        for row in data["matches"]
    ]
    loops = [(name, f"{speed:,.0f}") for name, speed in data["loops"].items()]
    return f"""\
## The arena

Matches a second between club and expert, every decision graded and luck taken out: with nothing around them,
and as a run that plans, logs and can go on, by CPU time on one core; and by how much that makes a match
longer. The two are timed in turn, so a few percent of that, up or down, are what else the machine did
meanwhile. Then what the run itself costs, within one run and so without that: CPU time of all its processes
outside of matches, divided by the CPU time inside them, on one core and on two, without what it takes to
start. At most 10% is what we hold ourselves to. Last, how many times quicker two processes are than one by
the wall clock, once both play.
The machine's load average was {data["load"]:.1f} when this began: what others run on its two cores counts
against the latter.

{table(("game", "bare", "in a run", "longer by", "cost on one core", "on two", "two processes: times"), runs)}
A question to a program over pipes takes {1000 * data["question_seconds"]:.2f} ms until its answer is read,
the program's own time included.

Whole matches a second of other arenas' own loops, random players on tic-tac-toe, which grade nothing and keep
no log; and of ours. Ray's includes what its tasks cost, by the wall clock on two cores.

{table(("loop", "matches a second"), loops)}"""
