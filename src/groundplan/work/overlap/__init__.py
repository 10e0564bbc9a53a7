"""Work in progress that touches the same files."""
