"""The table of all attacks."""

from tests.attack import caches, faults, fuzzing, load, requests, runs
from tests.attack.environments import environments
from tests.attack.harness import Attack
from tests.attack.information_flow import information_flow
from tests.attack.signals import signals

ATTACKS = (
    Attack(
        "kills", "kill the program before and after every system call that changes a file", faults.kills, 80
    ),
    Attack(
        "power cuts", "cut the power after every such call, and lose unsynced data", faults.power_cuts, 50
    ),
    Attack("torn writes", "complete every write only in part", faults.torn_writes, 50),
    Attack("full disks", "fill the disk after every possible number of bytes", faults.full_disks, 50),
    Attack("errors", "let every system call fail, once or permanently", faults.errors, 120),
    Attack(
        "records",
        "give generated and mutated records to every command that reads one",
        fuzzing.records,
        110,
    ),
    Attack(
        "entries",
        "type generated entries at every prompt, and play whole sessions of them",
        fuzzing.entries,
        60,
    ),
    Attack("caches", "damage files in the cache", caches.caches, 16),
    Attack("runs", "damage the files of runs and probes, read and continue them", runs.runs, 12),
    Attack(
        "information flow",
        "compare matches that a seat cannot tell apart on every surface",
        information_flow,
        500,
    ),
    Attack("signals", "send signals and keys at every prompt of a real terminal", signals, 16),
    Attack(
        "environments",
        "vary locales, streams and home folders, and pass files that are not records",
        environments,
        20,
    ),
    Attack("floods", "flood a server with requests while a person plays a machine there", load.floods, 2),
    Attack(
        "idle connections",
        "hold more connections than a server may have files",
        load.idle_connections,
        4,
    ),
    Attack(
        "crowds",
        "take all streams of a server behind a proxy for many players of one address",
        load.crowds,
        3,
    ),
    Attack("odd text", "send odd text in every field, path and header to a server", requests.odd_text, 150),
    Attack("names", "sit down under names that pose as somebody else", requests.names, 60),
    Attack("damaged rows", "damage one value of a match in the database", requests.damaged_rows, 60),
)
