"""Reading the work graph: a node with its neighbours, its history, and a short overview of a project."""
