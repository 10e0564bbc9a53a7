"""Organizations: each has its own people, projects, settings and history, and sees nothing of another."""
