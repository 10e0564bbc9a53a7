"""Templates: reusable sections for projects, features or tasks, shared in the organization."""
