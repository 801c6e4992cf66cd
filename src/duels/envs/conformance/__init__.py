"""A conformance suite for environments, for our games and for any other rules.

    from duels.envs.conformance import check_environments
    check_environments(MyGame())   # raises EnvironmentBroken with the law and the moves that break it

`duels.core.laws` checks the rules. This suite trusts them: it plays random games by the rules and compares
every environment with them. To check an adapter for another framework, subclass `Environment` and call
`check_environments(rules, [MyEnvironment])`.
"""

from duels.envs.conformance.check import ConformanceReport, check_environments, check_perfect_play
from duels.envs.conformance.environments import Environment, Snapshot
from duels.envs.conformance.laws import EnvironmentBroken, EnvironmentLaw

__all__ = [
    "ConformanceReport",
    "Environment",
    "EnvironmentBroken",
    "EnvironmentLaw",
    "Snapshot",
    "check_environments",
    "check_perfect_play",
]
