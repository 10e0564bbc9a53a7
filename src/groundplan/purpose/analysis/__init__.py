"""How healthy a theory is, and how its parts depend on each other."""
