"""Where the user's files go: matches and other data, and a cache of what can be recomputed.

`DUELS_HOME` puts everything into one folder of the user's choice.
"""

import os
from pathlib import Path


def data_dir() -> Path:
    """The folder for data that the user would miss."""
    home = os.environ.get("DUELS_HOME")
    if home:
        return Path(home)
    from platformdirs import user_data_path

    return user_data_path("duels", appauthor=False)


def cache_dir() -> Path:
    """The folder for what can be recomputed."""
    home = os.environ.get("DUELS_HOME")
    if home:
        return Path(home) / "cache"
    from platformdirs import user_cache_path

    return user_cache_path("duels", appauthor=False)


def matches_dir() -> Path:
    """The folder for matches that were played without a file name."""
    return data_dir() / "matches"
