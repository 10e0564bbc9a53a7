"""Read a theory: which version is in force, and how an answer about it is shortened."""
