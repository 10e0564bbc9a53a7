"""Runs: create drafts, commit, compare, list and delete them."""
