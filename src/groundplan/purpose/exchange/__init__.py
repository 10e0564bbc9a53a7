"""A theory as a file or a picture, and a file as a new draft."""
