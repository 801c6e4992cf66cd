"""Adapters for frameworks that evaluate or train language models, on the arena's text seat."""
