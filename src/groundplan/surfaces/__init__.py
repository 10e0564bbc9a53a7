"""The surfaces: each translates a request, calls an operation and translates the answer. They hold no rules."""
