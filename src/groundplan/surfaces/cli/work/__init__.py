"""Terminal output of the work slice."""
