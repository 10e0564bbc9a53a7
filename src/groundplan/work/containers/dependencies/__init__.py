"""Dependencies and relations between tasks and features: list, create, delete, set."""
