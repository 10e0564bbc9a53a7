"""Writing facts into a draft: sources, inputs, constraints, artifacts, and what a person makes of suggestions."""
