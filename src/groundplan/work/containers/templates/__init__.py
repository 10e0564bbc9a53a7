"""Templates: sections to give to projects, features or tasks, kept by the organization."""
