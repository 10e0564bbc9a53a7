"""Through-line: what an item of the project is for, and what stands behind it."""
