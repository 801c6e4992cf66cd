"""The CPU time of commands: unlike the clock, it hardly depends on what else the machine does."""

import resource


def of_commands() -> float:
    """Seconds that all commands run so far have taken; the difference of two is what came in between."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
