"""A reader for each tool. It knows the files of the tool and nothing of the store."""
