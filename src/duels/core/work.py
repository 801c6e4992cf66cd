"""How much work a record may cost: a few edited letters must not cost minutes."""

MOST_WORK = 5_000_000
"""Steps, which take seconds."""
_STEPS_OF_ENTRY = 25  # besides listing the legal actions, each of which is one more


def work_of(entries: int, actions: int) -> int:
    """The steps of playing so many entries with so many legal actions each."""
    return entries * (_STEPS_OF_ENTRY + actions)
