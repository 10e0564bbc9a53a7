"""The line from work to the goals, and from a purpose node down to work, evidence and measurements."""
