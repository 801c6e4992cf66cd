"""The table of all attacks."""

from tests.attack import caches, faults, fuzzing
from tests.attack.environments import environments
from tests.attack.harness import Attack
from tests.attack.information_flow import information_flow
from tests.attack.signals import signals

ATTACKS = (
    Attack("kills", "killed before and after every system call that changes a file", faults.kills, 80),
    Attack(
        "power cuts", "the power cut after every such call, with what was not synced", faults.power_cuts, 50
    ),
    Attack("torn writes", "every write carried out in part", faults.torn_writes, 50),
    Attack("full disks", "a disk with room for every number of bytes", faults.full_disks, 50),
    Attack("errors", "every system call refused, once or from then on", faults.errors, 120),
    Attack(
        "records",
        "records by grammar and by mutation, for every command that reads one",
        fuzzing.records,
        110,
    ),
    Attack(
        "entries", "entries at every prompt of every game, and whole sessions of them", fuzzing.entries, 60
    ),
    Attack("caches", "damaged files in the cache", caches.caches, 16),
    Attack(
        "information flow", "matches that a seat cannot tell apart, on every surface", information_flow, 500
    ),
    Attack("signals", "signals and keys at every prompt in a real terminal", signals, 16),
    Attack("environments", "locales, streams, homes, and files that are no records", environments, 20),
)
