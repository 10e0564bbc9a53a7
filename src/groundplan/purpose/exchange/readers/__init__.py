"""Readers that convert files of other programs to the native document."""
