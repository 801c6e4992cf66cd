"""Train and study hunt's strategy: `python -m tools.hunt --help`."""
