"""Runs, scores and reports."""
