"""The gates: pure functions that check a theory for consistency and for readiness to run."""
