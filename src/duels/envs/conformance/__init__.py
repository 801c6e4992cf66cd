"""A conformance suite for environments of any rules.

    from duels.envs.conformance import check_environments
    check_environments(MyGame())   # raises EnvironmentBroken, with the broken law and the moves

`duels.core.laws` checks the rules themselves. This suite plays random games by the rules and compares every
environment with them. To check an adapter for another framework, subclass `Environment` and call
`check_environments(rules, [MyEnvironment])`.
"""

from duels.envs.conformance.check import (
    ConformanceReport,
    EnvironmentBroken,
    EnvironmentLaw,
    check_environments,
    check_perfect_play,
)
from duels.envs.conformance.environments import Environment, Snapshot

__all__ = [
    "ConformanceReport",
    "Environment",
    "EnvironmentBroken",
    "EnvironmentLaw",
    "Snapshot",
    "check_environments",
    "check_perfect_play",
]
