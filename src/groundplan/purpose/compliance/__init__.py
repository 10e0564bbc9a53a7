"""The compliance checklist of a proposed operation, computed from the current database and plan."""
