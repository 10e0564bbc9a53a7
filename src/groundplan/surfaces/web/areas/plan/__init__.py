"""Plan: the theory of change, with a view for each thing that people do with it."""
