"""Reading the work graph: one node with its neighbourhood, its history, and a whole project at a glance."""
