"""Gates: pure functions that say whether a theory holds together, and whether it is ready to run."""
