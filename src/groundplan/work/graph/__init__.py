"""The `graph_*` tools: one file for each use case."""
