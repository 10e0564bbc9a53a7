"""The dependency graph of work: nodes, the dependencies between them, and which nodes are ready."""
