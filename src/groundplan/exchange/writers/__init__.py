"""A writer for each tool: the items of a plan as the text of its files. It knows nothing of the store."""
