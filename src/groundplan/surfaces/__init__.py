"""The surfaces: each translates a request, calls an operation, and translates its answer, without rules of its own."""
