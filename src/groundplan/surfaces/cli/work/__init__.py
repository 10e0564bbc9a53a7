"""Answers about work on the terminal."""
