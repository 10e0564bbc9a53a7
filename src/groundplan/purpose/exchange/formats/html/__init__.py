"""A version as one HTML file."""
