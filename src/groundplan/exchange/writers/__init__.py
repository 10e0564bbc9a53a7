"""A writer for each tool: from the items of an export to the files of the tool."""
