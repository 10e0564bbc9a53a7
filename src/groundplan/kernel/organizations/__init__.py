"""Organizations: each has its own people, projects, settings and history, and cannot see those of others."""
