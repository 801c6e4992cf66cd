"""Tasks of inspect_ai."""
