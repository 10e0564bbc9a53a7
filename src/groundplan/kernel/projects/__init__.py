"""Projects: where purpose, context, work and knowledge meet."""
