"""The dependency graph of work: what there is to do, what waits for what, and what is ready now."""
