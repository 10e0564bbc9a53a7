"""The operations of the `graph_*` tools, each in one module."""
