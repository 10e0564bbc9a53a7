"""The gates: pure functions that check whether a theory is consistent, and whether it is ready to run."""
