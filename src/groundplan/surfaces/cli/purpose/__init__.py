"""Commands and answers about the theory of change."""
