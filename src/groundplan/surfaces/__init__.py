"""The ways in: each translates a request, calls an operation, and translates the answer. No rules live here."""
