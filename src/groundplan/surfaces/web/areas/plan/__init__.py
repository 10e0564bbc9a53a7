"""Plan: the theory of change, with a view for each kind of work on it."""
