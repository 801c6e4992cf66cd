"""The versions of the environments: what a number after `-v` means, and what changed with it."""

VERSIONS = {0: "The first version."}
"""By version, what it changed; a new one comes with every change that an agent or a result would notice."""
LATEST = max(VERSIONS)
