"""Read a theory: how an answer about it is shortened."""
