"""Commands and answers about knowledge."""
