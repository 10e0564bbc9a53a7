"""Members: the people and agents in a project, and their roles."""
