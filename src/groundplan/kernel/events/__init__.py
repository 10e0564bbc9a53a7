"""Read recorded events."""
