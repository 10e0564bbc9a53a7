"""Checklists in Markdown: headings and boxes of a file as a tree, and as items."""
