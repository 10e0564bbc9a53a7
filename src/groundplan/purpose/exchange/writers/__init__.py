"""Writers of a theory, one module for each file format."""
