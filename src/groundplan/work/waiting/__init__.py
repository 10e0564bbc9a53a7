"""Work that waits for a person."""
