"""Readers: files of other programs become the native document."""
