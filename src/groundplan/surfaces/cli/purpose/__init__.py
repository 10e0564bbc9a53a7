"""Commands of the purpose slice and their terminal output."""
