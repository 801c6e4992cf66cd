"""What makes the data that is shipped with duels; not part of the package."""
