"""What waits for what: the order of a project, and the search for loops."""
