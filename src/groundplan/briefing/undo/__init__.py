"""The inverse of a change."""
