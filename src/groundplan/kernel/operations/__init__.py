"""The registry of operations, and the way from a request to an answer."""
