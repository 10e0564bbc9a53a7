"""Members: who is in a project, and as what."""
