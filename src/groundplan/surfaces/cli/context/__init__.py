"""Commands of the context slice and their terminal output."""
