"""The rules of the work graph: rows, readiness, cycles, claims, and every change that both dialects share."""
