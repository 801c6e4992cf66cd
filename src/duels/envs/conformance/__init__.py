"""The laws that every environment keeps, checked: for our games, and for anybody's rules.

    from duels.envs.conformance import check_environments
    check_environments(MyGame())   # raises EnvironmentBroken, which names the law and tells the way there

`duels.core.laws` checks the rules themselves. Here they are taken for granted: random games are played by
them, and every environment has to tell the same game. An adapter for another framework is held to the same
laws by a subclass of `Environment`: `check_environments(rules, [MyEnvironment])`.
"""

from duels.envs.conformance.check import ConformanceReport, check_environments, check_perfect_play
from duels.envs.conformance.environments import Environment, Look
from duels.envs.conformance.laws import EnvironmentBroken, EnvironmentLaw

__all__ = [
    "ConformanceReport",
    "Environment",
    "EnvironmentBroken",
    "EnvironmentLaw",
    "Look",
    "check_environments",
    "check_perfect_play",
]
