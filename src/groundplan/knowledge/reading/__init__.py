"""What is read of knowledge: one entity, a list of them, and what is known about some files."""
