"""Runs: begun as drafts, committed once, compared, and taken away."""
