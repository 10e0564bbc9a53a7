"""Writing facts into a draft: sources, inputs, constraints, artifacts, and decisions on suggestions."""
