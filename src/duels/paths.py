"""Folders for the user's data and for the cache.

If the environment variable `DUELS_HOME` is set, both are in that folder.
"""

import os
from pathlib import Path


def data_dir() -> Path:
    """Return the folder for data that must be kept."""
    if home := os.environ.get("DUELS_HOME"):
        return Path(home)
    from platformdirs import user_data_path

    return user_data_path("duels", appauthor=False)


def cache_dir() -> Path:
    """Return the folder for data that can be computed again."""
    if home := os.environ.get("DUELS_HOME"):
        return Path(home) / "cache"
    from platformdirs import user_cache_path

    return user_cache_path("duels", appauthor=False)


def matches_dir() -> Path:
    """Return the default folder for matches."""
    return data_dir() / "matches"
