"""Projects: each holds purpose, context, work and knowledge."""
