"""The compliance checklist: what holds of a proposed operation, computed from the database and the plan as they are."""
