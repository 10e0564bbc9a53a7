"""Health and structure of a theory."""
