"""The waiting relation between nodes: the order of a project, and the search for loops."""
