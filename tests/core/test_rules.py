"""Invalid options and limits of rules."""

import pytest

from duels.core.errors import BadOption
from duels.core.rules import Rules

from . import toys


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (toys.AlwaysLimited, "The limit of hide, max_guesses, must be an option with the default None."),
        (toys.LimitedByNothing, "The limit of hide, max_guesses, must be an option with the default None."),
        (toys.Unclocked, "hide has the limit max_guesses but no clock: set Rules.clock."),
    ],
)
def test_rejects_limits_that_cannot_be_removed_or_counted(
    kind: type[Rules[toys.State, str, toys.View]], why: str
) -> None:
    with pytest.raises(BadOption, match=f"^{why}$"):
        kind()
