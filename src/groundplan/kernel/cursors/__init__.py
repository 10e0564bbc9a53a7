"""Cursors: the next page of a list."""
