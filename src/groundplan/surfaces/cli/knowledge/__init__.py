"""Commands of the knowledge slice and their terminal output."""
