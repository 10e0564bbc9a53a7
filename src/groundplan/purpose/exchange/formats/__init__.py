"""Theories as files: what each format is, how it is written, how it is read."""
