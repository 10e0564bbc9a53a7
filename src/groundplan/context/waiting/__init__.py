"""Facts that wait for a person."""
