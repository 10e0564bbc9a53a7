"""The rules of the work graph: rows, readiness, cycles, claims, and the changes that both dialects share."""
