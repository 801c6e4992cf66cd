"""Frameworks that evaluate or train language models."""
