"""The file formats of a theory, and their writers."""
