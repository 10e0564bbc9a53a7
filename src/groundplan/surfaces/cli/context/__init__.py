"""Commands and answers about facts."""
