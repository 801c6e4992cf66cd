"""The CPU time of commands, which hardly depends on other load."""

import resource


def sum_command_times() -> float:
    """Return the total CPU seconds of all finished commands."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
