"""The `graph_*` tools: one file per use case."""
