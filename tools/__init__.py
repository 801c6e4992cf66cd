"""Scripts that build shipped data and templates. They are not part of the package."""
