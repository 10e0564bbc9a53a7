"""Backlog.md: a folder with a Markdown file for each task."""
