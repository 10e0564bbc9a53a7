"""The registry of operations, and their execution."""
