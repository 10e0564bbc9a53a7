"""Why the work is done: a theory of change in versions, its gates, and the observations about it."""
